//! One scan in some random way, beside the reference.

use crate::common::{Random, expected};
use kogge_core::device::{DeviceElement, DeviceOperator, DeviceType};
use kogge_core::{Accumulate, Direction, Element, Kind, bytemuck};
use kogge_cuda::cudarc::driver::{CudaSlice, DevicePtrMut};
use kogge_cuda::{Init, Scan, Workspace};

/// Device memory of some bytes, from an offset on, with a guard around.
struct Guarded {
    memory: CudaSlice<u8>,
    start: usize,
    len: usize,
}

const GUARD: usize = 512;

impl Guarded {
    fn new(workspace: &Workspace, bytes: &[u8], offset: usize) -> Self {
        let mut host = vec![0xc3; bytes.len() + 2 * GUARD + offset];
        host[GUARD + offset..][..bytes.len()].copy_from_slice(bytes);
        let memory = workspace.stream().clone_htod(&host).expect("memory");
        Self { memory, start: GUARD + offset, len: bytes.len() }
    }

    fn address(&mut self, workspace: &Workspace) -> u64 {
        self.memory.device_ptr_mut(workspace.stream()).0 + self.start as u64
    }

    fn take(&self, workspace: &Workspace) -> Vec<u8> {
        let host = workspace.stream().clone_dtoh(&self.memory).expect("a copy");
        let outside = host[..self.start].iter().chain(&host[self.start + self.len..]);
        assert!(outside.into_iter().all(|&byte| byte == 0xc3), "a byte outside was written");
        host[self.start..][..self.len].to_vec()
    }
}

/// Runs a prepared scan in some random way and compares.
pub fn check<T, U, A, O>(
    scan: &Scan<T, U, A>,
    operator: &O,
    (kind, direction): (Kind, Direction),
    workspace: &mut Workspace,
    random: &mut Random,
    input: &[T],
    some_init: A,
) where
    T: DeviceElement + Accumulate<A>,
    U: DeviceElement + Accumulate<A>,
    A: Element + DeviceType,
    O: DeviceOperator<A>,
{
    let mut offset =
        |align: usize| if random.below(2) == 0 { 0 } else { random.below(16 / align) * align };
    let offsets = [offset(align_of::<T>()), offset(align_of::<U>())];
    let in_place = size_of::<T>() == size_of::<U>() && random.below(3) == 0;
    let mut from = Guarded::new(workspace, bytemuck::cast_slice(input), offsets[0]);
    let poison = vec![0x5a; input.len() * size_of::<U>()];
    let mut to = Guarded::new(workspace, &poison, offsets[1]);
    let mut total = Guarded::new(workspace, &vec![0x5a; size_of::<A>()], 0);
    let mut memory = Guarded::new(workspace, bytemuck::bytes_of(&some_init), 0);
    let init = match random.below(3) {
        0 => Init::None,
        1 => Init::Value(some_init),
        _ => Init::Memory(memory.address(workspace)),
    };
    let source = from.address(workspace);
    let target = if in_place { source } else { to.address(workspace) };
    let sum = total.address(workspace);
    // SAFETY: all four are alive until the copies back have waited.
    unsafe { scan.run(workspace, source, target, init, Some(sum)) }.expect("a launch");
    let first = (!matches!(init, Init::None)).then_some(some_init);
    let (values, all) = expected::<T, U, A, O>(operator, input, kind, direction, first);
    let got = if in_place { &from } else { &to }.take(workspace);
    let what = || {
        format!(
            "{kind:?} {direction:?} {} init {} {offsets:?} {in_place}",
            input.len(),
            first.is_some()
        )
    };
    if let Some(i) = (0..values.len()).find(|&i| values[i] != got[i]) {
        panic!("{}: element {} is wrong", what(), i / size_of::<U>());
    }
    assert_eq!(total.take(workspace), all, "{}: the total is wrong", what());
}

pub const WAYS: [(Kind, Direction); 4] = [
    (Kind::Inclusive, Direction::Forward),
    (Kind::Exclusive, Direction::Forward),
    (Kind::Inclusive, Direction::Reverse),
    (Kind::Exclusive, Direction::Reverse),
];
