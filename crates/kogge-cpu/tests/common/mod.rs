//! What all tests of the engine share: data that hurt, lengths that hurt, and the comparison of one
//! call with the scalar reference, bit for bit.

use kogge_core::{
    Accumulate, Direction, Element, Kind, Operator, Order, bytemuck, from_fn, reference,
};
use kogge_cpu::{Level, Plan, Request, scan_in_place, scan_into};
use std::fmt::Debug;

/// A small deterministic generator, so that failures repeat.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        // SplitMix64 (Steele, Lea, Flood 2014).
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A float of very mixed magnitude, so that every change of order shows.
    pub fn float(&mut self) -> f64 {
        let mantissa = (self.next() >> 11) as f64 / (1u64 << 53) as f64 - 0.5;
        mantissa * 2f64.powi((self.next() % 24) as i32 - 12)
    }
}

/// x ∘ y = 3x + y isn't associative: equal values mean equal brackets. It doesn't commute either.
///
/// Named functions, so that the engine is compiled for each of them once, whoever scans with it.
pub fn bracket(x: u64, y: u64) -> u64 {
    x.wrapping_mul(3).wrapping_add(y)
}

pub fn bracket_u32(x: u32, y: u32) -> u32 {
    x.wrapping_mul(3).wrapping_add(y)
}

/// 3x + y + 1, which isn't associative either; of odd numbers an odd one. So it sees values that
/// aren't there: whatever fills lanes up, an operator may panic at others.
pub fn odd_u32(x: u32, y: u32) -> u32 {
    assert!(x & y & 1 == 1, "an operand is no element, nor made of any");
    bracket_u32(x, y).wrapping_add(1)
}

/// As [`odd_u32`].
pub fn odd_u64(x: u64, y: u64) -> u64 {
    assert!(x & y & 1 == 1, "an operand is no element, nor made of any");
    bracket(x, y).wrapping_add(1)
}

pub fn bracket_u8(x: u8, y: u8) -> u8 {
    x.wrapping_mul(3).wrapping_add(y)
}

/// Across: the first of one with the second of the other.
pub fn bracket_pairs(x: [u64; 2], y: [u64; 2]) -> [u64; 2] {
    [bracket(x[0], y[1]), bracket(x[1], y[0])]
}

/// 24 bytes: a tile of 2,048 elements, the smallest, so that few elements make many tiles.
pub type Wide = [u64; 3];

/// Written out, since Miri takes many times as long for `std::array::from_fn`.
pub fn bracket_each(x: Wide, y: Wide) -> Wide {
    [bracket(x[0], y[0]), bracket(x[1], y[1]), bracket(x[2], y[2])]
}

/// An operator that says that it waits for nobody, so that in place too one thread leads.
pub struct Nonblocking<O>(pub O);

impl<A: Element, O: Operator<A>> Operator<A> for Nonblocking<O> {
    const EXACT: bool = O::EXACT;
    const NONBLOCKING: bool = true;
    fn identity(&self) -> A {
        self.0.identity()
    }
    #[inline(always)]
    fn combine(&self, left: A, right: A) -> A {
        self.0.combine(left, right)
    }
}

pub const ONE: Plan = Plan { threads: 1, tiles_per_piece: 1, stream: false };
pub const STREAM: Plan = Plan { threads: 1, tiles_per_piece: 1, stream: true };
pub const MANY: Plan = Plan { threads: 5, tiles_per_piece: 1, stream: false };
pub const MANY_STREAM: Plan = Plan { threads: 3, tiles_per_piece: 3, stream: true };

/// What a scan of so many elements is worth trying with. One thread under Miri, so that it can be
/// asked for strict provenance, which rayon's queues don't keep; `threads.rs` is run without.
pub fn plans(order: Order, len: usize) -> &'static [Plan] {
    match (cfg!(miri), len <= order.tile()) {
        (true, _) => [&[ONE], &[STREAM]][len % 2],
        (false, true) => &[ONE, STREAM],
        (false, false) => &[ONE, STREAM, MANY, MANY_STREAM],
    }
}

