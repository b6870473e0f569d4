//! libcu++'s atomics: what their orders and scopes order, and what they don't.

use kogge_lab::{FindingKind as F, Report, Schedule, Values};

use crate::support::{Case, inclusive, input, ints, kinds, schedules};

/// Passing a value from block 0 to block 1 through a flag; `$relaxed` is the order of that name.
fn pass(set: &str, get: &str) -> Case {
    let source = format!(
        "#include <cuda/atomic>
        __global__ void k(unsigned *flag, int *data, int *out) {{
            if (threadIdx.x != 0) return;
            cuda::atomic_ref<unsigned, cuda::thread_scope_device> r(*flag);
            if (blockIdx.x == 0) {{ data[0] = 42; {set} }}
            else {{ {get} out[0] = data[0]; }}
        }}"
    );
    let source = source.replace('$', "cuda::memory_order_");
    Case::new(&source, "k", 2, 32)
        .value("flag", vec![0u32])
        .value("data", vec![0i32])
        .value("out", vec![0i32])
}

fn strict(case: Case) -> Case {
    case.options(|o| o.acquire_needs_fence = true)
}

/// What each schedule shows.
fn each(case: &Case) -> Vec<(Schedule, Report)> {
    let run =
        |schedule| kogge_lab::run(&case.program(), &case.script, &case.options.under(schedule));
    schedules().into_iter().map(|schedule| (schedule, run(schedule).unwrap())).collect()
}

/// A race under every schedule, and nothing else.
fn races(case: &Case) {
    for (schedule, report) in each(case) {
        assert_eq!(kinds(&report), [F::Race], "{schedule} {}", case.source);
    }
}

fn passes(case: &Case) {
    assert_eq!(ints(&case.clean("out")), [42], "{}", case.source);
}

const SET: &str = "r.store(1, $release);";
const GET: &str = "while (r.load($acquire) == 0) {}";

const SETS: [&str; 9] = [
    SET,
    "r.store(1);",
    "r = 1;",
    "r.exchange(1, $release);",
    "r.fetch_add(1, $acq_rel);",
    "r++;",
    "r |= 1;",
    "unsigned e = 0; r.compare_exchange_strong(e, 1, $release, $relaxed);",
    "cuda::atomic_thread_fence($release, cuda::thread_scope_device); r.store(1, $relaxed);",
];

const GETS: [&str; 8] = [
    GET,
    "while (r.load() == 0) {}",
    "while (r == 0) {}",
    "while (!r) {}",
    "while (r.fetch_add(0, $acquire) == 0) {}",
    "for (unsigned e = 1; !r.compare_exchange_weak(e, 2, $acquire); e = 1) {}",
    "for (unsigned e = 0; r.compare_exchange_strong(e, 0, $relaxed, $acquire); e = 0) {}",
    "while (r.load($relaxed) == 0) {} cuda::atomic_thread_fence($acquire);",
];

#[test]
fn a_release_is_ordered_before_who_acquires_it() {
    for set in SETS {
        for get in GETS {
            passes(&pass(set, get));
            passes(&strict(pass(set, get)));
        }
    }
}

#[test]
fn a_relaxed_store_orders_nothing() {
    for set in [
        "r.store(1, $relaxed);",
        "r.store(1, cuda::memory_order::relaxed);",
        "r.exchange(1, $relaxed);",
        "r.fetch_add(1, $relaxed);",
        "r.fetch_or(1, $acquire);",
        "unsigned e = 0; r.compare_exchange_strong(e, 1, $relaxed);",
        "unsigned e = 0; r.compare_exchange_strong(e, 1, $acquire, $acquire);",
        // A fence behind it, or one that is for reading, is none.
        "r.store(1, $relaxed); cuda::atomic_thread_fence($release);",
        "cuda::atomic_thread_fence($acquire); r.store(1, $relaxed);",
        "cuda::atomic_thread_fence($relaxed); r.store(1, $relaxed);",
    ] {
        races(&pass(set, GET));
        races(&strict(pass(set, GET)));
    }
}

