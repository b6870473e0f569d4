//! Functions, kernels and operators: which one is meant, and what they owe.

use super::{refused, taken, verdicts};

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
