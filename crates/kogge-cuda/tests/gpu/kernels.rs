//! One kernel alone, and which one this device takes.

use crate::check::{WAYS, check};
use crate::common::{Random, boundary_lengths, expected};
use crate::devices::{CAPTURE, by_segments, by_tiles, device, in_few_rounds, without_bulk};
use crate::values::float;
use kogge_core::ops::Sum;
use kogge_core::{Direction, Kind, Order, bytemuck};
use kogge_cuda::{Capability, Device, Kernel, Tuning};

/// On a device whose shared memory holds no two tiles, a long sequence takes several launches.
#[test]
fn several_launches() {
    let _shared = CAPTURE.read();
    let capability = Capability { shared_bytes: 30_000, ..device().capability() };
    let device = device().with_capability(capability);
    let mut workspace = device.workspace().expect("a workspace");
    let mut random = Random(3);
    for (kind, direction) in WAYS {
        let n = (9 << 20) + random.below(1 << 20);
        let input: Vec<f32> = (0..n).map(|_| float(&mut random)).collect();
        let scan =
            device.prepare::<f32, f32, f32, _>(&Sum, kind, direction, n as u64).expect("a kernel");
        assert!(scan.plan().kernel == Kernel::Segments && scan.plan().launch_len < n as u64);
        let way = (kind, direction);
        check(&scan, &Sum, way, &mut workspace, &mut random, &input, 0.3);
        let (values, _) = expected::<f32, f32, f32, _>(&Sum, &input, kind, direction, None);
        let mut output = vec![0.0; n];
        scan.run_host(&mut workspace, &input, &mut output, None).expect("a scan");
        assert!(bytemuck::cast_slice::<f32, u8>(&output) == values, "{way:?} by way of the host");
    }
}

/// Elements of a tile of `f32`.
const TILE: usize = 8192;
const THREE_TILES: usize = 3 * TILE;

/// Boundary lengths by one kernel alone: short enough for the tools that watch every access.
fn at_boundaries(device: &Device, most: usize, by: impl Fn(Kernel) -> bool) {
    let _shared = CAPTURE.read();
    let mut workspace = device.workspace().expect("a workspace");
    let mut random = Random(5);
    for way in WAYS {
        let order = Order::of::<f32>();
        for n in boundary_lengths(order, most).into_iter().filter(|&n| n > 0) {
            let input: Vec<f32> = (0..n).map(|_| float(&mut random)).collect();
            let scan =
                device.prepare::<f32, f32, f32, _>(&Sum, way.0, way.1, n as u64).expect("a kernel");
            assert!(by(scan.plan().kernel), "{:?}", scan.plan());
            check(&scan, &Sum, way, &mut workspace, &mut random, &input, 0.3);
        }
    }
}

#[test]
fn segments() {
    at_boundaries(&by_segments(device()), THREE_TILES + 1, |kernel| kernel == Kernel::Segments);
}

/// Of devices without clusters, nothing is seen here: they go by segments, and say so.
#[test]
fn cluster() {
    let (major, _) = device().capability().compute;
    let (clusters, sixteen) = (major >= 9, matches!(major, 9 | 10));
    let eight = device().with_tuning(Tuning { cluster_blocks: 8, ..Tuning::default() });
    for (device, most) in [(device(), if sixteen { 4 } else { 2 } * TILE), (eight, 2 * TILE)] {
        at_boundaries(&device, most, |kernel| matches!(kernel, Kernel::Cluster(_)) == clusters);
    }
}

#[test]
fn tiles() {
    at_boundaries(&by_tiles(device()), THREE_TILES + 1, |kernel| {
        matches!(kernel, Kernel::Tiles(_))
    });
}

/// Each block has some ten tiles.
fn ten_rounds(device: &Device) {
    let _shared = CAPTURE.read();
    let mut random = Random(7);
    let mut workspace = device.workspace().expect("a workspace");
    for way in WAYS {
        for n in [TILE / 2 + 5, 20 * TILE, 21 * TILE + 77] {
            let input: Vec<f32> = (0..n).map(|_| float(&mut random)).collect();
            let scan =
                device.prepare::<f32, f32, f32, _>(&Sum, way.0, way.1, n as u64).expect("a kernel");
            assert!(matches!(scan.plan().kernel, Kernel::Rounds(_)), "{:?}", scan.plan());
            check(&scan, &Sum, way, &mut workspace, &mut random, &input, 0.3);
        }
    }
}

#[test]
fn rounds_in_turn() {
    ten_rounds(&in_few_rounds(device(), u32::MAX));
}

#[test]
fn rounds_drawn() {
    ten_rounds(&in_few_rounds(device(), 1));
}

#[test]
fn rounds_without_bulk() {
    ten_rounds(&without_bulk(in_few_rounds(device(), u32::MAX)));
}

#[test]
fn plans_of_this_device() {
    let _shared = CAPTURE.read();
    let scan = device()
        .prepare::<f32, f32, f32, _>(&Sum, Kind::Inclusive, Direction::Forward, 1 << 26)
        .expect("a kernel");
    assert!(matches!(scan.plan().kernel, Kernel::Rounds(_)), "{:?}", scan.plan());
}