#[test]
fn a_relaxed_load_orders_nothing_under_strict_fences() {
    for get in [
        "while (r.load($relaxed) == 0) {}",
        "while (r.fetch_add(0, $relaxed) == 0) {}",
        "while (r.exchange(1, $release) == 0) {}",
        "for (unsigned e = 1; !r.compare_exchange_weak(e, 2, $relaxed); e = 1) {}",
        "for (unsigned e = 1; !r.compare_exchange_weak(e, 2, $relaxed, $acquire); e = 1) {}",
        "for (unsigned e = 0; r.compare_exchange_strong(e, 0, $acquire, $relaxed); e = 0) {}",
        "while (r.load($relaxed) == 0) {} cuda::atomic_thread_fence($release);",
        "while (r.load($relaxed) == 0) {} cuda::atomic_thread_fence($acquire, cuda::thread_scope_block);",
        "while (r.load($relaxed) == 0) {} __threadfence_block();",
    ] {
        if !get.contains("exchange") {
            passes(&pass(SET, get));
        }
        races(&strict(pass(SET, get)));
    }
    // An acquire behind it reads the same release.
    passes(&strict(pass(SET, "while (r.load($relaxed) == 0) {} r.load($acquire);")));
    passes(&strict(pass(SET, "while (r.load($relaxed) == 0) {} __threadfence();")));
}

/// With functions of CUDA's own on the other side.
#[test]
fn orders_and_fences_go_together() {
    for set in [
        "__threadfence(); atomicExch(flag, 1u);",
        "__threadfence(); *(volatile unsigned *)flag = 1;",
    ] {
        passes(&strict(pass(set, GET)));
        races(&pass(&set.replace("__threadfence()", ""), GET));
    }
    passes(&strict(pass(SET, "while (atomicAdd(flag, 0u) == 0) {} __threadfence();")));
    races(&strict(pass(SET, "while (atomicAdd(flag, 0u) == 0) {}")));
    passes(&pass(SET, "while (atomicAdd(flag, 0u) == 0) {}"));
}

#[test]
fn a_release_covers_itself_and_nothing_later() {
    // Who acquires it may read the flag as any variable.
    let get = format!("{GET} if (*flag != 1) return;");
    passes(&strict(pass(SET, &get)));
    races(&pass("*flag = 1;", GET));
    let late = "r.store(1, $release); data[0] = 43;";
    races(&pass(late, GET));
    // It is no fence for another flag.
    let source = |order: &str| {
        format!(
            "__global__ void k(unsigned *flags, int *data, int *out) {{
                cuda::atomic_ref<unsigned> a(flags[0]), b(flags[1]);
                if (blockIdx.x == 0) {{ data[0] = 42; a.store(1, cuda::memory_order_release); b.store(1, {order}); }}
                else {{ while (b.load() == 0); out[0] = data[0]; }}
            }}"
        )
    };
    let case = |order| {
        Case::new(&source(order), "k", 2, 1)
            .value("flags", vec![0u32; 2])
            .value("data", vec![0i32])
            .value("out", vec![0i32])
    };
    races(&case("cuda::memory_order_relaxed"));
    passes(&strict(case("cuda::memory_order_release")));
}

