//! Operands that hurt: every pair of special values, then random ones.

use crate::Operands;
use kogge_core::device::ir::{Scalar, Type};

/// SplitMix64 (Steele, Lea & Flood, "Fast splittable pseudorandom number generators", 2014).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn one_of(&mut self, values: &[u64]) -> u64 {
        values[(self.next() % values.len() as u64) as usize]
    }
}

pub(crate) fn operands(ty: &Type, random: usize, seed: &str) -> Operands {
    let seed = seed.bytes().fold(0, |hash: u64, byte| hash.wrapping_mul(31) + u64::from(byte));
    let mut source = Random(seed);
    let mut operands = Operands { left: Vec::new(), right: Vec::new() };
    if let Type::Scalar(scalar) = ty {
        let specials = specials(*scalar);
        for &left in &specials {
            for &right in &specials {
                push(&mut operands.left, *scalar, left);
                push(&mut operands.right, *scalar, right);
            }
        }
    }
    for _ in 0..random {
        fill(&mut operands.left, ty, &mut source);
        fill(&mut operands.right, ty, &mut source);
    }
    operands
}

fn push(bytes: &mut Vec<u8>, scalar: Scalar, bits: u64) {
    bytes.extend(&bits.to_le_bytes()[..scalar.bits().div_ceil(8) as usize]);
}

fn fill(bytes: &mut Vec<u8>, ty: &Type, random: &mut Random) {
    match ty {
        Type::Scalar(scalar) => {
            let bits = match random.next() % 4 {
                0 => random.one_of(&specials(*scalar)),
                1 => random.next(),
                2 => random.next() >> (random.next() % 64),
                _ => moderate(*scalar, random),
            };
            push(bytes, *scalar, bits);
        }
        Type::Array(element, len) => (0..*len).for_each(|_| fill(bytes, element, random)),
        Type::Struct(fields) => fields.fields.iter().for_each(|f| fill(bytes, &f.ty, random)),
    }
}

/// Small integers, and floats with a small exponent.
fn moderate(scalar: Scalar, random: &mut Random) -> u64 {
    let small = (random.next() % 2001) as i64 - 1000;
    let fraction = (random.next() >> 40) as f64 / f64::from(1 << 24);
    match scalar {
        Scalar::F32 => u64::from((small as f32 * fraction as f32).to_bits()),
        Scalar::F64 => (small as f64 * fraction).to_bits(),
        _ => small as u64,
    }
}

fn specials(scalar: Scalar) -> Vec<u64> {
    match scalar {
        Scalar::F32 => singles().map(u64::from).to_vec(),
        Scalar::F64 => doubles().to_vec(),
        _ => {
            let width = scalar.bits();
            let (top, all) = (1u64 << (width - 1), u64::MAX >> (64 - width));
            vec![0, 1, 2, 3, 7, 31, 32, 63, 64, 100, top - 1, top, top + 1, all - 1, all]
        }
    }
}

fn singles() -> [u32; 40] {
    [
        0x0000_0000,
        0x8000_0000,
        0x3f80_0000,
        0xbf80_0000, // ±0, ±1
        0x7f80_0000,
        0xff80_0000,
        0x7fc0_0000,
        0xffc0_0001, // ±∞, two NaNs
        0x7f80_0001,
        0x0000_0001,
        0x8000_0001,
        0x007f_ffff, // signalling NaN, subnormals
        0x807f_ffff,
        0x0080_0000,
        0x8080_0000,
        0x0080_0001, // least normals
        0x7f7f_ffff,
        0xff7f_ffff,
        0x3f00_0000,
        0xbf00_0000, // largest, ±½
        0x3f7f_ffff,
        0x3f80_0001,
        0x4b00_0000,
        0x4b00_0001, // around 1, 2^23
        0x4b80_0000,
        0xcb80_0001,
        0x4eff_ffff,
        0x4f00_0000, // 2^24, around 2^31
        0xcf00_0000,
        0xcf00_0001,
        0x4f7f_ffff,
        0x4f80_0000, // -2^31 and past, around 2^32
        0x5eff_ffff,
        0x5f00_0000,
        0xdf00_0000,
        0x5f80_0000, // around 2^63, 2^64
        0x42fe_0000,
        0xc300_0000,
        0x4380_0000,
        0x3dcc_cccd, // 127, -128, 256, 0.1
    ]
}

fn doubles() -> [u64; 36] {
    let of = f64::to_bits;
    let two = |n: i32| of(2f64.powi(n));
    [
        of(0.0),
        of(-0.0),
        of(1.0),
        of(-1.0),
        of(f64::INFINITY),
        of(f64::NEG_INFINITY),
        0x7ff8_0000_0000_0000,
        0xfff8_0000_0000_0001,
        0x7ff0_0000_0000_0001,
        1,
        (1 << 63) | 1,
        0x000f_ffff_ffff_ffff,
        of(f64::MIN_POSITIVE),
        of(-f64::MIN_POSITIVE),
        of(f64::MAX),
        of(f64::MIN),
        of(0.5),
        of(-0.5),
        of(0.1),
        of(1.0) + 1,
        two(31),
        two(31) - 1,
        of(-2_147_483_648.9),
        two(32),
        two(53),
        two(53) + 1,
        two(63),
        two(63) - 1,
        of(-2f64.powi(63)),
        two(64),
        of(127.9),
        of(-128.9),
        of(255.5),
        of(65_535.5),
        of(3.402_823_6e38),
        of(1e-46),
    ]
}
