//! No panic, and an end within the budgets, on any input.

mod support;

use kogge_lab::fuzzing::run_text;
use kogge_lab::{ArrayInit, FindingKind, Number, Program, ScalarType, Schedule, run};
use proptest::prelude::*;
use support::{Case, kinds};

const SEEDS: [&str; 9] = [
    include_str!("../lessons/look_back.cu"),
    include_str!("textbook/blelloch_padded.cu"),
    include_str!("textbook/block_scan_class.cu"),
    include_str!("textbook/cooperative.cu"),
    include_str!("textbook/linear_recurrence.cu"),
    include_str!("textbook/look_back_atomic_pair.cu"),
    include_str!("textbook/look_back_atomic_ref.cu"),
    include_str!("textbook/look_back_packed.cu"),
    include_str!("textbook/warp_shuffle.cu"),
];

/// Pieces that a grammar-blind fuzzer would need long to find.
const PIECES: [&str; 116] = [
    "__global__ void k(int *x, int n) {",
    "}",
    "{",
    "(",
    ")",
    "[",
    "]",
    ";",
    ",",
    "x[0]",
    "x",
    "n",
    "=",
    "+",
    "-",
    "*",
    "&",
    "/",
    "%",
    "<<",
    ">>",
    "<",
    ">",
    "? 1 :",
    "if (",
    "while (",
    "for (;;)",
    "for (int i = 0; i < n; i++)",
    "else",
    "return",
    "break;",
    "continue;",
    "switch (n) {",
    "case 1:",
    "default:",
    "__syncthreads();",
    "__syncwarp();",
    "__shared__ int s[32];",
    "extern __shared__ float d[];",
    "threadIdx.x",
    "blockIdx.x",
    "atomicAdd(x, 1)",
    "__shfl_up_sync(0xffffffff, n, 1)",
    "__threadfence();",
    "struct S { int a; float b[3]; } ;",
    "template <typename T, int N>",
    "__device__ int f(int a) {",
    "f(1)",
    "S v;",
    "int *p = x;",
    "float y = 1.5f;",
    "(float)",
    "sizeof(int)",
    "#define A(x) x + A(x)\n",
    "A(3)",
    "\n#if 1\n",
    "\n#endif\n",
    "auto",
    "const",
    "unsigned",
    "true",
    "\"text\"",
    "'c'",
    "// comment\n",
    "volatile",
    "*(volatile int *)x = 1;",
    "while (*(volatile int *)x == 0);",
    "union U { unsigned long long w; struct { int a; char b; }; struct P { U *u; int c[2]; } p; };",
    "U u;",
    "u.a",
    "u.p.c[n]",
    "u.p.u->w",
    "const int *q = x;",
    "const_cast<int *>(",
    "static_cast<float *>(",
    "reinterpret_cast<int &>(",
    "reinterpret_cast<const float4 &>(",
    "int v; v = __shfl_sync(~0u, v, n);",
    "namespace A { __device__ int g(int x); }",
    "__device__ int A::g(int x) {",
    "A::g(n)",
    "int *z = nullptr,",
    "auto w{3};",
    "_Pragma(\"unroll\")",
    "__device__ int h(int a) { if (a) return 1; }",
    "h(0)",
    "struct B : S { B() : S{1} {} B &operator=(const B &o) { return *this; } };",
    "B b; b = b;",
    "__constant__ int table[4];",
    "extern __shared__ int d[];",
    "cuda::atomic_ref<int, cuda::thread_scope_block> r(x[n]);",
    "cuda::atomic_ref<S> q(",
    "cuda::atomic_ref",
    "cuda::atomic<",
    "cuda::thread_scope_device",
    "cuda::memory_order_release",
    "cuda::memory_order::",
    "cuda::std::",
    "__shared__ cuda::atomic<long long> a[4];",
    "struct T { cuda::atomic<int> f{1}; int g; };",
    "__device__ cuda::atomic<unsigned> count{3};",
    "a[n]",
    "r",
    ".compare_exchange_weak(n, 1, cuda::memory_order_acquire)",
    ".load()",
    ".store({1}, cuda::memory_order_release);",
    "template <>",
    "template <typename T>",
    "template <typename T, int N> struct V { enum { v = 1 }; T a; };",
    "template <> struct V<int, 3> { enum { v = V<char, 2>::v }; int a; };",
    "template <typename T> struct V<T *, 2> : V<T, 3> { T *b; };",
    "template <int N> struct V<const int, N>",
    "V<int *, 2> v;",
    "V<float, 32>::v",
    "template <typename T> __device__ T id(T a) { return a; }",
    "template <> __device__ int id<int>(int a) { return id(1.5f); }",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text(text in ".{0,400}") {
        run_text(&text);
    }

    #[test]
    fn any_pieces(indices in prop::collection::vec(0..PIECES.len(), 0..80)) {
        let words: Vec<&str> = indices.iter().map(|&i| PIECES[i]).collect();
        run_text(&words.join(" "));
        run_text(&format!("__global__ void k(int *x, int n) {{ {} }}", words.join(" ")));
    }

    #[test]
    fn mutated_kernels(seed in 0..SEEDS.len(), edits in prop::collection::vec((any::<prop::sample::Index>(), 0usize..40, 0..PIECES.len()), 1..6)) {
        let mut text = SEEDS[seed].to_owned();
        for (at, remove, piece) in edits {
            let mut at = at.index(text.len().max(1)).min(text.len());
            while !text.is_char_boundary(at) { at -= 1; }
            let mut end = (at + remove).min(text.len());
            while !text.is_char_boundary(end) { end += 1; }
            text.replace_range(at..end, PIECES[piece]);
        }
        run_text(&text);
    }
}