/// Block 0 releases a flag, block 1 changes it, block 2 acquires what block 1 wrote.
#[test]
fn a_release_goes_on_through_updates_but_not_through_stores() {
    let case = |change: &str| {
        let source = format!(
            "__global__ void k(unsigned *flag, int *data, int *out) {{
                cuda::atomic_ref<unsigned> r(*flag); unsigned e = 1;
                if (blockIdx.x == 0) {{ data[0] = 42; r.store(1, cuda::memory_order_release); }}
                else if (blockIdx.x == 1) {{ while (r.load(cuda::memory_order_relaxed) == 0); {change} }}
                else {{ while (r.load(cuda::memory_order_acquire) != 2); out[0] = data[0]; }}
            }}"
        );
        let case = Case::new(&source, "k", 3, 1).value("flag", vec![0u32]);
        strict(case.value("data", vec![0i32]).value("out", vec![0i32]))
    };
    passes(&case("r.fetch_add(1, cuda::memory_order_relaxed);"));
    passes(&case("r.compare_exchange_strong(e, 2u, cuda::memory_order_relaxed);"));
    // Unless block 2 happens to see what block 0 wrote as well.
    let stored = each(&case("r.store(2, cuda::memory_order_relaxed);"));
    let raced = stored.iter().filter(|(_, report)| kinds(report) == [F::Race]).count();
    assert!(raced > 0 && stored.iter().all(|(_, r)| r.is_clean() || kinds(r) == [F::Race]));
}

#[test]
fn a_comparison_that_fails_releases_nothing() {
    let set = |order: &str| {
        format!(
            "unsigned e = 5; r.compare_exchange_strong(e, 7, {order}); r.fetch_add(1, $relaxed);"
        )
    };
    races(&pass(&set("$seq_cst"), GET));
    races(&pass(&set("$release, $relaxed"), GET));
    // Nor does it write what other blocks only read.
    let source = "__global__ void k(unsigned *flag) {
        cuda::atomic_ref<unsigned, cuda::thread_scope_block> r(*flag);
        unsigned e = 5; r.compare_exchange_strong(e, 7); }";
    let case = Case::new(source, "k", 2, 32).value("flag", vec![0u32]);
    case.clean("flag");
    races(&Case { source: source.replace("e = 5", "e = 0"), ..case });
    // What was expected is written only then.
    let source = "__global__ void k(unsigned *flags, unsigned *expected) {
        cuda::atomic_ref<unsigned> r(flags[threadIdx.x]); r.compare_exchange_strong(*expected, 7); }";
    let expecting = |e: u32| {
        let case = Case::new(source, "k", 1, 64).value("flags", vec![0u32; 64]);
        case.value("expected", vec![e])
    };
    assert_eq!(expecting(0).clean("flags"), Values::U32(vec![7; 64]));
    races(&expecting(5));
}

#[test]
fn atomics_of_one_block_do_not_reach_another() {
    let scoped = |case: Case| {
        let source = case.source.replace("thread_scope_device> r", "thread_scope_block> r");
        Case { source, ..case }
    };
    races(&scoped(pass(SET, GET)));
    races(&scoped(pass(SET, "while (atomicAdd(flag, 0u) == 0) {}")));
    let fence =
        "cuda::atomic_thread_fence($release, cuda::thread_scope_block); r.store(1, $relaxed);";
    races(&pass(fence, GET));
    // Within a block they do.
    let source = |order: &str| {
        format!(
            "__global__ void k(int *out) {{
                __shared__ cuda::atomic<int, cuda::thread_scope_block> flag; __shared__ int data;
                if (threadIdx.x == 0) flag.store(0, cuda::memory_order_relaxed);
                __syncthreads();
                if (threadIdx.x == 0) {{ data = 42; flag.store(1, {order}); }}
                if (threadIdx.x == 32) {{ while (flag.load(cuda::memory_order_acquire) == 0); out[0] = data; }}
            }}"
        )
    };
    let case = |order| strict(Case::new(&source(order), "k", 1, 64).value("out", vec![0i32]));
    passes(&case("cuda::memory_order_release"));
    races(&case("cuda::memory_order_relaxed"));
}

#[test]
fn a_race_of_atomics_is_told_as_one() {
    let report = pass("*flag = 1;", GET).run();
    let message = "thread 0 of block 1 reads flag[0] (line 6) while thread 0 of block 0 writes it (line 5), and nothing orders the two";
    assert_eq!(report.findings[0].message, message);
    let report = pass(SET, "while (*flag == 0) {}").run();
    let message = "thread 0 of block 1 reads flag[0] (line 6) while thread 0 of block 0 writes it (line 5), and nothing orders the two";
    assert_eq!(report.findings[0].message, message);
    let report = pass("r.fetch_add(1);", "while (*flag == 0) {}").run();
    assert!(report.findings[0].message.contains("while thread 0 of block 0 updates it"));
}

