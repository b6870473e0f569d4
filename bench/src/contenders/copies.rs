//! Copies: the ceiling. A scan reads and writes what a copy does, and has to work beside it.
//!
//! Out of place by `memcpy` and by non-temporal stores, in place by adding 0 to every byte: the
//! values stay, and none becomes a subnormal float that would slow down who comes next. With
//! several threads, each takes one part, or all take pieces of 1 MiB in turn; the best of them
//! all is what a scan is compared with.

use crate::contender::{Contender, Mode, Role};
use crate::stream;
use bytemuck::Pod;
use std::hint::black_box;
use std::sync::Mutex;

const PIECE: usize = 1 << 20;

/// The copies of a mode, by one thread and by all.
pub fn contenders<T: Pod + Send + Sync>(mode: Mode, threads: usize) -> Vec<Contender<'static, T>> {
    let mut all = Vec::new();
    for threads in if threads > 1 { vec![1, threads] } else { vec![1] } {
        for dealt in if threads > 1 { vec![false, true] } else { vec![false] } {
            let suffix = if dealt { " in pieces" } else { "" };
            let part = move |len: usize| {
                if dealt { PIECE } else { len.div_ceil(threads).next_multiple_of(64) }
            };
            match mode {
                Mode::Into => {
                    for (name, copy) in [
                        ("memcpy", <[u8]>::copy_from_slice as fn(&mut [u8], &[u8])),
                        ("non-temporal copy", stream::copy),
                    ] {
                        let name = format!("{name} x{threads}{suffix}");
                        all.push(Contender::into(Role::Copy, name, threads, move |x: &[T], y| {
                            let (x, y) = (bytemuck::cast_slice(x), bytemuck::cast_slice_mut(y));
                            share(threads, x, y, part(x.len()), |x, y| copy(y, x));
                        }));
                    }
                }
                Mode::InPlace => {
                    let name = format!("read-modify-write x{threads}{suffix}");
                    all.push(Contender::in_place(
                        Role::Copy,
                        name,
                        threads,
                        move |y: &mut [T]| {
                            let y: &mut [u8] = bytemuck::cast_slice_mut(y);
                            let part = part(y.len());
                            share(threads, &[], y, part, |_, y| stream::add(y, black_box(0)));
                        },
                    ));
                }
            }
        }
    }
    all
}

/// Lets threads take parts of `part` bytes in turn. An empty `x` stays empty.
fn share(
    threads: usize,
    x: &[u8],
    y: &mut [u8],
    part: usize,
    work: impl Fn(&[u8], &mut [u8]) + Sync,
) {
    if threads == 1 {
        return work(x, y);
    }
    let empty = x.is_empty();
    let parts = Mutex::new(y.chunks_mut(part).enumerate());
    let take = || parts.lock().expect("no thread panics while it takes a part").next();
    let run = || {
        while let Some((i, y)) = take() {
            let x = if empty { x } else { &x[i * part..i * part + y.len()] };
            work(x, y);
        }
    };
    rayon::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(|_| run());
        }
        run();
    });
}
