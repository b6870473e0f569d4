//! Scans of segments: each against the reference by itself, bit for bit, however the sequence is
//! cut, whoever says so, and on any number of threads.

#[allow(dead_code, reason = "the other tests use the rest")]
mod common;

use common::{
    Random, Wide, bracket, bracket_each, by_reference, bytes, odd_u32, odd_u64, same_bits,
};
use kogge_core::ops::{Max, Sum};
use kogge_core::{
    Accumulate, Compact, Direction, Element, Error, Kind, Operator, Order, bytemuck, f16, from_fn,
};
use kogge_cpu::{
    Level, PerPart, Plan, Request, Segments, by_heads, by_key, by_offsets, scan_segments_in_place,
    scan_segments_into,
};
use std::fmt::Debug;

const PIECE: Plan = Plan { threads: 3, tiles_per_piece: 1, stream: false };
const STREAM: Plan = Plan { threads: 4, tiles_per_piece: 1, stream: true };
const ONE: Plan = Plan { threads: 1, tiles_per_piece: 1, stream: false };

/// Where segments end, from their lengths.
fn offsets(lens: &[usize]) -> Vec<u64> {
    let mut end = 0;
    let ends = lens.iter().map(|&len| {
        end += len as u64;
        end
    });
    std::iter::once(0).chain(ends).collect()
}

/// Lengths that hurt: around the boundaries of every level, mixed with empty ones and long ones.
fn mixes(order: Order) -> Vec<Vec<usize>> {
    let (chunk, row, segment, tile) = (order.chunk(), order.row(), order.segment(), order.tile());
    let mut random = Random(7);
    let mut up_to = |count: usize, most: usize| -> Vec<usize> {
        (0..count).map(|_| (random.next() % (most as u64 + 1)) as usize).collect()
    };
    if cfg!(miri) {
        return vec![vec![0, 3, 0, 3 * chunk, row + 2, 0]];
    }
    vec![
        vec![],
        vec![0],
        vec![0, 0, 0],
        vec![5],
        vec![1; 300],
        vec![chunk; 200],
        // Of one length but for the last.
        (0..900).map(|j| if j < 899 { chunk + 1 } else { 1 }).collect(),
        (0..90).map(|j| if j < 89 { row - 1 } else { chunk }).collect(),
        vec![0, 1, 0, 0, 2, 0],
        vec![chunk - 1, chunk, chunk + 1, row - 1, row, row + 1, 2 * row + 3, segment, segment + 1],
        vec![tile - 1, 1, tile, tile + 1, 2, 0],
        vec![3, 5 * tile + 7, 0, 2 * tile, 1, 4 * tile],
        vec![5 * tile],
        vec![6 * tile, 1, 0],
        up_to(3_000, 2 * chunk),
        up_to(900, row + chunk),
        up_to(60, segment + 5),
        (0..40).flat_map(|j| [if j % 13 == 5 { 3 * tile + j } else { j }, 0, 1]).collect(),
    ]
}

/// What the reference makes of each segment by itself, and the totals.
fn want<T, U, A, O>(
    request: &Request<'_, O, A>,
    lens: &[usize],
    inits: Option<&[A]>,
    input: &[T],
) -> (Vec<U>, Vec<A>)
where
    T: Accumulate<A>,
    U: Accumulate<A>,
    A: Element,
    O: Operator<A>,
{
    let (mut values, mut totals, mut start) = (vec![], vec![], 0);
    for (j, &len) in lens.iter().enumerate() {
        let mut elements: Vec<A> = input[start..start + len].iter().map(|x| x.widen()).collect();
        let init = inits.map_or(request.init, |inits| Some(inits[j]));
        if request.direction == Direction::Reverse {
            elements.reverse();
        }
        let order = Order::of::<T>();
        let mut scan = by_reference(request.operator, &elements, order, request.kind, init);
        if request.direction == Direction::Reverse {
            scan.values.reverse();
        }
        values.extend(scan.values.iter().map(|&value| U::narrow(value)));
        totals.push(scan.total);
        start += len;
    }
    (values, totals)
}

