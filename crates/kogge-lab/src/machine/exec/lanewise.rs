//! Instructions that each lane does by itself, from registers to registers.

use crate::machine::ins::{Ins, Op, decode};
use crate::machine::math::{self, Function};
use crate::machine::warp::{ALL, LANES, Warp, lanes};
use crate::value::ScalarType;

#[inline]
pub(super) fn binary(r: &mut [[u64; LANES]], ins: Ins, mask: u32, f: impl Fn(u64, u64) -> u64) {
    let a = r[usize::from(ins.a)];
    let b = r[usize::from(ins.b)];
    let d = &mut r[usize::from(ins.d)];
    if mask == ALL {
        for ((d, a), b) in d.iter_mut().zip(a).zip(b) {
            *d = f(a, b);
        }
    } else {
        for lane in lanes(mask) {
            d[lane] = f(a[lane], b[lane]);
        }
    }
}

#[inline]
pub(super) fn unary(r: &mut [[u64; LANES]], ins: Ins, mask: u32, f: impl Fn(u64) -> u64) {
    let a = r[usize::from(ins.a)];
    let d = &mut r[usize::from(ins.d)];
    if mask == ALL {
        for (d, a) in d.iter_mut().zip(a) {
            *d = f(a);
        }
    } else {
        for lane in lanes(mask) {
            d[lane] = f(a[lane]);
        }
    }
}

pub(super) fn select(w: &mut Warp, ins: Ins, mask: u32) {
    let no = w.registers[(ins.k & 0xffff) as usize];
    let condition = w.registers[usize::from(ins.a)];
    let yes = w.registers[usize::from(ins.b)];
    let d = &mut w.registers[usize::from(ins.d)];
    for lane in lanes(mask) {
        d[lane] = if condition[lane] != 0 { yes[lane] } else { no[lane] };
    }
}

pub(super) fn math_lanes(w: &mut Warp, ins: Ins, mask: u32) {
    let (f, ty): (Function, ScalarType) = (Function::decode(ins.x), decode((ins.k >> 16) as u8));
    let a = w.registers[usize::from(ins.a)];
    let b = w.registers[usize::from(ins.b)];
    let third = w.registers[(ins.k & 0xffff) as usize];
    let d = &mut w.registers[usize::from(ins.d)];
    for lane in lanes(mask) {
        d[lane] = math::apply(f, ty, a[lane], b[lane], third[lane]);
    }
}

/// The lanes that a conditional jump takes.
#[inline]
pub(super) fn taken(w: &Warp, ins: Ins, mask: u32) -> u32 {
    let r = &w.registers[usize::from(ins.a)];
    let mut set = 0u32;
    for (lane, &x) in r.iter().enumerate() {
        set |= u32::from(x != 0) << lane;
    }
    mask & if ins.op == Op::JumpZero { !set } else { set }
}