/// One that waits by atomic loads does not run for ever.
#[test]
fn who_waits_for_nobody_is_told() {
    for wait in ["while (r.load($relaxed) == 0) {}", "while (r.fetch_or(0) == 0) {}", "while (!r);"]
    {
        for (schedule, report) in each(&pass("", wait)) {
            assert_eq!(kinds(&report), [F::Livelock], "{schedule} {wait}");
        }
    }
}

fn look_back(source: &str, tiles: usize) -> Case {
    Case::new(source, "scan", tiles as u32, 64)
        .value("x", input(64 * tiles))
        .value("y", vec![0i32; 64 * tiles])
        .value("aggregates", vec![0i32; tiles])
        .value("prefixes", vec![0i32; tiles])
        .value("status", vec![0u32; tiles])
        .value("started", vec![0u32])
}

#[test]
fn decoupled_look_back_with_acquire_and_release() {
    let source = include_str!("../textbook/look_back_atomic_ref.cu");
    let expected = Values::I32(inclusive(&input(64 * 5)));
    assert_eq!(look_back(source, 5).clean("y"), expected);
    assert_eq!(strict(look_back(source, 5)).clean("y"), expected);
    let few = strict(look_back(source, 5)).options(|o| o.resident_blocks = 2);
    assert_eq!(few.clean("y"), expected);
    let relaxed_store = source.replace("memory_order_release", "memory_order_relaxed");
    races(&look_back(&relaxed_store, 5));
    let relaxed_load = source.replace("memory_order_acquire", "memory_order_relaxed");
    races(&strict(look_back(&relaxed_load, 5)));
    assert_eq!(look_back(&relaxed_load, 5).clean("y"), expected);
    races(&look_back(&source.replace("thread_scope_device", "thread_scope_block"), 5));
    let plain = source.replace(
        "Status(status[tile]).store(kind, cuda::memory_order_release)",
        "status[tile] = kind",
    );
    races(&look_back(&plain, 5));
    // Fences of their own do as well, and each is needed.
    let fenced = relaxed_load
        .replace("    Status(status[tile]).store(kind, cuda::memory_order_release)",
            "    cuda::atomic_thread_fence(cuda::memory_order_release);\n Status(status[tile]).store(kind, cuda::memory_order_relaxed)")
        .replace("(seen == NOTHING);", "(seen == NOTHING);\n cuda::atomic_thread_fence(cuda::memory_order_acquire);");
    assert_eq!(strict(look_back(&fenced, 5)).clean("y"), expected);
    for fence in ["release", "acquire"] {
        let line = format!("cuda::atomic_thread_fence(cuda::memory_order_{fence});");
        races(&strict(look_back(&fenced.replace(&line, ""), 5)));
    }
}

#[test]
fn decoupled_look_back_with_status_and_value_in_one_word() {
    let source = include_str!("../textbook/look_back_atomic_pair.cu");
    let expected = Values::I32(inclusive(&input(64 * 5)));
    let case = |source: &str| {
        let case = Case::new(source, "scan", 5, 64).value("x", input(320));
        strict(case.value("y", vec![0i32; 320]).value("tiles", vec![0u32; 10]))
    };
    assert_eq!(case(source).clean("y"), expected);
    races(&case(&source.replace("thread_scope_device", "thread_scope_block")));
    let plain =
        source.replace("cuda::atomic<Status, cuda::thread_scope_device> status", "Status status");
    let plain = plain.replace(
        "status.store(Status{kind, value}, cuda::std::memory_order_relaxed)",
        "status = Status{kind, value}",
    );
    let plain = plain.replace("status.load(cuda::std::memory_order_relaxed)", "status");
    for (_, report) in each(&case(&plain)) {
        assert!(kinds(&report).contains(&F::Race));
    }
}
