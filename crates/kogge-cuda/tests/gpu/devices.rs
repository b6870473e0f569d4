//! The GPU as it is, and as other devices would plan for it.

use kogge_cuda::{Capability, Device, Tuning};
use std::sync::{OnceLock, RwLock};

/// Held alone while a graph is captured, which other tests' allocations would end.
pub static CAPTURE: RwLock<()> = RwLock::new(());

pub fn device() -> Device {
    static DEVICE: OnceLock<Device> = OnceLock::new();
    DEVICE.get_or_init(|| Device::open(0).expect("a GPU")).clone()
}

/// One whose thread blocks take whole tiles even of the shortest sequences.
pub fn by_tiles(device: Device) -> Device {
    device.with_tuning(Tuning { cluster_blocks: 0, few_segments: 0, ..Tuning::default() })
}

/// One that goes by segments, whatever the elements.
pub fn by_segments(device: Device) -> Device {
    let (cluster_blocks, tile_blocks, rounds_bytes) = (0, 0, u64::MAX);
    let tuning = Tuning { cluster_blocks, tile_blocks, rounds_bytes, ..Tuning::default() };
    device.with_tuning(tuning)
}

/// One that goes in rounds from the first element on, by asynchronous loads in a smaller ring.
pub fn as_if_older(device: Device) -> Device {
    let tuning = Tuning { tile_blocks: 0, rounds_bytes: 0, ..Tuning::default() };
    without_bulk(device.with_tuning(tuning))
}

/// One that goes in rounds on two multiprocessors, which use their stages again and again even in
/// short sequences.
pub fn in_few_rounds(device: Device, draw_from: u32) -> Device {
    let (cluster_blocks, few_segments, tile_blocks, rounds_bytes) = (0, 0, 0, 0);
    let capability = Capability { multiprocessors: 2, ..device.capability() };
    device.with_capability(capability).with_tuning(Tuning {
        cluster_blocks,
        few_segments,
        tile_blocks,
        rounds_bytes,
        draw_from,
        ..Tuning::default()
    })
}

/// The same without bulk copies, in a smaller ring.
pub fn without_bulk(device: Device) -> Device {
    let capability = device.capability();
    device.with_capability(Capability { compute: (8, 0), shared_bytes: 166_912, ..capability })
}
