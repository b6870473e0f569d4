//! The fields of a quoted CSV text, found at every byte at once.
//!
//! A finite automaton reads a byte by a map from states to states; maps compose associatively
//! (Ladner & Fischer, "Parallel prefix computation", 1980). With four states a map fits a byte: two
//! bits for each state's successor. Quotes are those of RFC 4180: a quoted field may hold commas
//! and line ends, and `""` stands for a quote in it.

use kogge::{inclusive_scan, operator};

/// Between or within unquoted fields.
pub const PLAIN: u8 = 0;
/// Within quotes.
pub const QUOTED: u8 = 1;
/// After a quote within quotes: the end of the field, or the first half of `""`.
pub const CLOSING: u8 = 2;
/// Text after a closing quote, which RFC 4180 forbids; nothing leads out.
pub const BROKEN: u8 = 3;

const STATES: u32 = 4;
const IDENTITY: u8 = packed([PLAIN, QUOTED, CLOSING, BROKEN]);

/// The map whose value at each state this is.
const fn packed(next: [u8; 4]) -> u8 {
    next[0] | next[1] << 2 | next[2] << 4 | next[3] << 6
}

/// The left map, then the right one.
#[operator(identity = IDENTITY, exact)]
pub fn Read(left: u8, right: u8) -> u8 {
    let mut map = 0;
    for state in 0..STATES {
        let between = left >> (2 * state) & 3;
        map |= (right >> (2 * between) & 3) << (2 * state);
    }
    map
}

/// The map of a byte.
pub fn map_of(byte: u8) -> u8 {
    match byte {
        b'"' => packed([QUOTED, CLOSING, QUOTED, BROKEN]),
        b',' | b'\n' => packed([PLAIN, QUOTED, PLAIN, BROKEN]),
        _ => packed([PLAIN, QUOTED, BROKEN, BROKEN]),
    }
}

/// The places of the commas and line ends that separate fields.
pub fn separators(text: &str) -> Vec<usize> {
    let maps: Vec<u8> = text.bytes().map(map_of).collect();
    let states = inclusive_scan(&maps, Read);
    let bytes = text.bytes().zip(states).enumerate();
    bytes
        .filter(|&(_, (byte, map))| matches!(byte, b',' | b'\n') && map & 3 == PLAIN)
        .map(|(i, _)| i)
        .collect()
}

/// Runs the example.
pub fn main() {
    let line = "1,\"a, \"\"b\"\"\",\"two\nlines\",end\n";
    assert_eq!(separators(line), [1, 12, 24, 28]);
    let text = line.repeat(3_000);
    let found = separators(&text);
    assert_eq!(found.len(), 4 * 3_000);
    assert!(
        found.iter().enumerate().all(|(i, &at)| at == i / 4 * line.len() + [1, 12, 24, 28][i % 4])
    );
    println!("{} fields in {} bytes", found.len(), text.len());
}
