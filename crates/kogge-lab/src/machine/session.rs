//! The device over the steps of a script: its arrays, and what was found.

use super::exec::{ArrayInfo, Machine};
use super::findings::Findings;
use super::grid::{End, Grid};
use super::ins::{Compiled, Global, Object};
use super::memory::{self, Region};
use super::provenance::Recorder;
use super::volatile::Unordered;
use super::warp::BlockInfo;
use crate::lang::Pos;
use crate::options::{Options, Order};
use crate::random::Random;
use crate::report::{Counts, Finding, FindingKind, LaunchReport, Level};
use crate::script::Launch;
use crate::trace::Trace;
use crate::value::{ArrayInit, ScalarType, Values};

/// Most blocks of a launch.
const MAX_BLOCKS: u64 = 1 << 22;
/// Bytes of shadow for a byte of memory.
const SHADOW: u64 = 14;

/// The device.
pub(crate) struct Session<'a> {
    options: &'a Options,
    memory: Vec<Region>,
    arrays: Vec<ArrayInfo>,
    types: Vec<(ScalarType, bool)>,
    findings: Findings,
    recorder: Option<Recorder>,
    fuel: u64,
    room: u64,
    clock: u32,
    random: Random,
    launches: Vec<LaunchReport>,
    activity: Vec<Level>,
    stopped: bool,
}

/// What a session leaves behind.
pub(crate) struct Outcome {
    pub findings: Vec<Finding>,
    pub left_out: u64,
    pub launches: Vec<LaunchReport>,
    pub activity: Vec<Level>,
    pub trace: Option<Trace>,
}

impl<'a> Session<'a> {
    pub(crate) fn new(options: &'a Options) -> Self {
        Self {
            options,
            memory: Vec::new(),
            arrays: Vec::new(),
            types: Vec::new(),
            findings: Findings::new(options.budget.findings, options.schedule),
            recorder: options.trace.then(|| Recorder::new(options.budget.memory)),
            fuel: options.budget.instructions,
            room: options.budget.memory,
            clock: 0,
            random: Random::new(options.schedule.seed),
            launches: Vec::new(),
            activity: Vec::new(),
            stopped: false,
        }
    }

    /// Takes host memory from the budget; false if it is spent.
    fn take(&mut self, bytes: u64) -> bool {
        match self.room.checked_sub(bytes) {
            Some(room) => {
                self.room = room;
                true
            }
            None => false,
        }
    }

    /// Adds a device variable; false beyond the memory budget.
    pub(crate) fn add_global(&mut self, g: &Global) -> bool {
        if !self.take(g.bytes.saturating_mul(SHADOW)) {
            return false;
        }
        let region = Region::new(g.init.clone(), true);
        self.add(&g.name, region, (g.ty, g.uniform), false);
        true
    }

    /// Adds an array; false beyond the memory budget.
    pub(crate) fn add_array(&mut self, name: &str, init: &ArrayInit) -> bool {
        let bytes = (init.len() as u64).saturating_mul(init.ty().size() as u64);
        if !self.take(bytes.saturating_mul(SHADOW)) {
            return false;
        }
        let written = !matches!(init, ArrayInit::Uninitialised(..));
        let region = Region::new(init.values().to_bytes(), written);
        let input = if self.options.trace_inputs.is_empty() {
            !matches!(init, ArrayInit::Zeros(..) | ArrayInit::Uninitialised(..))
        } else {
            self.options.trace_inputs.iter().any(|n| n == name)
        };
        self.add(name, region, (init.ty(), true), input);
        true
    }

    fn add(&mut self, name: &str, region: Region, ty: (ScalarType, bool), input: bool) {
        let element = ty.0.size() as u32;
        let len = (region.bytes.len() / ty.0.size()) as u32;
        let traced = self.recorder.as_mut().map(|r| r.array(name, false, len, input));
        self.memory.push(region);
        self.arrays.push(ArrayInfo { name: name.to_owned(), element, traced, input });
        self.types.push(ty);
    }

    pub(crate) fn find(&self, name: &str) -> Option<usize> {
        self.arrays.iter().position(|a| a.name == name)
    }

    pub(crate) fn type_of(&self, index: usize) -> (ScalarType, bool) {
        self.types[index]
    }

    pub(crate) fn element_count(&self, index: usize) -> u64 {
        self.memory[index].bytes.len() as u64 / self.types[index].0.size() as u64
    }

    /// Counts the elements of the array at an address in units of a struct.
    pub(crate) fn count_elements(&mut self, address: u64, size: u32) {
        let index = (super::address::unpack(address).0 as usize).wrapping_sub(1);
        let Some(array) = self.arrays.get_mut(index) else { return };
        if size > 1 && size.is_multiple_of(array.element.max(1)) {
            array.element = size;
            let len = self.memory[index].bytes.len() / size as usize;
            if let (Some(recorder), Some(traced)) = (&mut self.recorder, array.traced) {
                recorder.resize(traced, len as u32);
            }
        }
    }

    /// Contents of an array.
    pub(crate) fn values(&self, index: usize) -> Values {
        Values::from_bytes(self.types[index].0, &self.memory[index].bytes)
    }

