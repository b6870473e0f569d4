//! Emitting instructions: registers, loads and stores, jumps.

use super::taint::Taint;
use super::ty::{Qualifiers, Ty};
use super::value::{Base, Place, PlaceKind, Val};
use super::{Lower, MAX_CODE, Result};
use crate::machine::alu::alu;
use crate::machine::ins::{Ins, Op, Site, Special, code, flag};
use crate::value::ScalarType;

/// Registers from here on are constants and specials, numbered downwards
/// until the kernel's own registers are counted.
pub(super) const FIXED: u16 = 50_000;

impl Lower<'_> {
    pub(super) fn emit(&mut self, ins: Ins) -> Result<usize> {
        if self.code.len() >= MAX_CODE {
            return Err(self.pos.error("this kernel is too long once its calls are inlined"));
        }
        self.code.push(ins);
        let pos = match ins.op {
            Op::Load | Op::Store | Op::Atomic => self.operator_call.unwrap_or(self.pos),
            _ => self.pos,
        };
        let caller = self.frames.last().and_then(|f| f.caller);
        self.places.push(Site { pos, caller });
        Ok(self.code.len() - 1)
    }

    /// `n` fresh registers.
    pub(super) fn temp(&mut self, n: usize) -> Result<u16> {
        let base = self.top;
        self.top += n as u32;
        self.registers = self.registers.max(self.top);
        if self.top >= u32::from(FIXED) {
            return Err(self.pos.error("this kernel needs too many registers"));
        }
        Ok(base as u16)
    }

    pub(super) fn constant_register(&mut self, value: u64) -> Result<u16> {
        if let Some(&r) = self.constants.get(&value) {
            return Ok(r);
        }
        let r = self.fixed_register()?;
        self.constants.insert(value, r);
        Ok(r)
    }

    pub(super) fn special(&mut self, special: Special) -> Result<Val> {
        let r = match self.specials.get(&special) {
            Some(&r) => r,
            None => {
                let r = self.fixed_register()?;
                self.specials.insert(special, r);
                r
            }
        };
        Ok(Val::register(Ty::UNSIGNED, r, Taint::default()))
    }

    fn fixed_register(&mut self) -> Result<u16> {
        let r = self.fixed;
        if r <= FIXED {
            return Err(self.pos.error("this kernel has too many constants"));
        }
        self.fixed -= 1;
        Ok(r)
    }

    /// The (first) register of a value.
    pub(super) fn register(&mut self, v: &Val) -> Result<u16> {
        match (v.register, v.constant) {
            (Some(r), _) => Ok(r),
            (None, Some(c)) => self.constant_register(c),
            (None, None) => {
                // An empty struct has no register; any will do.
                match v.ty {
                    Ty::Struct(_) => Ok(0),
                    _ => Err(self.pos.error("an expression without a value is used as one")),
                }
            }
        }
    }

    /// `d = a op b` into a fresh register, folded where both are constants.
    pub(super) fn op(&mut self, op: Op, x: u8, a: &Val, b: &Val, ty: Ty) -> Result<Val> {
        // A division by zero is left to the machine, which tells of it where it happens.
        let by_zero = matches!(op, Op::Div | Op::Rem) && b.constant == Some(0);
        if let (Some(a), Some(b), false) = (a.constant, b.constant, by_zero)
            && let Some(value) = alu(op, x, a, b)
        {
            return Ok(Val::constant(ty, value));
        }
        let (ra, rb) = (self.register(a)?, self.register(b)?);
        let d = self.temp(1)?;
        self.emit(Ins { op, x, d, a: ra, b: rb, k: 0 })?;
        Ok(Val::register(ty, d, a.taint.clone().join(&b.taint)))
    }

    /// Copies one register, or retargets the instruction that just made it.
    pub(super) fn copy(&mut self, d: u16, from: u16) -> Result<()> {
        if d == from {
            return Ok(());
        }
        let fresh = u32::from(from) >= self.floor && from < FIXED;
        let last = self.code.len().wrapping_sub(1);
        if fresh && self.code.len() > self.barrier {
            let ins = &mut self.code[last];
            if ins.writes() && ins.d == from && !matches!(ins.op, Op::SyncThreads | Op::Select) {
                ins.d = d;
                return Ok(());
            }
        }
        self.emit(Ins { d, a: from, ..Ins::new(Op::Mov) })?;
        Ok(())
    }

    /// Copies all leaves of a value.
    pub(super) fn copy_value(&mut self, d: u16, v: &Val) -> Result<()> {
        let n = self.leaf_count(&v.ty);
        if n == 0 {
            return Ok(());
        }
        let from = self.register(v)?;
        if n == 1 {
            return self.copy(d, from);
        }
        for i in 0..n as u16 {
            self.emit(Ins { d: d + i, a: from + i, ..Ins::new(Op::Mov) })?;
        }
        Ok(())
    }

    /// A place's value in registers; an atomic's is its address.
    pub(super) fn load(&mut self, place: &Place) -> Result<Val> {
        if place.ty.atomic_variable().is_some() {
            let address = self.address_of(place)?;
            return Ok(Val { ty: place.ty.clone(), ..address });
        }
        self.check_copied(&place.ty)?;
        let n = self.leaf_count(&place.ty);
        match place.kind {
            PlaceKind::Register { base, flag } => {
                if let Some((register, name)) = flag {
                    self.emit(Ins { a: register, k: name, ..Ins::new(Op::Check) })?;
                }
                let taint = place.variable.map_or_else(Taint::default, Taint::variable);
                Ok(Val::register(place.ty.clone(), base, taint))
            }
            PlaceKind::Memory { .. } => {
                let d = self.temp(n)?;
                let leaves = self.leaves(&place.ty);
                let sizes = self.access_sizes(&place.ty, &leaves);
                for (i, (&(at, ty), size)) in leaves.iter().zip(sizes).enumerate() {
                    let (a, k) = self.address(place, at)?;
                    self.emit(Ins {
                        op: Op::Load,
                        x: code(ty),
                        d: d + i as u16,
                        a,
                        b: access_flags(place.volatile, size),
                        k,
                    })?;
                }
                Ok(Val::register(place.ty.clone(), d, Taint::data()))
            }
        }
    }

    /// Assigns a value of the place's type.
    pub(super) fn store(&mut self, place: &Place, v: &Val) -> Result<()> {
        self.check_copied(&place.ty)?;
        if let Some(variable) = place.variable {
            self.taints.assign(variable, &v.taint);
        }
        match place.kind {
            PlaceKind::Register { base, flag } => {
                self.copy_value(base, v)?;
                if let Some((register, _)) = flag {
                    let one = self.constant_register(1)?;
                    self.emit(Ins { d: register, a: one, ..Ins::new(Op::Mov) })?;
                }
                Ok(())
            }
            PlaceKind::Memory { .. } => {
                let leaves = self.leaves(&place.ty);
                if leaves.is_empty() {
                    return Ok(());
                }
                let from = self.register(v)?;
                let sizes = self.access_sizes(&place.ty, &leaves);
                for (i, (&(at, ty), size)) in leaves.iter().zip(sizes).enumerate() {
                    let (a, k) = self.address(place, at)?;
                    self.emit(Ins {
                        op: Op::Store,
                        x: code(ty),
                        d: access_flags(place.volatile, size),
                        a,
                        b: from + i as u16,
                        k,
                    })?;
                }
                Ok(())
            }
        }
    }

    /// What the memory system sees of each leaf: a struct whose alignment is
    /// its size moves in one vector access, any other leaf by leaf.
    fn access_sizes(&self, ty: &Ty, leaves: &[(u64, ScalarType)]) -> Vec<u16> {
        let (size, align) = (self.size_of(ty), self.align_of(ty));
        let vector = leaves.len() > 1 && align >= size && matches!(size, 2 | 4 | 8 | 16);
        let each = |(i, &(_, s)): (usize, &(u64, ScalarType))| match (vector, i) {
            (true, 0) => size as u16,
            (true, _) => 0,
            (false, _) => s.size() as u16,
        };
        leaves.iter().enumerate().map(each).collect()
    }

    /// Register and constant offset of byte `at` of a place in memory.
    fn address(&mut self, place: &Place, at: u64) -> Result<(u16, u32)> {
        let PlaceKind::Memory { base, offset } = place.kind else {
            return Err(self.pos.error("a register has no address"));
        };
        let offset = offset + at as i64;
        match (base, i32::try_from(offset)) {
            (Base::Constant(c), _) => {
                let r = self.constant_register(c.wrapping_add(offset as u64))?;
                Ok((r, 0))
            }
            (Base::Register(r), Ok(k)) => Ok((r, k as u32)),
            (Base::Register(_), Err(_)) => Err(self.pos.error("this offset is too large")),
        }
    }

    /// A place's address as a value.
    pub(super) fn address_of(&mut self, place: &Place) -> Result<Val> {
        let qualifiers =
            Qualifiers { volatile: place.volatile, constant: place.constant, loose: false };
        let ty = Ty::pointer(place.ty.clone(), qualifiers);
        let PlaceKind::Memory { base, offset } = place.kind else {
            return self.refuse("the address of this variable");
        };
        let mut v = match base {
            Base::Constant(c) => Val::constant(ty, c.wrapping_add(offset as u64)),
            Base::Register(r) if offset == 0 => Val::register(ty, r, Taint::default()),
            Base::Register(r) => {
                let d = self.temp(1)?;
                self.emit(Ins { d, a: r, k: offset as i32 as u32, ..Ins::new(Op::Offset) })?;
                Val::register(ty, d, Taint::default())
            }
        };
        v.taint = Taint::default();
        Ok(v)
    }

    /// A part of a place: the leaf's index and byte offset tell which.
    pub(super) fn part(place: &Place, ty: Ty, leaf: usize, at: u64, volatile: bool) -> Place {
        let kind = match place.kind {
            PlaceKind::Register { base, flag } => {
                PlaceKind::Register { base: base + leaf as u16, flag }
            }
            PlaceKind::Memory { base, offset } => {
                PlaceKind::Memory { base, offset: offset + at as i64 }
            }
        };
        Place {
            ty,
            volatile: place.volatile || volatile,
            constant: place.constant,
            variable: place.variable,
            kind,
        }
    }

    /// A jump whose target is patched later.
    pub(super) fn jump(&mut self, op: Op, condition: u16) -> Result<usize> {
        self.emit(Ins { a: condition, ..Ins::new(op) })
    }

    /// The next instruction is the target of these jumps.
    pub(super) fn land(&mut self, jumps: &[usize]) {
        let here = self.code.len() as u32;
        for &j in jumps {
            self.code[j].k = here;
        }
        self.barrier = self.code.len();
    }

    /// The next instruction's index, as the target of later jumps.
    pub(super) fn label(&mut self) -> u32 {
        self.barrier = self.code.len();
        self.code.len() as u32
    }

    pub(super) fn jump_to(&mut self, target: u32) -> Result<()> {
        self.emit(Ins { k: target, ..Ins::new(Op::Jump) })?;
        Ok(())
    }
}

fn access_flags(volatile: bool, size: u16) -> u16 {
    (if volatile { flag::VOLATILE } else { 0 }) | (size << flag::SIZE_SHIFT)
}
