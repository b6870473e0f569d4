//! Loads, stores and atomics, with everything that is checked about them.

use super::address::{LOCAL, SHARED, advance, unpack};
use super::alu::{canonical, f32_of, f64_of, is_signed, of_f32, of_f64};
use super::clock::Epoch;
use super::exec::{Context, Machine};
use super::findings::{Told, verb, who};
use super::ins::{AtomicOp, Ins, Op, atomic, decode, flag};
use super::memory::{self, Region};
use super::race::{Conflict, Found, Strong, Volatile};
use super::stats::{bank_conflicts, sectors};
use super::warp::{lanes, me};
use crate::report::{AccessKind, FindingKind, Location, Space};
use crate::trace::Place;
use crate::value::ScalarType;

/// A checked address: the memory, the object in it, and the byte.
#[derive(Clone, Copy)]
pub(super) struct Target {
    pub space: Space,
    /// Index of the array, or of the shared or local object.
    pub object: usize,
    /// Byte within the region, and within the object.
    offset: u32,
    within: u32,
}

/// What an access is, apart from where.
#[derive(Clone, Copy)]
pub(super) struct What {
    ty: ScalarType,
    kind: AccessKind,
    pub pc: u32,
    /// What the address must be a multiple of: for the first part of a vector, the vector's size.
    align: i64,
}

impl What {
    /// An access that the memory system sees as one of `bytes`, 0 for a vector's further parts.
    fn new(ty: ScalarType, kind: AccessKind, pc: u32, bytes: u64) -> Self {
        Self { ty, kind, pc, align: (ty.size() as i64).max(bytes as i64) }
    }
}

