//! What converts to what, and what is const.

use super::{refused, taken, verdicts};

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
