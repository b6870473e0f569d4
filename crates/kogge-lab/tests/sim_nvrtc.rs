//! The language against CUDA's own compiler: what the laboratory takes NVRTC takes too, and what it
//! refuses as wrong NVRTC refuses.
//!
//! Without NVRTC the laboratory's side is tested alone, against the verdicts written here.

#[path = "common/nvrtc.rs"]
mod nvrtc;

use kogge_lab::Program;
use nvrtc::{compile, library};

fn source(prelude: &str, body: &str) -> String {
    let parameters = "int *out, float *f, double *d, long long *l, unsigned *u, \
                      unsigned long long *ul, int n";
    format!("{prelude}\n__global__ void k({parameters}) {{\n{body}\n}}\n")
}

/// Compares the verdicts of the laboratory and of NVRTC; a refusal must say `what`.
fn verdicts(cases: &[(&str, &str, Result<(), &str>)]) {
    let nvrtc = library();
    for (prelude, body, expected) in cases {
        let source = source(prelude, body);
        let verdict = Program::parse(&source, "k.cu", &[]).and_then(|p| p.check());
        match (verdict, expected) {
            (Ok(()), Ok(())) => {}
            (Err(error), Err(what)) => assert!(error.message.contains(what), "{body}: {error}"),
            (verdict, _) => panic!("{prelude}\n{body}: {verdict:?}, not {expected:?}"),
        }
        if let Some(nvrtc) = &nvrtc {
            let compiled = compile(nvrtc, &source, "sm_90");
            let refused = compiled.err().filter(|log| log.contains("error"));
            assert_eq!(refused.is_none(), expected.is_ok(), "{prelude}\n{body}: {refused:?}");
        }
    }
}

/// Bodies without a prelude that both refuse, the laboratory with these words.
fn refused(cases: &[(&str, &str)]) {
    verdicts(&cases.iter().map(|&(body, what)| ("", body, Err(what))).collect::<Vec<_>>());
}

fn taken(cases: &[&str]) {
    verdicts(&cases.iter().map(|&body| ("", body, Ok(()))).collect::<Vec<_>>());
}

#[test]
fn atomics_have_the_types_of_cuda() {
    taken(&[
        "atomicAdd(out, 1); atomicAdd(u, 1u); atomicAdd(ul, 1ull); atomicAdd(f, 1.f); atomicAdd(d, 1.0);",
        "atomicSub(out, 1); atomicSub(u, 1u); atomicExch(out, 1); atomicExch(ul, 1ull); atomicExch(f, 1.f);",
        "atomicMin(out, 1); atomicMax(u, 1u); atomicMin(l, 1ll); atomicMax(ul, 1ull);",
        "atomicInc(u, 1u); atomicDec(u, 1u); atomicCAS(out, 1, 2); atomicCAS(ul, 1ull, 2ull);",
        "unsigned short *s = (unsigned short *)u; atomicCAS(s, (unsigned short)1, (unsigned short)2);",
        "atomicAnd(out, 1); atomicOr(l, 1ll); atomicXor(ul, 1ull); atomicAdd_block(out, 1); atomicMin_system(l, 1ll);",
        "atomicAdd((unsigned long long *)l, 1ull); atomicAdd(f, n);",
    ]);
    for call in [
        "atomicAdd(l, 1ll)",
        "atomicAdd((unsigned short *)u, (unsigned short)1)",
        "atomicAdd_block(l, 1ll)",
        "atomicSub(ul, 1ull)",
        "atomicSub(f, 1.f)",
        "atomicExch(l, 1ll)",
        "atomicExch(d, 1.0)",
        "atomicMin(f, 1.f)",
        "atomicMax(d, 1.0)",
        "atomicInc(out, 1)",
        "atomicDec(ul, 1ull)",
        "atomicCAS(l, 1ll, 2ll)",
        "atomicCAS(f, 1.f, 2.f)",
        "atomicAnd(f, 1.f)",
        "atomicAdd((volatile int *)out, 1)",
    ] {
        refused(&[(&format!("{call};"), "CUDA has no `atomic")]);
    }
    refused(&[("atomicAdd(out[0], 1);", "needs a pointer"), ("atomicAdd(out, f);", "convert")]);
}

#[test]
fn functions_of_warps_have_the_types_of_cuda() {
    taken(&[
        "float v = __shfl_sync(~0u, f[0], 0); double w = __shfl_up_sync(~0u, d[0], 1); f[0] = v + w;",
        "long long v = __shfl_down_sync(~0u, l[0], 1); short s = 3; s = __shfl_xor_sync(~0u, s, 1); l[0] = v + s;",
        "u[0] = __match_any_sync(~0u, d[0]); out[0] = __reduce_add_sync(~0u, n); u[0] = __reduce_or_sync(~0u, u[0]);",
    ]);
    let pair = "struct P { int a, b; };";
    verdicts(&[(pair, "P p{1, 2}; P q = __shfl_sync(~0u, p, 0);", Err("no `__shfl_sync`"))]);
    refused(&[
        ("float2 p = make_float2(1, 2); p = __shfl_up_sync(~0u, p, 1);", "no `__shfl_up_sync`"),
        ("int *p = __shfl_sync(~0u, out, 0);", "no `__shfl_sync`"),
        ("f[0] = __reduce_add_sync(~0u, f[0]);", "no `__reduce_add_sync`"),
        ("l[0] = __reduce_max_sync(~0u, l[0]);", "no `__reduce_max_sync`"),
        ("__syncthreads(1);", "takes no arguments"),
        ("__threadfence(1);", "takes no arguments"),
    ]);
}

