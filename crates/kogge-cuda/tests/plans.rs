//! Every size has a plan: batches and lines, elements and segments from 1 to 2^31, in any
//! combination, on devices large and small.

use kogge_core::{Direction, Kind, Problem};
use kogge_cuda::{
    Brackets, Capability, KeyType, LinePlan, LineShape, SegmentSource, Tuning, plan_lines,
    plan_segments,
};

const DEVICES: [Capability; 3] = [
    Capability::H100,
    Capability { compute: (8, 6), multiprocessors: 10, ..Capability::RTX_5090 },
    Capability::RTX_5090,
];

/// Bytes of an element, of an output and of an accumulator.
const SIZES: [[usize; 3]; 6] =
    [[1, 1, 1], [1, 8, 8], [3, 3, 3], [4, 4, 4], [8, 8, 8], [64, 64, 64]];

fn problem([element, output, accumulator]: [usize; 3], len: u64) -> Problem {
    Problem {
        len,
        element_bytes: element,
        output_bytes: output,
        accumulator_bytes: accumulator,
        kind: Kind::Inclusive,
        direction: Direction::Forward,
        in_place: false,
    }
}

/// Powers of two up to 2^31, and one more of those below.
fn lengths() -> impl Iterator<Item = u64> {
    (0..62u32).map(|i| (1 << (i / 2)) + u64::from(i % 2)).chain([1 << 31])
}

#[test]
fn lines_of_every_count_and_length() {
    for device in DEVICES {
        for sizes in SIZES {
            for count in lengths() {
                for len in lengths().step_by(3) {
                    for axis in [0, 1] {
                        let shape = if axis == 1 { [count, len] } else { [len, count] };
                        let shape = LineShape::row_major(&shape, axis).unwrap();
                        let tuning = Tuning::default();
                        let plan = plan_lines(&shape, &problem(sizes, 0), device, &tuning);
                        let plan = plan.unwrap_or_else(|error| panic!("{shape:?}: {error}"));
                        assert!(!plan.to_string().is_empty());
                        // Neighbours in memory go as one line each, whatever the shape.
                        let contiguous = axis == 1 || count == 1 || len == 1;
                        let is = matches!(plan, LinePlan::Contiguous(_));
                        assert_eq!(is, contiguous, "{shape:?}: {plan}");
                    }
                }
            }
        }
    }
}

#[test]
fn segments_of_every_number_and_length() {
    for device in DEVICES {
        for sizes in SIZES {
            for len in lengths() {
                for segments in lengths().step_by(5) {
                    for brackets in [Brackets::Numbered, Brackets::Fixed, Brackets::Any] {
                        for source in [
                            SegmentSource::Offsets { segments, bits: 32 },
                            SegmentSource::Offsets { segments, bits: 64 },
                            SegmentSource::Heads,
                            SegmentSource::Keys(KeyType::Bits64),
                        ] {
                            let tuning = Tuning::default();
                            let problem = problem(sizes, len);
                            let plan = plan_segments(&problem, source, brackets, device, &tuning);
                            let plan = plan.unwrap_or_else(|error| {
                                panic!("{len} elements, {source:?}, {brackets:?}: {error}")
                            });
                            assert!(!plan.to_string().is_empty());
                            let covered = plan.windows * u64::from(plan.window);
                            assert!(covered > len, "{len} elements: {plan}");
                            let marked = plan.marks * u64::from(plan.marked);
                            assert!(marked >= len || plan.one_launch, "{len} elements: {plan}");
                        }
                    }
                }
            }
        }
    }
}
