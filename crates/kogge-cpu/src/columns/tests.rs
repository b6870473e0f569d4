//! How lines are cut into strips; and a strip, scanned by one thread and by several together, line
//! by line against the reference. Memory ends where the lines do, so Miri sees each access beyond
//! them.

use super::*;
use crate::Level;
use crate::brackets::{bracket_four, bracket_u16, bracket_u32, bracket_u64, bracket_u64_pair};
use crate::parts::PerPart;
use crate::together::Together;
use kogge_core::{Direction, Kind, bytemuck, from_fn, ops::Sum, reference};
use std::fmt::Debug;

/// Lines side by side, with what else lies between two places.
struct Table<'a, T, A, O> {
    operator: &'a O,
    kind: Kind,
    len: usize,
    count: usize,
    gap: usize,
    input: &'a [T],
    /// One for each line; or none, and totals aren't wanted either.
    inits: Option<&'a [A]>,
    /// Rows that threads tell each other the total of.
    span: usize,
}

impl<T, A, O> Table<'_, T, A, O>
where
    T: Accumulate<A> + Debug,
    A: Element<Accumulator = A> + Debug,
    O: Operator<A>,
{
    fn check<U: Accumulate<A> + Debug>(&self) {
        for level in Level::available() {
            for threads in if self.span == 1 { &[1, 3][..] } else { &[3] } {
                let threads = *threads;
                let mut values: Box<[T]> = self.input.into();
                let to = values.as_mut_ptr();
                let totals = self.scan::<T>(level, to, to, threads, false);
                self.same(&values, self.input, &totals, "in place");
                for (stream, apart) in [(false, 0), (true, 0), (true, 1)] {
                    let blank = vec![U::zeroed(); self.input.len()];
                    let mut values = Values::new(&blank, apart);
                    let to = values.places().as_mut_ptr();
                    let totals = self.scan::<U>(level, self.input.as_ptr(), to, threads, stream);
                    self.same(values.places(), &blank, &totals, "out of place");
                }
            }
        }
    }

    /// Scans the lines, by so many threads if they are more than one, a row of the order each at a
    /// time. Gives the totals.
    fn scan<U: Accumulate<A>>(
        &self,
        level: Level,
        from: *const T,
        to: *mut U,
        threads: usize,
        stream: bool,
    ) -> Vec<A> {
        let Self { operator, kind, len, count, inits, .. } = *self;
        let (direction, plan) = (Direction::Forward, None);
        let request = &Request { operator, kind, direction, init: None, level, plan };
        let mut totals = vec![A::zeroed(); count];
        let wanted = inits.is_some().then_some(&mut totals[..]);
        let parts = &PerPart { inits, totals: wanted }.share(None);
        let columns = Columns { request, parts };
        let strides = [(count + self.gap) as isize; 2];
        let lines = Lines { from, to, strides, len, count, number: 0, beside: 1, stream };
        // SAFETY: the table has such lines, and a total and a value for each element.
        unsafe {
            if threads == 1 {
                columns.strip(&lines, &mut std::array::from_fn(|_| Descent::new()));
            } else {
                let in_place = from.addr() == to.addr();
                Together::by_spans(&columns, &lines, in_place, self.span, 1).run(threads);
            }
        }
        totals
    }

    /// Compares the values of all lines, their totals, and what lies between: that is as it was
    /// `before`.
    fn same<U: Accumulate<A> + Debug>(&self, got: &[U], before: &[U], totals: &[A], how: &str) {
        let mut want = before.to_vec();
        for line in 0..self.count {
            let places = (line..want.len()).step_by(self.count + self.gap);
            let elements: Vec<A> = places.clone().map(|place| self.input[place].widen()).collect();
            let (order, init) = (Order::of::<T>(), self.inits.map(|inits| inits[line]));
            let scan = reference::scan(&elements, self.operator, order, self.kind, init);
            places.zip(scan.values).for_each(|(place, value)| want[place] = U::narrow(value));
            if self.inits.is_none() {
                continue;
            }
            let (total, want) =
                (bytemuck::bytes_of(&totals[line]), bytemuck::bytes_of(&scan.total));
            assert_eq!(total, want, "the total of line {line}, {how}");
        }
        let wrong =
            (0..want.len()).find(|&i| bytemuck::bytes_of(&got[i]) != bytemuck::bytes_of(&want[i]));
        let Self { kind, len, count, gap, .. } = self;
        assert_eq!(wrong, None, "{how}, {kind:?}, {len} places of {count} lines and {gap}");
    }
}

