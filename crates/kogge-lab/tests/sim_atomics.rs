//! libcu++'s atomics: their results, how they are written, and what is refused of them.

mod support;

use kogge_lab::{Diagnostic, Program, ScalarType, Values};
use support::{Case, evaluate, ints};

/// Why a source is refused.
fn refusal(source: &str) -> Diagnostic {
    Program::parse(source, "a.cu", &[]).and_then(|p| p.check()).unwrap_err()
}

/// Why a body is refused, in which `Pair` is a struct of two numbers.
fn refused(body: &str) -> Diagnostic {
    refusal(&format!(
        "struct Pair {{ int a, b; }};\n__global__ void k(int *x, float *f, int **p, Pair *s, int n) {{\n{body}\n}}"
    ))
}

#[test]
fn members_do_what_they_are_called() {
    let body = r"
        cuda::atomic_ref<int, cuda::thread_scope_device> r(out[20]);
        r.store(5); out[0] = r.load(); out[1] = r.exchange(7); out[2] = out[20];
        out[3] = r.fetch_add(3); out[4] = r.fetch_sub(12); out[5] = r.fetch_and(~1); out[6] = r.fetch_or(9);
        out[7] = r.fetch_xor(-1); out[8] = r.fetch_min(-100); out[9] = r.fetch_max(6); out[10] = r.load();
        int e = 4; out[11] = r.compare_exchange_strong(e, 8); out[12] = e;
        out[13] = r.compare_exchange_weak(e, 8, cuda::memory_order_release, cuda::memory_order_relaxed); out[14] = e;
        out[15] = out[20]; out[16] = sizeof(r); out[17] = sizeof(cuda::atomic<Pair>);";
    let expected = [5, 5, 7, 7, 10, -2, -2, -1, 0, -100, 6, 0, 6, 1, 6, 8, 8, 8];
    let out = evaluate("#include <cuda/atomic>\nstruct Pair { int a, b; };", body, 21);
    assert_eq!(out[..18], expected);
}

#[test]
fn operators_are_accesses_too() {
    let body = r"
        cuda::atomic_ref<int> r(out[20]); cuda::atomic_ref<int> &same = r; const cuda::atomic_ref<int> other = r;
        out[0] = r = 5; out[1] = r++; out[2] = ++r; out[3] = r--; out[4] = --r; out[5] = r += 10; out[6] = r -= 3;
        out[7] = r &= 6; out[8] = r |= 9; out[9] = r ^= 1; out[10] = r + 1; out[11] = -r; out[12] = r == 12;
        out[13] = r ? 3 : 4; out[14] = !r; out[15] = same * 2; other = 1; out[16] = out[r]; int &plain = out[20];
        plain = 2; out[17] = out[same] + (int)r + static_cast<int>(r); switch (r) { case 2: out[18] = 9; }
        cuda::atomic_ref<int>(out[19]) += 4; ++cuda::atomic_ref<int>(out[19]); cuda::atomic_ref<int>{out[19]}.fetch_add(2);";
    let expected = [5, 5, 7, 7, 5, 15, 12, 4, 13, 12, 13, -12, 1, 3, 0, 24, 5, 11, 9, 7, 2];
    assert_eq!(evaluate("", body, 21), expected);
}

