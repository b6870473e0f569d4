//! A generic operator written by a user, against the built-in sum over the same bytes.
//!
//! The user has a struct and a closure, and knows nothing of lanes: the composition of affine maps
//! `x ↦ a·x + b` of two `f32`, which doesn't commute. The sum takes the same bytes as `f32`.

use super::copies;
use crate::contender::{Contender, Mode, Role};
use crate::dtype::hash;
use bytemuck::{Pod, Zeroable};
use kogge::ops::{Affine, Compose, Sum};
use kogge::{Operator, from_fn};

/// The user's element: the map `x ↦ a·x + b`.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Pair {
    a: f32,
    b: f32,
}

kogge::element!(Pair);

impl Pair {
    /// A map whose composition with all before it has an exact, known value: factors are ±1, and
    /// the summand leads from one small whole number to the next.
    pub fn element_at(i: u64) -> Self {
        let a = sign(i);
        let before = i.checked_sub(1).map_or(0.0, goal);
        Self { a, b: goal(i) - a * before }
    }

    /// Whether this is the composition of the maps `0..=i`, of which `before` is all but the last.
    pub fn follows(self, before: Option<Self>, i: u64) -> bool {
        let a = before.map_or(1.0, |before| before.a) * sign(i);
        self == Self { a, b: goal(i) }
    }
}

fn sign(i: u64) -> f32 {
    if hash(!i) & 1 == 0 { 1.0 } else { -1.0 }
}

fn goal(i: u64) -> f32 {
    (hash(i) >> 44) as f32
}

/// The operator as a user writes it.
fn users() -> impl Operator<Pair> {
    from_fn(Pair { a: 1.0, b: 0.0 }, |left: Pair, right: Pair| Pair {
        a: left.a * right.a,
        b: left.b * right.a + right.b,
    })
}

/// The user's operator, kogge's own, the sum of the same bytes, a plain loop, and the copies.
// Compiled where it is called, as `suite::affine`.
#[inline]
pub fn contenders(mode: Mode, threads: usize) -> Vec<Contender<'static, Pair>> {
    let mut all = copies::contenders(mode, threads);
    let sequential = |left: Pair, x: Pair| Pair { a: left.a * x.a, b: left.b * x.a + x.b };
    let (closure, built_in) = ("kogge, affine closure", "kogge, built-in affine");
    let (sum, plain) = ("kogge, f32 sum of the same bytes", "sequential Rust loop, affine");
    match mode {
        Mode::Into => all.extend([
            Contender::into(Role::Kogge, closure, threads, |x: &[Pair], y: &mut [Pair]| {
                kogge::inclusive_scan_into(x, y, users()).expect("the lengths are equal");
            }),
            Contender::into(Role::Variant, built_in, threads, |x: &[Pair], y: &mut [Pair]| {
                let (x, y) = (maps(x), maps_mut(y));
                kogge::inclusive_scan_into(x, y, Compose).expect("the lengths are equal");
            }),
            Contender::into(Role::Probe, sum, threads, |x: &[Pair], y: &mut [Pair]| {
                let (x, y) = (bytemuck::cast_slice(x), bytemuck::cast_slice_mut(y));
                kogge::inclusive_scan_into::<f32, _>(x, y, Sum).expect("the lengths are equal");
            })
            .unchecked(),
            Contender::into(Role::Peer, plain, 1, move |x: &[Pair], y: &mut [Pair]| {
                let mut left = Pair { a: 1.0, b: 0.0 };
                for (&x, y) in x.iter().zip(y) {
                    left = sequential(left, x);
                    *y = left;
                }
            }),
        ]),
        Mode::InPlace => all.extend([
            Contender::in_place(Role::Kogge, closure, threads, |y: &mut [Pair]| {
                kogge::inclusive_scan_in_place(y, users());
            }),
            Contender::in_place(Role::Variant, built_in, threads, |y: &mut [Pair]| {
                kogge::inclusive_scan_in_place(maps_mut(y), Compose);
            }),
            Contender::in_place(Role::Probe, sum, threads, |y: &mut [Pair]| {
                kogge::inclusive_scan_in_place::<f32, _>(bytemuck::cast_slice_mut(y), Sum);
            })
            .unchecked(),
            Contender::in_place(Role::Peer, plain, 1, move |y: &mut [Pair]| {
                let mut left = Pair { a: 1.0, b: 0.0 };
                for y in y {
                    left = sequential(left, *y);
                    *y = left;
                }
            }),
        ]),
    }
    all
}

fn maps(x: &[Pair]) -> &[Affine<f32>] {
    bytemuck::cast_slice(x)
}

fn maps_mut(x: &mut [Pair]) -> &mut [Affine<f32>] {
    bytemuck::cast_slice_mut(x)
}