/// What would overflow a stack, or take time or memory without bound.
#[test]
fn hostile_shapes() {
    let kernel = |body: &str| format!("__global__ void k(int *x, int n) {{ {body} }}");
    let deep = 100_000;
    let mut texts = vec![
        kernel(&format!("x[0] = {}1{};", "(".repeat(deep), ")".repeat(deep))),
        kernel(&format!("x[0] = {}1;", "-".repeat(deep))),
        kernel(&format!("x[0] = 1{};", " + 1".repeat(deep))),
        kernel(&format!("x[0] = {}1;", "n ? 1 : ".repeat(deep))),
        kernel(&"{".repeat(deep)),
        kernel(&"if (n) ".repeat(deep)),
        kernel(&format!("if (n) ; {}", "else if (n) ; ".repeat(deep))),
        kernel(&format!("int {}p;", "*".repeat(deep))),
        kernel(&format!("x{} = 1;", "[0]".repeat(deep))),
        kernel(&format!("x[0] = x{};", ".a".repeat(deep))),
        kernel(&format!("int a{};", "[2]".repeat(deep))),
        kernel("int a[1 << 30]; a[n] = 1;"),
        kernel("__shared__ double a[1000000000][1000000000]; a[0][0] = 1;"),
        kernel("for (;;) x[0] = x[0] + 1;"),
        kernel("while (true) { __syncthreads(); }"),
        kernel("while (true) { __shfl_sync(0xffffffff, n, 0); }"),
        kernel("while (true) { __threadfence(); atomicAdd(x, 1); }"),
        kernel("for (long long i = 0; i >= 0; i++) { float f = sqrtf((float)i); }"),
        kernel("x[0] = 1 / (n - n); x[1] = n % 0; x[2] = (-2147483647 - 1) / (n - 41);"),
        kernel("x[0] = 1 << 100; x[1] = 1 >> -1; x[0] = x[1 << 30]; x[0] = x[-1LL << 62];"),
        "#define A B B\n#define B C C\n#define C D D\n#define D E E\n#define E F F\n#define F G G\n"
            .to_owned() + &kernel("A"),
        "#define X X X\n".to_owned() + &kernel("X"),
        "#define F(a) a F(a) F(a)\n".to_owned() + &kernel("F(F(F(F(F(F(F(F(1))))))))"),
        "#if 1\n".repeat(deep),
        format!("#if {}1\n#endif\n", "!".repeat(deep)),
        "struct A { A a; };".to_owned() + &kernel("A a; x[0] = sizeof(A);"),
        "template <int N> struct A { A<N + 1> a; };".to_owned() + &kernel("A<0> a;"),
        "template <int N> __device__ int f() { return f<N + 1>(); }".to_owned()
            + &kernel("x[0] = f<0>();"),
        "template <int N> struct A { enum { v = A<N - 1>::v + A<N - 2>::v }; }; template <> struct A<-99> { enum { v = 1 }; };"
            .to_owned() + &kernel("x[0] = A<0>::v;"),
        "template <class T> struct A { A<T *> a; }; template <class T> struct A<T *> { A<T **> a; }; template <class T> struct A<T ***> { A<A<T>> a; };"
            .to_owned() + &kernel("A<int> a;"),
        "template <class T> struct A {}; template <class T> struct A<A<A<T>>> { A<A<A<A<T>>>> a; }; template <> struct A<A<A<A<A<int>>>>> {};"
            .to_owned() + &kernel("A<A<A<int>>> a;"),
        "template <int N> struct A {}; template <> struct A<sizeof(A<sizeof(A<sizeof(A<1>)>)>)> {}; template <> struct A<sizeof(A<9>)> {};"
            .to_owned() + &kernel("A<1> a;"),
        "template <int N> struct A {}; ".to_owned()
            + &(0..20_000).map(|i| format!("template <> struct A<{i}> {{}};")).collect::<String>()
            + &kernel(&(0..2_000).map(|i| format!("A<{i}> a{i};")).collect::<String>()),
        "template <class T, class U> struct A {}; ".to_owned()
            + &"template <class T> struct A<T *, T> {}; ".repeat(2_000)
            + &kernel("A<int *, int> a; A<int, int> b;"),
        "template <class T> __device__ int f(T) { return 1; } ".to_owned()
            + &(0..5_000)
                .map(|i| format!("struct S{i} {{}}; template <> __device__ int f(S{i}) {{ return {i}; }}"))
                .collect::<String>()
            + &kernel("x[0] = f(3) + f(S7{});"),
        "template <class T> __device__ int f(T); template <> ".repeat(deep / 10) + &kernel("f(1);"),
        "template <> ".repeat(deep) + &kernel(""),
        "template <class T> struct A;".to_owned() + &kernel(&format!("{}int{} a;", "A<".repeat(deep), ">".repeat(deep))),
        "__device__ int f(int n) { return n ? f(n - 1) + f(n - 2) : 1; }".to_owned()
            + &kernel("x[0] = f(40);"),
        "typedef A B; typedef B A;".to_owned() + &kernel("A a;"),
        "const int a = b; const int b = a;".to_owned() + &kernel("x[0] = a;"),
        "using A = decltype(b); const A b = 1;".to_owned() + &kernel("x[0] = b;"),
        "extern \"C\" {".repeat(deep),
        "/*".to_owned(),
        "\"".to_owned(),
        "\\\n".repeat(1000),
    ];
    // Calls that call calls: the inlined code would be 3^16 times as long.
    let mut tower = "__device__ int f0(int a) { return a + 1; }\n".to_owned();
    for i in 1..16 {
        let j = i - 1;
        tower += &format!(
            "__device__ int f{i}(int a) {{ int b = f{j}(a); b += f{j}(b); return f{j}(a + b); }}\n"
        );
    }
    texts.push(tower + &kernel("x[0] = f15(n);"));
    let nested = (0..40).fold("1".to_owned(), |e, _| format!("(n ? ({e}) + n : n)"));
    texts.push(kernel(&format!("x[0] = {nested};")));
    // The stack that WebAssembly has by default.
    let small = std::thread::Builder::new().stack_size(1 << 20);
    let run = small.spawn(move || {
        for text in texts {
            let shown: String = text.chars().take(60).collect();
            let start = std::time::Instant::now();
            run_text(&text);
            let took = start.elapsed();
            println!("{took:?} {shown}");
            assert!(took.as_secs() < 20, "{shown}: {took:?}");
        }
    });
    run.unwrap().join().unwrap();
}

