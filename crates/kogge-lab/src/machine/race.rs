//! Data races: for each word of memory, the last write and enough reads.
//!
//! Of the reads since the last write two of different threads are kept, in
//! different warps if there are any: a later write by one of them still meets
//! the other. Reads by further blocks go to a side table, as do accesses to
//! flags (volatile and atomic ones), which race with plain accesses only and
//! carry what fences release. Volatile ones that nothing orders are told too:
//! whether they race, the use of the array decides (`volatile.rs`).

use std::rc::Rc;

use super::clock::{Clock, Epoch, Me, Time};

/// Further blocks whose reads of one word are kept.
const MAX_READERS: usize = 8;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cell {
    write: Epoch,
    read: [Epoch; 2],
    /// Index into the side table, from 1; 0: none.
    side: u32,
}

/// What few words have.
#[derive(Clone, Debug, Default)]
pub(super) struct Side {
    readers: Vec<Epoch>,
    strong_write: Epoch,
    strong_read: Epoch,
    /// The last volatile accesses, a write if it changed something.
    volatile_write: Epoch,
    volatile_read: Epoch,
    /// The same for atomics of one block's scope, which other blocks' race with.
    block_write: Epoch,
    block_read: Epoch,
    release: Rc<Clock>,
    /// Released to one block only.
    release_block: Option<(u32, Rc<Clock>)>,
    /// Bytes of the two clocks, as far as they are this flag's own.
    bytes: (u64, u64),
}

/// The other access of a race, and what it was.
#[derive(Clone, Copy, Debug)]
pub(super) struct Conflict {
    pub other: Epoch,
    pub other_writes: bool,
    pub other_atomic: bool,
}

fn conflict(other: Epoch, writes: bool, atomic: bool) -> Option<Conflict> {
    Some(Conflict { other, other_writes: writes, other_atomic: atomic })
}

/// Shadow of a region: one cell for each `granule` bytes.
#[derive(Clone, Debug)]
pub(super) struct Shadow {
    granule: u32,
    cells: Vec<Cell>,
    sides: Vec<Side>,
    /// Bytes beyond the cells that it began with.
    pub extra: u64,
}

impl Shadow {
    pub(super) fn new(bytes: usize) -> Self {
        let cells = vec![Cell::default(); bytes.div_ceil(4)];
        Self { granule: 4, cells, sides: Vec::new(), extra: 0 }
    }

    pub(super) fn reset(&mut self, bytes: usize) {
        self.granule = 4;
        self.cells.clear();
        self.cells.resize(bytes.div_ceil(4), Cell::default());
        self.sides.clear();
        self.extra = 0;
    }

    /// One cell a byte, once an access is narrower than a word.
    #[cold]
    fn split(&mut self) {
        let cells = std::mem::take(&mut self.cells);
        self.cells = cells.iter().flat_map(|&c| [c; 4]).collect();
        self.granule = 1;
        self.extra += (self.cells.len() / 4 * 3 * size_of::<Cell>()) as u64;
        // Each byte has a flag of its own from here on.
        let shared = self.sides.len() as u32;
        let mut owned = vec![false; self.sides.len()];
        for cell in self.cells.iter_mut().filter(|c| c.side != 0 && c.side <= shared) {
            let index = cell.side as usize - 1;
            if std::mem::replace(&mut owned[index], true) {
                // Its clocks are shared from now on.
                self.sides.push(Side { bytes: (0, 0), ..self.sides[index].clone() });
                self.extra += size_of::<Side>() as u64;
                cell.side = self.sides.len() as u32;
            }
        }
    }

    fn range(&mut self, offset: u32, size: u32) -> std::ops::Range<usize> {
        if size < self.granule {
            self.split();
        }
        let first = (offset / self.granule) as usize;
        first..first + (size / self.granule) as usize
    }

