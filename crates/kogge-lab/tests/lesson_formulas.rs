//! The work and the steps that a lesson's header gives are those that the simulated GPU counts.

mod common;

use common::{operator, run_at};
use kogge_lab::ScalarType;
use kogge_lab::catalogue::{lesson, lessons};

#[test]
fn headers_count_right() {
    let sum = operator("sum", ScalarType::I32);
    for lesson in lessons() {
        let mut compared = 0;
        for n in [1, 2, 3, 4, 7, 8, 12, 16, 31, 32, 33, 64, 100, 128, 256, 512, 777, 1024, 2048] {
            if !lesson.header.sizes.contains(&(n as u64)) {
                continue;
            }
            let (work, steps) = lesson.claims(n as u64, &[]);
            if work.is_empty() && steps.is_empty() {
                continue;
            }
            let report = run_at(lesson, &sum, n, &[]);
            for claim in work {
                assert_eq!(report.work() as i64, claim, "work of {} at N = {n}", lesson.name);
                compared += 1;
            }
            for claim in steps {
                assert_eq!(report.steps() as i64, claim, "steps of {} at N = {n}", lesson.name);
                compared += 1;
            }
        }
        let claims = lesson.header.work.text().or(lesson.header.steps.text());
        assert_eq!(
            compared > 0,
            claims.is_some(),
            "{} claims {claims:?}, compared {compared} times",
            lesson.name
        );
    }
}

/// The textbook's figures, by hand.
#[test]
fn the_classic_figures() {
    let work = |name: &str, n: u64| lesson(name).expect("a lesson").claims(n, &[]).0[0];
    assert_eq!(work("kogge_stone_shared", 16), 16 * 4 - 15);
    assert_eq!(work("brent_kung", 16), 2 * 16 - 2 - 4);
    assert_eq!(work("sklansky", 16), 32);
    assert_eq!(work("ladner_fischer", 16), 31);
    assert_eq!(work("han_carlson", 16), 15 + (8 * 3 - 7));
    assert_eq!(work("blelloch", 16), 30);
    assert_eq!(work("one_thread_per_output", 16), 120);
}