    /// Overwrites the first bytes of an array from the host.
    pub(crate) fn write(&mut self, index: usize, bytes: &[u8]) {
        let region = &mut self.memory[index];
        let n = bytes.len().min(region.bytes.len());
        region.bytes[..n].copy_from_slice(&bytes[..n]);
        region.labels.clear();
        if n == region.bytes.len() {
            region.mark_all_written();
        } else {
            for (i, &b) in bytes[..n].iter().enumerate() {
                region.store(i, ScalarType::U8, u64::from(b));
            }
        }
    }

    /// Copies the first elements of one array over another's.
    pub(crate) fn copy(&mut self, from: usize, to: usize) {
        let bytes = self.memory[from].bytes.clone();
        let labels = self.memory[from].labels.clone();
        self.write(to, &bytes);
        self.memory[to].labels.extend(labels);
    }

    /// Whether the budget ended the run, or nothing could change any more.
    pub(crate) const fn stopped(&self) -> bool {
        self.stopped
    }

    fn refuse(&mut self, pos: Pos, kind: FindingKind, message: String) {
        self.findings.plain(kind, pos, message);
    }

    /// Checks a launch against the device; a bad one is a finding and does not run.
    fn admit(&mut self, kernel: &Compiled, launch: &Launch) -> bool {
        let device = self.options.device;
        let pos = kernel.pos;
        let threads = launch.block.iter().fold(1u64, |n, &d| n.saturating_mul(u64::from(d)));
        let blocks = launch.grid.iter().fold(1u64, |n, &d| n.saturating_mul(u64::from(d)));
        let static_bytes = kernel.shared_bytes;
        let total = u64::from(static_bytes) + u64::from(launch.shared_bytes);
        let mut limit = |message: String| self.findings.plain(FindingKind::Limit, pos, message);
        let before = [
            (threads == 0 || blocks == 0).then(|| "a launch without blocks or threads".to_owned()),
            (threads > u64::from(device.threads_per_block)).then(|| {
                format!("{threads} threads in a block, the device has {}", device.threads_per_block)
            }),
            (0..3).find(|&i| launch.block[i] > device.block[i]).map(|i| {
                format!("a block of {} threads in {}", launch.block[i], ["x", "y", "z"][i])
            }),
            (0..3)
                .find(|&i| launch.grid[i] > device.grid[i])
                .map(|i| format!("a grid of {} blocks in {}", launch.grid[i], ["x", "y", "z"][i])),
            (static_bytes > device.static_shared_bytes).then(|| {
                format!(
                    "{static_bytes} bytes of static shared memory, the device has {}",
                    device.static_shared_bytes
                )
            }),
            (total > u64::from(device.shared_bytes)).then(|| {
                format!(
                    "{total} bytes of shared memory in a block, the device has {}",
                    device.shared_bytes
                )
            }),
            kernel.launch_bound.filter(|&b| threads > b).map(|b| {
                format!("{threads} threads in a block, but __launch_bounds__ promises at most {b}")
            }),
            (launch.cooperative && blocks > u64::from(self.options.resident_blocks)).then(|| {
                format!(
                    "a cooperative launch of {blocks} blocks, but only {} are resident at once",
                    self.options.resident_blocks
                )
            }),
        ];
        let mut admitted = true;
        for message in before.into_iter().flatten() {
            limit(message);
            admitted = false;
        }
        if let (Some(pos), false) = (kernel.grid_sync, launch.cooperative) {
            let message = "a grid barrier in a launch that is not cooperative".to_owned();
            self.refuse(pos, FindingKind::Limit, message);
            admitted = false;
        }
        if admitted && (blocks > MAX_BLOCKS || blocks * threads.next_multiple_of(32) > 1 << 31) {
            let message =
                format!("{blocks} blocks of {threads} threads are more than a run may take");
            self.refuse(pos, FindingKind::Budget, message);
            self.stopped = true;
            admitted = false;
        }
        admitted
    }

