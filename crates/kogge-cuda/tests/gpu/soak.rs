//! One workspace for everything, on several threads.

use crate::check::{WAYS, check};
use crate::common::Random;
use crate::devices::{CAPTURE, device};
use crate::values::{float, near_one};
use kogge_core::device::{DeviceElement, DeviceOperator, DeviceType};
use kogge_core::ops::*;
use kogge_core::{Accumulate, Direction, Element, Kind, f16};
use kogge_cuda::Workspace;

/// Random lengths, types and operators on one workspace, kernels of all shapes in turn.
#[test]
fn soak() {
    let _shared = CAPTURE.read();
    let scans: usize = std::env::var("KOGGE_SOAK").ok().and_then(|n| n.parse().ok()).unwrap_or(400);
    let threads = 8;
    std::thread::scope(|scope| {
        for thread in 0..threads {
            scope.spawn(move || {
                device().context().bind_to_thread().expect("a context");
                let mut random = Random(thread);
                let mut workspace = device().workspace().expect("a workspace");
                for _ in 0..scans / threads as usize {
                    soak_one(&mut workspace, &mut random);
                }
            });
        }
    });
}

fn soak_one(workspace: &mut Workspace, random: &mut Random) {
    let way = WAYS[random.below(4)];
    let n = match random.below(200) {
        0 => random.below(6_000_000),
        1..20 => random.below(200_000),
        _ => {
            let most = 1 << random.below(14);
            random.below(most)
        }
    };
    fn one<T: DeviceElement + Accumulate<A>, A: Element + DeviceType, O: DeviceOperator<A>>(
        operator: O,
        init: A,
        make: impl Fn(&mut Random) -> T,
        way: (Kind, Direction),
        n: usize,
        workspace: &mut Workspace,
        random: &mut Random,
    ) {
        let data: Vec<T> = (0..n).map(|_| make(random)).collect();
        let scan =
            device().prepare::<T, T, A, O>(&operator, way.0, way.1, n as u64).expect("a kernel");
        check(&scan, &operator, way, workspace, random, &data, init);
    }
    match random.below(5) {
        0 => one(Sum, 0.3f32, float, way, n, workspace, random),
        1 => one(Sum, 9i8, |r| r.next() as i8, way, n, workspace, random),
        2 => one(Max, 9i64, |r| r.next() as i64, way, n, workspace, random),
        3 => one(
            Compose,
            Affine { a: 0.5f32, b: 2.0 },
            |r| Affine { a: near_one(r), b: float(r) },
            way,
            n,
            workspace,
            random,
        ),
        _ => {
            one::<f16, f32, _>(Sum, 0.3, |r| f16::from_f32(near_one(r)), way, n, workspace, random)
        }
    }
}