#[test]
fn pointers_do_not_convert_by_themselves() {
    let functions = "__device__ int of_int(int x) { return x; }
        __device__ int of_pointer(int *x) { return *x; }";
    verdicts(&[
        (functions, "out[0] = of_int(n) + of_pointer(out) + of_pointer(0) + of_int(f[0]);", Ok(())),
        (functions, "out[0] = of_int(out);", Err("takes (int *)")),
        (functions, "out[0] = of_pointer(f);", Err("takes (float *)")),
        (functions, "out[0] = of_pointer(3);", Err("takes (int)")),
    ]);
    taken(&[
        "int *p = 0; p = nullptr; void *q = out; p = (int *)q; bool b = p; out[0] = b + (p == 0) + (p == q);",
        "volatile int *p = out; int *q = n ? out : nullptr; out[0] = *p + *q + (p > q) + (p - q);",
    ]);
    refused(&[
        ("int *p = 5;", "convert"),
        ("int *p = f;", "convert"),
        ("int i = out;", "convert"),
        ("out[0] = &n;", "convert"),
        ("void *p = out; int *q = p;", "convert"),
        ("volatile int *p = out; int *q = p;", "convert"),
        ("int *p = n ? out : f;", "convert"),
        ("out[0] = out - f;", "between"),
        ("out[0] = out == f;", "between"),
        ("out[0] = out == 5;", "between"),
    ]);
}

#[test]
fn overloads_that_nothing_decides_are_ambiguous() {
    let functions = "__device__ int a(float x) { return 1; }
        __device__ int a(double x) { return 2; }
        __device__ int b(int x) { return 1; }
        __device__ int b(unsigned x) { return 2; }
        template <typename T> __device__ T sum(T x, T y) { return x + y; }";
    verdicts(&[
        (
            functions,
            "out[0] = a(f[0]) + a(d[0]) + b(n) + b(u[0]) + b('c') + sum(1, 2) + sum<float>(1, 2.f);",
            Ok(()),
        ),
        (functions, "out[0] = a(n);", Err("ambiguous")),
        (functions, "out[0] = b(l[0]);", Err("ambiguous")),
        (functions, "out[0] = b(f[0]);", Err("ambiguous")),
        (functions, "out[0] = sum(1, 2.f);", Err("no `sum` takes (int, float)")),
    ]);
    taken(&[
        "out[0] = max(n, 3) + min('a', n); u[0] = max(n, u[0]); ul[0] = min(l[0], ul[0]);",
        "f[0] = max(f[0], 2.0) + fmaxf(f[0], 1) + abs(-1) + abs(f[0]) + __expf(1) + powf(2, 3);",
    ]);
    refused(&[
        ("l[0] = max(n, l[0]);", "ambiguous"),
        ("f[0] = max(1.0f, 2);", "ambiguous"),
        ("d[0] = min(n, d[0]);", "ambiguous"),
        ("out[0] = abs(u[0]);", "ambiguous"),
        ("f[0] = maxf(f[0], 1.f);", "not known"),
        ("f[0] = absf(f[0]);", "not known"),
        ("f[0] = __exp(f[0]);", "not known"),
        ("out[0] = __popcf(n);", "not known"),
        ("float4 v = make_float4(1, 2, 3);", "takes 4 arguments"),
    ]);
}

#[test]
fn what_is_const_stays_as_it_is() {
    let functions = "__device__ void grow(int &x) { x++; }
        __device__ int same(const int &x) { return x; }
        template <typename T> __device__ T first(T &x) { return x; }
        struct P { int a; __device__ int get() const { return a; } __device__ void set(int x) { a = x; } };";
    verdicts(&[
        (
            functions,
            "const int x = n; out[0] = same(x) + same(3) + same(f[0]) + first(x); grow(out[1]); grow(n);",
            Ok(()),
        ),
        (functions, "const P p{3}; out[0] = p.get(); P q = p; q.set(4); q.a++;", Ok(())),
        (functions, "const P p{3}; p.a = 4;", Err("`const`")),
        (functions, "const P p{3}; p.set(4);", Err("`const`")),
        (functions, "const int x = n; grow(x);", Err("`const`")),
        (functions, "grow(3);", Err("refers to a variable")),
        (functions, "grow(f[0]);", Err("refers to a variable")),
        (functions, "out[0] = first(3);", Err("refers to a variable")),
        ("__device__ int f1(const int x) { return x++; }", "out[0] = f1(3);", Err("`const`")),
        ("__device__ int f1(const int &x) { return x = 2; }", "out[0] = f1(3);", Err("`const`")),
    ]);
    taken(&["const int *p = out; p++; const float &r = f[0]; int &s = out[1]; s = *p + r;"]);
    refused(&[
        ("const int x = 3; x = 4;", "`const`"),
        ("const int x = n; x += 4;", "`const`"),
        ("const int x = 3; x++;", "`const`"),
        ("const int x;", "`const`"),
        ("const int &r = out[0]; r = 1;", "`const`"),
        ("int &r = f[0];", "cannot refer"),
        ("bool b = true; b++;", "`bool`"),
    ]);
}