/// One cut by one kind of segments, into and in place, with and without values per segment.
fn check_segments<T, U, A, O, S>(
    name: &str,
    request: &Request<'_, O, A>,
    segments: &S,
    lens: &[usize],
    inits: &[A],
    input: &[T],
) where
    T: Accumulate<A> + Debug,
    U: Accumulate<A> + Debug,
    A: Element + Debug,
    O: Operator<A>,
    S: Segments,
{
    for own in [false, true] {
        let name = format!("{name}, own values: {own}");
        let inits = own.then_some(inits);
        let (values, totals) = want::<T, U, A, O>(request, lens, inits, input);
        let mut output = vec![U::zeroed(); input.len()];
        bytemuck::cast_slice_mut::<U, u8>(&mut output).fill(0xa5);
        let mut got = vec![A::zeroed(); lens.len()];
        let per = PerPart { inits, totals: own.then_some(&mut got[..]) };
        scan_segments_into(request, segments, per, input, &mut output).unwrap();
        same_bits(&name, &output, &values);
        if own {
            same_bits(&format!("totals of {name}"), &got, &totals);
        }
        let mut data = input.to_vec();
        let per = PerPart { inits, totals: own.then_some(&mut got[..]) };
        scan_segments_in_place(request, segments, per, &mut data).unwrap();
        let (values, totals) = want::<T, T, A, O>(request, lens, inits, input);
        same_bits(&format!("in place {name}"), &data, &values);
        if own {
            same_bits(&format!("totals in place of {name}"), &got, &totals);
        }
    }
}

/// All cuts, by all three kinds of segments.
fn check<T, U, A, O>(
    operator: &O,
    init: A,
    mut make: impl FnMut(&mut Random) -> T,
    mut own: impl FnMut(&mut Random) -> A,
) where
    T: Accumulate<A> + Debug,
    U: Accumulate<A> + Debug,
    A: Element + Debug,
    O: Operator<A>,
{
    let mut random = Random(3);
    let levels = Level::available();
    for (turn, lens) in mixes(Order::of::<T>()).into_iter().enumerate() {
        let offsets = offsets(&lens);
        let n = *offsets.last().unwrap() as usize;
        let input: Vec<T> = (0..n).map(|_| make(&mut random)).collect();
        let inits: Vec<A> = lens.iter().map(|_| own(&mut random)).collect();
        // Flags and keys know no empty segments.
        let (some, some_inits): (Vec<usize>, Vec<A>) =
            lens.iter().zip(&inits).filter(|(len, _)| **len > 0).unzip();
        let keys: Vec<u32> =
            some.iter().enumerate().flat_map(|(j, &len)| vec![j as u32 % 3; len]).collect();
        let heads: Vec<bool> =
            (0..n).map(|i| i > 0 && offsets.binary_search(&(i as u64)).is_ok()).collect();
        for (k, kind) in [Kind::Inclusive, Kind::Exclusive].into_iter().enumerate() {
            for (d, direction) in [Direction::Forward, Direction::Reverse].into_iter().enumerate() {
                if cfg!(miri) && k != d {
                    continue;
                }
                let plan = match (turn + k + d) % 4 {
                    0 => Some(PIECE),
                    1 => Some(ONE),
                    2 => Some(STREAM),
                    _ => None,
                };
                let plan = if cfg!(miri) { Some(ONE) } else { plan };
                let level = levels[(turn + 2 * k + d) % levels.len()];
                let init = (turn % 2 == 0).then_some(init);
                let request = Request { operator, kind, direction, init, level, plan };
                let name =
                    format!("cut {turn}, {kind:?}, {direction:?}, {} {plan:?}", level.name());
                let by = by_offsets(&offsets);
                check_segments::<T, U, A, O, _>(&name, &request, &by, &lens, &inits, &input);
                let (name, by) = (format!("{name} by key"), by_key(&keys));
                check_segments::<T, U, A, O, _>(&name, &request, &by, &some, &some_inits, &input);
                let (name, by) = (format!("{name} by heads"), by_heads(&heads));
                check_segments::<T, U, A, O, _>(&name, &request, &by, &some, &some_inits, &input);
            }
        }
    }
}

#[test]
fn brackets() {
    let operator = from_fn(1, odd_u64);
    let next = |random: &mut Random| random.next() | 1;
    check::<u64, u64, u64, _>(&operator, 5, next, next);
}

/// The one operator of tests that any would do for: the engine is compiled for it once.
fn brackets_u32() -> impl Operator<u32> {
    from_fn(1, odd_u32)
}

