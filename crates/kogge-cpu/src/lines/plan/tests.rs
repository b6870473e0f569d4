//! The way of lines over a grid of shapes.

use super::*;
use crate::Cpu;
use crate::plan::tests::problem;

/// The plan of eight threads for a table of rows and columns, along an axis.
fn table(rows: usize, columns: usize, axis: usize) -> LinePlan {
    let machine = Machine { threads: 8, cpu: Cpu::Common, awake: false, apart: false };
    table_on(machine, rows, columns, axis)
}

fn table_on(machine: Machine, rows: usize, columns: usize, axis: usize) -> LinePlan {
    let down = Axis { len: rows, strides: [columns as isize; 2] };
    let across = Axis { len: columns, strides: [1; 2] };
    let (line, other) = if axis == 0 { (down, across) } else { (across, down) };
    let shape = LineShape { line, outer: &[other], own: false, compact: false, exact: false };
    plan_lines(&problem(line.len as u64), &shape, machine)
}

#[test]
fn threads_have_a_strip_each_where_those_are_whole_lines_of_the_cache() {
    let text = |cpu, rows, columns| {
        table_on(Machine { threads: 2, cpu, awake: false, apart: false }, rows, columns, 0)
            .to_string()
    };
    let past = "lines side by side, stored past the caches";
    assert_eq!(text(Cpu::Mesh, 1 << 20, 256), format!("2 threads, 2 strips of 128 {past}"));
    assert_eq!(text(Cpu::Mesh, 1 << 20, 320), format!("2 threads, 2 strips of 160 {past}"));
    assert_eq!(text(Cpu::Zen4, 1 << 20, 128), format!("2 threads, 2 strips of 64 {past}"));
    assert_eq!(text(Cpu::Zen5, 1 << 20, 512), format!("2 threads, 2 strips of 256 {past}"));
    // Common, too narrow, with a line of the cache in common, and in cache.
    for plan in [
        text(Cpu::Common, 1 << 20, 256),
        text(Cpu::Mesh, 1 << 20, 240),
        text(Cpu::Mesh, 1 << 20, 1000),
        text(Cpu::Mesh, 6 << 10, 256),
        text(Cpu::Zen4, 1 << 20, 96),
        text(Cpu::Zen5, 1 << 20, 256),
    ] {
        assert!(plan.starts_with("2 threads, 1 strip of"), "{plan}");
    }
}

#[test]
fn threads_that_are_awake_scan_smaller_tables_together() {
    let text = |rows, awake| {
        let machine = Machine { threads: 2, cpu: Cpu::Zen4, awake, apart: false };
        table_on(machine, rows, 256, 0).to_string()
    };
    let strip = "1 strip of 256 lines side by side";
    assert_eq!(text(1 << 10, true), format!("2 threads, {strip}, by all threads together"));
    for plan in [text(1 << 10, false), text((1 << 10) - 1, true)] {
        assert_eq!(plan, format!("the calling thread, {strip}"));
    }
}

#[test]
fn threads_of_a_zen_3_or_5_that_are_awake_share_out_smaller_tables() {
    for cpu in [Cpu::Zen3, Cpu::Zen5] {
        let text = |rows, columns, awake| {
            let machine = Machine { threads: 2, cpu, awake, apart: false };
            table_on(machine, rows, columns, 0).to_string()
        };
        let two = "2 threads, 2 strips of 128 lines side by side";
        assert_eq!([text(512, 256, true), text(2048, 256, false)], [two, two]);
        // One thread has nothing to share out.
        for plan in [text(511, 256, true), text(2047, 256, false)] {
            assert_eq!(plan, "the calling thread, 1 strip of 256 lines side by side");
        }
    }
}

#[test]
fn threads_of_a_zen_5_that_are_apart_leave_a_table_in_a_cache_to_one() {
    let threads = |cpu, mib: usize| {
        let machine = Machine { threads: 2, cpu, awake: true, apart: true };
        match table_on(machine, mib << 10, 256, 0) {
            LinePlan::Strips { threads, .. } => threads,
            plan => panic!("{plan}"),
        }
    };
    assert_eq!([threads(Cpu::Zen5, 7), threads(Cpu::Zen5, 8)], [1, 2]);
    assert_eq!([threads(Cpu::Zen4, 7), threads(Cpu::Zen3, 7)], [2, 2]);
}

#[test]
fn a_thread_of_a_zen_3_goes_from_end_to_end_of_a_table_in_a_cache_in_any_order() {
    let of = |threads, cpu, columns: usize, exact, in_place| {
        let rows = (4 << 20) / 4 / columns;
        let down = Axis { len: rows, strides: [columns as isize; 2] };
        let outer = &[Axis { len: columns, strides: [1; 2] }];
        let shape = LineShape { line: down, outer, own: false, compact: false, exact };
        let machine = Machine { threads, cpu, awake: true, apart: false };
        match plan_lines(&Problem { in_place, ..problem(rows as u64) }, &shape, machine) {
            LinePlan::Strips { threads, .. } => threads,
            plan => panic!("{plan}"),
        }
    };
    let threads = |cpu, columns, exact, in_place| of(2, cpu, columns, exact, in_place);
    for columns in [256, 512, 768, 1024, 2048] {
        assert_eq!(threads(Cpu::Zen3, columns, true, false), 1, "{columns} columns");
    }
    for columns in [64, 128, 1000, 4096, 65536] {
        assert_eq!(threads(Cpu::Zen3, columns, true, false), 2, "{columns} columns");
    }
    assert_eq!(threads(Cpu::Zen3, 256, false, false), 2, "in the fixed order");
    assert_eq!(threads(Cpu::Zen3, 256, true, true), 2, "in place");
    assert_eq!(threads(Cpu::Zen4, 256, true, false), 2);
    assert_eq!(of(3, Cpu::Zen3, 1024, true, false), 3, "of three threads");
}

