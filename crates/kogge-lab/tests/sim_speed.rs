//! How fast the simulator is. Timings say nothing in an unoptimised build:
//! `cargo test --release -p kogge-lab --test sim_speed -- --ignored --nocapture`.

mod support;

use std::time::{Duration, Instant};

use kogge_lab::catalogue::{Kind, Lesson, Operator, lessons};
use kogge_lab::{Options, ScalarType, Values};
use support::{Case, inclusive, input, ints};

fn time(case: &Case) -> (Duration, kogge_lab::Report) {
    let program = case.program();
    let start = Instant::now();
    let report = kogge_lab::run(&program, &case.script, &case.options).unwrap();
    (start.elapsed(), report)
}

const QUADRATIC: &str = "
__device__ int combine(int a, int b) { return a + b; }
__global__ void scan(const int *x, int *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int sum = x[0];
    for (int j = 1; j <= i; j++) sum = combine(sum, x[j]);
    y[i] = sum;
}";

const GLOBAL_STEPS: &str = "
__device__ int combine(int a, int b) { return a + b; }
__global__ void step(const int *x, int *y, int n, int d) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = i >= d ? combine(x[i - d], x[i]) : x[i];
}";

#[test]
#[ignore = "a timing, for release builds"]
fn a_block_of_1024_threads_takes_less_than_50_ms() {
    let case = Case::new(QUADRATIC, "scan", 1, 1024)
        .value("x", input(1024))
        .value("y", vec![0i32; 1024])
        .value("n", 1024);
    let (took, report) = time(&case);
    println!("quadratic, 1,024 threads: {took:?}, {:?}", report.counts);
    assert_eq!(ints(&report.arrays["y"]), inclusive(&input(1024)));
    assert_eq!(report.work(), 1024 * 1023 / 2);
    assert!(took < Duration::from_millis(50), "{took:?}");
}

#[test]
#[ignore = "a timing, for release builds"]
fn elements_65536_take_less_than_5_s() {
    let n = 65_536usize;
    let mut case = Case::new(GLOBAL_STEPS, "step", 256, 256)
        .value("x", input(n))
        .value("y", vec![0i32; n])
        .value("n", n as i32);
    case.script.steps.clear();
    for (k, d) in (0..16).map(|k| (k, 1 << k)) {
        let (from, to) = if k % 2 == 0 { ("x", "y") } else { ("y", "x") };
        let array = |name: &str| kogge_lab::Arg::Array { name: name.into(), offset: 0 };
        let launch = kogge_lab::Launch::new("step", 256, 256)
            .arg("x", array(from))
            .arg("y", array(to))
            .arg("d", kogge_lab::Arg::Number(d.into()));
        case.script = case.script.launch(launch);
    }
    let (took, report) = time(&case);
    println!("Kogge-Stone in global memory, 65,536 elements: {took:?}");
    assert_eq!(ints(&report.arrays["x"]), inclusive(&input(n)));
    assert!(took < Duration::from_secs(5), "{took:?}");
}

/// Every lesson in one block of up to 1,024 threads.
#[test]
#[ignore = "a timing, for release builds"]
fn a_block_of_1024_threads_of_any_lesson_takes_less_than_50_ms() {
    let block = [("BLOCK".to_owned(), "1024".to_owned())];
    for lesson in lessons() {
        let (took, _) = time_lesson(lesson, 1024, &block, 132);
        println!("{}, 1,024 elements: {took:?}", lesson.name);
        assert!(took < Duration::from_millis(50), "{}: {took:?}", lesson.name);
    }
}

/// Every lesson that claims as many, with 256 resident blocks.
#[test]
#[ignore = "a timing, for release builds"]
fn elements_65536_of_any_lesson_take_less_than_5_s() {
    for lesson in lessons().iter().filter(|l| l.header.sizes.contains(&65_536)) {
        let (took, _) = time_lesson(lesson, 65_536, &[], 256);
        println!("{}, 65,536 elements: {took:?}", lesson.name);
        assert!(took < Duration::from_secs(5), "{}: {took:?}", lesson.name);
    }
}

fn time_lesson(
    lesson: &Lesson,
    n: usize,
    defines: &[(String, String)],
    resident: u32,
) -> (Duration, kogge_lab::Report) {
    let sum = Operator::named("sum", ScalarType::I32).expect("ints have sums");
    let x = Values::I32(input(n));
    let setup = lesson.setup(x.clone(), &sum, defines).expect("the length is claimed");
    let options = Options { resident_blocks: resident, ..setup.options };
    let start = Instant::now();
    let report = kogge_lab::run(&setup.program, &setup.script, &options).expect("it compiles");
    let took = start.elapsed();
    assert!(report.is_clean(), "{}: {:?}", lesson.name, report.findings);
    assert_eq!(report.arrays["y"], sum.scan(&x, lesson.header.kind == Kind::Exclusive));
    (took, report)
}
