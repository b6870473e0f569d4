//! Graphs, and several streams at once.

use crate::common::expected;
use crate::devices::{CAPTURE, device};
use kogge_core::ops::Sum;
use kogge_core::{Direction, Kind, bytemuck};
use kogge_cuda::Init;
use kogge_cuda::cudarc::driver::{DevicePtr, DevicePtrMut, sys};
use std::sync::Arc;

#[test]
fn a_graph_replays_with_new_data() {
    let _alone = CAPTURE.write();
    let device = device();
    let stream = device.context().new_stream().expect("a stream");
    for n in [5_000usize, 9_000_000] {
        let mut workspace = device.workspace_on(stream.clone());
        let scan = device
            .prepare::<i32, i32, i32, _>(&Sum, Kind::Exclusive, Direction::Forward, n as u64)
            .expect("a kernel");
        let mut from = stream.alloc_zeros::<i32>(n).expect("memory");
        let mut to = stream.alloc_zeros::<i32>(n).expect("memory");
        workspace.reserve(scan.plan().workspace_bytes).expect("memory");
        let source = from.device_ptr(&stream).0;
        let target = to.device_ptr_mut(&stream).0;
        stream.synchronize().expect("done");
        stream
            .begin_capture(sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL)
            .expect("a capture");
        // SAFETY: both buffers outlive the graph.
        unsafe { scan.run(&mut workspace, source, target, Init::Value(7), None) }
            .expect("captured");
        let graph = stream
            .end_capture(
                sys::CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH,
            )
            .expect("a graph")
            .expect("a graph");
        for replay in 1..4 {
            let input: Vec<i32> = (0..n as i32).map(|i| i.wrapping_mul(replay) ^ 5).collect();
            stream.memcpy_htod(&input, &mut from).expect("a copy");
            graph.launch().expect("a replay");
            let (values, _) = expected::<i32, i32, i32, _>(
                &Sum,
                &input,
                Kind::Exclusive,
                Direction::Forward,
                Some(7),
            );
            assert_eq!(
                bytemuck::cast_slice::<i32, u8>(&stream.clone_dtoh(&to).expect("a copy")),
                &values[..]
            );
        }
    }
}

#[test]
fn several_streams_at_once() {
    let _shared = CAPTURE.read();
    let device = device();
    let input: Arc<Vec<f32>> = Arc::new((0..20_000_000).map(|i| (i % 101) as f32 * 0.3).collect());
    let (values, _) =
        expected::<f32, f32, f32, _>(&Sum, &input, Kind::Inclusive, Direction::Forward, None);
    let scan = device
        .prepare::<f32, f32, f32, _>(&Sum, Kind::Inclusive, Direction::Forward, input.len() as u64)
        .expect("a kernel");
    let mut lanes: Vec<_> = (0..4)
        .map(|_| {
            let workspace = device.workspace().expect("a workspace");
            let from = workspace.stream().clone_htod(&**input).expect("memory");
            let to = workspace.stream().alloc_zeros::<f32>(input.len()).expect("memory");
            (workspace, from, to)
        })
        .collect();
    for _ in 0..20 {
        for (workspace, from, to) in &mut lanes {
            scan.run_slices(workspace, from, to, None).expect("a scan");
        }
    }
    for (workspace, _, to) in &lanes {
        let got = workspace.stream().clone_dtoh(to).expect("a copy");
        assert_eq!(bytemuck::cast_slice::<f32, u8>(&got), &values[..]);
    }
}
