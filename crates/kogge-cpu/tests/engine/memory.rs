//! Where values lie, and how large they are: outputs that begin anywhere within a line of the
//! cache, stored past the caches or not, and elements as wide as the engine takes.

use crate::common::{Random, bracket, bracket_u32, bytes, plans};
use kogge_core::{Direction, Element, Kind, Operator, Order, from_fn, reference};
use kogge_cpu::{Level, Plan, Request, scan_into};
use std::fmt::Debug;

const GUARD: usize = 40;

/// Scans into outputs from every offset on, and looks at what lies around them too.
fn anywhere<A: Element<Accumulator = A> + PartialEq + Debug>(
    operator: &impl Operator<A>,
    make: impl Fn(u64) -> A,
    guard: A,
) {
    let order = Order::of::<A>();
    let (row, tile) = (order.row(), order.tile());
    let lengths = if cfg!(miri) {
        vec![row, 2 * row + 1]
    } else {
        vec![row, 2 * row, 3 * row + 1, tile - 1, tile, tile + row, 3 * tile + 5 * row + 7]
    };
    let mut source = Random(5);
    let longest = *lengths.last().expect("there are some");
    let input: Vec<A> = (0..longest).map(|_| make(source.next())).collect();
    for len in lengths {
        for kind in [Kind::Inclusive, Kind::Exclusive] {
            let want = reference::scan(&input[..len], operator, order, kind, None).values;
            for level in Level::available() {
                for offset in (0..=64 / size_of::<A>()).step_by(if cfg!(miri) { 5 } else { 1 }) {
                    for threads in if cfg!(miri) { 1..=1 } else { 1..=2 } {
                        let plan = Some(Plan { threads, tiles_per_piece: 1, stream: true });
                        let request = Request { kind, level, plan, ..Request::new(operator) };
                        let mut output = vec![guard; len + 2 * GUARD];
                        let values = &mut output[offset..offset + len];
                        scan_into(&request, &input[..len], values).expect("equal lengths");
                        let case = format!("{len} at {offset}, {kind:?}, {}", level.name());
                        assert!(bytes(values) == bytes(&want), "{case}, {threads} threads");
                        let around = output[..offset].iter().chain(&output[offset + len..]);
                        assert!(around.into_iter().all(|value| *value == guard), "{case}");
                    }
                }
            }
        }
    }
}

#[test]
fn streamed_outputs_begin_anywhere() {
    anywhere(&from_fn(0, bracket_u32), |bits| bits as u32, 7);
    anywhere(&from_fn(0, bracket), |bits| bits, 7);
}

/// 4096 bytes: what is wider doesn't compile. By threads of a pool, with half the stack that they
/// have by default.
#[test]
#[cfg_attr(miri, ignore = "the same unsafe code as for 64 bytes")]
fn the_widest_elements_fit_the_stack() {
    type Widest = [u64; 512];
    let order = Order::of::<Widest>();
    let operator = from_fn([0; 512], |x: Widest, y: Widest| {
        std::array::from_fn(|i| bracket(x[i], y[511 - i]))
    });
    let mut source = Random(3);
    let input: Vec<Widest> = (0..order.tile() + order.row() + 3)
        .map(|_| std::array::from_fn(|_| source.next()))
        .collect();
    let want = reference::scan(&input, &operator, order, Kind::Inclusive, None).values;
    let pool = rayon::ThreadPoolBuilder::new().stack_size(1 << 20).build().unwrap();
    pool.install(|| {
        for &plan in plans(order, input.len()) {
            let request = Request {
                plan: Some(plan),
                direction: Direction::Forward,
                ..Request::new(&operator)
            };
            let mut output = vec![[0; 512]; input.len()];
            scan_into(&request, &input, &mut output).expect("equal lengths");
            assert!(output == want, "{plan}");
        }
    });
}