#[test]
fn atomics_are_of_words_of_any_type() {
    let prelude = "struct P { float a; int b; }; struct Q { bool c; unsigned char b; short a; };
        union D { unsigned long long raw; struct { int value; int status; }; };";
    let body = r"
        __shared__ float f; __shared__ double d; __shared__ long long l; __shared__ unsigned long long u; __shared__ int *p;
        f = 1.5f; d = 2.5; l = -5; u = 7; p = out; cuda::atomic_ref<float> rf(f); cuda::atomic_ref<double> rd(d);
        cuda::atomic_ref<long long> rl(l); cuda::atomic_ref<unsigned long long> ru(u); cuda::atomic_ref<int *> rp(p);
        out[0] = (rf.fetch_add(2) + rf.load()) * 2; out[1] = (rd += 0.25) * 4; out[2] = rl.fetch_max(-9) + rl.fetch_min(-1LL << 40);
        out[3] = l == -1LL << 40; out[4] = ru.fetch_sub(8); out[5] = u == ~0ull; float e = 3.5f; rf.compare_exchange_strong(e, -1.f);
        out[6] = f; int *q = rp.exchange(out + 6); out[7] = q == out; out[8] = *p + *rp; q = nullptr; out[9] = rp.compare_exchange_weak(q, out);
        out[10] = q == out + 6; __shared__ P s; cuda::atomic_ref<P> rs(s); rs.store({1.5f, -2}); P t = rs.load();
        out[11] = t.a * 2 + t.b * 10 + s.b; P x = {0, 0}; out[12] = rs.compare_exchange_strong(x, P{4, 5}); out[13] = x.b; out[14] = rs.compare_exchange_strong(x, P{4, 5});
        P y = rs.exchange({}); out[15] = y.a * 10 + y.b; __shared__ Q z; cuda::atomic_ref<Q> rz(z); rz = Q{false, 200, -3}; Q w = rz;
        out[16] = w.a * 1000 + w.b + w.c; __shared__ D v; cuda::atomic_ref<D> rv(v); D c; c.value = 3; c.status = -1; rv = c;
        out[17] = ((D)rv).value + (v.raw >> 63);";
    let expected = [10, 11, -10, 1, 7, 1, -1, 1, -2, 0, 1, -19, 0, -2, 1, 45, -2800, 4];
    assert_eq!(evaluate(prelude, body, 18), expected);
}

#[test]
fn they_are_written_in_many_ways() {
    let prelude = r"
        #include <cuda/std/atomic>
        namespace cu = cuda;
        using Flag = cuda::atomic_ref<int, cuda::thread_scope_block>;
        typedef cuda::std::atomic_ref<int> Standard;
        template <class T, cuda::thread_scope S = cuda::thread_scope_device> using Ref = cuda::atomic_ref<T, S>;
        constexpr cuda::memory_order RELAXED = cuda::memory_order_relaxed;
        __device__ int add(Flag r, int n) { return r.fetch_add(n, RELAXED); }
        __device__ int get(const Flag &r, cuda::memory_order order) { return r.load(order); }
        template <class T, cuda::thread_scope S> __device__ T twice(cuda::atomic_ref<T, S> r) { return 2 * r.load(); }
        template <cuda::memory_order O> __device__ void set(int &x, int v) { cuda::atomic_ref(x).store(v, O); }
        __device__ Flag make(int *x) { return Flag(*x); }
        __device__ bool large(int x) { return x > 100; }
        __device__ int plain(int x) { return x; } __device__ int overload(float) { return 1; } __device__ int overload(Flag) { return 2; }";
    let body = r"
        Flag a{out[20]}; a = 3; out[0] = add(a, 2); out[1] = get(a, cuda::memory_order_acquire); out[2] = twice(a);
        auto b = cuda::atomic_ref<int>(out[20]); b++; auto &c = b; c.fetch_add(1, cuda::std::memory_order_acq_rel); cuda::atomic_ref d(out[20]);
        out[3] = d.load(cuda::memory_order::relaxed) + cuda::atomic_ref{out[20]}.load(); Standard s(out[20]); s -= 2;
        ::cuda::std::atomic_thread_fence(cuda::std::memory_order_seq_cst); Ref<int> e(out[20]); out[4] = e.load(::cuda::memory_order_seq_cst);
        set<cuda::memory_order_release>(out[20], 9); out[5] = make(out + 20).load(); Flag f(a), g = make(&out[20]); out[6] = f + g; out[7] = plain(a);
        out[8] = overload(a); cu::atomic_thread_fence(cu::memory_order_acquire, cu::thread_scope::thread_scope_block); out[9] = cu::atomic_ref<int>(*(out + 20)).load();
        int cuda_like = a; out[10] = cuda_like + (a.load(), 1); out[11] = (large(a) ? b : d).load() + (large(a) ? 1 : d);";
    let expected = [3, 5, 10, 14, 5, 9, 18, 9, 2, 9, 10, 18];
    assert_eq!(evaluate(prelude, body, 21)[..12], expected);
}

