//! kogge: as a user calls it, on one thread, and at each SIMD level on request.

use crate::contender::{Contender, Mode, Role};
use crate::dtype::Dtype;
use kogge::ops::Sum;
use kogge::{Direction, Kind};
use kogge_cpu::{Level, Machine, Plan, Request, plan};

/// kogge in a mode: what a user calls, one thread of it, and each of `levels` by one and by all.
pub fn contenders<T: Dtype>(
    mode: Mode,
    threads: usize,
    levels: &[Level],
) -> Vec<Contender<'static, T>> {
    let name = "kogge";
    let mut all = vec![match mode {
        Mode::Into => Contender::into(Role::Kogge, name, threads, |x: &[T], y: &mut [T]| {
            kogge::inclusive_scan_into(x, y, Sum).expect("the lengths are equal");
        }),
        Mode::InPlace => Contender::in_place(Role::Kogge, name, threads, |y: &mut [T]| {
            kogge::inclusive_scan_in_place(y, Sum);
        }),
    }];
    if threads > 1 {
        all.push(at(mode, Level::detect(), 1, "kogge x1".to_owned()));
    }
    for &level in levels {
        all.push(at(mode, level, 1, format!("kogge {} x1", level.name())));
        if threads > 1 {
            all.push(at(mode, level, threads, format!("kogge {} x{threads}", level.name())));
        }
    }
    all
}

fn at<T: Dtype>(mode: Mode, level: Level, threads: usize, name: String) -> Contender<'static, T> {
    let request = move |len: usize| Request {
        level,
        plan: Some(plan_of::<T>(len, mode, threads)),
        ..Request::new(&Sum)
    };
    match mode {
        Mode::Into => Contender::into(Role::Variant, name, threads, move |x: &[T], y: &mut [T]| {
            kogge_cpu::scan_into(&request(x.len()), x, y).expect("the lengths are equal");
        }),
        Mode::InPlace => Contender::in_place(Role::Variant, name, threads, move |y: &mut [T]| {
            kogge_cpu::scan_in_place(&request(y.len()), y);
        }),
    }
}

/// What the engine plans for so many threads.
pub fn plan_of<T: Dtype>(len: usize, mode: Mode, threads: usize) -> Plan {
    let problem = kogge_core::Problem {
        len: len as u64,
        element_bytes: size_of::<T>(),
        output_bytes: size_of::<T>(),
        accumulator_bytes: size_of::<T::Accumulator>(),
        kind: Kind::Inclusive,
        direction: Direction::Forward,
        in_place: mode == Mode::InPlace,
    };
    plan(&problem, Machine::here(threads))
}
