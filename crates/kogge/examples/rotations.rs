//! Orientation from many small turns: quaternions, composed.
//!
//! Hamilton's product of unit quaternions composes rotations; it is associative and not
//! commutative.

use kogge::{Element, inclusive_scan, operator};

/// A rotation as a unit quaternion `w + xi + yj + zk`.
#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
pub struct Rotation {
    /// The cosine of half the angle.
    pub w: f32,
    /// The axis times the sine of half the angle: x.
    pub x: f32,
    /// y.
    pub y: f32,
    /// z.
    pub z: f32,
}

impl Rotation {
    /// By this angle around a unit axis.
    pub fn around([x, y, z]: [f32; 3], angle: f32) -> Self {
        let (sine, cosine) = (angle / 2.0).sin_cos();
        Self { w: cosine, x: x * sine, y: y * sine, z: z * sine }
    }
}

/// The left rotation, then the right one.
#[operator(identity = Rotation { w: 1.0, x: 0.0, y: 0.0, z: 0.0 })]
pub fn Turn(left: Rotation, right: Rotation) -> Rotation {
    Rotation {
        w: right.w * left.w - right.x * left.x - right.y * left.y - right.z * left.z,
        x: right.w * left.x + right.x * left.w + right.y * left.z - right.z * left.y,
        y: right.w * left.y - right.x * left.z + right.y * left.w + right.z * left.x,
        z: right.w * left.z + right.x * left.y - right.y * left.x + right.z * left.w,
    }
}

/// Runs the example.
pub fn main() {
    use std::f32::consts::TAU;
    // Ninety degrees around x, then around y, is not the same the other way round.
    let quarters = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]].map(|axis| Rotation::around(axis, TAU / 4.0));
    let forth = inclusive_scan(&quarters, Turn)[1];
    let back = inclusive_scan(&[quarters[1], quarters[0]], Turn)[1];
    assert!((forth.z + 0.5).abs() < 1e-6 && (back.z - 0.5).abs() < 1e-6);

    // A gyroscope's readings: ten thousand small turns make ten whole ones.
    let readings = vec![Rotation::around([0.6, 0.0, 0.8], TAU / 1_000.0); 10_000];
    let orientation = inclusive_scan(&readings, Turn);
    for turns in 1..=10 {
        let Rotation { w, x, y, z } = orientation[turns * 1_000 - 1];
        // A whole turn is -1 or 1 in quaternions, but for ten thousand roundings.
        assert!((w.abs() - 1.0).abs() < 5e-3 && x.abs().max(y.abs()).max(z.abs()) < 5e-3);
    }
    println!("after ten turns: {:?}", orientation[9_999]);
}