#[test]
fn an_atomic_becomes_what_is_needed() {
    let body = r"
        cuda::atomic_ref<int> r(out[20]), s = r, t(r), u{r}; cuda::atomic_ref v(r); float f = (r = 2.7) / 4.0f; out[0] = f * 4;
        out[1] = (out[20] ? r : 2.5f) * 3; out[2] = (out[20] > 5 ? r : 0x7fffffffu + s) > 0; r += 1.5; out[3] = t; out[4] = r < 3.5 && u;
        cuda::atomic<int> a{4}; out[5] = out[0] ? a : v; for (int i = 0; i < a; i++) out[6] += r; const int &kept = r; r = {8}; out[7] = kept + r;
        out[8] = min(r, 20) + max(a, 1) + __popc(r); int *p = out + 9; cuda::atomic<int *> q{p}; *q = 5; q[1] = *q + 1; out[11] = q == p;
        cuda::atomic_ref<int> *w = &r; w->store(3); out[12] = (*w)++ + *w; cuda::atomic_ref<int>(*p).fetch_add(1); cuda::atomic_ref<int>(*p)++;
        atomicAdd(p, r);";
    let expected = [2, 6, 1, 3, 1, 4, 12, 11, 13, 11, 6, 1, 7];
    assert_eq!(evaluate("", body, 21)[..13], expected);
}

#[test]
fn atomics_may_be_variables_and_members() {
    let prelude = r"
        __device__ cuda::atomic<unsigned, cuda::thread_scope_device> count{3}, zero, call(4); __device__ cuda::atomic<int> table[2] = {{1}, {2}};
        struct Node { int v; cuda::atomic<int> n{6}; cuda::std::atomic<long long> l; __device__ Node() : v(1), l(8) {} __device__ int next() { return n++; } };
        struct Plain { cuda::atomic<int> a; int b; };
        __device__ int by_reference(cuda::atomic<int> &a) { return a += 2; } __device__ int by_const(const cuda::atomic<int> &a) { return a; }
        __device__ cuda::atomic<int> &pick(Plain &p) { return p.a; } __device__ int value(int x) { return x; }";
    let body = r"
        out[0] = count.fetch_add(2); out[1] = count + zero.load() * 100; out[2] = table[0] + table[1]; out[3] = call;
        Node n; out[4] = n.next() * 10 + n.next(); out[5] = n.l + sizeof(Node); __shared__ Plain s[2]; Plain *p = s; p[1].a = 5; p[1].b = 2;
        out[6] = by_reference(p[1].a) * 10 + by_const(s[1].a); out[7] = pick(s[1]).exchange(1); pick(s[1]) = 4; out[8] = value(s[1].a) + p[1].b;
        cuda::atomic<int> l{2}; cuda::atomic<int> m = 3; cuda::atomic<int> z{}; cuda::atomic<int> *q = &l; (*q)++; q->fetch_add(1);
        out[9] = l * 100 + m * 10 + z; auto &t = table[1]; t.store(7); out[10] = table[1]; cuda::atomic<int> a[2] = {{1}, {2}}; out[11] = a[1] - a[0];
        cuda::atomic<int> &r = *reinterpret_cast<cuda::atomic<int> *>(out + 12); r = 8; const int &copy = r; r = 9; out[13] = copy;
        Plain w{{5}, 6}; out[14] = w.a + w.b; int x = out[15] = w.a = 3; out[16] = x; out[17] = (out[0] ? w.a : l).fetch_add(1) + w.a;";
    let expected = [3, 5, 3, 4, 67, 24, 77, 7, 6, 430, 7, 1, 9, 8, 11, 3, 3, 7];
    assert_eq!(evaluate(prelude, body, 18), expected);
}