/// Lengths around the boundaries of every level, for an order.
pub fn lengths(order: Order) -> Vec<usize> {
    if cfg!(miri) {
        return lengths_for_miri(order);
    }
    let mut lengths: Vec<usize> = (0..=order.row() + order.chunk() + 1).collect();
    for level in [order.row(), order.segment(), order.tile()] {
        for multiple in [1, 2, 3, 4, 5, 7, 8, 9] {
            lengths.extend([-1, 0, 1].map(|offset| {
                (level * multiple).checked_add_signed(offset).expect("a level is not empty")
            }));
        }
    }
    lengths.extend([
        order.tile() * 31 + 5,
        order.block() - 1,
        order.block(),
        order.block() + order.row() + 3,
    ]);
    lengths.sort_unstable();
    lengths.dedup();
    lengths
}

/// Few and short: Miri interprets, a thousand times slower. Batches of rows and what is left of
/// them for all, whole segments where they have 512 elements or fewer; `threads.rs` crosses tiles.
fn lengths_for_miri(order: Order) -> Vec<usize> {
    let row = order.row();
    let mut lengths = vec![0, order.chunk() + 1];
    match order.chunk() {
        1 => lengths.extend([row + 1, order.segment() + row + 1]),
        2 => lengths.extend([5 * row + 3, order.segment() + 1]),
        3..=5 => lengths.push(5 * row + 3),
        _ => lengths.push(row + 3),
    }
    lengths
}

/// Fewer lengths, for what only varies the types: each level entered, crossed and left.
pub fn few_lengths(order: Order) -> Vec<usize> {
    if cfg!(miri) {
        return vec![order.row() + order.chunk() + 1];
    }
    let (row, segment, tile) = (order.row(), order.segment(), order.tile());
    vec![
        1,
        order.chunk() + 1,
        row + 1,
        3 * row,
        segment + 5 * row + 1,
        tile - 1,
        3 * tile + row + 3,
    ]
}

pub fn bytes<T: Element>(values: &[T]) -> &[u8] {
    bytemuck::cast_slice(values)
}

pub fn same_bits<T: Element + Debug>(name: &str, got: &[T], want: &[T]) {
    assert_eq!(got.len(), want.len(), "{name}");
    if bytes(got) != bytes(want) {
        let at = (0..want.len()).find(|&i| bytes(&got[i..=i]) != bytes(&want[i..=i])).unwrap();
        panic!("{name}: at {at} of {}: {:?} instead of {:?}", want.len(), got[at], want[at]);
    }
}

/// Room for a slice that begins at any element, with a margin that nobody may touch.
struct Margins<T> {
    room: Vec<T>,
    start: usize,
    len: usize,
}

impl<T: Element> Margins<T> {
    const WIDTH: usize = 16;
    const BYTE: u8 = 0xa5;

    fn new(len: usize, offset: usize) -> Self {
        let mut room = vec![T::zeroed(); len + 2 * Self::WIDTH];
        bytemuck::cast_slice_mut(&mut room).fill(Self::BYTE);
        Self { room, start: offset % Self::WIDTH, len }
    }

    fn holding(values: &[T], offset: usize) -> Self {
        let mut margins = Self::new(values.len(), offset);
        margins.inside().copy_from_slice(values);
        margins
    }

    fn inside(&mut self) -> &mut [T] {
        &mut self.room[self.start..][..self.len]
    }

    /// That the margins are as they were.
    fn check(&self, name: &str) {
        let (before, rest) = self.room.split_at(self.start);
        let untouched = |margin| bytes::<T>(margin).iter().all(|&byte| byte == Self::BYTE);
        assert!(untouched(before), "{name}: written before the slice");
        assert!(untouched(&rest[self.len..]), "{name}: written behind the slice");
    }
}

/// One request against the reference.
pub fn check<T, U, A, O>(name: &str, input: &[T], request: &Request<'_, O, A>)
where
    T: Accumulate<A> + Debug,
    U: Accumulate<A> + Debug,
    A: Element + Debug,
    O: Operator<A>,
{
    Case::<T, U, A>::new(name, input, request).check(request);
}

/// The reference, compiled once for all operators on one type.
pub fn by_reference<A: Element, O: Operator<A>>(
    operator: &O,
    elements: &[A],
    order: Order,
    kind: Kind,
    init: Option<A>,
) -> reference::Scanned<A> {
    let combine: &(dyn Fn(A, A) -> A + Sync) = &|x, y| operator.combine(x, y);
    reference::scan(elements, &from_fn(operator.identity(), combine), order, kind, init)
}

/// An input with what the reference makes of it.
pub struct Case<'a, T, U, A> {
    name: &'a str,
    input: &'a [T],
    want: Vec<U>,
    want_in_place: Vec<T>,
    total: Option<A>,
}