#[test]
fn brackets_of_four_bytes() {
    let operator = brackets_u32();
    let next = |random: &mut Random| random.next() as u32 | 1;
    check::<u32, u32, u32, _>(&operator, 5, next, next);
    check::<u32, u32, u32, _>(&Compact(operator), 5, next, next);
}

#[test]
#[cfg_attr(miri, ignore = "the same unsafe code as for other operators")]
fn wider_accumulators() {
    let half = |random: &mut Random| f16::from_f64(random.float());
    check::<f16, f32, f32, _>(&Sum, 0.1, half, |random| random.float() as f32);
    check::<u8, u32, u32, _>(&Sum, 9, |random| random.next() as u8, |random| random.next() as u32);
    check::<f16, f16, f32, _>(&Max, 0.1, half, |random| random.float() as f32);
}

/// Elements over 16 bytes: a chunk is one element.
#[test]
fn wide_elements() {
    let operator = from_fn([0u64; 4], |x: [u64; 4], y: [u64; 4]| {
        [bracket(x[0], y[3]), bracket(x[1], y[2]), bracket(x[2], y[1]), bracket(x[3], y[0])]
    });
    let next = |random: &mut Random| [0; 4].map(|_: u64| random.next());
    check::<[u64; 4], [u64; 4], _, _>(&operator, [5, 7, 9, 1], next, next);
}

/// The last segment that starts in a piece ends in the next one, or so far behind that all threads
/// scan it later.
#[test]
fn segments_across_pieces() {
    let operator = from_fn([0; 3], bracket_each);
    let request = Request { plan: Some(PIECE), ..Request::new(&operator) };
    let order = const { Order::of::<Wide>() };
    // As the engine's plans have it.
    let piece = if cfg!(miri) { 2 * order.row() } else { order.tile() };
    let mut random = Random(3);
    let mut wide = || [random.next(), random.next(), random.next()];
    let inits = [wide(), wide(), wide()];
    let input: Vec<Wide> = (0..2 * piece + 15).map(|_| wide()).collect();

    let lens = [5, 2 * piece + 7, 3];
    let ends = offsets(&lens);
    let by = by_offsets(&ends);
    check_segments::<Wide, Wide, _, _, _>("far", &request, &by, &lens, &inits, &input);

    let lens = [piece - 3, 9, 4];
    let input = &input[..piece + 10];
    let heads: Vec<bool> = (0..input.len()).map(|i| i == piece - 3 || i == piece + 6).collect();
    let by = by_heads(&heads);
    check_segments::<Wide, Wide, _, _, _>("near", &request, &by, &lens, &inits, input);
}

/// 4096 bytes, short segments and longer ones, by threads of a pool with the stack that they have
/// by default: without optimisation too, where what is inlined has each of its accumulators in a
/// place of its own.
#[test]
#[cfg_attr(miri, ignore = "the same unsafe code as for smaller ones")]
fn the_widest_elements_fit_the_stack() {
    type Widest = [u64; 512];
    let operator = from_fn([0; 512], |x: Widest, y: Widest| {
        std::array::from_fn(|i| bracket(x[i], y[511 - i]))
    });
    let lens = [[20, 1, 0, 50, 2].as_slice(), &[40; 60]].concat();
    let mut random = Random(3);
    let mut widest = || -> Widest { std::array::from_fn(|_| random.next()) };
    let inits: Vec<Widest> = lens.iter().map(|_| widest()).collect();
    let input: Vec<Widest> = (0..lens.iter().sum()).map(|_: usize| widest()).collect();
    let request = Request { plan: Some(PIECE), ..Request::new(&operator) };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).stack_size(2 << 20).build().unwrap();
    pool.install(|| {
        let ends = offsets(&lens);
        check_segments::<Widest, Widest, _, _, _>(
            "widest",
            &request,
            &by_offsets(&ends),
            &lens,
            &inits,
            &input,
        );
    });
}

/// NaN is no run with itself; -0.0 equals 0.0.
#[test]
fn keys_are_compared_as_their_type_does() {
    let keys = [0.0, -0.0, f32::NAN, f32::NAN, 1.0, 1.0];
    let mut values = [1; 6];
    let operator = brackets_u32();
    let request = Request::new(&operator);
    scan_segments_in_place(&request, &by_key(&keys), PerPart::default(), &mut values).unwrap();
    let two = odd_u32(1, 1);
    assert_eq!(values, [1, two, 1, 1, 1, two]);
}