impl Machine<'_> {
    /// Checks an address; a bad one becomes a finding and no target.
    fn target(&mut self, c: &Context<'_>, address: u64, lane: usize, what: What) -> Option<Target> {
        let (id, offset) = unpack(address);
        let size = what.ty.size() as i64;
        // Local memory is the thread's own: how many other threads have theirs before it is no
        // matter of alignment.
        let mut others = 0;
        let (space, object, start, len) = if id >= LOCAL {
            let object = (id - LOCAL) as usize;
            let local = self.kernel.locals.get(object)?;
            others = (lane * c.warp.local_bytes) as i64;
            let start = lane * c.warp.local_bytes + local.offset as usize;
            (Space::Local, object, start, i64::from(local.size))
        } else if id >= SHARED {
            let object = (id - SHARED) as usize;
            let Some(shared) = self.shared.get(object) else {
                self.bad_pointer(c, lane, what);
                return None;
            };
            (Space::Shared, object, shared.offset as usize, i64::from(shared.size))
        } else {
            let object = (id as usize).wrapping_sub(1);
            let Some(region) = self.memory.get(object) else {
                self.bad_pointer(c, lane, what);
                return None;
            };
            (Space::Global, object, 0, region.bytes.len() as i64)
        };
        if offset < 0 || offset.saturating_add(size) > len {
            self.out_of_bounds(c, lane, what, (space, object, offset, len));
            return None;
        }
        if (start as i64 - others + offset) % what.align != 0 {
            let message = format!(
                "{} {} bytes at an address that is no multiple of {}",
                verb(what.kind),
                what.align,
                what.align
            );
            self.told(c, FindingKind::Misaligned, what.pc, lane, what.kind, &message);
            return None;
        }
        Some(Target {
            space,
            object,
            offset: (start as i64 + offset) as u32,
            within: offset as u32,
        })
    }

    fn bad_pointer(&mut self, c: &Context<'_>, lane: usize, what: What) {
        let message = format!("{} through a pointer to nothing", verb(what.kind));
        self.told(c, FindingKind::OutOfBounds, what.pc, lane, what.kind, &message);
    }

    fn object_name(&self, space: Space, object: usize) -> (String, u32) {
        match space {
            Space::Global => self
                .arrays
                .get(object)
                .map_or_else(Default::default, |a| (a.name.clone(), a.element)),
            Space::Shared => self
                .shared
                .get(object)
                .map_or_else(Default::default, |o| (o.name.clone(), o.element)),
            Space::Local => self
                .kernel
                .locals
                .get(object)
                .map_or_else(Default::default, |o| (o.name.clone(), o.element)),
        }
    }

    #[cold]
    fn out_of_bounds(
        &mut self,
        c: &Context<'_>,
        lane: usize,
        what: What,
        (space, object, offset, len): (Space, usize, i64, i64),
    ) {
        let (name, element) = self.object_name(space, object);
        let element = i64::from(element.max(1));
        let index = offset.div_euclid(element);
        let (pos, spot) = (self.place(what.pc), self.spot(what.pc));
        let side = self.side(c.info, c.warp.rank(lane), what.pc, what.kind);
        self.findings.add(FindingKind::OutOfBounds, pos, pos, &name, || Told {
            message: format!(
                "{} {} {name}[{index}], but {name} has {} elements ({spot})",
                who(side.block, side.thread),
                verb(what.kind),
                len / element
            ),
            location: Some(Location { array: name.clone(), index, space }),
            accesses: vec![side],
        });
    }

    #[cold]
    fn uninitialised(&mut self, c: &Context<'_>, lane: usize, what: What, t: Target) {
        let (name, element) = self.object_name(t.space, t.object);
        let index = i64::from(t.within / element.max(1));
        let (pos, spot) = (self.place(what.pc), self.spot(what.pc));
        let side = self.side(c.info, c.warp.rank(lane), what.pc, what.kind);
        self.findings.add(FindingKind::Uninitialised, pos, pos, &name, || Told {
            message: format!(
                "{} reads {name}[{index}], which nothing has written ({spot})",
                who(side.block, side.thread)
            ),
            location: Some(Location { array: name.clone(), index, space: t.space }),
            accesses: vec![side],
        });
    }

    #[cold]
    fn race(&mut self, c: &Context<'_>, lane: usize, what: What, t: Target, conflict: Conflict) {
        let at = (self.place(what.pc), self.place(conflict.other.pc));
        let (array, _) = self.object_name(t.space, t.object);
        if !self.findings.again(FindingKind::Race, at, &array) {
            let told = self.race_of(c, lane, what, t, conflict);
            self.findings.add(FindingKind::Race, at.0, at.1, &array, || told);
        }
    }

    /// A race as it is told.
    pub(super) fn race_of(
        &self,
        c: &Context<'_>,
        lane: usize,
        what: What,
        t: Target,
        conflict: Conflict,
    ) -> Told {
        let (name, element) = self.object_name(t.space, t.object);
        let index = i64::from(t.within / element.max(1));
        let padded = c.info.padded.max(1);
        let other_block = conflict.other.thread / padded;
        let grid = c.info.grid.map(|g| g.max(1));
        let other_index = [
            other_block % grid[0],
            other_block / grid[0] % grid[1],
            other_block / grid[0] / grid[1],
        ];
        let other_kind = match (conflict.other_writes, conflict.other_atomic) {
            (true, true) => self.atomic_access(conflict.other.pc),
            (true, false) => AccessKind::Write,
            (false, _) => AccessKind::Read,
        };
        let mut first =
            self.side(c.info, conflict.other.thread % padded, conflict.other.pc, other_kind);
        first.block = other_index;
        let second = self.side(c.info, c.warp.rank(lane), what.pc, what.kind);
        let (spot, other_spot) = (self.spot(what.pc), self.spot(conflict.other.pc));
        Told {
            message: format!(
                "{} {} {name}[{index}] ({spot}) while {} {} it ({other_spot}), and nothing orders the two",
                who(second.block, second.thread),
                verb(what.kind),
                who(first.block, first.thread),
                verb(other_kind)
            ),
            location: Some(Location { array: name, index, space: t.space }),
            accesses: vec![first, second],
        }
    }

    /// Tells the race detector about an access.
    #[inline]
    fn watch(
        &mut self,
        c: &mut Context<'_>,
        lane: usize,
        what: What,
        t: Target,
        strong: Option<Strong>,
    ) {
        if t.space == Space::Local {
            return;
        }
        let me = me(c.info, c.warp.rank(lane));
        let time = &mut c.warp.time[lane];
        let now = Epoch { thread: me.thread, clock: time.clock, pc: what.pc };
        let shadow = match t.space {
            Space::Shared => &mut c.shared.shadow,
            _ => &mut self.memory[t.object].shadow,
        };
        let at = (t.offset, what.ty.size() as u32);
        let before = shadow.extra;
        let plain = |race| Found { race, volatile: None };
        let found = match (strong, what.kind) {
            (Some(mode), _) => shadow.strong(at, now, &me, time, mode),
            (None, AccessKind::Write) => plain(shadow.write(at, now, &me, time)),
            (None, _) => plain(shadow.read(at, now, &me, time)),
        };
        let after = shadow.extra;
        if after != before {
            self.notes_grow(before, after);
        }
        if let Some(conflict) = found.race {
            self.race(c, lane, what, t, conflict);
        }
        if strong.is_some_and(|mode| mode.volatile != Volatile::No) {
            self.volatile_access(c, (lane, what), t, found.volatile);
        }
    }

    /// What is noted of flags counts against the memory budget; beyond it the run ends.
    #[cold]
    fn notes_grow(&mut self, before: u64, after: u64) {
        self.notes = (self.notes + after).saturating_sub(before);
        if self.notes > self.room {
            self.crowded = true;
            self.fuel = 0;
        }
    }

    pub(super) fn load(
        &mut self,
        c: &mut Context<'_>,
        ins: Ins,
        pc: u32,
        mask: u32,
        polls: &mut u32,
    ) {
        let bytes = u64::from(ins.b >> flag::SIZE_SHIFT);
        let what = What::new(decode(ins.x), AccessKind::Read, pc, bytes);
        let volatile = ins.b & flag::VOLATILE != 0;
        let mode = volatile.then_some(Strong {
            reads: true,
            writes: false,
            needs_fence: self.options.acquire_needs_fence,
            releases: false,
            block: false,
            volatile: Volatile::Reads,
        });
        let addresses = self.addresses(c, ins);
        self.count(c, &addresses, mask, bytes);
        for lane in self.lane_order(mask) {
            let address = addresses[lane];
            let Some(t) = self.target(c, address, lane, what) else {
                c.warp.registers[usize::from(ins.d)][lane] = 0;
                continue;
            };
            self.watch(c, lane, what, t, mode);
            if volatile {
                c.warp.polled[lane] = (address, pc);
            }
            let region = self.region(c, t.space, t.object);
            let written = region.is_written(t.offset as usize, what.ty.size());
            let value = region.load(t.offset as usize, what.ty);
            c.warp.registers[usize::from(ins.d)][lane] = value;
            if !written {
                self.uninitialised(c, lane, what, t);
            }
            if self.recorder.is_some() {
                let label = self.label_of(c, lane, t);
                c.warp.labels[usize::from(ins.d)][lane] = label;
            }
        }
        *polls += u32::from(volatile);
    }

    pub(super) fn store(&mut self, c: &mut Context<'_>, ins: Ins, pc: u32, mask: u32) {
        let bytes = u64::from(ins.d >> flag::SIZE_SHIFT);
        let what = What::new(decode(ins.x), AccessKind::Write, pc, bytes);
        let volatile = ins.d & flag::VOLATILE != 0;
        let addresses = self.addresses(c, ins);
        self.count(c, &addresses, mask, bytes);
        for lane in self.lane_order(mask) {
            let Some(t) = self.target(c, addresses[lane], lane, what) else {
                continue;
            };
            let value = c.warp.registers[usize::from(ins.b)][lane];
            let mode = volatile.then(|| {
                let there = self.region(c, t.space, t.object);
                let repeats = there.is_written(t.offset as usize, what.ty.size())
                    && there.load(t.offset as usize, what.ty) == value;
                Strong {
                    reads: false,
                    writes: true,
                    needs_fence: false,
                    releases: false,
                    block: false,
                    volatile: if repeats { Volatile::Repeats } else { Volatile::Writes },
                }
            });
            self.watch(c, lane, what, t, mode);
            let region = match t.space {
                Space::Global => &mut self.memory[t.object],
                Space::Shared => &mut *c.shared,
                Space::Local => &mut c.warp.local,
            };
            let changed = region.store(t.offset as usize, what.ty, value);
            self.version += u64::from(changed && t.space != Space::Local);
            if self.recorder.is_some() {
                let label = c.warp.label(ins.b, lane);
                self.relabel(c, lane, t, label, pc);
            }
        }
    }

    pub(super) fn atomic(
        &mut self,
        c: &mut Context<'_>,
        ins: Ins,
        pc: u32,
        mask: u32,
        polls: &mut u32,
    ) {
        let op = AtomicOp::of(ins);
        let what = What::new(decode(ins.x), op.access(), pc, 0);
        let addresses = self.addresses(c, Ins { k: 0, ..ins });
        self.count(c, &addresses, mask, what.ty.size() as u64);
        let mut changed_any = false;
        for lane in self.lane_order(mask) {
            let Some(t) = self.target(c, addresses[lane], lane, what) else {
                c.warp.registers[usize::from(ins.d)][lane] = 0;
                continue;
            };
            self.counts.atomics += u64::from(what.kind == AccessKind::Atomic);
            let operand = |i: usize, w: &super::warp::Warp| {
                w.registers.get(usize::from(ins.b) + i).map_or(0, |r| r[lane])
            };
            let (first, second) = (operand(0, c.warp), operand(1, c.warp));
            let offset = t.offset as usize;
            let there = self.region(c, t.space, t.object);
            let written = there.is_written(offset, what.ty.size());
            let old = there.load(offset, what.ty);
            let mode = self.strong_mode(op, ins.k, old == first);
            self.watch(c, lane, what, t, Some(mode));
            c.warp.polled[lane] = (addresses[lane], pc);
            let region = match t.space {
                Space::Global => &mut self.memory[t.object],
                Space::Shared => &mut *c.shared,
                Space::Local => &mut c.warp.local,
            };
            let new = update(op, what.ty, old, first, second);
            let changed = memory::store(&mut region.bytes, offset, what.ty, new);
            let first_written = !written && region.store(offset, what.ty, new);
            changed_any |= changed;
            self.version += u64::from((changed || first_written) && t.space != Space::Local);
            c.warp.registers[usize::from(ins.d)][lane] = old;
            if !written && !matches!(op, AtomicOp::Exchange | AtomicOp::Store) {
                self.uninitialised(c, lane, what, t);
            }
            if self.recorder.is_some() {
                self.atomic_label(c, op, ins, (lane, t, pc));
            }
        }
        *polls += u32::from(!changed_any);
    }

    /// What an atomic that wrote is told as.
    fn atomic_access(&self, pc: u32) -> AccessKind {
        let ins = self.kernel.code.get(pc as usize).filter(|ins| ins.op == Op::Atomic);
        ins.map_or(AccessKind::Atomic, |ins| AtomicOp::of(*ins).access())
    }

    /// What an atomic does, if its comparison (where it has one) comes out so.
    fn strong_mode(&self, op: AtomicOp, k: u32, equal: bool) -> Strong {
        let fails = k & atomic::READS_ON_FAILURE != 0 && !equal;
        let acquires = if fails { atomic::FAILURE_ACQUIRES } else { atomic::ACQUIRES };
        Strong {
            reads: op != AtomicOp::Store,
            writes: op != AtomicOp::Load && !fails,
            needs_fence: self.options.acquire_needs_fence && k & acquires == 0,
            releases: k & atomic::RELEASES != 0 && !fails,
            block: k & atomic::BLOCK != 0,
            volatile: Volatile::No,
        }
    }

    /// An atomic load or store moves what a value stands for, as others do.
    fn atomic_label(
        &mut self,
        c: &mut Context<'_>,
        op: AtomicOp,
        ins: Ins,
        (lane, t, pc): (usize, Target, u32),
    ) {
        match op {
            AtomicOp::Load => {
                let label = self.label_of(c, lane, t);
                c.warp.labels[usize::from(ins.d)][lane] = label;
            }
            AtomicOp::Store => {
                let label = c.warp.label(ins.b, lane);
                self.relabel(c, lane, t, label, pc);
            }
            _ => {}
        }
    }

    fn region<'r>(&'r self, c: &'r Context<'_>, space: Space, object: usize) -> &'r Region {
        match space {
            Space::Global => &self.memory[object],
            Space::Shared => c.shared,
            Space::Local => &c.warp.local,
        }
    }

    fn addresses(&self, c: &Context<'_>, ins: Ins) -> [u64; 32] {
        let k = i64::from(ins.k as i32);
        c.warp.registers[usize::from(ins.a)].map(|a| advance(a, k))
    }

    /// What the memory system makes of a request of the warp.
    fn count(&mut self, c: &Context<'_>, addresses: &[u64; 32], mask: u32, size: u64) {
        if size == 0 {
            return;
        }
        let mut shared = [(0u32, 0u64); 32];
        let mut global = [(0u32, 0u64); 32];
        let (mut s, mut g) = (0, 0);
        for lane in lanes(mask) {
            let (id, offset) = unpack(addresses[lane]);
            if id >= LOCAL {
                continue;
            }
            if id >= SHARED {
                let base = self.shared.get((id - SHARED) as usize).map_or(0, |o| o.offset);
                shared[s] = (lane as u32, (i64::from(base) + offset).max(0) as u64);
                s += 1;
            } else {
                global[g] = (lane as u32, (u64::from(id) << 40) + offset.max(0) as u64);
                g += 1;
            }
        }
        let _ = c;
        if s > 0 {
            self.counts.shared_requests += 1;
            self.counts.bank_conflicts += bank_conflicts(&shared[..s], size);
        }
        if g > 0 {
            let (touched, ideal) = sectors(&global[..g], size);
            self.counts.global_requests += 1;
            self.counts.global_transactions += touched;
            self.counts.ideal_transactions += ideal;
        }
    }

    /// The trace's place of an element, if the trace knows the array.
    fn traced(&mut self, c: &Context<'_>, t: Target) -> Option<(Place, bool)> {
        let (array, block, element, input) = match t.space {
            Space::Global => {
                let info = self.arrays.get(t.object)?;
                (info.traced?, 0, info.element, info.input)
            }
            Space::Shared => {
                let object = self.shared.get(t.object)?;
                let len = object.size / object.element.max(1);
                let (name, element) = (object.name.clone(), object.element);
                let recorder = self.recorder.as_mut()?;
                (recorder.array(&name, true, len, false), c.info.id, element, false)
            }
            Space::Local => return None,
        };
        let index = t.within / element.max(1);
        Some((Self::element_place(array, block, index), input))
    }

    fn label_of(&mut self, c: &Context<'_>, lane: usize, t: Target) -> u64 {
        if t.space == Space::Local {
            return c.warp.local.labels.get(&t.offset).copied().unwrap_or(0);
        }
        let _ = lane;
        let Some((place, input)) = self.traced(c, t) else {
            return 0;
        };
        let region = match t.space {
            Space::Global => &self.memory[t.object],
            _ => &*c.shared,
        };
        let stored = region.labels.get(&t.offset).copied();
        let Some(recorder) = self.recorder.as_mut() else {
            return 0;
        };
        let label = match (stored, input, place) {
            (Some(label), _, _) => label,
            (None, true, Place::Element { array, index, .. }) => recorder.input(array, index),
            _ => 0,
        };
        recorder.at(label, place)
    }

    fn relabel(&mut self, c: &mut Context<'_>, lane: usize, t: Target, label: u64, pc: u32) {
        if t.space == Space::Local {
            c.warp.local.labels.insert(t.offset, label);
            return;
        }
        let Some((place, _)) = self.traced(c, t) else {
            return;
        };
        let region = match t.space {
            Space::Global => &mut self.memory[t.object],
            _ => &mut *c.shared,
        };
        region.labels.insert(t.offset, label & 0xffff_ffff);
        // Further leaves of a struct are the same element.
        let (_, element) = self.object_name(t.space, t.object);
        if !t.within.is_multiple_of(element.max(1)) {
            return;
        }
        let at = self.moment(c, lane, pc);
        if let Some(recorder) = self.recorder.as_mut() {
            recorder.store(at, label, place);
        }
    }
}