#[test]
fn declarations_and_statements_are_those_of_cuda() {
    taken(&[
        "int x = 1; { int x = 2; out[0] = x; } for (int i = 0; i < 2; i++) { int x = i; out[i] = x; }",
        "switch (n) { case 1: out[0] = 1; break; case 'a': out[0] = 2; default: out[0] = 3; }",
        "static_assert(sizeof(int) == 4, \"four\"); static_assert(sizeof(long long) == 8);",
        "dim3 b = blockDim; dim3 c(4); dim3 g = 5; dim3 e(threadIdx); uint3 t = threadIdx; out[0] = b.x + c.y + g.z + e.x + t.y; dim3 h(1, 2); float4 v{1, 2, 3, 4};",
        "[[maybe_unused]] int x = 3;",
        "out[0] = '\\r' + '\\'' + '\\x41' + '\\101' + '\\a' + '\\\\' + '\"' + 1ull + 2lu + 1.0l + 3LL;",
    ]);
    refused(&[
        ("int x = 1; int x = 2;", "already"),
        ("int n = 2;", "already"),
        ("switch (n) { case 1: out[0] = 1; break; case 1: out[0] = 2; }", "already"),
        ("switch (n) { default: out[0] = 1; break; default: out[0] = 2; }", "already"),
        ("switch (n) { case n: out[0] = 1; }", "constant"),
        ("switch (f[0]) { case 1: out[0] = 1; }", "`float`"),
        ("static_assert(sizeof(int) == 8, \"eight\");", "\"eight\""),
        ("float4 v(1, 2, 3, 4);", "no constructor"),
        ("out[0] = 1uu;", "no number"),
        ("out[0] = 1lul;", "no number"),
        ("f[0] = 1.0ff;", "no number"),
    ]);
    let assert = "template <typename T> __device__ T g(T x) { static_assert(sizeof(T) == 4, \"four\"); return x; }";
    let member =
        "template <typename T> struct S { static_assert(sizeof(T) == 4, \"four\"); T x; };";
    verdicts(&[
        (assert, "f[0] = g(f[0]);", Ok(())),
        (assert, "d[0] = g(d[0]);", Err("\"four\"")),
        (member, "S<int> s{3}; out[0] = s.x;", Ok(())),
        (member, "S<double> s{3}; d[0] = s.x;", Err("\"four\"")),
        ("static_assert(sizeof(int) == 8, \"eight\");", "out[0] = 1;", Err("\"eight\"")),
        ("__device__ void g() { return 3; }", "g();", Err("`void`")),
        (
            "__device__ int g() { return 1; }\n__device__ int g() { return 2; }",
            "out[0] = g();",
            Err("of the same types"),
        ),
    ]);
    let kernel = "__global__ int k(int *x) { return 1; }";
    let error = Program::parse(kernel, "k.cu", &[]).unwrap().check().unwrap_err();
    assert!(error.message.contains("`void`"), "{error}");
}

#[test]
fn operators_are_those_that_are_declared() {
    let plus = "struct P { int a; };
        __device__ P operator+(P x, P y) { return P{x.a + y.a}; }";
    let both = format!("{plus} __device__ P &operator+=(P &x, P y) {{ x.a += y.a; return x; }}");
    let vector = "template <class T> struct V { T x;
        __device__ V operator*(const V &o) const { return {x * o.x}; }
        __device__ V &operator+=(const V &o) { x += o.x; return *this; } };";
    verdicts(&[
        (plus, "P p{1}; p = p + p;", Ok(())),
        (plus, "P p{1}; p += p;", Err("no `operator+=`")),
        (&both, "P p{1}; p += p;", Ok(())),
        (vector, "V<int> a{3}, b{4}; out[0] = (a * b).x; a += b;", Ok(())),
    ]);
}

#[test]
fn numbers_and_operators_may_be_written_in_other_ways() {
    taken(&[
        "f[0] = 0x1.8p3f; d[0] = 0x.8p-2; d[1] = 0x1P+4L; f[1] = 0xap0F;",
        "out[0] = n and 1 or not n; out[1] = n xor n bitand n bitor compl n; out[2] = n not_eq 1;",
        "n and_eq 1; n or_eq 2; n xor_eq 3; out[0] = n;",
        "#if defined A and not defined B or 1\nout[0] = 1;\n#endif",
    ]);
    refused(&[
        ("f[0] = 0x1.8;", "`0x1.8` is no number"),
        ("f[0] = 0x1.8p;", "`0x1.8p` is no number"),
        ("f[0] = 0x1p1ff;", "`0x1p1ff` is no number"),
        ("int and = 1;", "expected a name"),
    ]);
}

