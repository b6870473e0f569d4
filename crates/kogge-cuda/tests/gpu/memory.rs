//! Slices of cudarc's, buffers and slices of the host.

use crate::check::WAYS;
use crate::common::{Random, expected};
use crate::devices::{CAPTURE, device};
use crate::values::{float, near_one};
use kogge_core::device::{DeviceElement, DeviceOperator, DeviceType};
use kogge_core::ops::{Max, Sum};
use kogge_core::{Accumulate, Direction, Element, Kind, bytemuck, f16};
use kogge_cuda::{Buffer, Error, Init, Workspace};

#[test]
fn cudarc_slices_host_slices_and_lengths() {
    let _shared = CAPTURE.read();
    let device = device();
    let mut workspace = device.workspace().expect("a workspace");
    let input: Vec<f32> = (0..3_000_000).map(|i| (i % 97) as f32 * 0.1).collect();
    let scan = device
        .prepare::<f32, f32, f32, _>(&Sum, Kind::Inclusive, Direction::Forward, 3_000_000)
        .expect("a kernel");
    let (values, all) =
        expected::<f32, f32, f32, _>(&Sum, &input, Kind::Inclusive, Direction::Forward, Some(0.5));
    let mut output = vec![0.0f32; input.len()];
    let total = scan.run_host(&mut workspace, &input, &mut output, Some(0.5)).expect("a scan");
    assert_eq!(bytemuck::cast_slice::<f32, u8>(&output), &values[..]);
    assert_eq!(bytemuck::bytes_of(&total), &all[..]);
    // Data on another stream than the workspace's.
    let stream = device.context().new_stream().expect("a stream");
    let from = stream.clone_htod(&input).expect("memory");
    let mut to = stream.alloc_zeros::<f32>(input.len()).expect("memory");
    scan.run_slices(&mut workspace, &from, &mut to, Some(0.5)).expect("a scan");
    assert_eq!(
        bytemuck::cast_slice::<f32, u8>(&stream.clone_dtoh(&to).expect("a copy")),
        &values[..]
    );
    let mut data = from;
    scan.run_in_place(&mut workspace, &mut data, Some(0.5)).expect("a scan");
    assert_eq!(
        bytemuck::cast_slice::<f32, u8>(&stream.clone_dtoh(&data).expect("a copy")),
        &values[..]
    );
    let mut short = stream.alloc_zeros::<f32>(5).expect("memory");
    let error =
        scan.run_slices(&mut workspace, &data, &mut short, None).expect_err("lengths differ");
    assert!(matches!(error, Error::Length { prepared: 3_000_000, input: 3_000_000, output: 5 }));
    // SAFETY: refused before anything is launched.
    let error =
        unsafe { scan.run(&mut workspace, 1, 4, Init::None, None) }.expect_err("misaligned");
    assert!(matches!(error, Error::Misaligned { address: 1, align: 4 }));
}

#[test]
fn buffers_on_any_stream() {
    let _shared = CAPTURE.read();
    let device = device();
    let (mut workspace, stream) = (
        device.workspace().expect("a workspace"),
        device.context().new_stream().expect("a stream"),
    );
    let input: Vec<i32> = (0..2_000_000).map(|i| i * 7 % 1001).collect();
    let (values, all) =
        expected::<i32, i32, i32, _>(&Sum, &input, Kind::Inclusive, Direction::Forward, None);
    let scan = device
        .prepare::<i32, i32, i32, _>(&Sum, Kind::Inclusive, Direction::Forward, 2_000_000)
        .expect("a kernel");
    for stream in [workspace.stream().clone(), stream] {
        let from = Buffer::from_slice(&stream, &input).expect("memory");
        let mut to = Buffer::zeroed(&stream, input.len()).expect("memory");
        let mut total = Buffer::zeroed(&stream, 1).expect("memory");
        for _ in 0..10 {
            scan.run_buffers(&mut workspace, &from, &mut to, None, Some(&mut total))
                .expect("a scan");
        }
        let read = to.read().expect("a copy");
        assert!(bytemuck::cast_slice::<i32, u8>(&read) == values);
        assert_eq!(bytemuck::cast_slice::<i32, u8>(&total.read().expect("a copy")), &all[..]);
        let mut data = from;
        scan.run_buffer_in_place(&mut workspace, &mut data, None).expect("a scan");
        assert!(data.read().expect("a copy") == read);
        assert!(matches!(data.write(&input[1..]), Err(Error::Invalid(_))));
        let mut short = Buffer::zeroed(&stream, 5).expect("memory");
        let refused = scan.run_buffers(&mut workspace, &data, &mut short, None, None);
        assert!(matches!(refused, Err(Error::Length { .. })));
    }
    assert!(matches!(
        Buffer::<u64>::zeroed(workspace.stream(), 1 << 45),
        Err(Error::OutOfMemory(_))
    ));
}

/// In one chunk and in several, both ways, on one workspace; with totals and initial values.
#[test]
fn host_slices_pass_through_in_chunks() {
    let _shared = CAPTURE.read();
    let mut workspace = device().workspace().expect("a workspace");
    let mut random = Random(5);
    for n in [0, 1, 5_000, 4 << 20, (12 << 20) + 77_777, 33 << 20] {
        for (kind, direction) in WAYS {
            let init = (random.below(2) == 0).then_some(0.3f32);
            host_slice::<f32, f32, f32, _>(
                &Sum,
                (kind, direction),
                init,
                n,
                &mut workspace,
                || float(&mut random),
            );
        }
    }
    for n in [70_000, (40 << 20) + 12_345] {
        let way = (Kind::Inclusive, Direction::Reverse);
        host_slice::<i8, i8, i8, _>(&Sum, way, Some(9), n, &mut workspace, || random.next() as i8);
        host_slice::<f16, f32, f64, _>(&Max, way, Some(0.1), n / 2, &mut workspace, || {
            f16::from_f32(near_one(&mut random))
        });
    }
}

fn host_slice<T, U, A, O>(
    operator: &O,
    (kind, direction): (Kind, Direction),
    init: Option<A>,
    n: usize,
    workspace: &mut Workspace,
    mut make: impl FnMut() -> T,
) where
    T: DeviceElement + Accumulate<A>,
    U: DeviceElement + Accumulate<A>,
    A: Element + DeviceType,
    O: DeviceOperator<A>,
{
    let input: Vec<T> = (0..n).map(|_| make()).collect();
    let scan =
        device().prepare::<T, U, A, O>(operator, kind, direction, n as u64).expect("a kernel");
    let (values, all) = expected::<T, U, A, O>(operator, &input, kind, direction, init);
    let mut output = vec![U::zeroed(); n];
    let total = scan.run_host(workspace, &input, &mut output, init).expect("a scan");
    assert!(bytemuck::cast_slice::<U, u8>(&output) == values, "{n} {kind:?} {direction:?}");
    assert_eq!(bytemuck::bytes_of(&total), &all[..], "{n} {kind:?} {direction:?}: the total");
}