#[test]
fn long_lines_that_go_singly_are_stored_past_the_caches() {
    let machine = Machine { threads: 2, cpu: Cpu::Common, awake: false, apart: false };
    let stream = |line: Axis, outer: &[Axis], in_place| {
        let shape = LineShape { line, outer, own: false, compact: false, exact: false };
        let problem = Problem { in_place, ..problem(line.len as u64) };
        match plan_lines(&problem, &shape, machine) {
            LinePlan::Singly { each, .. } => each.stream,
            plan => panic!("{plan}"),
        }
    };
    let axis = |len, stride| Axis { len, strides: [stride; 2] };
    assert!(stream(axis(1 << 21, 1), &[], false), "8 MiB");
    assert!(!stream(axis((1 << 21) - 1, 1), &[], false));
    assert!(stream(axis(1 << 13, 1), &[axis(1 << 8, 9000)], false), "by whole tiles, 8 MiB in all");
    assert!(!stream(axis((1 << 13) - 1, 1), &[axis(1 << 10, 9000)], false));
    assert!(!stream(axis(1 << 21, 1), &[], true), "in place");
    assert!(!stream(axis(1 << 21, 2), &[axis(2, 1 << 23)], false), "not contiguous");
}

#[test]
fn tables_of_every_shape() {
    let texts = [
        (1 << 20, 256, 1, "lines on end: 8 threads, pieces of 32768 elements"),
        (1 << 20, 256, 0, "8 threads, 1 strip of 256 lines side by side, by all threads together"),
        (1 << 12, 1 << 16, 0, "8 threads, 64 strips of 1024 lines side by side, stored"),
        (1 << 24, 2, 0, "8 threads, 1 strip of 2 lines side by side, by all threads together"),
        (100, 3, 0, "the calling thread, 1 strip of 3 lines side by side"),
        (3, 100, 1, "lines on end: the calling thread"),
        (1, 1 << 26, 1, "line by line: 8 threads"),
        (1, 1 << 20, 1, "line by line: the calling thread"),
        (0, 5, 0, "nothing"),
        (5, 0, 1, "nothing"),
    ];
    for (rows, columns, axis, text) in texts {
        let plan = table(rows, columns, axis).to_string();
        assert!(plan.starts_with(text), "{rows} by {columns}, axis {axis}: {plan}");
    }
}

#[test]
fn lines_that_lie_apart() {
    let machine = Machine { threads: 8, cpu: Cpu::Common, awake: false, apart: false };
    let axis = |len, stride| Axis { len, strides: [stride; 2] };
    let plan = |line: Axis, outer: &[Axis], own| {
        let shape = LineShape { line, outer, own, compact: false, exact: false };
        plan_lines(&problem(line.len as u64), &shape, machine)
    };
    // Every second element of many short lines; of few long ones.
    let short = plan(axis(100, 2), &[axis(1 << 16, 200)], false);
    assert_eq!(short, LinePlan::Scattered { threads: 8 });
    let long = plan(axis(1 << 26, 2), &[axis(3, 1 << 27)], false);
    assert!(matches!(long, LinePlan::Singly { threads: 1, each } if each.threads == 8), "{long}");
    // Contiguous lines with gaps between; without, but in another order, which matters to lines of
    // their own.
    let gaps = plan(axis(1000, 1), &[axis(1 << 10, 1001)], false);
    assert!(matches!(gaps, LinePlan::Singly { threads: 8, each } if each.threads == 1), "{gaps}");
    let turned = [axis(4, 1000), axis(1 << 10, 4000)];
    assert!(matches!(plan(axis(1000, 1), &turned, false), LinePlan::OnEnd(_)));
    assert!(matches!(plan(axis(1000, 1), &turned, true), LinePlan::Singly { .. }));
}

#[test]
fn wide_accumulators_and_compact_code() {
    let machine = Machine { threads: 8, cpu: Cpu::Common, awake: false, apart: false };
    let (down, across) =
        (Axis { len: 1 << 16, strides: [100; 2] }, Axis { len: 100, strides: [1; 2] });
    let shape = LineShape { line: down, outer: &[across], own: false, compact: true, exact: false };
    let wide = Problem { accumulator_bytes: 64, ..problem(down.len as u64) };
    for plan in [
        plan_lines(&problem(down.len as u64), &shape, machine),
        plan_lines(&wide, &LineShape { compact: false, ..shape }, machine),
    ] {
        assert!(matches!(plan, LinePlan::Singly { .. }), "{plan}");
    }
}
