//! What the memory system makes of a warp's request.

/// Extra turns that a request to shared memory takes: 32 banks of 4 bytes,
/// one word each a turn; lanes that want the same word share it. Accesses of
/// 8 bytes go by half warps, of 16 by quarters (CUDA C++ Programming Guide,
/// "Shared Memory").
pub(super) fn bank_conflicts(addresses: &[(u32, u64)], size: u64) -> u64 {
    // Neighbours in neighbouring words, the common case.
    if size == 4 && addresses.windows(2).all(|w| w[1].1 == w[0].1 + 4) {
        return 0;
    }
    let words = (size / 4).max(1);
    let group = (32 / words).max(1) as u32;
    let mut extra = 0;
    let mut start = 0;
    while start < 32 {
        let mut banks = [(0u64, 0u32); 32];
        let mut seen: [u64; 128] = [u64::MAX; 128];
        let mut n = 0;
        let part = addresses.iter().filter(|a| a.0 >= start && a.0 < start + group);
        for &(_, address) in part {
            for w in 0..words {
                let word = address / 4 + w;
                if seen[..n].contains(&word) || n == seen.len() {
                    continue;
                }
                seen[n] = word;
                n += 1;
                banks[(word % 32) as usize].1 += 1;
            }
        }
        let turns = banks.iter().map(|b| b.1).max().unwrap_or(0);
        extra += u64::from(turns.saturating_sub(1));
        start += group;
    }
    extra
}

/// 32-byte sectors that a request to global memory touches, and the fewest
/// that could hold its bytes. An address is an array's id and an offset.
pub(super) fn sectors(addresses: &[(u32, u64)], size: u64) -> (u64, u64) {
    let mut seen = [0u64; 64];
    let mut n = 0;
    for &(_, address) in addresses {
        for sector in [address / 32, (address + size - 1) / 32] {
            let known = n > 0 && (seen[n - 1] == sector || seen[..n].contains(&sector));
            if n < seen.len() && !known {
                seen[n] = sector;
                n += 1;
            }
        }
    }
    (n as u64, (distinct(addresses) * size).div_ceil(32))
}

/// How many different addresses there are: lanes that want the same one share it, neighbours or
/// not.
fn distinct(addresses: &[(u32, u64)]) -> u64 {
    if addresses.windows(2).all(|w| w[0].1 < w[1].1) {
        return addresses.len() as u64;
    }
    let first = |i: usize| addresses[..i].iter().all(|a| a.1 != addresses[i].1);
    (0..addresses.len()).filter(|&i| first(i)).count() as u64
}
