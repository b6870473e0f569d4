//! Elements of every size and alignment, from none to a kibibyte, and the free monoid.

use crate::common::{Case, MANY, ONE, Random, bracket, bracket_u32, few_lengths, plans};
use kogge_core::bytemuck::{self, Pod, Zeroable};
use kogge_core::{Direction, Element, Kind, Operator, Order, element, from_fn};
use kogge_cpu::{Level, Request, scan_in_place, scan_into};
use std::fmt::Debug;

/// Both kinds, both directions, with and without init, all plans and levels.
fn every_way<A, O>(name: &str, operator: &O, init: A, make: impl FnMut(usize) -> A)
where
    A: Element<Accumulator = A> + Debug,
    O: Operator<A>,
{
    let lengths = few_lengths(Order::of::<A>());
    let input: Vec<A> = (0..*lengths.iter().max().unwrap()).map(make).collect();
    for len in lengths {
        let mut random = Random(len as u64);
        for kind in [Kind::Inclusive, Kind::Exclusive] {
            let direction = [Direction::Forward, Direction::Reverse][random.next() as usize % 2];
            let init = [None, Some(init)][random.next() as usize % 2];
            let request = Request { kind, direction, init, ..Request::new(operator) };
            let case = Case::<A, A, A>::new(name, &input[..len], &request);
            for level in Level::available() {
                for &plan in plans(Order::of::<A>(), len) {
                    case.check(&Request { level, plan: Some(plan), ..request });
                }
            }
        }
    }
}

/// An operator on N bytes that neither associates nor commutes, and mixes all of them.
fn mixing<A: Element>() -> impl Operator<A> {
    from_fn(A::zeroed(), |x: A, y: A| {
        let mut out = x;
        let right = bytemuck::bytes_of(&y);
        let bytes = bytemuck::bytes_of_mut(&mut out);
        for (i, byte) in bytes.iter_mut().enumerate() {
            let other = right[(i + 1) % right.len()];
            *byte = bracket(*byte as u64, other as u64) as u8;
        }
        out
    })
}

fn random<A: Element>(random: &mut Random) -> A {
    let mut value = A::zeroed();
    bytemuck::bytes_of_mut(&mut value).fill_with(|| random.next() as u8);
    value
}

macro_rules! sizes {
    ($($name:ident: $type:ty;)+) => {$(
        #[test]
        fn $name() {
            let mut source = Random(size_of::<$type>() as u64);
            let init = random(&mut source);
            every_way::<$type, _>(stringify!($type), &mixing(), init, |_| random(&mut source));
        }
    )+};
}

/// 16 bytes aligned to 16.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
struct Aligned(u128);

/// A kibibyte.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
struct Page([u64; 128]);

element!(Aligned, Page);

// Words of 4 and 8 bytes, made of parts with weaker and stronger alignment, and what isn't words.
sizes! {
    two_bytes: [u8; 2];
    four_bytes_aligned_to_one: [u8; 4];
    five_bytes: [u8; 5];
    six_bytes_aligned_to_two: [u16; 3];
    eight_bytes_aligned_to_two: [u16; 4];
    twelve_bytes: [u32; 3];
    sixteen_bytes_aligned_to_one: [u8; 16];
    sixteen_bytes_aligned_to_eight: [u64; 2];
    sixteen_bytes_aligned_to_sixteen: Aligned;
    seventeen_bytes: [u8; 17];
    sixty_four_bytes: [u64; 8];
}

#[test]
#[cfg_attr(miri, ignore = "the same unsafe code as for 64 bytes")]
fn a_kibibyte() {
    let mut source = Random(11);
    let init = random(&mut source);
    let operator = from_fn(Page([0; 128]), |x: Page, y: Page| {
        Page(std::array::from_fn(|i| bracket(x.0[i], y.0[127 - i])))
    });
    let len = Order::of::<Page>().tile() * 2 + 33;
    let input: Vec<Page> = (0..len).map(|_| random(&mut source)).collect();
    for (kind, direction) in
        [(Kind::Inclusive, Direction::Forward), (Kind::Exclusive, Direction::Reverse)]
    {
        let request = Request { kind, direction, init: Some(init), ..Request::new(&operator) };
        let case = Case::<Page, Page, Page>::new("pages", &input, &request);
        for &plan in plans(Order::of::<Page>(), len) {
            case.check(&Request { plan: Some(plan), ..request });
        }
    }
}

