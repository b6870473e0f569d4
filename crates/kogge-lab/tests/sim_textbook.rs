//! Kernels in the styles of textbooks, blogs and vendors' samples: run as they
//! stand, with the results a sequential scan gives, and with their hazards.

mod support;

use kogge_lab::{FindingKind as F, Launch, Order, Values};
use support::{Case, exclusive, inclusive, input, ints, kinds, line_of};

macro_rules! textbook {
    ($name:literal) => {
        include_str!(concat!("textbook/", $name, ".cu"))
    };
}

fn floats(x: &[i32]) -> Vec<f32> {
    x.iter().map(|&v| v as f32).collect()
}

#[test]
fn blelloch_with_padding() {
    let n = 256;
    let case = |source: &str| {
        Case::new(source, "prescan", 1, n as u32 / 2)
            .value("g_idata", input(n))
            .value("g_odata", vec![0i32; n])
            .value("n", n as i32)
            .launch(|l| l.shared_bytes = 4 * (n + n / 32) as u32)
    };
    let padded = case(textbook!("blelloch_padded"));
    assert_eq!(ints(&padded.clean("g_odata")), exclusive(&input(n)));
    // n - 1 additions up, n - 1 down.
    assert_eq!(padded.run().work(), 2 * (n as u64 - 1));
    // Without the padding the banks collide.
    let plain = textbook!("blelloch_padded").replace("((n) >> LOG_NUM_BANKS)", "0");
    let conflicts = |c: Case| c.run().counts.bank_conflicts;
    let (with, without) = (conflicts(padded), conflicts(case(&plain)));
    assert!(with * 4 < without, "{with} {without}");
}

#[test]
fn ping_pong_halves() {
    let n = 128;
    let case = Case::new(textbook!("hillis_steele_ping_pong"), "scan", 1, n as u32)
        .value("g_idata", floats(&input(n)))
        .value("g_odata", vec![0f32; n])
        .value("n", n as i32)
        .launch(|l| l.shared_bytes = 8 * n as u32);
    assert_eq!(case.clean("g_odata"), Values::F32(floats(&exclusive(&input(n)))));
}

#[test]
fn kogge_stone_and_brent_kung_of_a_textbook() {
    let source = textbook!("segmented_kernels");
    let case = |kernel: &str, threads| {
        Case::new(source, kernel, 1, threads)
            .value("X", floats(&input(128)))
            .value("Y", vec![0f32; 128])
            .value("N", 128)
    };
    let expected = Values::F32(floats(&inclusive(&input(128))));
    let kogge_stone = case("Kogge_Stone_scan_kernel", 128);
    assert_eq!(kogge_stone.clean("Y"), expected);
    assert_eq!(kogge_stone.run().work(), 128 * 7 - 127);
    let brent_kung = case("Brent_Kung_scan_kernel", 64);
    assert_eq!(brent_kung.clean("Y"), expected);
    assert_eq!(brent_kung.run().work(), 2 * 128 - 2 - 7);
    let wrong = case("wrong_scan_kernel", 128).run();
    assert_eq!(kinds(&wrong), [F::Race]);
    assert_eq!(wrong.findings[0].line, line_of(source, "if (i >= stride) XY[i] +="));
}

#[test]
fn shuffles_with_templates_and_functors() {
    for n in [1usize, 31, 32, 100, 256] {
        let case = Case::new(textbook!("warp_shuffle"), "scan_block<int, 256>", 1, 256)
            .value("in", input(n))
            .value("out", vec![0i32; n])
            .value("n", n as i32);
        assert_eq!(ints(&case.clean("out")), inclusive(&input(n)));
    }
    let case = Case::new(textbook!("warp_shuffle"), "scan_block<double, 64>", 1, 64)
        .value("in", input(64).iter().map(|&v| f64::from(v)).collect::<Vec<_>>())
        .value("out", vec![0f64; 64])
        .value("n", 64);
    let expected: Vec<f64> = inclusive(&input(64)).iter().map(|&v| f64::from(v)).collect();
    assert_eq!(case.clean("out"), Values::F64(expected));
}

#[test]
fn look_back_with_packed_words() {
    let n = 40 * 64 - 5;
    let x: Vec<u32> = input(n).iter().map(|&v| v as u32).collect();
    let expected: Vec<u32> = inclusive(&input(n)).iter().map(|&v| v as u32).collect();
    for (resident, order) in [(1, Order::Reverse), (3, Order::Random), (64, Order::Forward)] {
        let case = Case::new(textbook!("look_back_packed"), "scan", 40, 64)
            .value("in", x.clone())
            .value("out", vec![0u32; n])
            .value("status", vec![0u64; 40])
            .value("n", n as i32)
            .options(|o| {
                o.resident_blocks = resident;
                o.block_order = order;
            });
        assert_eq!(case.clean("out"), Values::U32(expected.clone()));
    }
}