/// The new value of an atomic operation.
fn update(op: AtomicOp, ty: ScalarType, old: u64, a: u64, b: u64) -> u64 {
    let float = |f32_op: fn(f32, f32) -> f32, f64_op: fn(f64, f64) -> f64| match ty {
        ScalarType::F32 => Some(of_f32(f32_op(f32_of(old), f32_of(a)))),
        ScalarType::F64 => Some(of_f64(f64_op(f64_of(old), f64_of(a)))),
        _ => None,
    };
    let less = if is_signed(ty) { (a as i64) < old as i64 } else { a < old };
    match op {
        AtomicOp::Add => {
            float(|x, y| x + y, |x, y| x + y).unwrap_or_else(|| canonical(ty, old.wrapping_add(a)))
        }
        AtomicOp::Sub => {
            float(|x, y| x - y, |x, y| x - y).unwrap_or_else(|| canonical(ty, old.wrapping_sub(a)))
        }
        AtomicOp::Min => float(f32::min, f64::min).unwrap_or(if less { a } else { old }),
        AtomicOp::Max => float(f32::max, f64::max).unwrap_or(if less { old } else { a }),
        AtomicOp::Exchange | AtomicOp::Store => a,
        AtomicOp::Increment => {
            if old >= a {
                0
            } else {
                canonical(ty, old.wrapping_add(1))
            }
        }
        AtomicOp::Decrement => {
            if old == 0 || old > a {
                a
            } else {
                old - 1
            }
        }
        AtomicOp::CompareSwap => {
            if old == a {
                b
            } else {
                old
            }
        }
        AtomicOp::And => old & a,
        AtomicOp::Or => old | a,
        AtomicOp::Xor => old ^ a,
        AtomicOp::Load => old,
    }
}