#[test]
fn the_host_gives_an_atomic_what_it_is_of() {
    let source = "__global__ void k(cuda::atomic<unsigned> *flags, cuda::atomic<float, cuda::thread_scope_device> *sum, int n) {
        flags[threadIdx.x % 4]++; sum->fetch_add(threadIdx.x < n ? 0.5f : 0.0f); }";
    let case = Case::new(source, "k", 2, 64)
        .value("flags", vec![1u32, 2, 3, 4])
        .value("sum", vec![1.0f32])
        .value("n", 10);
    assert_eq!(case.clean("flags"), Values::U32(vec![33, 34, 35, 36]));
    assert_eq!(case.clean("sum"), Values::F32(vec![11.0]));
    let program = case.program();
    let [flags, ..] = &program.kernels()[0].parameters[..] else { panic!() };
    assert_eq!(
        (flags.type_name.as_str(), flags.scalar),
        ("cuda::atomic<unsigned int> *", Some(ScalarType::U32))
    );
    let wrong = Case::new(source, "k", 1, 1)
        .value("flags", vec![1.0f32])
        .value("sum", vec![1.0f32])
        .value("n", 1);
    assert_eq!(
        wrong.run_or_error().unwrap_err(),
        "`flags` is an array of float, the kernel takes one of unsigned int"
    );
}

#[test]
fn threads_count_together() {
    let source = "__global__ void k(int *x) {
        cuda::atomic_ref<int, cuda::thread_scope_device> a(x[0]), b(x[1]), c(x[2]);
        a.fetch_add(1, cuda::memory_order_relaxed); b.fetch_max((int)threadIdx.x);
        int seen = c.load(cuda::memory_order_relaxed); while (!c.compare_exchange_weak(seen, seen + 2)) {}
    }";
    assert_eq!(
        ints(&Case::new(source, "k", 3, 64).value("x", vec![0i32; 3]).clean("x")),
        [192, 63, 384]
    );
    let counts = Case::new(source, "k", 3, 64).value("x", vec![0i32; 3]).run().counts;
    assert!(counts.atomics >= 3 * 192);
}

#[test]
fn what_is_added_atomically_is_work_as_elsewhere() {
    let work = |add: &str| {
        let source = format!("__global__ void k(int *x, int *y) {{ {add} }}");
        Case::new(&source, "k", 1, 64)
            .value("x", vec![1i32; 64])
            .value("y", vec![0i32])
            .run()
            .work()
    };
    assert_eq!(work("atomicAdd(y, x[threadIdx.x]);"), 64);
    assert_eq!(work("cuda::atomic_ref<int>(*y).fetch_add(x[threadIdx.x]);"), 64);
    assert_eq!(work("cuda::atomic_ref<int>(*y) += x[threadIdx.x];"), 64);
    assert_eq!(work("cuda::atomic_ref<int> r(x[0]); y[0] = r.load() + r.load();"), 64);
    assert_eq!(work("cuda::atomic_ref<int>(*y).fetch_add(1);"), 0);
}

#[test]
fn what_nothing_has_written_is_told() {
    let source = "__global__ void k(int *x) { __shared__ cuda::atomic<int> a, b; x[0] = a.exchange(1) * 0; a.store(1); x[0] = a;\n x[1] = b; }";
    let report = Case::new(source, "k", 1, 1).value("x", vec![0i32; 2]).run();
    let [f] = &report.findings[..] else { panic!("{:?}", report.findings) };
    assert_eq!(f.message, "thread 0 of block 0 reads b[0], which nothing has written (line 2)");
    let stored = "__global__ void k(int *x) { __shared__ int a; cuda::atomic_ref<int> r(a); r.store(0); x[0] = a + r; }";
    Case::new(stored, "k", 1, 1).value("x", vec![1i32]).clean("x");
    let misaligned = "__global__ void k(int *x) { cuda::atomic_ref<long long> r(*(long long *)(x + 1)); r.load(); }";
    let report = Case::new(misaligned, "k", 1, 1).value("x", vec![1i32; 4]).run();
    assert_eq!(
        report.findings[0].message,
        "thread 0 of block 0 reads 8 bytes at an address that is no multiple of 8 (line 1)"
    );
}

const OUTSIDE: &str = ": outside the language of the laboratory";