    #[inline]
    #[allow(clippy::if_same_then_else)] // each condition is a case of its own
    pub(super) fn read(
        &mut self,
        at: (u32, u32),
        now: Epoch,
        me: &Me,
        time: &Time,
    ) -> Option<Conflict> {
        let mut found = None;
        for i in self.range(at.0, at.1) {
            let Some(cell) = self.cells.get_mut(i) else { break };
            if cell.write.clock != 0 && !time.ordered(me, cell.write) {
                found = found.or(conflict(cell.write, true, false));
            }
            let [first, second] = &mut cell.read;
            if first.clock == 0 || time.ordered(me, *first) {
                *first = now;
            } else if second.clock == 0 || time.ordered(me, *second) {
                *second = now;
            } else if first.thread / 32 == second.thread / 32
                && now.thread / 32 != first.thread / 32
            {
                *second = now;
            } else if first.thread / me.count != me.block && second.thread / me.count != me.block {
                self.far_read(i, now, me, time);
            }
            let side = self.cells[i].side;
            if side != 0 {
                let side = &self.sides[side as usize - 1];
                for write in [side.strong_write, side.block_write] {
                    if write.clock != 0 && !time.ordered(me, write) {
                        found = found.or(conflict(write, true, true));
                    }
                }
            }
        }
        found
    }

    #[cold]
    fn far_read(&mut self, cell: usize, now: Epoch, me: &Me, time: &Time) {
        let readers = &mut self.side(cell).readers;
        let same = |e: &Epoch| e.thread / me.count == me.block || time.ordered(me, *e);
        if let Some(e) = readers.iter_mut().find(|e| same(e)) {
            *e = now;
        } else if readers.len() < MAX_READERS {
            readers.push(now);
            self.extra += size_of::<Epoch>() as u64;
        }
    }

    fn side(&mut self, cell: usize) -> &mut Side {
        if self.cells[cell].side == 0 {
            self.sides.push(Side::default());
            self.extra += size_of::<Side>() as u64;
            self.cells[cell].side = self.sides.len() as u32;
        }
        let index = self.cells[cell].side as usize - 1;
        &mut self.sides[index]
    }

    #[inline]
    pub(super) fn write(
        &mut self,
        at: (u32, u32),
        now: Epoch,
        me: &Me,
        time: &Time,
    ) -> Option<Conflict> {
        let mut found = None;
        for i in self.range(at.0, at.1) {
            let Some(cell) = self.cells.get_mut(i) else { break };
            let unordered = |e: Epoch| e.clock != 0 && !time.ordered(me, e);
            if unordered(cell.write) {
                found = found.or(conflict(cell.write, true, false));
            }
            for e in cell.read {
                if unordered(e) {
                    found = found.or(conflict(e, false, false));
                }
            }
            cell.write = now;
            cell.read = [Epoch::default(); 2];
            if cell.side != 0 {
                let side = &mut self.sides[cell.side as usize - 1];
                for e in side.readers.drain(..) {
                    if unordered(e) {
                        found = found.or(conflict(e, false, false));
                    }
                }
                for e in [side.strong_write, side.block_write] {
                    if unordered(e) {
                        found = found.or(conflict(e, true, true));
                    }
                }
                for e in [side.strong_read, side.block_read] {
                    if unordered(e) {
                        found = found.or(conflict(e, false, true));
                    }
                }
                side.forget();
            }
        }
        found
    }

    /// A volatile or atomic access. Reads acquire what the flag carries,
    /// writes put there what the thread's fences cover, or all that it knows if
    /// they release by themselves; a read-modify-write adds it to what was there.
    pub(super) fn strong(
        &mut self,
        at: (u32, u32),
        now: Epoch,
        me: &Me,
        time: &mut Time,
        mode: Strong,
    ) -> Found {
        let mut found = None;
        let mut volatile = None;
        for i in self.range(at.0, at.1) {
            if i >= self.cells.len() {
                break;
            }
            let cell = self.cells[i];
            let unordered = |e: Epoch, time: &Time| e.clock != 0 && !time.ordered(me, e);
            if unordered(cell.write, time) {
                found = found.or(conflict(cell.write, true, false));
            }
            if mode.writes {
                for e in cell.read {
                    if unordered(e, time) {
                        found = found.or(conflict(e, false, false));
                    }
                }
            }
            let side = self.side(i);
            let before = side.bytes.0 + side.bytes.1;
            found = found.or(side.out_of_scope(me, time, mode));
            volatile = volatile.or(side.volatile(now, me, time, mode));
            if mode.reads {
                if !mode.block {
                    time.acquire(&side.release, mode.needs_fence, false);
                }
                if let Some((block, release)) = &side.release_block
                    && *block == me.block
                {
                    time.acquire(release, mode.needs_fence, true);
                }
                *(if mode.block { &mut side.block_read } else { &mut side.strong_read }) = now;
            }
            if mode.writes {
                *(if mode.block { &mut side.block_write } else { &mut side.strong_write }) = now;
                side.publish(me, time, mode);
                let after = side.bytes.0 + side.bytes.1;
                self.extra = (self.extra + after).saturating_sub(before);
            }
        }
        if mode.releases {
            time.tick();
        }
        Found { race: found, volatile }
    }
}

