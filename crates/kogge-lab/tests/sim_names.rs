//! Names: those of namespaces, those declared and defined in two places, and those that the
//! language does not have.

mod support;

use kogge_lab::{Diagnostic, Program};
use support::{Case, evaluate, ints};

/// Why a source is refused.
fn refusal(source: &str) -> Diagnostic {
    Program::parse(source, "n.cu", &[]).and_then(|p| p.check()).unwrap_err()
}

#[test]
fn members_of_a_namespace_may_be_defined_outside_of_it() {
    let prelude = r"
        namespace A {
            namespace B { __device__ int f(int); template <class T> __device__ T g(T x); }
            struct P { int a; }; __device__ P make(); extern __device__ int v;
        }
        __device__ int A::B::f(int x) { return x + 1; }
        template <class T> __device__ T A::B::g(T x) { return x + 2; }
        __device__ A::P A::make() { P p; p.a = 4; return p; }
        __device__ int A::v = 5; extern __device__ int w;";
    let body = "out[0] = A::B::f(3); out[1] = A::B::g(3); out[2] = A::make().a; out[3] = A::v; w = 6; out[4] = w;";
    assert_eq!(evaluate(prelude, body, 5), [4, 5, 4, 5, 6]);
    let source = "namespace S { __global__ void k(int *out); }
        __global__ void S::k(int *out) { out[0] = 7; }";
    assert_eq!(ints(&Case::new(source, "k", 1, 1).value("out", vec![0i32]).clean("out")), [7]);
}

#[test]
fn methods_defined_outside_their_struct_are_refused_where_they_are_used() {
    let refused = |prelude: &str, body: &str, what: &str, line: u32| {
        let error =
            refusal(&format!("{prelude}\n__global__ void k(int *out) {{ S<int> s; {body} }}"));
        assert!(error.message.contains(what), "{error}");
        assert_eq!(error.line, line, "{error}");
    };
    let outside = "methods defined outside their struct";
    let method =
        "template <class T> struct S { T a; __device__ T get(); __device__ int get(int); };
        template <class T> __device__ T S<T>::get() { return a; }";
    refused(method, "out[0] = s.get();", outside, 2);
    let overload = "template <class T> struct S { __device__ int get(int) { return 1; } __device__ int get(float); };
        template <class T> __device__ int S<T>::get(float x) { return 2; }";
    refused(overload, "out[0] = s.get(1.0f);", outside, 2);
    let operator =
        "namespace N { template <class T> struct S { T a; __device__ S operator+(S o); }; }
        template <class T> __device__ N::S<T> N::S<T>::operator+(S o) { return o; }";
    refused(operator, "out[0] = (s + s).a;", outside, 2);
    let missing = "template <class T> struct S { T a; __device__ T get(); };";
    refused(missing, "out[0] = s.get();", "`get` of `S<int>` is declared, but not defined", 2);
    let unused =
        "struct S { int a; __device__ int get(); };\n__device__ int S::get() { return a; }";
    assert_eq!(evaluate(unused, "S s; s.a = 3; out[0] = s.a;", 1), [3]);
}

