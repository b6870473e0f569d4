//! Lines and segments of up to some rows, many of which are scanned together: each against the
//! reference by itself, bit for bit, at every length up to a row and some beyond, in every element
//! that has vectors.

use crate::common::{Random, bracket, bracket_pairs, by_reference, odd_u32, same_bits};
use kogge_core::ops::{Max, Min, Sum};
use kogge_core::{Accumulate, Direction, Element, Kind, Operator, Order, bytemuck, from_fn};
use kogge_cpu::{
    Axis, Level, PerPart, Plan, Request, Segments, by_heads, by_key, by_offsets, scan_lines,
    scan_segments_in_place, scan_segments_into,
};
use std::fmt::Debug;

const PIECES: Plan = Plan { threads: 3, tiles_per_piece: 1, stream: false };
const STREAM: Plan = Plan { threads: 1, tiles_per_piece: 1, stream: true };
const PIECES_STREAM: Plan = Plan { threads: 2, tiles_per_piece: 1, stream: true };

/// Elements that are their own accumulators.
trait Own: Element<Accumulator = Self> + Accumulate<Self> + Debug {}

impl<A: Element<Accumulator = A> + Accumulate<A> + Debug> Own for A {}

/// What the reference makes of each segment by itself.
fn want<A: Element, O: Operator<A>>(
    request: &Request<'_, O, A>,
    lens: impl Iterator<Item = usize>,
    input: &[A],
) -> Vec<A> {
    let Request { operator, kind, init, .. } = *request;
    let (mut values, mut start) = (vec![], 0);
    for len in lens {
        let segment = &input[start..start + len];
        values.extend(by_reference(operator, segment, Order::of::<A>(), kind, init).values);
        start += len;
    }
    values
}

/// Segments into another slice that begins anywhere in a cache line, and in place.
fn check<A: Own, O: Operator<A>, S: Segments>(
    name: &str,
    request: &Request<'_, O, A>,
    segments: &S,
    input: &[A],
    want: &[A],
) {
    let level = request.level.name();
    let name = format!("{name}, {:?} {:?} {level} {:?}", request.kind, request.init, request.plan);
    let offset = input.len() % 17;
    let mut output = vec![A::zeroed(); input.len() + 40];
    bytemuck::cast_slice_mut::<A, u8>(&mut output).fill(0xa5);
    let blank = output[0];
    let inside = &mut output[offset..][..input.len()];
    scan_segments_into(request, segments, PerPart::default(), input, inside).unwrap();
    same_bits(&name, inside, want);
    same_bits(&name, &output[..offset], &vec![blank; offset]);
    same_bits(&name, &output[offset + input.len()..], &vec![blank; 40 - offset]);
    // The input ends with its allocation.
    let mut data: Box<[A]> = input.into();
    scan_segments_in_place(request, segments, PerPart::default(), &mut data).unwrap();
    same_bits(&format!("in place {name}"), &data, want);
}

/// Lengths of segments: for each of many limits, up to it.
fn cuts(order: Order, random: &mut Random) -> Vec<(String, Vec<usize>)> {
    let (row, tile) = (order.row(), order.tile());
    let mosts =
        [1, 2, 3, order.chunk() + 1, 9, 20, row / 2, row, row + 2, 2 * row, 4 * row, 11 * row + 3];
    let cut = |(turn, most): (usize, usize)| {
        let longest = [most, 3 * row, tile, tile + row][turn % 4];
        let lens = lens(random, most, longest, 2 * tile + 5 + turn);
        (format!("segments of up to {most}"), lens)
    };
    let mut cuts: Vec<_> = mosts.into_iter().rev().enumerate().map(cut).collect();
    cuts.push(("runs of one length".into(), runs_of_one_length(row)));
    cuts
}

/// Runs of segments of one length, which begin anywhere in lines of the cache.
fn runs_of_one_length(row: usize) -> Vec<usize> {
    let run = |run: usize| {
        let len = [row / 4, row / 2, row][run % 3];
        std::iter::repeat_n(len, 2 * row / len + run % 5).chain([1])
    };
    (0..40).flat_map(run).collect()
}