#[test]
fn no_bytes_at_all() {
    let operator = from_fn([0u8; 0], |_, _| []);
    let len = if cfg!(miri) { 300 } else { 5_000 };
    let input = vec![[0u8; 0]; len];
    for &plan in plans(Order::of::<[u8; 0]>(), len) {
        for direction in [Direction::Forward, Direction::Reverse] {
            let request = Request { plan: Some(plan), direction, ..Request::new(&operator) };
            let mut output = vec![[0u8; 0]; len];
            assert_eq!(scan_into(&request, &input, &mut output).unwrap(), Some([]));
            assert_eq!(scan_in_place(&request, &mut output), Some([]));
        }
    }
}

#[test]
fn nothing_to_scan() {
    let operator = from_fn(0, bracket_u32);
    for level in Level::available() {
        for plan in [Some(ONE), Some(MANY)] {
            for direction in [Direction::Forward, Direction::Reverse] {
                let request = Request { level, plan, direction, ..Request::new(&operator) };
                assert_eq!(scan_in_place::<u32, u32, _>(&request, &mut []), None);
                assert_eq!(scan_into::<u32, u32, u32, _>(&request, &[], &mut []), Ok(None));
                let request = Request { init: Some(9), ..request };
                assert_eq!(scan_in_place::<u32, u32, _>(&request, &mut []), Some(9));
                assert_eq!(scan_into::<u32, u32, u32, _>(&request, &[], &mut []), Ok(Some(9)));
            }
        }
    }
}

/// A string, known by its first seven characters, its last seven, and its length.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
struct Text {
    first: [u8; 7],
    last: [u8; 7],
    len: u16,
}

element!(Text);

impl Text {
    const EMPTY: Self = Self { first: [0; 7], last: [0; 7], len: 0 };

    fn of(string: &[u8]) -> Self {
        let mut text = Self { len: string.len().min(0xffff) as u16, ..Self::EMPTY };
        let known = string.len().min(7);
        text.first[..known].copy_from_slice(&string[..known]);
        text.last[7 - known..].copy_from_slice(&string[string.len() - known..]);
        text
    }

    fn known(&self) -> usize {
        (self.len as usize).min(7)
    }

    fn concat(self, other: Self) -> Self {
        let (left, right) = (self.known(), other.known());
        let mut ends = [0; 14];
        ends[..left].copy_from_slice(&self.first[..left]);
        ends[left..left + right].copy_from_slice(&other.first[..right]);
        let first = Self::of(&ends[..left + right]).first;
        ends[..left].copy_from_slice(&self.last[7 - left..]);
        ends[left..left + right].copy_from_slice(&other.last[7 - right..]);
        let last = Self::of(&ends[..left + right]).last;
        Self { first, last, len: self.len.saturating_add(other.len) }
    }
}

/// Concatenation: against the reference, and the reference against the string itself.
#[test]
fn the_free_monoid() {
    let operator = from_fn(Text::EMPTY, Text::concat);
    let letter = |i: usize| b'a' + (Random(i as u64).next() % 26) as u8;
    every_way("text", &operator, Text::of(b"once upon a time"), |i| match i % 5 {
        0 => Text::EMPTY,
        _ => Text::of(&[letter(i)]),
    });

    let len = if cfg!(miri) { 100 } else { 3 * Order::of::<Text>().tile() + 41 };
    let string: Vec<u8> = (0..len).map(letter).collect();
    let mut texts: Vec<Text> = string.iter().map(|&letter| Text::of(&[letter])).collect();
    let plan = if cfg!(miri) { ONE } else { MANY };
    let request = Request { plan: Some(plan), ..Request::new(&operator) };
    let total = scan_in_place(&request, &mut texts);
    assert_eq!(total, Some(Text::of(&string)));
    for (i, &text) in texts.iter().enumerate() {
        assert_eq!(text, Text::of(&string[..=i]), "at {i}");
    }
}