    /// Runs a kernel to its end.
    pub(crate) fn launch(&mut self, kernel: &Compiled, launch: &Launch, params: &[(u16, u64)]) {
        let index = self.launches.len() as u32;
        self.findings.launch = index;
        self.launches.push(LaunchReport { kernel: kernel.name.clone(), counts: Counts::default() });
        if self.stopped || !self.admit(kernel, launch) {
            return;
        }
        let threads: u32 = launch.block.iter().product();
        let blocks: u32 = launch.grid.iter().product();
        let shared_bytes = kernel.shared_bytes.next_multiple_of(16) + launch.shared_bytes;
        let places = self.options.resident_blocks.clamp(1, blocks) as usize;
        let resident = self.resident_bytes(kernel, threads, shared_bytes, places);
        if resident > self.room {
            let message =
                "registers and shared memory of the resident blocks exceed the memory budget";
            self.refuse(kernel.pos, FindingKind::Budget, message.to_owned());
            self.stopped = true;
            return;
        }
        let start = self.clock + 1;
        let template = BlockInfo {
            id: 0,
            index: [0; 3],
            first: 0,
            padded: threads.next_multiple_of(32),
            dim: launch.block,
            grid: launch.grid,
            threads,
            base: start,
            start,
        };
        let queue = self.queue(blocks);
        let seed = self.random.next();
        let notes = self.memory.iter().map(|region| region.shadow.extra).sum();
        let mut machine = Machine {
            kernel,
            shared: shared_objects(kernel, launch.shared_bytes),
            memory: &mut self.memory,
            arrays: &self.arrays,
            findings: &mut self.findings,
            recorder: self.recorder.as_mut(),
            options: self.options,
            counts: Counts::default(),
            activity: Vec::new(),
            version: 0,
            fuel: self.fuel,
            notes,
            room: self.room - resident,
            crowded: false,
            launch: index,
            volatile: Unordered::default(),
        };
        let mut grid = Grid {
            machine: &mut machine,
            template,
            params,
            queue,
            resident: Vec::new(),
            places,
            shared_bytes: shared_bytes as usize,
            spare: Vec::new(),
            random: Random::new(seed),
            clock: start,
        };
        let end = grid.run();
        self.clock = grid.finish();
        machine.tell_volatile();
        self.fuel = machine.fuel;
        let (counts, crowded) = (machine.counts, machine.crowded);
        let activity = std::mem::take(&mut machine.activity);
        self.account(index, counts, &activity);
        if end == End::Spent {
            let message = if crowded {
                let bytes = self.options.budget.memory;
                format!("stopped: what flags release takes more than the {bytes} bytes of a run")
            } else {
                let instructions = self.options.budget.instructions;
                format!("stopped after {instructions} instructions; the kernel may never end")
            };
            self.refuse(kernel.pos, FindingKind::Budget, message);
        }
        self.stopped = end != End::Done;
    }

    /// What a launch did, for the report; `activity` by level.
    fn account(&mut self, launch: u32, mut counts: Counts, activity: &[u64]) {
        counts.steps = activity.iter().filter(|&&n| n > 0).count() as u64;
        if let Some(l) = self.launches.last_mut() {
            l.counts = counts;
        }
        let levels = activity.iter().enumerate().filter(|(_, n)| **n > 0);
        self.activity.extend(levels.map(|(level, &applications)| Level {
            launch,
            level: level as u32,
            applications,
        }));
    }

    /// What the blocks that are resident at once take.
    fn resident_bytes(&self, kernel: &Compiled, threads: u32, shared: u32, places: usize) -> u64 {
        let warps = u64::from(threads.div_ceil(32));
        let trace = if self.options.trace { 2 } else { 1 };
        let warp =
            kernel.registers as u64 * 256 * trace + u64::from(kernel.local_bytes) * 64 + 8192;
        let block = warps * warp + u64::from(shared) * SHADOW;
        block.saturating_mul(places as u64)
    }

    /// Blocks in the order in which they start, the first one last.
    fn queue(&mut self, blocks: u32) -> Vec<u32> {
        let mut queue: Vec<u32> = match self.options.block_order {
            Order::Reverse => (0..blocks).collect(),
            Order::Forward | Order::Random => (0..blocks).rev().collect(),
        };
        if self.options.block_order == Order::Random {
            for i in (1..queue.len()).rev() {
                let j = self.random.below(i as u64 + 1) as usize;
                queue.swap(i, j);
            }
        }
        queue
    }

    pub(crate) fn finish(self) -> Outcome {
        let (findings, left_out) = self.findings.into_parts();
        Outcome {
            findings,
            left_out,
            launches: self.launches,
            activity: self.activity,
            trace: self.recorder.map(Recorder::into_trace),
        }
    }
}

/// Shared objects with the dynamic ones at their launched size, behind the
/// static ones.
fn shared_objects(kernel: &Compiled, dynamic_bytes: u32) -> Vec<Object> {
    let mut objects = kernel.shared.clone();
    for dynamic in &kernel.dynamic {
        let object = &mut objects[dynamic.object];
        object.offset = kernel.shared_bytes.next_multiple_of(16);
        object.size = dynamic_bytes;
    }
    objects
}

impl Machine<'_> {
    /// What a diagnostic calls the element at an address.
    pub(super) fn element_name(&self, address: u64) -> String {
        use super::address::{SHARED, unpack};
        let (id, offset) = unpack(address);
        let named = if id >= SHARED {
            let object = self.shared.get((id - SHARED) as usize);
            object.map(|o| (o.name.as_str(), o.element))
        } else {
            let array = self.arrays.get((id as usize).wrapping_sub(1));
            array.map(|a| (a.name.as_str(), a.element))
        };
        match named {
            Some((name, element)) => {
                format!("{name}[{}]", offset.div_euclid(i64::from(element.max(1))))
            }
            None => "a flag".to_owned(),
        }
    }
}

/// The bytes of a number converted to a type.
pub(crate) fn number_bytes(ty: ScalarType, bits: u64) -> Vec<u8> {
    let mut bytes = vec![0; ty.size()];
    memory::store(&mut bytes, 0, ty, bits);
    bytes
}