/// Values that begin on a line of the cache, or so many elements behind. Interpreted, they end
/// where the memory does.
struct Values<U> {
    room: Box<[U]>,
    first: usize,
    len: usize,
}

impl<U: Element> Values<U> {
    fn new(values: &[U], apart: usize) -> Self {
        let len = values.len();
        let mut room = vec![U::zeroed(); len + LINE / size_of::<U>() + apart].into_boxed_slice();
        let line = room.as_ptr().align_offset(LINE) + apart;
        let first = if cfg!(miri) { room.len() - len } else { line };
        room[first..first + len].copy_from_slice(values);
        Self { room, first, len }
    }

    fn places(&mut self) -> &mut [U] {
        &mut self.room[self.first..self.first + self.len]
    }
}

/// Tables of some rows of the order, of groups that are whole and not, and narrow ones.
fn every_table<T, U, A, O>(operator: &O, make: impl Fn(u64) -> T)
where
    T: Accumulate<A> + Debug,
    U: Accumulate<A> + Debug,
    A: Element<Accumulator = A> + Debug,
    O: Operator<A>,
{
    let bits = |i: usize| (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    let row = Order::of::<T>().row();
    let page = 4096 / size_of::<T>();
    let tables = [
        (3, 0),
        (LANES + 5, 0),
        (3, 3),
        (8, 0),
        (LANES, 0),
        (3 * LANES, 0),
        (2 * LANES, LANES),
        (2 * LANES, 3),
        // Places that meet in a set of a cache.
        (2 * LANES, page - 2 * LANES),
        // With ends, where values begin behind a line of the cache, and without.
        (5 * LANES, 0),
        (4 * LANES + 3, 2 * LANES - 3),
    ];
    // Interpreted, the first takes long enough; whole groups are among the lines of
    // `tests/lines/along.rs`.
    for &(count, gap) in &tables[..if cfg!(miri) { 1 } else { tables.len() }] {
        let len = if cfg!(miri) { row + 3 } else { 2 * row + 3 };
        let input: Box<[T]> =
            (0..(len - 1) * (count + gap) + count).map(|i| make(bits(i))).collect();
        let inits: Vec<A> = (0..count).map(|line| make(bits(line ^ 77)).widen()).collect();
        for kind in [Kind::Inclusive, Kind::Exclusive] {
            let (input, inits) = (&input[..], Some(&inits[..]));
            Table { operator, kind, len, count, gap, input, inits, span: 1 }.check::<U>();
        }
    }
}

#[test]
fn brackets_side_by_side() {
    let operator = from_fn(0u64, bracket_u64);
    every_table::<u64, u64, u64, _>(&operator, |bits| bits);
}

#[test]
#[cfg_attr(miri, ignore = "the same unsafe code as for other operators")]
fn brackets_of_other_sizes_side_by_side() {
    let operator = from_fn(0u32, bracket_u32);
    every_table::<u32, u32, u32, _>(&operator, |bits| bits as u32);
    let operator = from_fn(0u16, bracket_u16);
    every_table::<u16, u16, u16, _>(&operator, |bits| bits as u16);
    let operator = from_fn([0; 4], bracket_four);
    every_table::<[u32; 4], [u32; 4], [u32; 4], _>(&operator, |bits| {
        [bits as u32, (bits >> 32) as u32, (bits >> 16) as u32, 7]
    });
}

#[test]
#[cfg_attr(miri, ignore = "the same unsafe code as for other operators")]
fn sums_side_by_side() {
    every_table::<i64, i64, i64, _>(&Sum, |bits| bits as i64);
    every_table::<f32, f32, f32, _>(&Sum, |bits| (bits >> 40) as f32 * 0.1 - 3e5);
}

/// The first operand that isn't zero, which is the same in any order, but not of operands that were
/// swapped.
struct First;

impl<T: Element + PartialEq> Operator<T> for First {
    const EXACT: bool = true;

    fn identity(&self) -> T {
        T::zeroed()
    }

    fn combine(&self, left: T, right: T) -> T {
        if left == T::zeroed() { right } else { left }
    }
}

/// Three in four are zeros.
fn mostly_zeros(bits: u64) -> u64 {
    bits * u64::from(bits >> 62 == 0)
}

/// Tables of so many columns and what lies between their rows, of some lengths.
fn tables_in_turn<T, O>(
    operator: &O,
    make: impl Fn(u64) -> T,
    shapes: &[(usize, usize)],
    lens: &[usize],
) where
    T: Accumulate<T> + Element<Accumulator = T> + Debug,
    O: Operator<T>,
{
    let bits = |i: usize| (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    for (&(count, gap), &len) in
        shapes.iter().flat_map(|shape| lens.iter().map(move |len| (shape, len)))
    {
        let places = (len - 1) * (count + gap) + count;
        let input: Box<[T]> = (0..places).map(|i| make(bits(i))).collect();
        let own: Vec<T> = (0..count).map(|line| make(bits(line ^ 77))).collect();
        for kind in [Kind::Inclusive, Kind::Exclusive] {
            for inits in [None, Some(&own[..])] {
                let input = &input[..];
                Table { operator, kind, len, count, gap, input, inits, span: 1 }.check::<T>();
            }
        }
    }
}

/// Strips whose lines go place by place: wide ones with rows of memory a KiB apart, and past the
/// caches such as follow one another.
#[test]
#[cfg_attr(miri, ignore = "the portable level has no vectors of lanes, and goes by groups")]
fn lines_in_turn() {
    fn tables<T, O>(operator: &O, make: impl Fn(u64) -> T)
    where
        T: Accumulate<T> + Element<Accumulator = T> + Debug,
        O: Operator<T>,
    {
        let (wide, row) = (512 / size_of::<T>(), Order::of::<T>().row());
        let shapes = [(wide + 5, wide - 5), (wide, wide), (LANES + 3, 2), (3 * LANES, 0)];
        tables_in_turn(operator, make, &shapes, &[1, 2, 5, 40, row, row + 3]);
    }
    tables::<u32, _>(&First, |bits| mostly_zeros(bits) as u32);
    tables::<u64, _>(&First, mostly_zeros);
    let operator = from_fn(0u32, bracket_u32);
    tables::<u32, _>(&operator, |bits| bits as u32);
    let operator = from_fn(0u64, bracket_u64);
    tables::<u64, _>(&operator, |bits| bits);
}

/// Enough of them that memory is asked for, in place too.
#[test]
#[cfg_attr(miri, ignore = "the portable level has no vectors of lanes, and goes by groups")]
fn lines_in_turn_from_memory() {
    let shape = (8 * LANES + 16, 3);
    let len = (9 << 20) / (size_of::<i32>() * (shape.0 + shape.1));
    tables_in_turn::<u32, _>(&First, |bits| mostly_zeros(bits) as u32, &[shape], &[len]);
    tables_in_turn::<f32, _>(&Sum, |bits| (bits >> 40) as f32 * 0.1 - 3e5, &[shape], &[len]);
}

#[test]
#[cfg_attr(miri, ignore = "the same unsafe code as for other operators")]
fn wider_accumulators_side_by_side() {
    let operator = from_fn(0f64, |x: f64, y: f64| x * 0.75 + y);
    every_table::<f64, f32, f64, _>(&operator, |bits| bits as f64);
}

/// Tables of a single row of the order, which nothing precedes, of every length: several chunks,
/// one, and parts of one.
fn every_single_row<T, O>(operator: &O, make: impl Fn(u64) -> T)
where
    T: Accumulate<T> + Element<Accumulator = T> + Debug,
    O: Operator<T>,
{
    let bits = |i: usize| (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    let (row, page) = (Order::of::<T>().row(), 4096 / size_of::<T>());
    let tables = [
        (2 * LANES, 0),
        (2 * LANES + 5, 0),
        (LANES + 1, 3),
        (2 * LANES, page - 2 * LANES),
        (5 * LANES, 0),
    ];
    for &(count, gap) in if cfg!(miri) { &tables[1..2] } else { &tables[..] } {
        for len in if cfg!(miri) { 19..20 } else { 1..row + 1 } {
            let places = (len - 1) * (count + gap) + count;
            let input: Box<[T]> = (0..places).map(|i| make(bits(i))).collect();
            for kind in [Kind::Inclusive, Kind::Exclusive] {
                let (input, inits) = (&input[..], None);
                Table { operator, kind, len, count, gap, input, inits, span: 1 }.check::<T>();
            }
        }
    }
}

#[test]
fn single_rows_side_by_side() {
    let operator = from_fn(0u32, bracket_u32);
    every_single_row::<u32, _>(&operator, |bits| bits as u32);
    every_single_row::<u32, _>(&First, |bits| mostly_zeros(bits) as u32);
}

#[test]
#[cfg_attr(miri, ignore = "the same unsafe code as for other sizes")]
fn single_rows_of_other_sizes_side_by_side() {
    let operator = from_fn(0u64, bracket_u64);
    every_single_row::<u64, _>(&operator, |bits| bits);
    let operator = from_fn([0; 2], bracket_u64_pair);
    every_single_row::<[u64; 2], _>(&operator, |bits| [bits, bits >> 32]);
    let operator = from_fn(0u16, bracket_u16);
    every_single_row::<u16, _>(&operator, |bits| bits as u16);
}

/// Tables of more than two tiles, whose totals and those of segments are handed over.
#[test]
#[cfg_attr(miri, ignore = "the same unsafe code as by rows, and many of them")]
fn totals_of_segments_and_tiles() {
    let operator = from_fn(0u64, bracket_u64);
    let bits = |i: usize| (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    for count in [2, 3, LANES + 1] {
        let len = Order::of::<u64>().row() * (2 * 64 + 3 * 8 + 5) + 3;
        let input: Box<[u64]> = (0..len * count).map(bits).collect();
        let inits: Vec<u64> = (0..count).map(|line| bits(line ^ 77)).collect();
        for (span, kind) in [(8, Kind::Inclusive), (64, Kind::Exclusive)] {
            let (operator, input, inits, gap) = (&operator, &input[..], Some(&inits[..]), 0);
            Table { operator, kind, len, count, gap, input, inits, span }.check::<u64>();
        }
    }
}

#[test]
fn strips_have_ends_where_values_begin_behind_a_line() {
    let room = vec![0u32; 256];
    let line = room.as_ptr().align_offset(LINE);
    let sections = |behind: usize, count: usize, stride: isize, stream: bool| {
        let (from, to) = (room.as_ptr(), room[line + behind..].as_ptr().cast_mut());
        let strides = [stride; 2];
        let lines = Lines { from, to, strides, len: 1, count, number: 0, beside: 1, stream };
        lines.sections::<u32, Sum>(Level::detect())
    };
    let whole = |lines: usize| [0..lines, lines..lines, lines..lines];
    assert_eq!(sections(0, 64, 64, true), whole(64));
    // Fewer groups, rows that aren't whole lines, values that stay in the caches.
    assert_eq!(sections(4, 48, 64, true), whole(48));
    assert_eq!(sections(4, 80, 88, true), whole(80));
    assert_eq!(sections(4, 80, 80, false), whole(80));
    if Level::detect().run(ByLines::<u32, u32, u32, Sum>::new()) {
        assert_eq!(sections(4, 64, 64, true), [0..12, 12..60, 60..64]);
        assert_eq!(sections(15, 66, 80, true), [0..1, 1..65, 65..66]);
        assert_eq!(sections(0, 67, 80, true), [0..0, 0..64, 64..67]);
    }
    // Fewer values than there are to the next line.
    let (from, to) = ([0u8; 64].as_ptr(), room[line + 2..].as_ptr().cast::<u8>().cast_mut());
    let (strides, count) = ([50; 2], 50);
    let lines = Lines { from, to, strides, len: 1, count, number: 0, beside: 1, stream: true };
    assert_eq!(lines.sections::<u8, Sum>(Level::detect()), whole(50));
}

#[test]
fn threads_have_a_wider_strip_each_where_values_begin_behind_a_line() {
    let strips = |cpu, lines, to| {
        let machine = Machine { threads: 2, cpu, awake: false, apart: false };
        Cut::new(lines, 1, machine, [4, 4], to, (64 << 20, false)).strips()
    };
    assert_eq!([strips(Cpu::Zen4, 128, 64), strips(Cpu::Zen4, 480, 80)], [2, 1]);
    assert_eq!([strips(Cpu::Zen4, 512, 80), strips(Cpu::Mesh, 512, 80)], [2, 1]);
    assert_eq!(strips(Cpu::Zen4, 512, 81), 1, "no value begins with a line");
}

#[test]
fn threads_of_a_zen_3_or_5_have_a_strip_each_of_what_lies_in_a_cache() {
    let strips = |cpu, lines, mib: u64| {
        let machine = Machine { threads: 2, cpu, awake: false, apart: false };
        Cut::new(lines, 1, machine, [4, 4], 64, (mib << 20, false)).strips()
    };
    let zen5 = |lines, mib| strips(Cpu::Zen5, lines, mib);
    for cpu in [Cpu::Zen3, Cpu::Zen5] {
        let near = |lines| strips(cpu, lines, 4);
        assert_eq!([near(16), near(32), near(256)], [1, 2, 2]);
        assert_eq!([near(40), near(200), near(300)], [1, 1, 2], "lines are shared");
    }
    assert_eq!([strips(Cpu::Zen3, 256, 8), strips(Cpu::Zen3, 480, 64)], [1, 1]);
    assert_eq!([zen5(128, 8), zen5(256, 8), zen5(256, 31), zen5(256, 32)], [1, 2, 2, 1]);
    assert_eq!([zen5(512, 32), zen5(300, 8)], [2, 1]);
    assert_eq!([strips(Cpu::Common, 256, 4), strips(Cpu::Zen4, 256, 4)], [1, 1]);
}

#[test]
fn strips_of_a_zen_3_are_wider_in_any_order_and_from_memory() {
    let widest = |cpu, lines, written, exact| {
        let machine = Machine { threads: 2, cpu, awake: false, apart: false };
        Cut::new(lines, 1, machine, [4, 4], 64, (written, exact)).widest()
    };
    let zen3 = |lines, written, exact| widest(Cpu::Zen3, lines, written, exact);
    assert_eq!([zen3(1 << 16, 64 << 20, true), zen3(1 << 16, 64 << 20, false)], [4096, 1024]);
    assert_eq!([zen3(1 << 12, 64 << 20, true), zen3(1 << 10, 64 << 20, true)], [2048, 512]);
    assert_eq!(zen3(1 << 12, 4 << 20, true), zen3(1 << 12, 4 << 20, false), "in a cache");
    assert_eq!([zen3(1 << 16, 4 << 20, true), zen3(1 << 16, 4 << 20, false)], [2048, 1024]);
    assert_eq!(widest(Cpu::Zen5, 1 << 16, 64 << 20, true), 1024);
}

#[test]
fn strips_are_all_lines_once() {
    let room = [0u32; 64];
    for lines in [1, 15, 16, 17, 64, 100, 129, 1_000, 1_024, 4_100, 10_000] {
        for (outer, threads) in [(1, 1), (1, 2), (3, 8), (1_000, 2)] {
            for offset in 0..17 {
                let to = (&raw const room[offset]).addr();
                let cpu = [Cpu::Common, Cpu::Mesh, Cpu::Zen3, Cpu::Zen5][offset / 2 % 4];
                let machine = Machine { threads, cpu, awake: false, apart: false };
                let written = if offset % 2 == 0 { 1 << 20 } else { 64 << 20 };
                let exact = offset / 8 == 0;
                let cut = Cut::new(lines, outer, machine, [4, 4], to, (written, exact));
                let widest = if exact && cpu == Cpu::Zen3 { 16 << 10 } else { 4 << 10 };
                let mut end = 0;
                for strip in 0..cut.strips() {
                    let lines = cut.strip(strip);
                    assert!(lines.start == end && !lines.is_empty(), "{cut:?} {lines:?}");
                    assert!(lines.len() * size_of::<u32>() <= widest, "{cut:?} {lines:?}");
                    end = lines.end;
                }
                assert_eq!(end, lines, "{cut:?}");
            }
        }
    }
}
