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