#[test]
fn names_of_libraries_are_refused_as_such() {
    let refused = |prelude: &str, body: &str, what: &str, help: &str| {
        let prelude = format!("namespace cg = cooperative_groups; namespace N = cg; {prelude}");
        let error = refusal(&format!("{prelude}\n__global__ void k(int *out) {{ {body} }}"));
        let message = format!("{what}: outside the language of the laboratory");
        assert_eq!(
            (error.message, error.help.as_deref().unwrap_or_default().contains(help)),
            (message, true)
        );
    };
    let tile = "auto t = cg::tiled_partition<32>(cg::this_thread_block());";
    let on_tile = |call: &str| format!("{tile} out[0] = {call};");
    refused("", "cuda::barrier<cuda::thread_scope_block> *b;", "`cuda::barrier`", "");
    refused("namespace cu = cuda;", "cu::latch *l;", "`cu::latch`", "");
    refused("", &on_tile("cg::reduce(t, 1, cg::plus<int>())"), "`cg::reduce`", "shfl_xor");
    refused("", &on_tile("cg::inclusive_scan(t, 1)"), "`cg::inclusive_scan`", "shfl_up");
    refused("", "cg::plus<int> p;", "`cg::plus`", "");
    refused("namespace M = cooperative_groups;", "M::wait(1);", "`M::wait`", "");
    refused("", "typedef cub::BlockScan<int, 128> S; S::T t;", "`cub::BlockScan`", "");
    refused("using S = cub::BlockScan<int, 128>;", "__shared__ S::T t;", "`cub::BlockScan`", "");
    refused("", "__shared__ typename cub::BlockScan<int, 128>::T t;", "`cub::BlockScan`", "");
    refused("", "::thrust::plus<int> p;", "`thrust::plus`", "");
    let own = "namespace cub { __device__ int scan(int x) { return x; } } namespace thrust { struct T { int a; }; }";
    let body = "thrust::T t{3}; out[0] = cub::scan(4) + t.a; out[1] = cuda::std::numeric_limits<int>::max() == std::max(7, 2147483647);";
    assert_eq!(evaluate(own, body, 2), [7, 1]);
}

#[test]
fn functions_as_values_and_conversion_operators_are_named() {
    let functions = "__device__ int add(int a, int b) { return a + b; }
        template <class F> __device__ int apply(F f) { return f(1, 2); }";
    for body in ["out[0] = apply(add);", "auto f = add;", "auto f = &add;", "add = 3;"] {
        let error = refusal(&format!("{functions}\n__global__ void k(int *out) {{ {body} }}"));
        assert!(error.message.starts_with("the function `add` as a value: outside"), "{error}");
        assert_eq!(error.line, 3);
    }
    for operator in
        ["operator T *()", "explicit operator bool() const", "inline operator const T &()"]
    {
        let shared = format!(
            "template <class T> struct S {{ T a; __device__ {operator} {{ return 0; }} }};"
        );
        let error = refusal(&format!("{shared}\n__global__ void k(int *out) {{ S<int> s; }}"));
        assert!(error.message.starts_with("conversion operators: outside"), "{error}");
    }
}

#[test]
fn a_type_may_be_of_a_header_that_is_not_read() {
    for (prelude, parameter, body) in [
        ("", "Real *x", ""),
        ("", "int *x", "Real y = 3;"),
        ("", "int *x", "const Real y = 3;"),
        ("", "int *x", "float y = sizeof(3) + static_cast<Real>(3);"),
        ("__device__ Real f() { return 3; }", "int *x", "x[0] = f();"),
        ("struct P { Real a; };", "int *x", "P p;"),
    ] {
        let source =
            format!("#include \"real.h\"\n{prelude}\n__global__ void k({parameter}) {{ {body} }}");
        let error = refusal(&source);
        assert_eq!(error.message, "the type `Real` is not known", "{source}");
        assert!(error.help.is_some_and(|help| help.contains("real.h")), "{source}");
        let without = refusal(&source.replace("#include \"real.h\"", ""));
        assert_eq!((without.help, without.line), (None, error.line));
    }
    let skipped = refusal(
        "struct P { int a : 3; };\n__global__ void k(int *x) { const P p; __shared__ P q; }",
    );
    assert!(skipped.message.starts_with("bit fields"), "{skipped}");
}

#[test]
fn a_call_means_what_is_declared_above_it() {
    let prelude = "__device__ int f(int x) { return x; } __device__ int g() { return f(1.5f) * 10 + max(1, 2); }
        __device__ int f(float x) { return 5; } __device__ int max(int x, int y) { return 7; }";
    assert_eq!(evaluate(prelude, "out[0] = g(); out[1] = f(1.5f) * 10 + max(1, 2);", 2), [12, 57]);
}
