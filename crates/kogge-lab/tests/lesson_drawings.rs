//! The drawings show what ran: every combination, every prefix, and hazards in red.

mod common;

use common::{mutated, operator, setup};
use kogge_lab::catalogue::{Kind, Lesson, lesson, lessons};
use kogge_lab::draw::{Network, Output, Width, svg, text};
use kogge_lab::{Options, Report, ScalarType, run};

const RED: &str = "#c81e1e";

fn traced(lesson: &Lesson, n: usize) -> Report {
    let sum = operator("sum", ScalarType::I32);
    let setup = setup(lesson, &sum, n, &[]);
    let options = Options { trace: true, ..setup.options };
    run(&setup.program, &setup.script, &options)
        .unwrap_or_else(|error| panic!("{}: {error}", lesson.name))
}

fn network(name: &str, n: usize) -> Network {
    let lesson = lesson(name).expect("a lesson");
    Network::of(&traced(lesson, n), &lesson.header.title).expect("a traced run has a network")
}

#[test]
fn every_lesson_is_drawn_whole() {
    for lesson in lessons() {
        for n in [1, 2, 16, 64] {
            let at = format!("{} at N = {n}", lesson.name);
            let report = traced(lesson, n);
            let network = Network::of(&report, &lesson.header.title)
                .unwrap_or_else(|| panic!("{at}: no network"));
            let combinations = network.rows.iter().flat_map(|row| &row.combinations);
            let times: usize = combinations.clone().map(|combination| combination.times).sum();
            assert_eq!(times as u64, report.work(), "{at}: combinations");
            assert!(!network.has_hazards(), "{at}: {:?}", network.hazards);
            assert_eq!(network.output_name, "y", "{at}");
            let exclusive = lesson.header.kind == Kind::Exclusive;
            for (i, output) in network.outputs.iter().enumerate() {
                let expected = match (exclusive, i as u32) {
                    (true, 0) => Output::Identity,
                    (true, i) => Output::Covers(0, i - 1),
                    (false, i) => Output::Covers(0, i),
                };
                assert_eq!(*output, expected, "{at}: y[{i}]");
            }
            let drawing = svg(&network);
            let boxes = drawing.matches("<rect x").count();
            assert_eq!(boxes, 2 * n + combinations.count(), "{at}: boxes");
            assert!(!drawing.contains(RED), "{at}: red without a hazard");
        }
    }
}

/// Every operand of a box stands in a row above it.
#[test]
fn combinations_stand_below_their_operands() {
    for lesson in lessons() {
        let network = network(&lesson.name, 64);
        let mut reached: Vec<Option<(u32, u32)>> = (0..64).map(|i| Some((i, i))).collect();
        for row in &network.rows {
            let before = reached.clone();
            for combination in &row.combinations {
                if let Some(left) = combination.left {
                    assert!(before[left].is_some(), "{}: {combination:?}", lesson.name);
                }
                reached[combination.column] = combination.covers;
            }
        }
    }
}

#[test]
fn networks_have_their_textbook_depth() {
    assert_eq!(network("kogge_stone_shared", 16).rows.len(), 4);
    assert_eq!(network("kogge_stone_warp", 16).rows.len(), 4);
    assert_eq!(network("brent_kung", 16).rows.len(), 7);
    assert_eq!(network("sklansky", 64).rows.len(), 6);
    assert_eq!(network("ladner_fischer", 64).rows.len(), 6);
    assert_eq!(network("han_carlson", 64).rows.len(), 7);
    assert_eq!(network("sequential", 64).rows.len(), 63);
}

#[test]
fn brent_kung_in_text() {
    let expected = "\
Brent–Kung with contiguous threads, N = 8: work 11, steps 5
input    x0     x1     x2     x3     x4     x5     x6     x7
         │      x0 ↘   │      x2 ↘   │      x4 ↘   │      x6 ↘
step 1   │      x0..x1 │      x2..x3 │      x4..x5 │      x6..x7
         │      │      │      x1 ↘   │      │      │      x5 ↘
step 2   │      │      │      x0..x3 │      │      │      x4..x7
         │      │      │      │      │      │      │      x3 ↘
step 3   │      │      │      │      │      │      │      x0..x7
         │      │      │      │      │      x3 ↘   │      │
step 4   │      │      │      │      │      x0..x5 │      │
         │      │      x1 ↘   │      x3 ↘   │      x5 ↘   │
step 5   │      │      x0..x2 │      x0..x4 │      x0..x6 │
output   x0     x0..x1 x0..x2 x0..x3 x0..x4 x0..x5 x0..x6 x0..x7
";
    assert_eq!(text(&network("brent_kung", 8), Width::Labels, false), expected);
}

#[test]
fn hazards_are_red() {
    let shared = lesson("kogge_stone_shared").expect("a lesson");
    for name in ["no-barrier-before-writes", "no-temporary"] {
        let mutant = shared.mutants.iter().find(|mutant| mutant.name == name).expect("a mutant");
        let report = traced(&mutated(shared, mutant), 64);
        let network = Network::of(&report, "broken").expect("a network");
        assert!(network.has_hazards(), "{name}");
        let red =
            network.rows.iter().flat_map(|row| &row.combinations).filter(|c| c.hazard).count();
        assert!(red > 0, "{name}: no combination is red, for {:?}", report.findings);
        assert!(svg(&network).contains(RED), "{name}");
        assert!(text(&network, Width::Signs, true).contains("\u{1b}[31m"), "{name}");
    }
}

#[cfg(feature = "png")]
#[test]
fn pictures_are_pngs_of_the_right_size() {
    let drawing = svg(&network("sklansky", 16));
    let one = kogge_lab::draw::png(&drawing, 1.0).expect("a picture");
    let two = kogge_lab::draw::png(&drawing, 2.0).expect("a picture");
    let width =
        |png: &[u8]| u32::from_be_bytes(png[16..20].try_into().expect("a PNG has a header"));
    assert_eq!(&one[1..4], b"PNG");
    assert_eq!(width(&two), 2 * width(&one));
    assert!(kogge_lab::draw::png(&drawing, 1e6).is_err());
    assert!(kogge_lab::draw::png("no SVG", 1.0).is_err());
}