/// Segments of less than a chunk, of up to a row and of more. They begin and end in pieces, of two
/// rows for Miri, at their boundaries' either side, and a long one is left for all threads.
fn cuts_for_miri(order: Order) -> Vec<(String, Vec<usize>)> {
    let (chunk, row) = (order.chunk(), order.row());
    let short = [1, 2, chunk, chunk + 1, 9, 20, row / 2, row, row / 2];
    let lens = short.into_iter().chain([row + 2, 9, 20, 5 * row + 3, 5]).collect();
    vec![("segments of all lengths".into(), lens)]
}

/// Lengths of segments: up to `most`, now and then a longer one.
fn lens(random: &mut Random, most: usize, longest: usize, elements: usize) -> Vec<usize> {
    let (mut lens, mut left) = (vec![], elements);
    while left > 0 {
        let most = if random.next().is_multiple_of(97) { longest } else { most };
        lens.push((1 + random.next() as usize % most).min(left));
        left -= lens[lens.len() - 1];
    }
    lens
}

/// How segments are given that aren't by offsets: the request, keys and heads, the input, and what
/// is wanted.
type Others<A, O> = fn(&str, &Request<'_, O, A>, (&[u32], &[bool]), &[A], &[A]);

fn by_key_and_heads<A: Own, O: Operator<A>>(
    name: &str,
    request: &Request<'_, O, A>,
    (keys, heads): (&[u32], &[bool]),
    input: &[A],
    want: &[A],
) {
    check(&format!("{name} key"), request, &by_key(keys), input, want);
    check(&format!("{name} heads"), request, &by_heads(heads), input, want);
}

/// Segments of all lengths, by offsets and in the other ways, if they are asked for: those differ
/// in how heads are found alone, so not for every operator, which would take minutes to compile.
fn segments<A: Own, O: Operator<A>>(
    operator: &O,
    init: A,
    mut make: impl FnMut(&mut Random) -> A,
    others: Option<Others<A, O>>,
) {
    let (mut random, order) = (Random(3), Order::of::<A>());
    let cuts = if cfg!(miri) { cuts_for_miri(order) } else { cuts(order, &mut random) };
    for (turn, (name, lens)) in cuts.into_iter().enumerate() {
        let n = lens.iter().sum();
        let input: Vec<A> = (0..n).map(|_| make(&mut random)).collect();
        let keys: Vec<u32> =
            lens.iter().enumerate().flat_map(|(j, &len)| vec![j as u32 % 2; len]).collect();
        let heads: Vec<bool> = (0..n).map(|i| i > 0 && keys[i] != keys[i - 1]).collect();
        let mut offsets = vec![0u32];
        for len in &lens {
            // Empty ones too.
            offsets.extend(vec![offsets[offsets.len() - 1]; offsets.len() % 7 / 6]);
            offsets.push(offsets[offsets.len() - 1] + *len as u32);
        }
        for (k, kind) in [Kind::Inclusive, Kind::Exclusive].into_iter().enumerate() {
            for init in [None, Some(init)] {
                // Miri tries the first and the last.
                if cfg!(miri) && init.is_some() != (k == 1) {
                    continue;
                }
                let request = Request { kind, init, ..Request::new(operator) };
                let want = want(&request, lens.iter().copied(), &input);
                let levels = Level::available();
                for (l, &level) in levels.iter().enumerate() {
                    let plans = [None, Some(PIECES), Some(STREAM), Some(PIECES_STREAM)];
                    let plan = plans[(turn + k + l) % 4];
                    let plan = if cfg!(miri) { Some([PIECES, PIECES_STREAM][k]) } else { plan };
                    let request = Request { level, plan, ..request };
                    let name = format!("{name} by");
                    let by = by_offsets(&offsets);
                    check(&format!("{name} offsets"), &request, &by, &input, &want);
                    if let Some(others) = others
                        && (!cfg!(miri) || k == 0)
                    {
                        others(&name, &request, (&keys, &heads), &input, &want);
                    }
                }
            }
        }
    }
}

/// How lines of a length are scanned, from a slice into another, or in place.
type Way<A, O> = fn(&Request<'_, O, A>, usize, Option<&[A]>, &mut [A]);

/// As lines of an array.
fn as_lines<A: Own, O: Operator<A>>(
    request: &Request<'_, O, A>,
    len: usize,
    input: Option<&[A]>,
    output: &mut [A],
) {
    let line = Axis { len, strides: [1, 1] };
    let outer = [Axis { len: output.len() / len, strides: [len as isize; 2] }];
    let to = output.as_mut_ptr();
    let from = input.map_or(to.cast_const(), <[A]>::as_ptr);
    let per = PerPart::default();
    // SAFETY: the lines are the slices, which are as long as each other.
    unsafe { scan_lines(request, per, from, to, line, &outer, input.is_none()) }.unwrap();
}

/// As segments, which go the same way if offsets are at equal steps.
fn as_segments<A: Own, O: Operator<A>>(
    request: &Request<'_, O, A>,
    len: usize,
    input: Option<&[A]>,
    output: &mut [A],
) {
    let offsets: Vec<u32> = (0..=output.len() / len).map(|line| (line * len) as u32).collect();
    let (segments, per) = (by_offsets(&offsets), PerPart::default());
    match input {
        Some(input) => scan_segments_into(request, &segments, per, input, output),
        None => scan_segments_in_place(request, &segments, per, output),
    }
    .unwrap();
}

/// Contiguous lines of every length up to more than a row. Where they are [segments](as_segments)
/// the code is what segments have been tested by: that of lines takes as long to compile once more.
fn lines<A: Own, O: Operator<A>>(
    way: Way<A, O>,
    operator: &O,
    init: A,
    mut make: impl FnMut(&mut Random) -> A,
) {
    let mut random = Random(5);
    let (chunk, row) = (Order::of::<A>().chunk(), Order::of::<A>().row());
    // For Miri some by masks, some by windows, and some longer than both have them.
    let lens = if cfg!(miri) { vec![chunk + 1, row - 1, row + 2] } else { (1..=row + 2).collect() };
    for len in lens {
        let count = if cfg!(miri) { 2 * row / len + 1 } else { 1 + 2_600 / len };
        let input: Vec<A> = (0..len * count).map(|_| make(&mut random)).collect();
        for turn in 0..4 {
            if cfg!(miri) && turn % 3 != 0 {
                continue;
            }
            let kind = [Kind::Inclusive, Kind::Exclusive][turn % 2];
            let init = [None, Some(init)][turn / 2];
            for level in Level::available() {
                let request = Request { kind, init, level, ..Request::new(operator) };
                let want = want(&request, std::iter::repeat_n(len, count), &input);
                let name = format!("lines of {len}, {kind:?} {init:?} {}", level.name());
                let mut output = vec![init.unwrap_or(input[0]); input.len()];
                way(&request, len, Some(&input), &mut output);
                same_bits(&name, &output, &want);
                let mut data = input.clone();
                way(&request, len, None, &mut data);
                same_bits(&format!("in place {name}"), &data, &want);
            }
        }
    }
}

fn narrow() -> impl Operator<u32> {
    from_fn(1, odd_u32)
}

#[test]
fn segments_of_four_bytes() {
    segments(&narrow(), 5, |random| random.next() as u32 | 1, Some(by_key_and_heads));
}

#[test]
fn segments_of_eight_bytes() {
    segments(&from_fn(0u64, bracket), 5, Random::next, None);
}

#[test]
fn segments_of_pairs() {
    let operator = from_fn([0u32; 2], |x: [u32; 2], y: [u32; 2]| {
        [x[0].wrapping_mul(3).wrapping_add(y[1]), x[1] ^ y[0]]
    });
    segments(&operator, [1, 2], |random| [0; 2].map(|_: u32| random.next() as u32), None);
}

#[test]
fn segments_of_sixteen_bytes() {
    let operator = from_fn([0; 2], bracket_pairs);
    segments(
        &operator,
        [1, 2],
        |random| [0; 2].map(|_: u64| random.next()),
        Some(by_key_and_heads),
    );
    let operator = from_fn([0u32; 4], |x: [u32; 4], y: [u32; 4]| {
        // Written out, since Miri takes many times as long for `std::array::from_fn`.
        let each = |i: usize| x[i].wrapping_mul(3).wrapping_add(y[3 - i]);
        [each(0), each(1), each(2), each(3)]
    });
    segments(&operator, [1; 4], |random| [0; 4].map(|_: u32| random.next() as u32), None);
}

/// Sums of `f64` have the code of brackets of eight bytes, which show more.
#[test]
#[cfg_attr(miri, ignore = "the same unsafe code as for other operators")]
fn segments_of_floats() {
    segments(&Sum, 0.1, |random| random.float() as f32, None);
    segments(&Min, 0.1, |random| random.float(), None);
}

#[test]
#[cfg_attr(miri, ignore = "the same unsafe code as for other operators")]
fn segments_of_integers() {
    segments(&Sum, 9, |random| random.next() as u8, None);
    segments(&Sum, 9, Random::next, None);
    segments(&Min, 9, |random| random.next() as i16, None);
}

#[test]
fn segments_of_integers_in_every_way() {
    segments(&Sum, 9, |random| random.next() as u32, Some(by_key_and_heads));
}

/// Any order gives these bits, but only of operands that are there, the left one first.
#[test]
#[cfg_attr(miri, ignore = "the same unsafe code as for other operators")]
fn extremes_of_floats() {
    let next = |random: &mut Random| {
        [f32::NAN, -f32::NAN, f32::from_bits(0x7fc0_1234), -0.0, 0.0, 1.5, -1.5, f32::MIN]
            [random.next() as usize % 8]
    };
    segments(&Max, -0.0, next, None);
    segments(&Min, f64::NAN, |random| f64::from(next(random)), None);
    lines(as_segments, &Max, f32::NEG_INFINITY, next);
}

/// Sums of `-0.0` are `-0.0` only where nothing else came in, an identity or a neighbour's element.
#[test]
#[cfg_attr(miri, ignore = "the same unsafe code as for other operators")]
fn what_is_not_there_is_skipped() {
    let next = |random: &mut Random| match random.next() % 8 {
        0 => f32::NAN,
        1 => f32::INFINITY,
        2 => 1.5,
        _ => -0.0,
    };
    segments(&Sum, -0.0, next, None);
    lines(as_segments, &Sum, -0.0, next);
}

#[test]
fn lines_of_every_length() {
    lines(as_lines, &narrow(), 5, |random| random.next() as u32 | 1);
    lines(as_segments, &from_fn(0u64, bracket), 5, Random::next);
}

#[test]
#[cfg_attr(miri, ignore = "the same unsafe code as for other operators")]
fn lines_of_numbers() {
    lines(as_segments, &Sum, 0.1, |random| random.float() as f32);
    lines(as_lines, &Sum, 9, |random| random.next() as u32);
    lines(as_segments, &Sum, 9, Random::next);
    lines(as_segments, &Sum, 9, |random| random.next() as u8);
}

/// The other way elements are staged, each line for itself.
#[test]
fn lines_from_the_end() {
    runs_from_the_end(&narrow());
    runs_from_the_end(&Sum);
}

fn runs_from_the_end<O: Operator<u32>>(operator: &O) {
    let runs = if cfg!(miri) { 12 } else { 111 };
    let n = 9 * runs + 1;
    let input: Vec<u32> = (0..n as u64).map(|i| Random(i).next() as u32 | 1).collect();
    let request = Request { direction: Direction::Reverse, ..Request::new(operator) };
    let (mut output, keys) = (vec![0; n], (0..n as u32).map(|i| i / 9).collect::<Vec<u32>>());
    scan_segments_into(&request, &by_key(&keys), PerPart::default(), &input, &mut output).unwrap();
    let mut reversed = input;
    reversed.reverse();
    let lens = std::iter::once(1).chain(std::iter::repeat_n(9, runs));
    let mut want = want(&request, lens, &reversed);
    want.reverse();
    same_bits("reversed", &output, &want);
}