#[test]
fn what_flags_release_is_within_the_memory_budget() {
    // Each flag releases what all blocks before did: quadratic in the blocks.
    let source = "__global__ void k(int *f) {
        int i = blockIdx.x;
        if (i > 0) while (atomicAdd(&f[i - 1], 0) == 0);
        __threadfence();
        atomicExch(&f[i], 1);
    }";
    let report = |blocks: u32, memory: u64| {
        Case::new(source, "k", blocks, 1)
            .value("f", vec![0i32; blocks as usize])
            .options(|o| o.budget.memory = memory)
            .run()
    };
    assert!(report(100, 8 << 20).is_clean());
    let stopped = report(3000, 8 << 20);
    assert_eq!(kinds(&stopped), [FindingKind::Budget]);
    assert!(stopped.findings[0].message.contains("what flags release"), "{stopped:?}");
    // Bytes of a region whose words were watched so far take more room, too.
    let source = "__global__ void k(char *x) { x[threadIdx.x] = 1; }";
    let case = Case::new(source, "k", 1, 32).value("x", ArrayInit::Zeros(ScalarType::I8, 1 << 20));
    assert_eq!(kinds(&case.options(|o| o.budget.memory = 20 << 20).run()), [FindingKind::Budget]);
}

#[test]
fn words_without_end_are_no_type() {
    for n in [255, 256, 300] {
        let source = format!("__global__ void k({} x) {{ }}", "long ".repeat(n));
        let _ = Program::parse(&source, "long.cu", &[]);
    }
}