#[test]
fn orders_that_an_access_cannot_have_are_errors() {
    let r = "cuda::atomic_ref<int> r(x[0]); int e = 0;\n";
    for (call, message) in [
        ("r.load($release);", "a `load` cannot have the order `cuda::memory_order_release`"),
        ("r.load($acq_rel);", "a `load` cannot have the order `cuda::memory_order_acq_rel`"),
        ("r.store(1, $acquire);", "a `store` cannot have the order `cuda::memory_order_acquire`"),
        ("r.store(1, $acq_rel);", "a `store` cannot have the order `cuda::memory_order_acq_rel`"),
        (
            "r.compare_exchange_weak(e, 1, $release, $release);",
            "a failed `compare_exchange_weak` cannot have the order `cuda::memory_order_release`",
        ),
        ("r.load(0);", "a `cuda::memory_order` is needed here"),
        ("r.load(cuda::thread_scope_device);", "a `cuda::memory_order` is needed here"),
        ("cuda::atomic_ref<int, 1> t(x[0]);", "a `cuda::thread_scope` is needed here"),
        ("cuda::atomic_ref<int, $relaxed> t(x[0]);", "a `cuda::thread_scope` is needed here"),
        ("cuda::atomic_thread_fence();", "`cuda::atomic_thread_fence` takes an order and a scope"),
        (
            "cuda::std::atomic_thread_fence($acquire, cuda::thread_scope_block);",
            "`cuda::std::atomic_thread_fence` takes an order",
        ),
    ] {
        let error = refused(&format!("{r}{}", call.replace('$', "cuda::memory_order_")));
        assert_eq!((error.message.as_str(), error.line), (message, 4), "{call}");
    }
    for (call, message) in [
        (
            "cuda::memory_order o = x[1] ? $relaxed : $acquire; r.load(o);",
            "a `cuda::memory_order` that is known only at run time",
        ),
        ("r.load($consume);", "`cuda::memory_order_consume`"),
        (
            "cuda::atomic_ref<int, cuda::thread_scope_thread> t(x[0]);",
            "`cuda::thread_scope_thread`",
        ),
        ("r.wait(0);", "`wait` of an atomic"),
        ("r.notify_all();", "`notify_all` of an atomic"),
        ("r.is_lock_free();", "`is_lock_free` of an atomic"),
        ("cuda::atomic_ref<int>::required_alignment;", "members of the type `cuda::atomic_ref`"),
        ("cuda::barrier<cuda::thread_scope_block> *b;", "`cuda::barrier`"),
        ("cuda::atomic_signal_fence($acquire);", "`cuda::atomic_signal_fence`"),
    ] {
        let error = refused(&format!("{r}{}", call.replace('$', "cuda::memory_order_")));
        assert_eq!((error.message, error.line), (format!("{message}{OUTSIDE}"), 4), "{call}");
    }
}

