//! Plans of segments over a grid of problems and devices.

use super::*;
use crate::segments::source;
use kogge_core::{Direction, Kind};

const H100: Capability = Capability::H100;

fn problem(len: u64, element: usize, output: usize, accumulator: usize) -> Problem {
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

#[test]
fn windows_are_whole_segments_of_a_tile_at_most() {
    for element in 1..=64 {
        for (output, accumulator) in [(element, element), (4, 8), (element.max(4), 64)] {
            let problem = problem((1 << 30) + 7, element, output, accumulator);
            let order = problem.order();
            let tuning = Tuning::default();
            let plan =
                plan_segments(&problem, SegmentSource::Heads, Brackets::Fixed, H100, &tuning)
                    .unwrap();
            let (window, marked) = (plan.window as usize, plan.marked as usize);
            assert!(window.is_multiple_of(order.segment()) && window <= order.tile(), "{plan}");
            assert!(window.is_multiple_of(marked) && marked <= MOST_MARKED, "{plan}");
            assert!(marked.is_multiple_of(256), "a warp marks whole words of the mask");
            assert!(plan.windows * plan.window as u64 > problem.len, "the end is in a window");
            assert_eq!(plan.marks, problem.len.div_ceil(marked as u64));
            assert!(plan.shared_bytes <= 99 << 10, "{plan}");
        }
    }
}

#[test]
fn small_devices_have_small_windows() {
    let desk = Capability::RTX_5090;
    let problem = problem(1 << 28, 4, 4, 4);
    let plan =
        plan_segments(&problem, SegmentSource::Heads, Brackets::Fixed, desk, &Tuning::default())
            .unwrap();
    assert_eq!((plan.steps, plan.window, plan.residents), (4, 4096, 4));
}

#[test]
fn short_sequences_have_short_windows() {
    let keys = SegmentSource::Keys(KeyType::Bits32);
    let steps = |len, tuning: &Tuning| {
        let plan = plan_segments(&problem(len, 4, 4, 4), keys, Brackets::Fixed, H100, tuning);
        plan.map(|plan| (plan.steps, plan.window, plan.marked)).unwrap()
    };
    let enough = 2 * 132 * 8192;
    let tuning = Tuning::default();
    assert_eq!(steps(enough, &tuning), (8, 8192, 8192));
    assert_eq!(steps(enough - 1, &tuning), (2, 2048, 2048));
    assert_eq!(steps(0, &tuning), (2, 2048, 2048));
    assert_eq!(steps(0, &Tuning { long_windows: 0, ..tuning }), (8, 8192, 8192));
}

#[test]
fn four_bytes_have_several_windows_to_a_multiprocessor() {
    let problem = problem(1 << 28, 4, 4, 4);
    let keys = SegmentSource::Keys(KeyType::Bits32);
    let plan = plan_segments(&problem, keys, Brackets::Numbered, H100, &Tuning::default()).unwrap();
    assert_eq!((plan.windows, plan.window, plan.residents), (32_769, 8192, RESIDENTS));
    assert_eq!((plan.steps, plan.marked, plan.marks, plan.unread_marks), (8, 8192, 32_768, 0));
    assert_eq!(plan.scratch_bytes, (1 << 25) + 32_769 * 16 + 32_768 * 4);
    assert_eq!(plan.lead_bytes, 32_768 * 4096);
    assert!(plan.to_string().starts_with("32769 windows of 8192 elements"), "{plan}");
}

#[test]
fn flags_and_keys_without_numbers_take_one_launch() {
    let tuned = |len, source, brackets, tuning: &Tuning| {
        plan_segments(&problem(len, 4, 4, 4), source, brackets, H100, tuning).unwrap()
    };
    let tuning = Tuning::default();
    let plan = |len, source, brackets| tuned(len, source, brackets, &tuning);
    let stretches = Tuning { stretches_by_key: StretchesByKey::Always, ..tuning };
    for source in [SegmentSource::Keys(KeyType::Bits32), SegmentSource::Heads] {
        let few = plan(1 << 20, source, Brackets::Fixed);
        assert!(few.one_launch && few.scratch_bytes == 0, "{few}");
        assert!(few.to_string().ends_with("; in one launch"), "{few}");
        let numbered = plan(1 << 20, source, Brackets::Numbered);
        assert!(!numbered.one_launch && numbered.scratch_bytes > 0, "{numbered}");
        let slots = few.workspace_bytes - numbered.workspace_bytes;
        assert_eq!(slots, few.windows * HEAD_SLOT);
        assert!(plan(1 << 28, source, Brackets::Fixed).one_launch);
        let many = tuned(1 << 28, source, Brackets::Fixed, &stretches);
        assert!(many.stretches.is_some() && !many.one_launch, "{many}");
        let few = tuned(1 << 20, source, Brackets::Fixed, &stretches);
        assert!(few.stretches.is_none() && few.one_launch, "{few}");
        // Exact operators go in rounds, if there are tiles enough.
        let exact = |tiles: u64| plan(tiles * 8192, source, Brackets::Any);
        assert!(exact(2 * 132).one_launch && exact(2 * 132).exact.is_none());
        assert!(exact(2 * 132 + 1).exact.is_some());
    }
    let offsets = SegmentSource::Offsets { segments: 9, bits: 64 };
    assert!(!plan(1 << 20, offsets, Brackets::Fixed).one_launch);
    assert!(plan(1 << 20, offsets, Brackets::Any).exact.is_some());
}

#[test]
fn what_no_kernel_takes_is_refused() {
    let refused = |problem: Problem, source| {
        let error =
            plan_segments(&problem, source, Brackets::Fixed, H100, &Tuning::default()).unwrap_err();
        assert!(matches!(error, Error::Unsupported(_)), "{error}");
    };
    refused(problem(1, 80, 80, 80), SegmentSource::Heads);
    refused(problem(1, 4, 4, 4), SegmentSource::Offsets { segments: 1, bits: 16 });
    refused(problem(1, 4, 4, 4), SegmentSource::Offsets { segments: 0, bits: 32 });
    refused(problem(u64::MAX / 64, 4, 4, 4), SegmentSource::Heads);
    let nothing = SegmentSource::Offsets { segments: 0, bits: 64 };
    let plan =
        plan_segments(&problem(0, 4, 4, 4), nothing, Brackets::Any, H100, &Tuning::default());
    assert_eq!(plan.unwrap().marks, 0);
}

#[test]
fn exact_operators_take_the_tiles_of_the_sequence() {
    let plan = |len, element, accumulator| {
        let problem = problem(len, element, element, accumulator);
        let source = SegmentSource::Offsets { segments: 1, bits: 64 };
        plan_segments(&problem, source, Brackets::Any, H100, &Tuning::default()).unwrap()
    };
    let sums = plan(1 << 28, 4, 4);
    let exact = sums.exact.unwrap();
    assert_eq!(
        (exact.tiles, exact.grid, exact.ring.stages, exact.ring.lookers),
        (32_768, 132, 6, 1)
    );
    assert_eq!((sums.rounds, sums.lead_bytes), (None, 0), "no window is looked at");
    assert_eq!(sums.to_string(), "32768 tiles with a bit an element, in rounds, 6 stages");
    for (element, tile) in [(1, 32_768), (2, 16_384), (4, 8192), (8, 4096)] {
        let plan = plan(1 << 28, element, element.max(4));
        assert_eq!(
            (plan.marked, plan.unread_marks),
            (tile, 1),
            "tiles with heads are noted: {plan}"
        );
    }
    assert_eq!(plan(1 << 28, 8, 8).exact.unwrap().ring.lookers, 1);
    assert!(plan(5, 1, 4).exact.is_some(), "however short");
    for (element, accumulator) in [(3, 3), (12, 12), (16, 16), (4, 16)] {
        assert_eq!(plan(1 << 20, element, accumulator).exact, None, "{element} {accumulator}");
    }
    assert!(plan(1 << 20, 16, 16).rounds.is_some(), "as others");
}

#[test]
fn exact_operators_by_wide_keys_take_one_launch() {
    let tuned = |element, source, device, tuning: &Tuning| {
        let problem = problem(1 << 28, element, element, element.max(4));
        plan_segments(&problem, source, Brackets::Any, device, tuning).unwrap()
    };
    let tuning = Tuning::default();
    let plan = |element, key| tuned(element, SegmentSource::Keys(key), H100, &tuning);
    for (element, key, stages) in [
        (4, KeyType::Bits32, 5),
        (4, KeyType::F64, 4),
        (2, KeyType::F32, 5),
        (1, KeyType::Bits32, 4),
    ] {
        let plan = plan(element, key);
        let exact = plan.exact.unwrap();
        assert!(plan.one_launch && plan.scratch_bytes == 0, "{plan}");
        assert_eq!((exact.markers, exact.pieces, exact.ring.stages), (4, 2, stages), "{plan}");
        assert!(exact.shared_bytes <= H100.shared_bytes && exact.threads() == 576, "{plan}");
        assert!(plan.to_string().ends_with("4 warps that find heads; in one launch"), "{plan}");
    }
    let two = |plan: SegmentPlan| {
        assert!(!plan.one_launch && plan.scratch_bytes > 0, "{plan}");
        assert_eq!(plan.exact.unwrap().markers, 0, "{plan}");
    };
    two(plan(8, KeyType::Bits32));
    two(plan(4, KeyType::F16));
    two(tuned(4, SegmentSource::Heads, H100, &tuning));
    let keys = SegmentSource::Keys(KeyType::Bits32);
    two(tuned(4, keys, Capability { compute: (8, 0), ..H100 }, &tuning));
    two(tuned(4, keys, H100, &Tuning { markers: 0, ..tuning }));
    // Where a ring would be short beside the keys.
    two(tuned(4, keys, Capability { shared_bytes: 150 << 10, ..H100 }, &tuning));
}

#[test]
fn segments_without_numbers_go_in_stretches() {
    let tuned = |problem, brackets, device, tuning: &Tuning| {
        let source = SegmentSource::Offsets { segments: 1 << 20, bits: 64 };
        plan_segments(&problem, source, brackets, device, tuning).unwrap()
    };
    let plan = |problem, brackets, device| tuned(problem, brackets, device, &Tuning::default());
    let sums = plan(problem(1 << 28, 4, 4, 4), Brackets::Fixed, H100);
    let (stretches, long) = (sums.stretches.unwrap(), sums.rounds.unwrap());
    assert_eq!((stretches.blocks, stretches.residents), (2 * 132, 2));
    assert_eq!((stretches.warps, stretches.rows, stretches.stages), (6, 32, 1));
    assert_eq!((sums.marked, sums.marks, sums.lead_bytes), (2048, 1 << 17, 0));
    assert_eq!((long.shorter, long.tiles), (6144, (1 << 15) + (1 << 28) / 6144 + 1));
    let scratch = sums.scratch();
    assert_eq!((sums.masked, sums.unread_marks, scratch.list), (false, 0, 0), "no mask");
    assert_eq!(scratch.stretches, scratch.list + 16 + long.tiles * 32);
    assert_eq!(scratch.bytes, scratch.stretches + 16 + (32 << 17));
    assert!([scratch.list, scratch.stretches].iter().all(|at| at % 16 == 0));
    assert!(sums.to_string().starts_with("stretches of segments of at most 6144 "), "{sums}");

    // A block has so many windows that each multiprocessor has two blocks, and no more than it has
    // threads.
    assert_eq!(sums.block_marks, 497);
    assert_eq!(plan(problem(1 << 26, 4, 4, 4), Brackets::Fixed, H100).block_marks, 125);
    assert_eq!(plan(problem(1 << 16, 4, 4, 4), Brackets::Fixed, H100).block_marks, 1);
    assert_eq!(plan(problem(1 << 31, 4, 4, 4), Brackets::Fixed, H100).block_marks, 1024);
    // Segments of less than 96 elements on average take a mask, of which a block has room for 2^19
    // bits.
    let short = plan(problem(95 << 20, 4, 4, 4), Brackets::Fixed, H100);
    assert_eq!((short.masked, short.block_marks), (true, 185));
    let enough = plan(problem(96 << 20, 4, 4, 4), Brackets::Fixed, H100);
    assert_eq!((enough.masked, enough.block_marks), (false, 187));
    let very_short = Tuning { unmasked_from: 257, ..Tuning::default() };
    let very_short = tuned(problem(1 << 28, 4, 4, 4), Brackets::Fixed, H100, &very_short);
    assert_eq!((very_short.masked, very_short.block_marks), (true, 256));
    for (plan, how) in [(&sums, "along their offsets"), (&very_short, "with a bit an element")] {
        assert!(plan.to_string().contains(how), "{plan}");
    }
    // Fewer warps have time enough for longer segments, of four bytes, where memory isn't as fast
    // as an H200's.
    let of = |problem, device| {
        let stretches = plan(problem, Brackets::Fixed, device).stretches.unwrap();
        (stretches.warps, stretches.rows)
    };
    let warps = |problem| of(problem, H100);
    let clocked = |memory_bytes_per_cycle| Capability { memory_bytes_per_cycle, ..H100 };
    for (bytes, warps) in [(0, 8), (1, 6), (15, 6), (16, 8)] {
        assert_eq!(of(problem(160 << 20, 4, 4, 4), clocked(bytes)).0, warps, "{bytes} a cycle");
    }
    assert_eq!(of(problem(160 << 20, 4, 4, 4), Capability::H200), (8, 24));
    assert_eq!(warps(problem(159 << 20, 4, 4, 4)), (8, 24));
    assert_eq!(warps(problem(160 << 20, 4, 4, 4)), (6, 32));
    assert_eq!(warps(problem(160 << 20, 8, 8, 8)), (8, 24));
    assert_eq!(warps(problem(160 << 20, 2, 2, 4)), (8, 24));
    assert_eq!(warps(problem(160 << 20, 16, 16, 16)), (8, 24));
    // What goes over three whole windows without a head is longer than 6,144.
    assert_eq!(very_short.unread_marks, 3);
    assert!(very_short.scratch().list > very_short.scratch().windows);
    // Tiles of long segments are of all lengths.
    assert_eq!((long.ring.lookers, long.ring.ahead), (2, 2));
    let small = Capability::A100;
    let few = plan(problem(1 << 28, 4, 4, 4), Brackets::Fixed, small).stretches.unwrap();
    assert_eq!((few.residents, few.rows), (2, 8), "two blocks rather than 24 rows");

    // A stretch begins in 2,048 positions, and there is room for 16 warps on each multiprocessor.
    let enough = 12 * 16 * 132 * 2048;
    let by = |len| plan(problem(len, 4, 4, 4), Brackets::Fixed, H100);
    assert!(by(enough).stretches.is_some());
    let fewer = by(enough - 2048);
    assert_eq!((fewer.stretches, fewer.rounds), (None, None), "windows, all of them");
    let never = Tuning { stretches_per_warp: u32::MAX, ..Tuning::default() };
    assert_eq!(tuned(problem(1 << 30, 4, 4, 4), Brackets::Fixed, H100, &never).stretches, None);
    let any = Tuning { stretches_per_warp: 0, ..Tuning::default() };
    let few = tuned(problem(5000, 4, 4, 4), Brackets::Fixed, H100, &any).stretches.unwrap();
    assert_eq!(few.blocks, 1, "no more than there can be stretches for");
    let numbered = plan(problem(1 << 28, 4, 4, 4), Brackets::Numbered, H100);
    assert_eq!((numbered.stretches, numbered.rounds), (None, None), "by windows");
    assert_eq!(plan(problem(1 << 28, 24, 24, 24), Brackets::Fixed, H100).stretches, None);
    let desk = Capability::RTX_5090;
    for bytes in 1..=16 {
        for device in [H100, desk] {
            let plan = plan(problem(1 << 28, bytes, bytes, bytes), Brackets::Fixed, device);
            let stretches = plan.stretches.unwrap();
            let taken = stretches.residents * (stretches.shared_bytes + RESERVED);
            assert!(taken <= device.shared_bytes, "{bytes}: {plan}");
        }
    }
}

#[test]
fn long_segments_go_in_rounds_beside_windows_if_they_are_long_on_average() {
    let plan = |segments, element| {
        let (problem, device) = (problem(1 << 28, element, element, element), H100);
        let source = SegmentSource::Offsets { segments, bits: 64 };
        plan_segments(&problem, source, Brackets::Numbered, device, &Tuning::default()).unwrap()
    };
    assert_eq!(plan((1 << 12) + 1, 4).rounds, None);
    assert!(plan(1 << 12, 4).rounds.is_some(), "eight tiles on average");
    let long = plan(1 << 10, 4).rounds.unwrap();
    assert_eq!((long.tile, long.shorter, long.grid), (8192, 1024, 132));
    // A tile may be cut short in each window, and the last may be empty.
    assert_eq!(long.tiles, 2 * (1 << 15) + 1);
    let scratch = plan(1 << 10, 4).scratch();
    assert_eq!(scratch.first, scratch.windows + 32_769 * 16);
    assert_eq!(scratch.bytes, scratch.list + 16 + long.tiles * 32);
    assert!(
        [scratch.first, scratch.cut, scratch.covers, scratch.list].iter().all(|at| at % 16 == 0)
    );
    assert!(plan(1 << 10, 4).to_string().ends_with("in rounds, 6 stages"));
    assert!(plan(1, 16).rounds.is_some());
    assert_eq!(plan(1, 32).rounds, None, "more than registers hold");
}

#[test]
fn one_kernel_marks_sequences_of_all_lengths() {
    let of = SegmentSource::Offsets { segments: 1 << 10, bits: 64 };
    for masked in [false, true] {
        let unmasked_from = if masked { u32::MAX } else { 0 };
        let [short, long] = [1 << 27, 1 << 28].map(|len| {
            let tuning = Tuning { unmasked_from, ..Tuning::default() };
            plan_segments(&problem(len, 4, 4, 4), of, Brackets::Fixed, H100, &tuning).unwrap()
        });
        assert_eq!((short.masked, long.masked), (masked, masked));
        let block = |plan: &SegmentPlan| source::mark_block(of, plan, plan.block_marks).1;
        assert!(short.block_marks < long.block_marks);
        assert_eq!(block(&short) < block(&long), masked, "room for the mask alone differs");
        assert_eq!(long.block_marks == most_block_marks(short.marked, masked), masked);
        let text = |plan| source::mark(of, Direction::Forward, plan);
        assert_eq!(text(&short), text(&long));
    }
}

#[test]
fn l2_is_told_what_to_keep_of_long_sequences_where_that_was_measured() {
    let keeps = |len: u64, element: usize, device| {
        let problem = problem(len, element, element, element);
        let plan = |source, brackets| {
            plan_segments(&problem, source, brackets, device, &Tuning::default()).unwrap().keeps
        };
        let offsets = SegmentSource::Offsets { segments: 1 << 20, bits: 64 };
        let all = [Brackets::Any, Brackets::Fixed, Brackets::Numbered]
            .map(|brackets| [offsets, SegmentSource::Heads].map(|source| plan(source, brackets)));
        assert!(all.as_flattened().iter().all(|&one| one == all[0][0]), "{len} {element}");
        all[0][0]
    };
    let desk = Capability::RTX_5090;
    assert!(keeps(1 << 26, 4, H100) && keeps(1 << 28, 1, H100) && keeps(1 << 25, 8, H100));
    assert!(!keeps((1 << 26) - 1, 4, H100) && !keeps(1 << 26, 1, H100));
    assert!(!keeps(1 << 28, 4, desk));
}
