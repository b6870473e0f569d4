//! Every lesson gives the scan, at every length it claims up to 2,048, for any operator, and
//! cleanly.
//!
//! A debug build takes the lengths around powers of two and of the tile, and a sample of the
//! others.

mod common;

use std::thread;

use common::{assert_right, operator, run_at};
use kogge_lab::catalogue::{Check, Lesson, OPERATORS, Operator, lessons};
use kogge_lab::{ScalarType, run};

const LONGEST: u64 = 2048;

/// The lengths to run a lesson at: all it claims, or in a debug build those where something may
/// break.
fn lengths(lesson: &Lesson) -> Vec<usize> {
    let near = |n: u64| {
        let power = n.next_power_of_two();
        n <= 10 || n + 1 >= power || n == power / 2 + 1 || n.is_multiple_of(397) || n == LONGEST
    };
    lesson
        .header
        .sizes
        .clone()
        .take_while(|&n| n <= LONGEST)
        .filter(|&n| !cfg!(debug_assertions) || near(n))
        .map(|n| n as usize)
        .collect()
}

/// Floats and ints up to 300 and wherever a warp or a tile ends; beyond, ints at even lengths and
/// floats at odd ones.
fn types(n: usize) -> &'static [ScalarType] {
    match n % 128 {
        0 | 1 | 127 => &[ScalarType::F32, ScalarType::I32],
        _ if n <= 300 => &[ScalarType::F32, ScalarType::I32],
        _ if n.is_multiple_of(2) => &[ScalarType::I32],
        _ => &[ScalarType::F32],
    }
}

/// Runs `check` on every lesson, on as many threads as there are cores.
fn each_lesson(check: impl Fn(&Lesson) + Sync) {
    let workers = thread::available_parallelism().map_or(1, usize::from);
    let next = std::sync::atomic::AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some(lesson) =
                    lessons().get(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed))
                {
                    check(lesson);
                }
            });
        }
    });
}

#[test]
fn sums_of_floats_and_ints_at_every_length() {
    each_lesson(|lesson| {
        for n in lengths(lesson) {
            for &element in types(n) {
                let sum = operator("sum", element);
                assert_right(lesson, &sum, n, &run_at(lesson, &sum, n, &[]));
            }
        }
    });
}

#[test]
fn an_operator_that_does_not_commute() {
    each_lesson(|lesson| {
        for n in lengths(lesson).into_iter().filter(|n| n % 7 == 1 || n.is_power_of_two()) {
            for element in [ScalarType::U32, ScalarType::U64] {
                let affine = operator("affine", element);
                assert_right(lesson, &affine, n, &run_at(lesson, &affine, n, &[]));
            }
        }
    });
}

#[test]
fn an_operator_whose_identity_is_an_extreme() {
    each_lesson(|lesson| {
        for n in [1, 2, 31, 32, 33, 257, 1000] {
            for (name, element) in
                [("max", ScalarType::F32), ("min", ScalarType::I64), ("max", ScalarType::F64)]
            {
                let extreme = operator(name, element);
                assert_right(lesson, &extreme, n, &run_at(lesson, &extreme, n, &[]));
            }
        }
    });
}

/// Small blocks: several levels of the hierarchy, many tiles to a chain, many rounds.
#[test]
fn small_blocks_and_many_of_them() {
    let defines = [("BLOCK".to_owned(), "8".to_owned()), ("CHUNK".to_owned(), "3".to_owned())];
    each_lesson(|lesson| {
        for n in [1, 7, 8, 9, 63, 64, 65, 100, 513, 700] {
            if !lesson.header.sizes.contains(&(n as u64))
                || lesson.name == "kogge_stone_spin" && n > 128
            {
                continue;
            }
            let affine = operator("affine", ScalarType::U64);
            assert_right(lesson, &affine, n, &run_at(lesson, &affine, n, &defines));
        }
    });
}

/// What the command line says of a lesson's result: right, whatever it scans.
#[test]
fn the_check_finds_every_operator_on_every_type_right() {
    let types =
        ["bool", "char", "u8", "short", "u16", "int", "u32", "i64", "u64", "float", "double"];
    each_lesson(|lesson| {
        for (name, ty) in OPERATORS.iter().flat_map(|name| types.map(|ty| (name, ty))) {
            let element = ScalarType::from_name(ty).expect("a type");
            let Some(operator) = Operator::named(name, element) else { continue };
            let input = operator.elements(70);
            let setup = lesson.setup(input.clone(), &operator, &[]).expect("a lesson");
            let report = run(&setup.program, &setup.script, &setup.options).expect("a run");
            let check = operator.check(&input, &report.arrays["y"], lesson.header.kind);
            // 0 · 1 · 2 · … · 69 is 0 from left to right, but 2 · … · 69 is more than floats hold.
            let open = *name == "product" && ty == "float";
            let right = check == Check::Right || open && matches!(check, Check::Undetermined(_));
            assert!(right, "{}, {name} of {ty}: {check:?}", lesson.name);
        }
    });
}

/// The elements of the affine operator tell orders apart, each from the next.
#[test]
fn its_own_elements_do_not_commute() {
    for element in [ScalarType::U32, ScalarType::U64] {
        let affine = operator("affine", element);
        let maps = affine.elements(300);
        for i in 0..299 {
            for j in [i + 1, 299] {
                let (a, b) = (maps.get(i).expect("a map"), maps.get(j).expect("a map"));
                let same = affine.combine(a, b) == affine.combine(b, a);
                assert_eq!(same, i == j, "{element:?}: {i}, {j}");
            }
        }
    }
}
