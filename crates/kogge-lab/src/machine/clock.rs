//! Happens-before, by vector clocks that know the shape of a grid.
//!
//! A thread's clock ticks when it releases something: at barriers and fences.
//! What a thread knows of others (all their accesses up to a clock) would be
//! one number per thread; but a block barrier makes all threads of a block
//! know the same, so a [`Clock`] keeps one number per *block*, and further
//! numbers only for single threads that are known better than their block.
//! After Barracuda (Eizenberg and others, PLDI 2017), with FastTrack's epochs
//! (Flanagan and Freund, PLDI 2009) on the side of the accesses.

use std::rc::Rc;

use super::ins::fence;

/// Who accessed and when. A clock of 0 is no access.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Epoch {
    /// Linear id of the thread in the grid, blocks padded to whole warps.
    pub thread: u32,
    pub clock: u32,
    /// Instruction.
    pub pc: u32,
}

/// What is known of other threads; both lists sorted by id.
#[derive(Clone, Debug, Default)]
pub(super) struct Clock {
    /// Every thread of the block, up to and including the clock.
    blocks: Vec<(u32, u32)>,
    /// One thread, up to and including the clock.
    threads: Vec<(u32, u32)>,
}

impl Clock {
    fn find(list: &[(u32, u32)], id: u32) -> u32 {
        match list.binary_search_by_key(&id, |e| e.0) {
            Ok(i) => list[i].1,
            Err(_) => 0,
        }
    }

    /// What it takes, roughly.
    pub(super) fn bytes(&self) -> u64 {
        (size_of::<Self>() + 8 * (self.blocks.capacity() + self.threads.capacity())) as u64
    }

    pub(super) fn is_empty(&self) -> bool {
        self.blocks.is_empty() && self.threads.is_empty()
    }

    pub(super) fn knows(&self, thread: u32, block: u32, clock: u32) -> bool {
        !self.is_empty()
            && (clock <= Self::find(&self.blocks, block)
                || clock <= Self::find(&self.threads, thread))
    }

    fn raise(list: &mut Vec<(u32, u32)>, id: u32, clock: u32) {
        match list.binary_search_by_key(&id, |e| e.0) {
            Ok(i) => list[i].1 = list[i].1.max(clock),
            Err(i) => {
                // Many clocks are kept, and few grow again.
                list.reserve_exact(1);
                list.insert(i, (id, clock));
            }
        }
    }

    pub(super) fn raise_block(&mut self, block: u32, clock: u32) {
        Self::raise(&mut self.blocks, block, clock);
    }

    pub(super) fn raise_thread(&mut self, thread: u32, clock: u32) {
        Self::raise(&mut self.threads, thread, clock);
    }

    /// Forgets the threads of one block, which a barrier has made known.
    pub(super) fn forget_threads(&mut self, first: u32, count: u32) {
        self.threads.retain(|e| e.0.wrapping_sub(first) >= count);
    }

    pub(super) fn join(&mut self, other: &Self) {
        merge(&mut self.blocks, &other.blocks);
        merge(&mut self.threads, &other.threads);
    }

    /// Whether everything that `other` knows is known here.
    pub(super) fn covers(&self, other: &Self) -> bool {
        covers(&self.blocks, &other.blocks) && covers(&self.threads, &other.threads)
    }
}

/// Whether each of `low` is in `high`, with a clock no smaller: one walk along both, as a grid
/// barrier asks this of every block about every block.
fn covers(high: &[(u32, u32)], low: &[(u32, u32)]) -> bool {
    let mut high = high.iter();
    low.len() <= high.len()
        && low
            .iter()
            .all(|&(id, clock)| high.find(|e| e.0 >= id).is_some_and(|e| e.0 == id && e.1 >= clock))
}

fn merge(into: &mut Vec<(u32, u32)>, from: &[(u32, u32)]) {
    if from.is_empty() {
        return;
    }
    let mut out = Vec::with_capacity(into.len() + from.len());
    let (mut a, mut b) = (into.iter().peekable(), from.iter().peekable());
    while let (Some(&&x), Some(&&y)) = (a.peek(), b.peek()) {
        if x.0 <= y.0 {
            a.next();
        }
        if y.0 <= x.0 {
            b.next();
        }
        out.push(match x.0.cmp(&y.0) {
            std::cmp::Ordering::Less => x,
            std::cmp::Ordering::Greater => y,
            std::cmp::Ordering::Equal => (x.0, x.1.max(y.1)),
        });
    }
    out.extend(a.copied());
    out.extend(b.copied());
    out.shrink_to_fit();
    *into = out;
}

/// Joins shared clocks without copying where one covers the other.
pub(super) fn join(into: &mut Rc<Clock>, from: &Rc<Clock>) {
    if Rc::ptr_eq(into, from) || from.is_empty() {
        return;
    }
    if into.is_empty() || from.covers(into) {
        *into = from.clone();
    } else if !into.covers(from) {
        Rc::make_mut(into).join(from);
    }
}

/// What a thread knew when it executed a fence.
#[derive(Clone, Debug)]
pub(super) struct Fence {
    known: Rc<Clock>,
    own: u32,
    /// The block's barrier clock: its threads are known below it.
    base: u32,
}

impl Fence {
    /// What comes before it.
    fn covers(&self, me: &Me) -> Clock {
        let mut clock = (*self.known).clone();
        if self.base > me.start {
            clock.raise_block(me.block, self.base - 1);
        }
        clock.raise_thread(me.thread, self.own);
        clock
    }
}