#[test]
fn cooperative_groups() {
    let n = 300;
    let x: Vec<f64> = input(n).iter().map(|&v| f64::from(v)).collect();
    let expected: Vec<f64> = inclusive(&input(n)).iter().map(|&v| f64::from(v)).collect();
    let case = Case::new(textbook!("cooperative"), "grid_scan", 2, 64)
        .value("a", x)
        .value("b", vec![0f64; n])
        .value("n", n as i32)
        .launch(|l| l.cooperative = true);
    assert_eq!(case.clean("a"), Values::F64(expected));
    let dropped = textbook!("cooperative").replace("cg::sync(grid);", "");
    let report = Case { source: dropped, ..case }.run();
    assert!(kinds(&report).contains(&F::Race));

    let case = Case::new(textbook!("cooperative"), "tile_scan", 1, 64).value("x", input(64));
    let expected: Vec<i32> = input(64)
        .chunks(8)
        .enumerate()
        .flat_map(|(i, c)| inclusive(c).into_iter().map(move |v| v + 1000 * i as i32))
        .collect();
    assert_eq!(ints(&case.clean("x")), expected);
}

#[test]
fn a_recurrence_in_three_kernels() {
    let n = 64 * 5;
    // a = ±1 and small b: exact in any order.
    let pairs: Vec<f32> =
        input(n).iter().flat_map(|&v| [if v % 3 == 0 { -1.0 } else { 1.0 }, v as f32]).collect();
    let mut case = Case::new(textbook!("linear_recurrence"), "blocks", 5, 64)
        .value("in", pairs.clone())
        .value("out", vec![0f32; 2 * n])
        .value("totals", vec![0f32; 10])
        .value("n", 5);
    case.script =
        case.script.launch(Launch::new("spine", 1, 1)).launch(Launch::new("apply", 5, 64));
    let (mut a, mut b) = (1.0f32, 0.0f32);
    let expected: Vec<f32> = pairs
        .chunks(2)
        .flat_map(|p| {
            (a, b) = (a * p[0], p[0] * b + p[1]);
            [a, b]
        })
        .collect();
    assert_eq!(case.clean("out"), Values::F32(expected));
    let report = case.run();
    let kogge_stone = 64 * 6 - 63;
    assert_eq!(report.work(), 5 * kogge_stone + 5 + n as u64);
}

#[test]
fn a_template_library_of_classes() {
    let case = Case::new(textbook!("block_scan_class"), "BlockScanKernel<int, 64, 4>", 1, 64)
        .value("d_in", input(256))
        .value("d_out", vec![0i32; 256]);
    assert_eq!(ints(&case.clean("d_out")), inclusive(&input(256)));
}

#[test]
fn a_chain_of_blocks() {
    let n = 64 * 9 - 3;
    let source = textbook!("stream_scan_chained");
    let case = |source: &str| {
        Case::new(source, "stream_scan", 9, 64)
            .value("X", input(n))
            .value("Y", vec![0i32; n])
            .value("N", n as i32)
            .options(|o| {
                o.resident_blocks = 4;
                o.block_order = Order::Reverse;
            })
    };
    assert_eq!(ints(&case(source).clean("Y")), inclusive(&input(n)));
    let dropped = case(&source.replace("__threadfence();", "")).run();
    assert_eq!(kinds(&dropped), [F::Race]);
    let f = &dropped.findings[0];
    assert_eq!(f.location.as_ref().unwrap().array, "scan_value");
    let fixed = case(&source.replace("atomicAdd(&blockCounter, 1)", "blockIdx.x")).run();
    assert_eq!(kinds(&fixed), [F::Deadlock]);
}

#[test]
fn a_reduction_that_trusts_the_warp() {
    let n = 1000;
    let case = |kernel: &str| {
        Case::new(textbook!("reduce_old_warp"), kernel, 2, 128)
            .value("g_idata", input(n))
            .value("g_odata", vec![0i32])
            .value("n", n as i32)
    };
    let sum: i32 = input(n).iter().sum();
    assert_eq!(ints(&case("reduce<128, true>").clean("g_odata")), [sum]);
    let report = case("reduce<128, false>").run();
    assert_eq!(kinds(&report), [F::Race]);
}