impl<'a, T, U, A> Case<'a, T, U, A>
where
    T: Accumulate<A> + Debug,
    U: Accumulate<A> + Debug,
    A: Element + Debug,
{
    pub fn new<O: Operator<A>>(name: &'a str, input: &'a [T], request: &Request<'_, O, A>) -> Self {
        let Request { operator, kind, direction, init, .. } = *request;
        let reversed = |values: &mut [A]| {
            if direction == Direction::Reverse {
                values.reverse();
            }
        };
        let mut elements: Vec<A> = input.iter().map(|&x| x.widen()).collect();
        reversed(&mut elements);
        let mut scan = by_reference(operator, &elements, Order::of::<T>(), kind, init);
        reversed(&mut scan.values);
        Self {
            name,
            input,
            want: scan.values.iter().map(|&value| U::narrow(value)).collect(),
            want_in_place: scan.values.iter().map(|&value| T::narrow(value)).collect(),
            total: (!input.is_empty() || init.is_some()).then_some(scan.total),
        }
    }

    /// The engine by this level and plan, out of place and in place, at slices that begin at any
    /// element of their allocations. The rest of the request must be that of `new`.
    pub fn check<O: Operator<A>>(&self, request: &Request<'_, O, A>) {
        let len = self.input.len();
        let name = format!("{}, {len} elements, {:?}", self.name, Shown(request));
        let mut from = Margins::holding(self.input, len / 3);
        let mut to = Margins::<U>::new(len, len);
        let total = scan_into(request, from.inside(), to.inside()).unwrap();
        same_bits(&name, to.inside(), &self.want);
        same_bits(&format!("total of {name}"), total.as_slice(), self.total.as_slice());
        same_bits(&format!("input of {name}"), from.inside(), self.input);
        to.check(&name);

        let name = format!("in place {name}");
        let total = scan_in_place(request, from.inside());
        same_bits(&name, from.inside(), &self.want_in_place);
        same_bits(&format!("total of {name}"), total.as_slice(), self.total.as_slice());
        from.check(&name);
    }
}

/// All lengths on one thread, and the long ones by many. Those of about a block are tried at one
/// level each, since all levels make blocks of tiles in the same way.
pub fn sweep<T, A, O>(name: &str, operator: &O, init: A, mut make: impl FnMut(usize) -> T)
where
    T: Accumulate<A> + Debug,
    A: Element + Debug,
    O: Operator<A>,
{
    let order = Order::of::<T>();
    let longest = *lengths(order).last().unwrap();
    let input: Vec<T> = (0..longest).map(&mut make).collect();
    for length in lengths(order) {
        // Every length has one variant; all variants come up at all levels of the order.
        let variant = Random(length as u64).next() as usize;
        let kind = [Kind::Inclusive, Kind::Exclusive][variant % 2];
        let direction = [Direction::Forward, Direction::Forward, Direction::Reverse][variant % 3];
        let init = [None, Some(init)][variant / 8 % 2];
        let request = Request { kind, direction, init, ..Request::new(operator) };
        let case = Case::<T, T, A>::new(name, &input[..length], &request);
        let mut levels = Level::available();
        if length > 10 * order.tile() {
            levels = vec![levels[variant / 16 % levels.len()]];
        }
        for level in levels {
            for &plan in plans(order, length) {
                case.check(&Request { level, plan: Some(plan), ..request });
            }
        }
    }
}

/// What of a request is worth printing.
struct Shown<'a, 'b, O, A>(&'a Request<'b, O, A>);

impl<O, A> Debug for Shown<'_, '_, O, A> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Request { kind, direction, init, level, plan, .. } = self.0;
        let init = if init.is_some() { "with init" } else { "without init" };
        write!(f, "{kind:?} {direction:?} {init} {} {plan:?}", level.name())
    }
}
