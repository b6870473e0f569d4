//! The trace: labels, places, and the network that they draw.

mod support;

use kogge_lab::{Event, Interval, Place, Trace};
use support::Case;

fn trace(case: Case) -> Trace {
    let report = case.options(|o| o.trace = true).run();
    assert!(report.is_clean(), "{:#?}", report.findings);
    report.trace.unwrap()
}

/// Intervals of the combinations in order: left, right, result.
fn combinations(trace: &Trace) -> Vec<[(u32, u32); 3]> {
    let pair = |i: Option<Interval>| i.map_or((99, 99), |i| (i.first, i.last));
    let combine = |e: &Event| match e {
        Event::Combine { left, right, result, .. } => {
            Some([pair(left.interval), pair(right.interval), pair(*result)])
        }
        _ => None,
    };
    trace.events.iter().filter_map(combine).collect()
}

const SHARED: &str = "
__device__ int combine(int a, int b) { return a + b; }
__global__ void scan(const int *x, int *y) {
    __shared__ int s[8];
    int t = threadIdx.x;
    s[t] = x[t];
    for (int d = 1; d < 8; d *= 2) {
        __syncthreads();
        int v = s[t];
        if (t >= d) v = combine(s[t - d], v);
        __syncthreads();
        s[t] = v;
    }
    y[t] = s[t];
}";

#[test]
fn kogge_stone_in_shared_memory() {
    let trace = trace(
        Case::new(SHARED, "scan", 1, 8).value("x", support::input(8)).value("y", vec![0i32; 8]),
    );
    let mut expected = Vec::new();
    for d in [1u32, 2, 4] {
        for t in d..8 {
            let from = |i: u32| (i + 1).saturating_sub(d);
            expected.push([(from(t - d), t - d), (from(t), t), ((t + 1).saturating_sub(2 * d), t)]);
        }
    }
    assert_eq!(combinations(&trace), expected);
    assert_eq!(trace.depth, 3);
    let s = trace.arrays.iter().position(|a| a.name == "s" && a.shared).unwrap() as u32;
    let x = trace.arrays.iter().position(|a| a.name == "x" && a.input).unwrap() as u32;
    let y = trace.arrays.iter().position(|a| a.name == "y").unwrap() as u32;
    for e in &trace.events {
        if let Event::Combine { at, left, right, stored, result } = e {
            let t = at.thread;
            assert_eq!(right.place, Place::Element { array: s, block: 0, index: t });
            assert!(
                matches!(left.place, Place::Element { array, index, .. } if array == s && index < t)
            );
            assert_eq!(stored[..], [Place::Element { array: s, block: 0, index: t }]);
            assert_eq!(result.unwrap().input, x);
        }
    }
    let moves: Vec<_> = trace
        .events
        .iter()
        .filter_map(|e| match e {
            Event::Move { from, to: Place::Element { array, index, .. }, .. } if *array == y => {
                Some((from.interval.unwrap(), *index))
            }
            _ => None,
        })
        .collect();
    assert_eq!(moves.len(), 8);
    assert!(moves.iter().all(|(i, index)| (i.first, i.last) == (0, *index)));
    assert_eq!(trace.events.iter().filter(|e| matches!(e, Event::Barrier { .. })).count(), 6);
    // The application levels are the odd intervals: behind the first of two barriers.
    let levels: Vec<u32> = trace
        .events
        .iter()
        .filter_map(|e| match e {
            Event::Combine { at, .. } => Some(at.level),
            _ => None,
        })
        .collect();
    assert_eq!((levels[0], levels[levels.len() - 1]), (1, 5));
}

/// Atomic loads and stores move values as plain ones do.
#[test]
fn values_pass_through_libcus_atomics() {
    let atomic = SHARED
        .replace("s[t] = v", "cuda::atomic_ref<int>(s[t]).store(v)")
        .replace("s[t - d]", "cuda::atomic_ref<int>(s[t - d]).load()");
    assert!(atomic.contains(".store(v)") && atomic.contains(".load()"));
    let of = |source: &str| {
        let case = Case::new(source, "scan", 1, 8).value("x", support::input(8));
        combinations(&trace(case.value("y", vec![0i32; 8])))
    };
    assert_eq!(of(&atomic), of(SHARED));
}

#[test]
fn shuffles_carry_labels() {
    let source = "
        __global__ void scan(int *x) {
            int v = x[threadIdx.x];
            for (int d = 1; d < 32; d *= 2) {
                int left = __shfl_up_sync(0xffffffff, v, d);
                if (threadIdx.x >= d) v = left + v;
            }
            x[threadIdx.x] = v;
        }";
    let trace = trace(Case::new(source, "scan", 1, 32).value("x", support::input(32)));
    let all = combinations(&trace);
    assert_eq!(all.len(), 32 * 5 - 31);
    assert!(all.iter().all(|[l, r, result]| l.1 + 1 == r.0 && *result == (l.0, r.1)));
    assert_eq!(all[all.len() - 1][2], (0, 31));
    for e in &trace.events {
        if let Event::Combine {
            left: kogge_lab::Labelled { place: Place::Register { thread, .. }, .. },
            at,
            ..
        } = e
        {
            assert!(*thread < at.thread);
        }
    }
}

#[test]
fn structs_are_one_element() {
    let source = "
        struct Map { float a, b; };
        __device__ Map combine(Map x, Map y) { Map r; r.a = x.a * y.a; r.b = y.a * x.b + y.b; return r; }
        __global__ void scan(Map *x, int n) { for (int i = 1; i < n; i++) x[i] = combine(x[i - 1], x[i]); }";
    let trace = trace(Case::new(source, "scan", 1, 1).value("x", vec![1f32; 12]).value("n", 6));
    let expected: Vec<_> = (1..6).map(|i| [(0, i - 1), (i, i), (0, i)]).collect();
    assert_eq!(combinations(&trace), expected);
    assert_eq!(trace.arrays[0].len, 6);
    assert_eq!(trace.depth, 5);
}

#[test]
fn tracing_changes_nothing_else() {
    let case =
        || Case::new(SHARED, "scan", 1, 8).value("x", support::input(8)).value("y", vec![0i32; 8]);
    let plain = case().run();
    let mut traced = case().options(|o| o.trace = true).run();
    traced.trace = None;
    assert_eq!(plain, traced);
}