#[test]
fn types_that_have_no_such_atomic_are_errors() {
    for (body, message) in [
        ("cuda::atomic_ref<char> r(*(char *)x);", "`cuda::atomic_ref` of `char`"),
        ("__shared__ cuda::atomic<bool> b;", "`cuda::atomic` of `bool`"),
        ("cuda::atomic_ref<short> r(*(short *)x);", "`cuda::atomic_ref` of `short`"),
        ("struct T { int a, b, c; }; cuda::atomic_ref<T> r(*(T *)x);", "`cuda::atomic_ref` of `T`"),
        (
            "struct T { char a; int b; }; cuda::atomic_ref<T> r(*(T *)x);",
            "`cuda::atomic_ref` of `T`",
        ),
        ("cuda::std::atomic_ref<float4> r(*(float4 *)x);", "`cuda::std::atomic_ref` of `float4`"),
        ("cuda::atomic_ref<const int> r(x[0]);", "`cuda::atomic_ref` of `const int`"),
        ("cuda::atomic_ref<int[2]> r(x[0]);", "`cuda::atomic_ref` of `int[2]`"),
        ("cuda::atomic_ref<float>(f[0]).fetch_max(1);", "`fetch_max` of `cuda::atomic_ref<float>`"),
        ("cuda::atomic_ref<int *>(p[0]).fetch_add(1);", "`fetch_add` of `cuda::atomic_ref<int *>`"),
        ("cuda::atomic_ref<int *>(p[0])++;", "`operator++` of `cuda::atomic_ref<int *>`"),
        (
            "int y; cuda::atomic_ref<int> r(y);",
            "an atomic reference to a variable that only its thread sees",
        ),
        ("cuda::atomic_ref<int> r[2] = {x[0], x[1]};", "arrays of atomic references"),
        ("struct T { cuda::atomic_ref<int> r; }; T t{x[0]};", "members that are atomic references"),
        ("cuda::atomic a{1};", "`cuda::atomic` without the type that it is of"),
        ("cuda::atomic<int>(3).load();", "a `cuda::atomic<int>` that is no variable"),
    ] {
        let error = refused(body);
        assert_eq!((error.message, error.line), (format!("{message}{OUTSIDE}"), 3), "{body}");
    }
    for (body, message) in [
        (
            "cuda::atomic_ref<float>(f[0]).fetch_or(1);",
            "`cuda::atomic_ref<float>` has no member `fetch_or`",
        ),
        (
            "cuda::atomic_ref<float>(f[0]) |= 1;",
            "`cuda::atomic_ref<float>` has no member `operator|=`",
        ),
        ("cuda::atomic_ref<int>(x[0]) *= 2;", "`cuda::atomic_ref<int>` has no member `operator*=`"),
        (
            "cuda::atomic_ref<Pair>(s[0]).fetch_add({1, 2});",
            "`cuda::atomic_ref<Pair>` has no member `fetch_add`",
        ),
        (
            "cuda::std::atomic_ref<int>(x[0]).fetch_min(1);",
            "`cuda::std::atomic_ref<int>` has no member `fetch_min`",
        ),
        (
            "cuda::atomic_ref<int, cuda::thread_scope_block>(x[0]).add(1);",
            "`cuda::atomic_ref<int, cuda::thread_scope_block>` has no member `add`",
        ),
        (
            "cuda::atomic_ref<int>(x[0]).load;",
            "a value of type `cuda::atomic_ref<int>` has no member `load`",
        ),
        (
            "cuda::atomic_ref<int>(x[0]).store();",
            "`store` takes 1 to 2 arguments, here it is given 0",
        ),
    ] {
        let error = refused(body);
        assert_eq!((error.message.as_str(), error.line), (message, 3), "{body}");
    }
}