#[test]
fn what_does_not_fit_is_refused_and_nothing_written() {
    let operator = brackets_u32();
    let request = Request::new(&operator);
    let mut values = [1, 2, 3];
    let mut totals = [0; 3];
    let mut refused = |segments: &dyn Fn(&mut [u32], PerPart<'_, u32>) -> Result<(), Error>,
                       per: PerPart<'_, u32>| {
        let error = segments(&mut values, per).unwrap_err();
        assert_eq!(values, [1, 2, 3]);
        error.to_string()
    };
    let short = |data: &mut [u32], per: PerPart<'_, u32>| {
        scan_segments_in_place(&request, &by_offsets(&[0, 2]), per, data)
    };
    assert_eq!(
        refused(&short, PerPart::default()),
        "the segments cover 2 elements but the input has 3; give one flag or key per element, or \
         a last offset that is the number of elements",
    );
    let falling = |data: &mut [u32], per: PerPart<'_, u32>| {
        scan_segments_in_place(&request, &by_offsets(&[0, 2, 1, 3]), per, data)
    };
    assert_eq!(
        refused(&falling, PerPart::default()),
        "offset 2 is 1, below 2 before it; offsets never fall",
    );
    let keys = |data: &mut [u32], per: PerPart<'_, u32>| {
        scan_segments_in_place(&request, &by_key(&[1, 1, 2]), per, data)
    };
    let per = PerPart { inits: None, totals: Some(&mut totals) };
    assert_eq!(refused(&keys, per), "there are 3 totals for 2 segment(s); give one for each");
    let per = PerPart { inits: Some(&[1]), totals: None };
    assert_eq!(
        refused(&keys, per),
        "there are 1 initial values for 2 segment(s); give one for each",
    );
}

/// The caller's pool does the work, and large inputs are shared out.
#[test]
#[cfg_attr(miri, ignore = "too long")]
fn large_inputs_on_a_pool() {
    let n = 5_000_000usize;
    let lens: Vec<usize> = {
        let mut random = Random(11);
        let mut left = n;
        std::iter::from_fn(|| {
            let len = 1 + (random.next() % (1 << (random.next() % 23))) as usize;
            let len = len.min(left);
            left -= len;
            (len > 0).then_some(len)
        })
        .collect()
    };
    let mut random = Random(12);
    let input: Vec<u32> = (0..n).map(|_| random.next() as u32 | 1).collect();
    let offsets = offsets(&lens);
    let operator = brackets_u32();
    let request = Request::new(&operator);
    let (values, totals) = want::<u32, u32, u32, _>(&request, &lens, None, &input);
    for threads in [1, 2, 5] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let (mut output, mut got) = (vec![0u32; n], vec![0u32; lens.len()]);
        let per = PerPart { inits: None, totals: Some(&mut got) };
        pool.install(|| {
            scan_segments_into(&request, &by_offsets(&offsets), per, &input, &mut output).unwrap()
        });
        assert_eq!(bytes(&output), bytes(&values), "{threads} threads");
        assert_eq!(bytes(&got), bytes(&totals), "{threads} threads");
    }
}

/// In place a piece ends where another thread's begins, and a row begun before it reaches beyond:
/// whose values nobody wants, but which mustn't be read. Miri tells.
#[test]
fn in_place_no_piece_reads_what_belongs_to_another() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    let lens = vec![28; if cfg!(miri) { 24 } else { 2_400 }];
    let input: Vec<u32> = (0..lens.iter().sum()).map(|i: usize| 2 * i as u32 + 1).collect();
    let operator = brackets_u32();
    let request = Request { plan: Some(PIECE), ..Request::new(&operator) };
    let (values, totals) = want::<u32, u32, u32, _>(&request, &lens, None, &input);
    let (mut data, mut got) = (input, vec![0; lens.len()]);
    let per = PerPart { inits: None, totals: Some(&mut got) };
    pool.install(|| scan_segments_in_place(&request, &by_offsets(&offsets(&lens)), per, &mut data))
        .unwrap();
    same_bits("values", &data, &values);
    same_bits("totals", &got, &totals);
}
