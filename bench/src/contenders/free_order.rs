//! What the fixed order costs: an f32 sum that combines in whatever order suits the hardware.
//!
//! In registers of 8 lanes, scanned by three shifted additions (Hillis and Steele, "Data parallel
//! algorithms", CACM 1986), the running sum added to all lanes; the sum to carry is one addition
//! away from the next. With several threads the protocol is kogge's: pieces of 128 KiB taken in
//! turn, summed first (into L2), the sums published, all sums before added up by each thread, the
//! piece scanned from cache while the next one is prefetched, past the caches where the
//! output is large. So the two differ in the order of combination, in what that allows the kernel to be,
//! and in generality; nothing here but `f32` sums, and only with AVX2.

use crate::contender::{Contender, Mode, Role};
use core::arch::x86_64::*;
use std::hint::spin_loop;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// Elements of a piece.
const PIECE: usize = (128 << 10) / 4;
/// Output bytes from which stores go past the caches.
const STREAM_BYTES: usize = 16 << 20;
/// Input bytes below which a second thread isn't woken.
const PARALLEL_BYTES: usize = 1 << 20;

/// The sum in free order; `None` where the CPU lacks AVX2. Out of place alone.
pub fn contender(mode: Mode, threads: usize) -> Option<Contender<'static, f32>> {
    let present = is_x86_feature_detected!("avx2") && mode == Mode::Into;
    present.then(|| {
        let name = format!("free order, f32 by AVX2 x{threads}");
        Contender::into(Role::Probe, name, threads, move |x: &[f32], y: &mut [f32]| {
            // SAFETY: AVX2 was found.
            unsafe { scan(x, y, threads) }
        })
    })
}

#[target_feature(enable = "avx2")]
fn scan(x: &[f32], y: &mut [f32], threads: usize) {
    let stream = size_of_val(y) >= STREAM_BYTES && y.as_ptr().align_offset(32) == 0;
    if threads == 1 || size_of_val(x) < PARALLEL_BYTES {
        scan_piece(x, y, 0.0, stream, &[]);
        return;
    }
    let totals: Vec<_> = (0..x.len().div_ceil(PIECE)).map(|_| AtomicU64::new(0)).collect();
    let pieces = Mutex::new(x.chunks(PIECE).zip(y.chunks_mut(PIECE)).enumerate());
    let take = || pieces.lock().expect("nobody panics while taking a piece").next();
    let work = || {
        let (mut before, mut known) = (0.0, 0);
        let mut piece = take();
        while let Some((i, (x, y))) = piece {
            totals[i].store(published(total(x)), Ordering::Release);
            for total in &totals[known..i] {
                before += wait(total);
            }
            known = i;
            piece = take();
            let ahead = piece.as_ref().map_or(&[][..], |(_, (x, _))| x);
            scan_piece(x, y, before, stream, ahead);
        }
    };
    rayon::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(|_| work());
        }
        work();
    });
}

/// A total beside a mark that it is there.
fn published(total: f32) -> u64 {
    1 << 32 | u64::from(total.to_bits())
}

fn wait(total: &AtomicU64) -> f32 {
    loop {
        let value = total.load(Ordering::Acquire);
        if value != 0 {
            return f32::from_bits(value as u32);
        }
        spin_loop();
    }
}

/// The sum of a piece, in 8 chains of 8 lanes.
#[target_feature(enable = "avx2")]
fn total(x: &[f32]) -> f32 {
    let mut sums = [_mm256_setzero_ps(); 8];
    let (lines, rest) = x.as_chunks::<64>();
    for line in lines {
        for (i, sum) in sums.iter_mut().enumerate() {
            // SAFETY: a line has 8 vectors.
            *sum = _mm256_add_ps(*sum, unsafe { _mm256_loadu_ps(line.as_ptr().add(8 * i)) });
        }
    }
    let sum = sums.into_iter().fold(_mm256_setzero_ps(), |a, b| _mm256_add_ps(a, b));
    let mut lanes = [0.0; 8];
    // SAFETY: there is room for 8 lanes.
    unsafe { _mm256_storeu_ps(lanes.as_mut_ptr(), sum) };
    lanes.iter().chain(rest).sum()
}

/// Scans a piece after `before`; prefetches `ahead` meanwhile, line for line.
#[target_feature(enable = "avx2")]
fn scan_piece(x: &[f32], y: &mut [f32], before: f32, stream: bool, ahead: &[f32]) {
    let (vectors, rest) = x.as_chunks::<8>();
    let mut carry = _mm256_set1_ps(before);
    for (i, vector) in vectors.iter().enumerate() {
        if i % 2 == 0 && 8 * i < ahead.len() {
            _mm_prefetch::<_MM_HINT_T1>(ahead[8 * i..].as_ptr().cast());
        }
        // SAFETY: the vector is 8 lanes.
        let (sums, total) = lanes(unsafe { _mm256_loadu_ps(vector.as_ptr()) });
        let value = _mm256_add_ps(sums, carry);
        carry = _mm256_add_ps(carry, total);
        let place = y[8 * i..8 * i + 8].as_mut_ptr();
        // SAFETY: the place has 8 lanes; where values are streamed, the output starts on a multiple
        // of 32 bytes, and pieces and vectors are multiples of that.
        unsafe {
            if stream { _mm256_stream_ps(place, value) } else { _mm256_storeu_ps(place, value) }
        }
    }
    if stream {
        _mm_sfence();
    }
    let mut sum = _mm256_cvtss_f32(carry);
    let done = x.len() - rest.len();
    for (&x, y) in rest.iter().zip(&mut y[done..]) {
        sum += x;
        *y = sum;
    }
}

/// The inclusive sums of 8 lanes, and the last of them in all lanes.
#[inline]
#[target_feature(enable = "avx2")]
fn lanes(x: __m256) -> (__m256, __m256) {
    let shift1 = _mm256_castsi256_ps(_mm256_slli_si256::<4>(_mm256_castps_si256(x)));
    let x = _mm256_add_ps(x, shift1);
    let shift2 = _mm256_castsi256_ps(_mm256_slli_si256::<8>(_mm256_castps_si256(x)));
    let x = _mm256_add_ps(x, shift2);
    let halves = _mm256_permute_ps::<0xff>(x);
    let low_over_high = _mm256_permute2f128_ps::<0x08>(halves, halves);
    let x = _mm256_add_ps(x, low_over_high);
    (x, _mm256_permutevar8x32_ps(x, _mm256_set1_epi32(7)))
}