#[test]
fn what_an_atomic_refers_to_and_copies_of_one_are_checked() {
    for (body, message) in [
        (
            "cuda::atomic_ref<unsigned> r(x[0]);",
            "a `cuda::atomic_ref<unsigned int>` cannot refer to a `int`",
        ),
        (
            "const int *c = x; cuda::atomic_ref<int> r(*c);",
            "a `cuda::atomic_ref<int>` cannot refer to a `const int`",
        ),
        (
            "volatile int *v = x; cuda::atomic_ref<int> r{*v};",
            "a `cuda::atomic_ref<int>` cannot refer to a `volatile int`",
        ),
        ("cuda::atomic_ref<int> r(3);", "a `cuda::atomic_ref<int>` cannot refer to a `int`"),
        (
            "cuda::atomic_ref<int> r;",
            "a `cuda::atomic_ref<int>` needs the variable that it refers to",
        ),
        (
            "cuda::atomic_ref<int> r(x[0], x[1]);",
            "a `cuda::atomic_ref<int>` needs the variable that it refers to",
        ),
        (
            "__shared__ cuda::atomic_ref<int> r;",
            "a `cuda::atomic_ref<int>` needs the variable that it refers to",
        ),
        (
            "cuda::atomic_ref<int> r = x[0];",
            "a value of type `int` does not convert to `cuda::atomic_ref<int>`",
        ),
        ("cuda::atomic_ref r;", "`cuda::atomic_ref` needs the type that it is of"),
        (
            "cuda::atomic_ref<int, cuda::thread_scope_block, 3> r(x[0]);",
            "`cuda::atomic_ref` is of a type and a scope",
        ),
        (
            "cuda::std::atomic_ref<int, cuda::thread_scope_block> r(x[0]);",
            "`cuda::std::atomic_ref` is of one type",
        ),
        (
            "cuda::atomic_ref<int> r(x[0]), t(x[1]); r = t;",
            "a `cuda::atomic_ref<int>` cannot be assigned to another",
        ),
        ("cuda::atomic<int> a{0}; auto b = a;", "a `cuda::atomic<int>` cannot be copied"),
        (
            "cuda::atomic<int> a{0}, b{1}; a = b;",
            "a `cuda::atomic<int>` cannot be assigned to another",
        ),
        (
            "cuda::atomic<int> a{0}; n = n ? 1 : a;",
            "`?:` between values of type `int` and `cuda::atomic<int>`",
        ),
        (
            "cuda::atomic_ref<int> r(x[0]); (r = 3) = 4;",
            "this is `const`: it cannot be assigned to",
        ),
        (
            "cuda::atomic_ref<int> r(x[0]); int &y = r;",
            "a `int &` cannot refer to a `cuda::atomic_ref<int>`",
        ),
        (
            "cuda::atomic_ref<int> r(x[0]); static_cast<int &>(r);",
            "`static_cast` makes no `int &` of a value of type `cuda::atomic_ref<int>`",
        ),
        ("cuda::atomic<int *> a{x}; a->x;", "a value of type `cuda::atomic<int *>` is no pointer"),
        ("cuda::atomic<int> a(1, 2);", "a `cuda::atomic<int>` is made of one value"),
        ("struct T { cuda::atomic<int> a; }; T t{{1}}; T u = t;", "a `T` cannot be copied"),
        ("const cuda::atomic<int> a{1}; a.store(2);", "this is `const`: it cannot be assigned to"),
        ("const cuda::atomic<int> a{1}; a++;", "this is `const`: it cannot be assigned to"),
        (
            "cuda::atomic_ref<int> r(x[0]); unsigned e = 0; r.compare_exchange_weak(e, 1);",
            "`compare_exchange_weak` writes what it finds to a variable of type `int`",
        ),
        (
            "cuda::atomic_ref<int> r(x[0]); r.compare_exchange_strong(0, 1);",
            "this cannot be assigned to",
        ),
    ] {
        let error = refused(body);
        assert_eq!((error.message.as_str(), error.line), (message, 3), "{body}");
    }
    let by_value = "__device__ int f(cuda::atomic<int> a) { return a; }\n__global__ void k(cuda::atomic<int> *x) { f(*x); }";
    assert_eq!(refusal(by_value).message, "a `cuda::atomic<int>` cannot be copied");
    let parameter = refusal("__global__ void k(cuda::atomic<int> a) {}");
    assert_eq!(parameter.message, format!("a kernel parameter of this type{OUTSIDE}"));
    let device = refusal("__device__ cuda::atomic<char> a;\n__global__ void k(int *x) { a = 1; }");
    assert_eq!(device.message, format!("`cuda::atomic` of `char`{OUTSIDE}"));
}

/// A source may have these names for itself, as where it brings its own stand-ins.
#[test]
fn names_of_the_source_are_its_own() {
    let prelude = "namespace cuda { template <class T> struct atomic_ref { T *p; __device__ atomic_ref(T &x) : p(&x) {} __device__ T load() { return *p + 1; } }; }
        enum { memory_order_relaxed = 7, thread_scope_device = 8 }; struct atomic { int v; };";
    let body = "cuda::atomic_ref<int> r(out[1]); out[0] = r.load(); out[2] = memory_order_relaxed + thread_scope_device; atomic a{3}; out[3] = a.v;";
    assert_eq!(evaluate(prelude, body, 4), [1, 0, 15, 3]);
    let unknown = refused("int y = memory_order_relaxed;");
    assert_eq!(unknown.message, "the name `memory_order_relaxed` is not known");
}
