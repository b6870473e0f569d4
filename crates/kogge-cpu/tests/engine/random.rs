//! Random lengths, data, requests and plans, shrunk by proptest when one fails.

use crate::common::{Nonblocking, Random, bracket, bracket_pairs, bracket_u8, bracket_u32, check};
use kogge_core::ops::Sum;
use kogge_core::{Accumulate, Direction, Element, Kind, Operator, bf16, from_fn};
use kogge_cpu::{Level, Plan, Request};
use proptest::prelude::*;
use std::fmt::Debug;

/// A request without its operator.
#[derive(Clone, Copy, Debug)]
struct Ask {
    len: usize,
    seed: u64,
    kind: Kind,
    direction: Direction,
    init: bool,
    level: Level,
    plan: Option<Plan>,
}

fn plans() -> impl Strategy<Value = Option<Plan>> {
    let plan = (1..9usize, 1..40usize, any::<bool>())
        .prop_map(|(threads, tiles_per_piece, stream)| Plan { threads, tiles_per_piece, stream });
    prop::option::weighted(0.9, plan)
}

fn asks() -> impl Strategy<Value = Ask> {
    let len = prop_oneof![4 => 0..3_000usize, 4 => 0..40_000usize, 1 => 0..400_000usize];
    let kind = prop_oneof![Just(Kind::Inclusive), Just(Kind::Exclusive)];
    let direction = prop_oneof![2 => Just(Direction::Forward), 1 => Just(Direction::Reverse)];
    let level = prop::sample::select(Level::available());
    (len, any::<u64>(), kind, direction, any::<bool>(), level, plans()).prop_map(
        |(len, seed, kind, direction, init, level, plan)| Ask {
            len,
            seed,
            kind,
            direction,
            init,
            level,
            plan,
        },
    )
}

impl Ask {
    fn check<T, U, A, O>(self, operator: &O, init: A, mut make: impl FnMut(&mut Random) -> T)
    where
        T: Accumulate<A> + Debug,
        U: Accumulate<A> + Debug,
        A: Element + Debug,
        O: Operator<A>,
    {
        let Self { len, seed, kind, direction, level, plan, .. } = self;
        let mut random = Random(seed);
        let input: Vec<T> = (0..len).map(|_| make(&mut random)).collect();
        let init = self.init.then_some(init);
        let request = Request { operator, kind, direction, init, level, plan };
        check::<T, U, A, O>("random", &input, &request);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn brackets_of_one_byte(ask in asks()) {
        let operator = from_fn(0, bracket_u8);
        ask.check::<u8, u8, u8, _>(&operator, 5, |random| random.next() as u8);
    }

    #[test]
    fn brackets_of_four_bytes(ask in asks()) {
        let operator = Nonblocking(from_fn(0, bracket_u32));
        ask.check::<u32, u32, u32, _>(&operator, 5, |random| random.next() as u32);
    }

    #[test]
    fn brackets_of_eight_bytes(ask in asks()) {
        let operator = from_fn(0u64, bracket);
        ask.check::<u64, u64, u64, _>(&operator, 5, Random::next);
    }

    #[test]
    fn brackets_of_sixteen_bytes(ask in asks()) {
        let operator = from_fn([0; 2], bracket_pairs);
        ask.check::<[u64; 2], [u64; 2], _, _>(&operator, [5, 7], |random| {
            [random.next(), random.next()]
        });
    }

    #[test]
    fn float_sums(ask in asks()) {
        ask.check::<f32, f32, f32, _>(&Sum, 0.1, |random| random.float() as f32);
        ask.check::<f32, f64, f64, _>(&Sum, 0.1, |random| random.float() as f32);
        ask.check::<bf16, f32, f32, _>(&Sum, 0.1, |random| bf16::from_f64(random.float()));
    }
}