#[test]
fn as_many_blocks_as_one_likes_are_resident() {
    // All end in the same round: quadratic in them, this would take minutes.
    let source = "__global__ void k(int *x) { x[blockIdx.x] = 1; }";
    let blocks = 60_000;
    let case = Case::new(source, "k", blocks, 1)
        .value("x", vec![0i32; blocks as usize])
        .options(|o| o.resident_blocks = blocks);
    for schedule in [Schedule::FORWARD, Schedule::random(1)] {
        let report = run(&case.program(), &case.script, &case.options.under(schedule)).unwrap();
        assert!(report.is_clean(), "{schedule}: {:?}", report.findings);
    }
}

#[test]
fn extents_and_numbers_beyond_all_bounds_are_refused() {
    let source = "__global__ void k(int *x, int n, unsigned char c) { x[0] = n + c; }";
    let case = |n: Number, c: Number| {
        Case::new(source, "k", 1, 1).value("x", vec![0i32]).value("n", n).value("c", c)
    };
    let run = |case: Case| run(&case.program(), &case.script, &case.options);
    let huge = case(1.into(), 1.into()).launch(|l| l.block = [u32::MAX; 3]);
    assert_eq!(kinds(&run(huge).unwrap()), [FindingKind::Limit]);
    let right: [Number; 6] =
        [7.into(), (-1).into(), u32::MAX.into(), i32::MIN.into(), 4.0.into(), true.into()];
    for n in right {
        assert!(run(case(n, 255u8.into())).is_ok(), "{n}");
    }
    let wrong: [Number; 6] = [
        f64::NAN.into(),
        1e99.into(),
        2.5.into(),
        (1u64 << 32).into(),
        i64::MIN.into(),
        f64::INFINITY.into(),
    ];
    for n in wrong {
        let error = run(case(n, 1.into())).expect_err("a number that is no int");
        assert!(error.message.contains("`n`") && error.message.contains("int"), "{n}: {error}");
    }
    assert!(run(case(1.into(), 256.into())).is_err());
}