#[test]
fn derived_structs_have_the_layout_of_cuda() {
    let prelude = "struct A { char z; int a; }; struct B { short y; double b; }; struct C : A, B { int c; };
        struct D : C { char d; }; struct P { int p; char q; }; struct Q : P { char r; };
        struct E {}; struct F : E { int f; }; struct G : E, P { char g; };
        struct H { int h; char i; __device__ H(int x) : h(x), i(0) {} }; struct I : H { char j; __device__ I() : H(1), j(0) {} };";
    let sizes = "static_assert(sizeof(A) == 8 && sizeof(B) == 16 && sizeof(C) == 32 && sizeof(D) == 32, \"\");
        static_assert(sizeof(Q) == 12 && sizeof(E) == 1 && sizeof(F) == 4 && sizeof(G) == 12 && sizeof(I) == 8, \"\");";
    let wrong = "static_assert(sizeof(Q) == 8, \"tail padding\");";
    verdicts(&[(prelude, sizes, Ok(())), (prelude, wrong, Err("tail padding"))]);
}

#[test]
fn pointers_to_const_write_nothing() {
    let prelude = "typedef const int *In; using Cell = const int;
        struct View { const int *data; int n; __device__ int at(int i) const { return data[i]; } };
        template <typename T> struct Span { T *data; __device__ T get(int i) const { return data[i]; } };
        __device__ int read(const int *x) { return *x; }
        __device__ void write(int *x) { *x = 1; }
        template <typename T> __device__ int first(T *x) { return x[0]; }
        template <typename T> __device__ int sum(const T *x, T *y) { return x[0] + (y[0] = 2); }
        __device__ int kind(int *) { return 1; } __device__ int kind(const int *) { return 2; }
        __constant__ int table[4];";
    verdicts(&[
        (
            prelude,
            "const int *p = out; int const *q = p + 1; In r = q; p = r; p++; const int *const *pp = &p;
             out[0] = read(out) + read(p) + first(p) + first(out) + sum(p, out) + kind(p) + kind(out) + **pp;
             View v{p, 3}; out[1] = v.at(0) + v.data[1]; v.data++; Span<const int> s{p}; Span<Cell> t{p};
             Span<int> w{out}; out[2] = s.get(0) + t.get(1); *w.data = 1; out[3] = p == out; out[4] = p - out;
             const int *either = n ? p : out; out[5] = *either + first<const int>(p) + read(table) + first(table);
             const auto *a = out; auto b = p; out[6] = *a + *b; const void *nothing = p; int *const fixed = out;
             *fixed = 3; out[7] = nothing == fixed; out[8] = __ldg(p);",
            Ok(()),
        ),
        (prelude, "const int *p = out; *p = 1;", Err("`const`")),
        (prelude, "int const *p = out; p[n] += 1;", Err("`const`")),
        (prelude, "In p = out; (*p)++;", Err("`const`")),
        (prelude, "const int *p = out; int *q = p;", Err("convert")),
        (prelude, "const int *p = out; write(p);", Err("no `write` takes (const int *)")),
        (prelude, "const int x = n; int *p = &x;", Err("convert")),
        (prelude, "const int *p = out; int *q = n ? p : out;", Err("convert")),
        (prelude, "View v{out, 1}; v.data[0] = 1;", Err("`const`")),
        (prelude, "Span<const int> s{out}; s.data[0] = 1;", Err("`const`")),
        (prelude, "Span<Cell> s{out}; s.data[0] = 1;", Err("`const`")),
        (prelude, "const int *p = out; Span<int> s{p};", Err("convert")),
        (prelude, "const int *p = out; atomicAdd(p, 1);", Err("of `const int`")),
        (prelude, "const auto *a = out; *a = 1;", Err("`const`")),
        (prelude, "const int *p = out; int &r = *p; r = 1;", Err("`const`")),
        (prelude, "int *p = out; int *const *pp = &p; *pp = out;", Err("`const`")),
        ("__device__ void f1(const int x[], int n) { x[n] = 1; }", "f1(out, 1);", Err("`const`")),
    ]);
}

#[test]
fn casts_do_what_their_word_says() {
    let structs = "struct A { int a; }; struct B : A { int b; };";
    verdicts(&[
        (
            structs,
            "float4 *v = reinterpret_cast<float4 *>(f); v->x = 1; const float *c = f;
             const float4 *w = reinterpret_cast<const float4 *>(c); f[0] = w->y;
             int *i = static_cast<int *>(static_cast<void *>(f)); *i = 1; *const_cast<float *>(c) = 2;
             unsigned long long at = reinterpret_cast<unsigned long long>(c); i = reinterpret_cast<int *>(at);
             B b; b.a = 1; b.b = 2; A *a = static_cast<A *>(&b); out[0] = static_cast<B *>(a)->b;
             out[1] = static_cast<int>(f[0]) + static_cast<bool>(i) + reinterpret_cast<int &>(f[1]);
             const int x = n; const_cast<int &>(x); out[2] = reinterpret_cast<const int &>(c[1]);
             float *g = (float *)c; *g = 1; *(int *)c = 2; int *none = static_cast<int *>(nullptr);
             out[3] = none == 0; out[4] = reinterpret_cast<int>(n);",
            Ok(()),
        ),
        (structs, "int *i = static_cast<int *>(f);", Err("`static_cast` makes no `int *`")),
        (structs, "long long i = static_cast<long long>(out);", Err("makes no `long long`")),
        (structs, "int *i = static_cast<int *>(n);", Err("makes no `int *`")),
        (structs, "const float *c = f; float4 *v = reinterpret_cast<float4 *>(c);", Err("takes no `const`")),
        (structs, "const int *c = out; int *v = static_cast<int *>(c);", Err("takes no `const`")),
        (structs, "const float *c = f; reinterpret_cast<int &>(c[0]) = 1;", Err("takes no `const`")),
        (structs, "const float *c = f; int *v = const_cast<int *>(c);", Err("`const_cast` makes no")),
        (structs, "int i = reinterpret_cast<int>(f[0]);", Err("`reinterpret_cast` makes no `int`")),
        (structs, "int i = reinterpret_cast<int>(f);", Err("makes no `int`")),
        (structs, "static_cast<int &>(f[0]) = 1;", Err("`static_cast` makes no `int")),
        (structs, "volatile int *v = out; int *p = static_cast<int *>(v);", Err("takes no `const`")),
    ]);
}

#[test]
fn default_arguments_of_kernels_are_those_of_cuda() {
    verdicts(&[
        (
            "__device__ int v; constexpr int N = 4; __device__ constexpr int f(int n) { return n + 1; }
             __global__ void d(int *y, int *sums = nullptr, const float *p = 0, int n = f(N), float x = 1, int m = v);
             __global__ void e(int *y, int *sums = nullptr, const float *p = 0, int n = f(N), float x = 1, int m = v) {}
             template <typename T> __global__ void t(T *y, T x = T(1), int n = sizeof(T)) {}",
            "",
            Ok(()),
        ),
        ("__global__ void d(int *y, int *sums = 1) {}", "", Err("convert")),
        ("__global__ void d(int *y, int *sums = 0.0) {}", "", Err("convert")),
        ("__global__ void d(int *y = 0, int n) {}", "", Err("must have one as well")),
        ("__global__ void d(int n, int m = n) {}", "", Err("`n` is not known")),
    ]);
}

#[test]
fn structs_within_structs_have_the_layout_of_cuda() {
    let prelude = "union D { unsigned long long raw; struct { int value; char status; }; };
        struct S { struct { char a; short b; } pair; int c; struct P { char a; S *s; }; P p; };
        struct T { char c; union { char d[5]; short e; }; union { char f; }; }; union E { char c[3]; short s; };
        struct N { N *next; int v; };";
    let body = "static_assert(sizeof(D) == 8 && sizeof(S) == 24 && sizeof(S::P) == 16 && sizeof(T) == 10 && sizeof(E) == 4, \"\");
        D x; x.value = n; x.status = 1; ul[0] = x.raw; S s; s.pair.b = 2; s.p.s = &s; T t; t.e = 3; t.f = 4;
        N last = {nullptr, 3}, first = {&last, 4}; out[0] = first.next->v;
        union { float f; int i; } w; w.f = f[0]; out[1] = w.i; __shared__ struct S::P p; p.a = 1;";
    verdicts(&[
        (prelude, body, Ok(())),
        (prelude, "static_assert(sizeof(T) == 9, \"padding\");", Err("padding")),
        (prelude, "P p;", Err("`P` is not known")),
        (prelude, "D x = {1, 2};", Err("more values")),
        (prelude, "D x; x.missing = 1;", Err("no member `missing`")),
        ("struct S { struct T { S s; } t; };", "S s;", Err("contains itself")),
    ]);
}

#[test]
fn members_of_a_namespace_may_be_defined_outside_of_it() {
    let prelude = "namespace A { __device__ int inc(int); template <class T> __device__ T same(T x); struct P { int a; }; }
        __device__ int A::inc(int x) { P p{x}; return p.a + 1; }
        template <class T> __device__ T A::same(T x) { return x; }";
    verdicts(&[(prelude, "out[0] = A::inc(3) + A::same(4);", Ok(()))]);
}

#[test]
fn auto_takes_one_value_in_braces() {
    let prelude = "struct P { int a; };";
    let body = "auto a{3}; const auto b(2.5f); auto *p{out}; auto &r{out[1]}; auto q{P{4}}; int &s(out[2]); int &t{out[3]};
        static_assert(sizeof(b) == 4, \"\"); r = a; s = q.a; t = 5; p[4] = b; const P &w{};";
    verdicts(&[(prelude, body, Ok(()))]);
    refused(&[
        ("auto a{3, 4};", "`a` takes one value"),
        ("auto a{};", "`a` takes one value"),
        ("auto a(3, 4);", "`a` takes one value"),
        ("int &r(out[0], out[1]);", "`r` takes one value"),
    ]);
    // NVRTC takes it, as a list that is of little use.
    let list = source("", "auto a = {3};");
    let error = Program::parse(&list, "k.cu", &[]).unwrap().check().unwrap_err();
    assert!(error.message.contains("`auto` of a braced list"), "{error}");
}

#[test]
fn pragmas_are_read_past() {
    let prelude = "#define UNROLL(n) _Pragma(#n)\n_Pragma(\"nv_diag_suppress 177\")";
    verdicts(&[
        (
            prelude,
            "_Pragma(\"unroll\") for (int i = 0; i < 3; i++) out[i] = i;
             if (n) UNROLL(unroll 4) for (int i = 0; i < 3; i++) out[i] += i; else out[0] = 5;",
            Ok(()),
        ),
        ("", "__pragma(\"unroll\") for (int i = 0; i < 3; i++) out[i] = i;", Err("expected `;`")),
    ]);
}

#[test]
fn kernels_may_share_a_name() {
    let two = "__global__ void d(int *y) {} __global__ void d(int *y, int *x) { int n = ";
    verdicts(&[
        (&format!("{two}1; }}"), "", Ok(())),
        (&format!("{two}x; }}"), "", Err("convert")),
        ("__global__ void d(int *y) {} __global__ void d(int *x) {}", "", Err("may mean")),
    ]);
}

#[test]
fn a_function_may_end_without_the_value_that_it_owes() {
    let missing = "__device__ int g(int x) { if (x) return 1; }";
    let bare = "__device__ int g(int x) { if (x) return; return 3; }";
    let value = "__device__ auto g(int x) { if (x) return; return 3; }";
    verdicts(&[
        (missing, "out[0] = g(n);", Ok(())),
        (bare, "out[0] = g(n);", Ok(())),
        (value, "g(n);", Err("`void` returns a value")),
    ]);
}

#[test]
fn functions_are_declared_before_they_are_called() {
    let inc = "__device__ int inc(int x) { return x + 1; }";
    let with = |before: &str, after: &str| {
        let caller = "__device__ int g(int x) { return inc(x); }";
        format!("{before}\n{caller}\n{after}")
    };
    let below = "`inc` is declared below, at line 3: declare it above";
    let call = "out[0] = g(n);";
    verdicts(&[
        (&with(inc, ""), call, Ok(())),
        (&with("__device__ int inc(int);", inc), call, Ok(())),
        (
            &with("#define D __device__\nD __forceinline__ int inc(int x), other(int y);", inc),
            call,
            Ok(()),
        ),
        (
            &with(
                "struct P { int a; __device__ friend int inc(P p); };\n__device__ int inc(int);",
                inc,
            ),
            call,
            Ok(()),
        ),
        (
            &with("extern \"C\" { __device__ int inc(int); }", &format!("extern \"C\" {inc}")),
            call,
            Ok(()),
        ),
        (
            &with("namespace { __device__ int inc(int); }", &format!("namespace {{ {inc} }}")),
            call,
            Ok(()),
        ),
        (&with("", inc), call, Err(below)),
        (&with("", "template <class T> __device__ T inc(T x) { return x; }"), call, Err(below)),
        (&with("struct S { __device__ int inc(int); };", inc), call, Err(below)),
    ]);
    // In the same place, and of no matter where it can't be told.
    let both = "#define BOTH(n, a, b) a b\n#define ONE __device__ int inc(int x) { return x; }\n#define TWO __device__ int g(int x) { return inc(x); }";
    let point = "struct P { int a; };";
    let plus = "__device__ P operator+(P x, P y) { return P{x.a + y.a}; }";
    let sum = "__device__ int sum(P p) { return (p + p).a; }";
    let adl = "template <class T> __device__ int g(T p) { return inc(p); } struct P { int a; }; __device__ int inc(P p) { return p.a; }";
    verdicts(&[
        (&format!("{both}\nBOTH(g, ONE, TWO)"), call, Ok(())),
        (&format!("{both}\nBOTH(g, TWO, ONE)"), call, Err("`inc` is declared below, at line 4")),
        (&format!("{point} {plus} {sum}"), "out[0] = sum(P{n});", Ok(())),
        (
            &format!("{point} {sum} {plus}"),
            "out[0] = sum(P{n});",
            Err("`operator+` is declared below"),
        ),
        (adl, "out[0] = g(P{n});", Ok(())),
        (
            "__device__ int g(int x) { return max(x, 1); } __device__ int max(int x, int y) { return 7; }",
            call,
            Ok(()),
        ),
        ("__device__ int g(int n) { return n ? g(n - 1) : 0; }", "out[0] = 1;", Ok(())),
    ]);
}

#[test]
fn the_specialisations_of_structs_are_those_of_cuda() {
    let prelude = "template <typename T> struct Box { T x; }; template <typename T> struct K { enum { v = 1 }; };
        template <typename T> struct K<T *> { enum { v = 2 }; };
        template <typename T> struct K<T **> { enum { v = 3 }; };
        template <typename T> struct K<const T *> { enum { v = 4 }; };
        template <typename T> struct K<const T> { enum { v = 5 }; };
        template <typename T, int N> struct K<T[N]> { enum { v = 10 + N }; };
        typedef const int Row[3]; template <typename T> struct E { enum { v = 1 }; };
        template <typename T> struct E<const T[3]> { enum { v = 3 }; };
        template <> struct E<int *const[3]> { enum { v = 4 }; };
        template <typename T> struct K<Box<T>> { enum { v = 7 }; };
        template <typename T> struct K<Box<T *>> { enum { v = 8 }; };
        template <> struct K<Box<int *>> { enum { v = 9 }; };
        template <typename T, typename U> struct P { enum { v = 1 }; };
        template <typename T> struct P<T, T> { enum { v = 2 }; };
        template <typename T, typename U> struct P<T *, U *> { enum { v = 3 }; };
        template <typename T> struct P<T *, T *> { enum { v = 4 }; };
        template <int A, int B = A + 1, class T = int> struct S { enum { v = 1 }; };
        template <> struct S<1> { enum { v = 2 }; }; template <int N> struct S<N, N, float>;
        template <int N> struct S<N, N, float> { enum { v = 3 }; };
        template <int N> struct S<N, 2 * N, char> { enum { v = 4 }; };
        template <typename T, int N, bool B = (N > 3)> struct Q { enum { v = 1 }; };
        template <typename T, int N> struct Q<T, N, true> { enum { v = 2 * N }; };
        template <int N, bool B> struct R { enum { v = 1 }; };
        template <int N> struct R<N, true> { enum { v = 2 }; };
        template <bool B> struct R<4, B> { enum { v = 3 }; };
        template <int N> struct F { enum { v = N * F<N - 1>::v }; }; template <> struct F<0> { enum { v = 1 }; };
        template <typename T> struct W { enum { v = 1 }; }; template <> struct W<W<int>> { enum { v = 2 }; };
        template <typename T> struct W<W<T>> { enum { v = 3 }; };
        template <typename T> struct Only; template <> struct Only<int>; extern template struct Box<int>;
        template <> struct Only<int> { Only *next; int n; }; template struct Box<int>;
        template <typename T> struct L { enum { v = 1 }; }; template <> struct L<long long> { enum { v = 2 }; };
        template <typename T, int N> struct Sum { static __device__ T of(const T *x) { return x[N - 1] + Sum<T, N - 1>::of(x); } };
        template <typename T> struct Sum<T, 0> { static __device__ T of(const T *) { return 0; } };
        template <typename T> struct D { enum { v = 0 }; typedef T base; };
        template <typename T> struct D<T *> { enum { v = 1 + D<T>::v }; typedef typename D<T>::base base; };";
    let numbers = [
        ("K<int>", 1),
        ("K<int *>", 2),
        ("K<int **>", 3),
        ("K<const int *>", 4),
        ("K<const float>", 5),
        ("K<int *const>", 5),
        ("K<float[6]>", 16),
        ("E<Row>", 3),
        ("E<int *const[3]>", 4),
        ("E<int *[3]>", 1),
        ("E<const int *[3]>", 1),
        ("E<const int[4]>", 1),
        ("K<Box<float>>", 7),
        ("K<Box<char *>>", 8),
        ("K<Box<int *>>", 9),
        ("K<int *const *>", 4),
        ("P<int, char>", 1),
        ("P<int, int>", 2),
        ("P<int *, char *>", 3),
        ("P<int *, int *>", 4),
        ("S<1>", 2),
        ("S<1, 3>", 1),
        ("S<4, 4, float>", 3),
        ("S<4, 8, char>", 4),
        ("S<4, 9, char>", 1),
        ("Q<int, 3>", 1),
        ("Q<int, 4>", 8),
        ("R<4, false>", 3),
        ("F<5>", 120),
        ("W<int>", 1),
        ("W<W<int>>", 2),
        ("W<W<W<int>>>", 3),
        ("L<long long>", 2),
        ("D<int ***>", 3),
    ];
    let asserts: String = numbers
        .map(|(of, v)| format!("static_assert({of}::v == {v}, \"{of}\"); out[0] += {of}::v;\n"))
        .concat();
    let twice = "template <class T> struct V { enum { v = 1 }; };
        template <class T> struct V<T *> { enum { v = 2 }; }; template <class T> struct V<T *> { enum { v = 2 }; };";
    let uses = "Only<int> o{nullptr, n}; out[0] = o.n + Sum<int, 4>::of(out); D<float *>::base b = 3.5f; f[0] = b;";
    verdicts(&[
        (prelude, &format!("{asserts}{uses}"), Ok(())),
        (prelude, "static_assert(K<int *>::v == 1, \"pointer\");", Err("\"pointer\"")),
        (prelude, "out[0] = P<int **, int *>::v + R<4, true>::v;", Err("ambiguous")),
        (prelude, "out[0] = K<Row>::v;", Err("which of these specialisations is more special")),
        (twice, "out[0] = V<int *>::v;", Err("ambiguous")),
        (prelude, "Only<float> o;", Err("declared, but not defined")),
        (prelude, "out[0] = K<int>::w;", Err("not known")),
    ]);
}

#[test]
fn wrong_specialisations_are_refused_as_by_cuda() {
    let s =
        |special: &str| format!("template <class T> struct S {{ enum {{ v = 1 }}; }};\n{special}");
    let n = |special: &str| format!("template <int N> struct S {{ int a; }};\n{special}");
    let f = |special: &str| {
        format!("template <class T> __device__ int w(T) {{ return 1; }}\n{special}")
    };
    let structs = [
        ("struct S {};\ntemplate <> struct S<int> {};".to_owned(), "is no template"),
        ("template <> struct S<int> { enum { v = 2 }; };".to_owned(), "is no template"),
        (s("struct S<int> { enum { v = 1 }; };"), "begins with `template <>`"),
        (s("template <> struct S { enum { v = 1 }; };"), "says what it is for"),
        (s("template <> struct S<int, 3> {};"), "too many template arguments"),
        (s("template <> struct S<> {};"), "is missing"),
        (s("template <> struct S<3> {};"), "must be a type"),
        (
            s("template <> struct S<int> { enum { v = 1 }; };\ntemplate <> struct S<signed> {};"),
            "specialised already",
        ),
        (s("template <class U> struct S<U> {};"), "for all that its template is for"),
        (s("template <class T = int> struct S<T *> {};"), "has no default"),
        (s("template <class T, int N> struct S<T *> {};"), "don't tell `N`"),
        (s("template <> struct S<int>;"), "declared, but not defined"),
        (
            s(
                "__device__ int g() { return S<int>::v; }\ntemplate <> struct S<int> { enum { v = 2 }; };",
            ),
            "used above",
        ),
        (
            s(
                "__device__ int g() { return S<int *>::v; }\ntemplate <class T> struct S<T *> { enum { v = 2 }; };",
            ),
            "used above",
        ),
    ];
    let cases: Vec<_> = structs
        .iter()
        .map(|(prelude, what)| match prelude.contains("int g()") {
            true => (&**prelude, "out[0] = g();", Err(*what)),
            false => (&**prelude, "out[0] = S<int>::v;", Err(*what)),
        })
        .collect();
    verdicts(&cases);
    let numbers = [
        (n("template <> struct S<int> {};"), "must be a value"),
        (n("template <class T> struct S<T *> {};"), "must be a value"),
    ];
    verdicts(&numbers.each_ref().map(|(p, what)| (&**p, "S<3> s; s.a = n;", Err(*what))));
    let functions = [
        ("template <> __device__ int w(int) { return 2; }".to_owned(), "is no template"),
        (
            "__device__ int w(int) { return 1; }\ntemplate <> __device__ int w(int) { return 2; }"
                .to_owned(),
            "is no template",
        ),
        (f("template <> __device__ int w<float>(int) { return 2; }"), "of these types"),
        (f("template <> __device__ float w(int) { return 2; }"), "of these types"),
        (f("template <> __device__ int w<int>(int &) { return 2; }"), "of these types"),
        (f("template <> __device__ int w(int, int) { return 2; }"), "of these types"),
        (f("template <> __device__ int w<3>(int) { return 2; }"), "must be a type"),
        (
            f("template <> __device__ int w<int, int>(int) { return 2; }"),
            "too many template arguments",
        ),
        (
            f(
                "template <> __device__ int w(int) { return 2; }\ntemplate <> __device__ int w<int>(int) { return 3; }",
            ),
            "specialised already",
        ),
        (f("__device__ int w<int>(int) { return 2; }"), "begins with `template <>`"),
        (
            f("template <> __device__ int w(int x = 3) { return 2; }"),
            "the default arguments of its template",
        ),
        (
            f(
                "__device__ int g() { return w(3); }\ntemplate <> __device__ int w(int) { return 2; }",
            ),
            "used above",
        ),
    ];
    let cases: Vec<_> = functions
        .iter()
        .map(|(prelude, what)| match prelude.contains("int g()") {
            true => (&**prelude, "out[0] = g();", Err(*what)),
            false => (&**prelude, "out[0] = w(3);", Err(*what)),
        })
        .collect();
    verdicts(&cases);
}

#[test]
fn the_specialisations_of_functions_are_those_of_cuda() {
    let prelude = "struct P { int a; };
        template <typename T> __device__ T zero(); template <> __device__ int zero<int>() { return 7; }
        template <> __device__ float zero() { return 2.5f; }
        template <typename T> __device__ int g(T) { return 1; } template <typename T> __device__ int g(T *) { return 2; }
        template <> __device__ int g<float>(float) { return 3; } template <> __device__ int g(double) { return 4; }
        template <> __device__ int g<>(int *p) { return *p; } template <> __device__ int g<char *>(char *) { return 5; }
        template <typename T, int N = 2> __device__ int h(const T &x, int k = N) { return x + k; }
        template <> __device__ int h<int>(const int &x, int k) { return 100 * x + k; }
        template <> __device__ int h<int, 3>(const int &x, int k) { return 1000 * x + k; }
        template <typename T> __device__ void put(T *to, const T &x); template <> __device__ void put<P>(P *to, const P &x);
        template <> __device__ void put<P>(P *to, const P &x) { to->a = x.a + 1; }
        template <typename T> __device__ P operator+(P p, T x) { p.a += x; return p; }
        template <> __device__ P operator+(P p, unsigned x) { p.a -= x; return p; }
        template <typename T> __device__ int twice(T x) { return 2 * g(x); }
        template <> __device__ int twice(P p) { return 2 * p.a; }
        template <typename T, int N> __device__ int length(T (&)[N]) { return N; }
        template <> __device__ int length(int (&)[3]) { return 33; }
        template <typename T> __global__ void launched(T *x, int m) { x[0] = m; }
        template <> __global__ void launched<float>(float *y, int) { y[0] = 1; }
        template __global__ void launched<int>(int *, int);";
    let body = "P p{1}; put(&p, p); p = p + 3; p = p + 3u; char c = 1; int a[3] = {1, 2, 3};
        out[0] = zero<int>() + g(n) + g(&n) + g(f[0]) + g(d[0]) + g<char *>(&c) + g(&c) + h(n) + h<int, 3>(n);
        f[0] = zero<float>(); out[1] = twice(p) + twice(3) + length(a);";
    verdicts(&[(prelude, body, Ok(()))]);
}