/// Where a thread stands in time.
#[derive(Clone, Debug)]
pub(super) struct Time {
    pub clock: u32,
    /// Synchronisation intervals passed.
    pub level: u32,
    pub known: Rc<Clock>,
    /// The last fence, device-wide and block-wide.
    fence: Option<Fence>,
    fence_block: Option<Fence>,
    /// What fences before a block barrier covered, over the block.
    fenced: Rc<Clock>,
    /// Read from flags, not yet behind a fence: one for the device, or for the block at least.
    pending: [Option<Rc<Clock>>; 2],
    /// The clocks acquired last: polling acquires them again and again.
    last: [Option<Rc<Clock>>; 2],
}

/// The thread, as far as time is concerned.
#[derive(Clone, Copy)]
pub(super) struct Me {
    pub thread: u32,
    pub block: u32,
    /// First thread of the block and their number, padding included.
    pub first: u32,
    pub count: u32,
    /// Accesses of the block's threads before this clock are ordered.
    pub base: u32,
    /// Accesses of all threads before this clock are of earlier launches.
    pub start: u32,
}

impl Time {
    pub(super) fn new(clock: u32) -> Self {
        Self {
            clock,
            level: 0,
            known: Rc::default(),
            fence: None,
            fence_block: None,
            fenced: Rc::default(),
            pending: [None, None],
            last: [None, None],
        }
    }

    /// Whether an access happened before what this thread does now.
    #[inline]
    pub(super) fn ordered(&self, me: &Me, e: Epoch) -> bool {
        if e.clock < me.start || e.thread == me.thread {
            return true;
        }
        if e.thread.wrapping_sub(me.first) < me.count {
            return e.clock < me.base || self.known.knows(e.thread, me.block, e.clock);
        }
        self.known.knows(e.thread, e.thread / me.count, e.clock)
    }

    /// A fence: what this thread has read from flags it knows now, and what it knows, a later flag
    /// can release; of the two what [`fence`] does not leave out.
    pub(super) fn fence(&mut self, me: &Me, what: u8) {
        if what & fence::NO_ACQUIRE == 0 {
            let device = (what & fence::BLOCK == 0).then(|| self.pending[0].take()).flatten();
            for pending in [device, self.pending[1].take()].into_iter().flatten() {
                join(&mut self.known, &pending);
            }
        }
        if what & fence::NO_RELEASE != 0 {
            return;
        }
        let covered = self.now(me);
        self.tick();
        if what & fence::BLOCK == 0 {
            self.fence = Some(covered.clone());
        }
        self.fence_block = Some(covered);
    }

    /// What a fence here would cover.
    fn now(&self, me: &Me) -> Fence {
        Fence { known: self.known.clone(), own: self.clock, base: me.base }
    }

    /// What comes next is not released with what came before.
    pub(super) fn tick(&mut self) {
        self.clock = self.clock.saturating_add(1);
    }

    /// What a flag releases that needs no fence.
    pub(super) fn releasing(&self, me: &Me) -> Rc<Clock> {
        Rc::new(self.now(me).covers(me))
    }

    /// What a flag written now releases to the device (or the block alone).
    pub(super) fn released(&self, me: &Me, block_only: bool) -> Rc<Clock> {
        let fence = if block_only { &self.fence_block } else { &self.fence };
        match fence {
            None => self.fenced.clone(),
            Some(f) => {
                let mut clock = f.covers(me);
                clock.join(&self.fenced);
                Rc::new(clock)
            }
        }
    }

    /// Whether the last fence was one for the device: block and device are released the same.
    pub(super) fn is_fenced_alike(&self) -> bool {
        let own = |fence: &Option<Fence>| fence.as_ref().map(|f| f.own);
        own(&self.fence) == own(&self.fence_block)
    }

    /// Whether a fence since the last block barrier has something to release.
    pub(super) fn has_fence(&self) -> bool {
        self.fence.is_some()
    }

    /// A flag was read that carries this, released to the device or to the block alone.
    pub(super) fn acquire(&mut self, release: &Rc<Clock>, needs_fence: bool, block: bool) {
        let (last, pending) =
            (&mut self.last[usize::from(block)], &mut self.pending[usize::from(block)]);
        // What waits for a fence is not known yet.
        let again = needs_fence || pending.is_none();
        if release.is_empty() || again && last.as_ref().is_some_and(|l| Rc::ptr_eq(l, release)) {
            return;
        }
        *last = Some(release.clone());
        match (needs_fence, pending) {
            (true, Some(pending)) => join(pending, release),
            (true, pending) => *pending = Some(release.clone()),
            (false, _) => join(&mut self.known, release),
        }
    }

    /// What this thread has done and known up to now, for a barrier of lanes.
    pub(super) fn snapshot(&self, me: &Me) -> Clock {
        let mut clock = (*self.known).clone();
        clock.raise_thread(me.thread, self.clock);
        clock
    }

    /// Passed a barrier of lanes.
    pub(super) fn pass(&mut self, known: &Rc<Clock>, clock: u32, level: u32) {
        self.known = known.clone();
        self.clock = clock;
        self.level = level;
    }

    /// Passed a block barrier: all of the block know the same.
    pub(super) fn pass_block(
        &mut self,
        known: &Rc<Clock>,
        fenced: &Rc<Clock>,
        clock: u32,
        level: u32,
    ) {
        self.pass(known, clock, level);
        self.fenced = fenced.clone();
        self.fence = None;
        self.fence_block = None;
        self.last = [None, None];
    }

    pub(super) fn fenced(&self) -> &Rc<Clock> {
        &self.fenced
    }
}