/// What a strong access conflicts with.
#[derive(Clone, Copy, Default)]
pub(super) struct Found {
    pub race: Option<Conflict>,
    /// A volatile access like this one, of another thread, and nothing orders the two.
    pub volatile: Option<Conflict>,
}

/// What a strong access does.
#[derive(Clone, Copy)]
pub(super) struct Strong {
    pub reads: bool,
    pub writes: bool,
    /// Whether what it reads is known behind a fence only.
    pub needs_fence: bool,
    /// Whether it releases without a fence.
    pub releases: bool,
    /// Whether its scope is the block alone.
    pub block: bool,
    pub volatile: Volatile,
}

/// Whether a strong access is no atomic one, and does what.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Volatile {
    No,
    Reads,
    Writes,
    /// It writes what is there already, which no other thread can tell.
    Repeats,
}

impl Side {
    fn forget(&mut self) {
        self.strong_read = Epoch::default();
        self.strong_write = Epoch::default();
        self.block_read = Epoch::default();
        self.block_write = Epoch::default();
        self.volatile_write = Epoch::default();
        self.volatile_read = Epoch::default();
    }

    /// Notes a volatile access; gives one of another thread that nothing orders with it.
    fn volatile(&mut self, now: Epoch, me: &Me, time: &Time, mode: Strong) -> Option<Conflict> {
        let unordered = |e: Epoch| e.clock != 0 && !time.ordered(me, e);
        let Self { volatile_write: write, volatile_read: read, .. } = self;
        match mode.volatile {
            Volatile::No | Volatile::Repeats => None,
            Volatile::Reads => {
                *read = now;
                unordered(*write).then(|| conflict(*write, true, false)).flatten()
            }
            Volatile::Writes => {
                let written = unordered(*write).then(|| conflict(*write, true, false)).flatten();
                *write = now;
                written
                    .or_else(|| unordered(*read).then(|| conflict(*read, false, false)).flatten())
            }
        }
    }

    /// A strong access of another block that this one races with, since the scope of one of the two
    /// leaves the other out.
    fn out_of_scope(&self, me: &Me, time: &Time, mode: Strong) -> Option<Conflict> {
        let races =
            |e: Epoch| e.clock != 0 && e.thread / me.count != me.block && !time.ordered(me, e);
        let device = |e: Epoch| if mode.block { e } else { Epoch::default() };
        let writes = [self.block_write, device(self.strong_write)];
        let reads = [self.block_read, device(self.strong_read)];
        let write = writes.into_iter().find(|&e| races(e)).and_then(|e| conflict(e, true, true));
        let read = || reads.into_iter().find(|&e| mode.writes && races(e));
        write.or_else(|| read().and_then(|e| conflict(e, false, true)))
    }

    fn publish(&mut self, me: &Me, time: &Time, mode: Strong) {
        let adds = mode.reads;
        let before = Rc::as_ptr(&self.release);
        let block_before = self.release_block.as_ref().map(|(_, clock)| Rc::as_ptr(clock));
        let released = |block| {
            if mode.releases { time.releasing(me) } else { time.released(me, block) }
        };
        let block = released(true);
        if !mode.block {
            let alike = mode.releases || time.is_fenced_alike();
            let device = if alike { block.clone() } else { released(false) };
            if adds {
                super::clock::join(&mut self.release, &device);
            } else {
                self.release = device;
            }
        }
        self.release_block = match self.release_block.take() {
            Some((owner, mut known)) if adds && owner == me.block => {
                super::clock::join(&mut known, &block);
                Some((owner, known))
            }
            _ => Some((me.block, block)),
        };
        // A clock that stays is known; a new one is this flag's own, unless others hold it already.
        let block = self.release_block.as_ref().map(|(_, clock)| clock);
        let same = block.is_some_and(|block| Rc::ptr_eq(block, &self.release));
        let own = |clock: &Rc<Clock>| {
            let alone = Rc::strong_count(clock) <= if same { 2 } else { 1 };
            if alone { clock.bytes() } else { 0 }
        };
        if Rc::as_ptr(&self.release) != before {
            self.bytes.0 = own(&self.release);
        }
        if block.map(Rc::as_ptr) != block_before {
            self.bytes.1 = block.filter(|_| !same).map_or(0, own);
        }
    }
}
