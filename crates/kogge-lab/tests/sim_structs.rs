//! Structs within structs and unions: their layout, their names, their values.

mod support;

use kogge_lab::Program;
use support::evaluate;

#[test]
fn a_union_may_be_seen_as_a_word_and_as_a_struct() {
    let prelude = r"
        union D { unsigned long long raw; struct { int value; int status; }; };
        template <class T> struct Tile {
            union { unsigned long long raw; struct { T value; int status; }; };
            __device__ T get() { return value; }
        };
        struct B : Tile<int> { int last; };
        __device__ D make(int v) { D d; d.value = v; d.status = 1; return d; }";
    let body = r"
        D d; d.value = 3; d.status = 4; out[0] = d.raw == 0x400000003ull;
        D e; e.raw = 0x700000006ull; out[1] = e.value * 10 + e.status; D *p = &d; p->status = 8; out[2] = d.status;
        Tile<int> t; t.raw = 5; out[3] = t.get(); Tile<float> f; f.value = 1.0f; f.status = 0; out[4] = f.raw == 0x3f800000;
        B b; b.value = 7; b.status = 1; b.last = 2; out[5] = b.get() * 10 + b.last;
        D g = {7}; out[6] = g.value; out[7] = make(5).value * 10 + make(3).status; out[8] = sizeof(D) * 10 + sizeof(B);";
    assert_eq!(evaluate(prelude, body, 9), [1, 67, 8, 5, 1, 72, 7, 51, 96]);
}

#[test]
fn structs_lie_within_structs_with_and_without_a_name() {
    let prelude = r"
        struct S { struct { int a, b; } pair; int c; struct P { int a; S *s; P *q; }; P p; enum { X, Y = 5 }; enum { Z }; };
        struct U {
            private: union { int a; float b; }; struct { int c; } d[2];
            public: __device__ U(int x) : a(x) { d[0].c = x; d[1].c = x + 1; }
            __device__ int sum() const { return a + d[0].c + d[1].c; }
        };
        struct A { enum class K { X, Y = 3 }; K k; struct In { static constexpr int n = 4; int v[n]; }; In in; using T = In; };
        struct N { static constexpr int n = 3; typedef int A[n]; A a; };
        #define TWO struct { int a; }; struct { int b; };
        struct M { TWO };";
    let body = r"
        S s = {{1, 2}, 3, {4}}; out[0] = s.pair.a * 1000 + s.pair.b * 100 + s.c * 10 + s.p.a;
        S::P q; q.a = 9; s.p = q; out[1] = s.p.a; out[2] = S::Z * 10 + S::Y; out[3] = sizeof(S); out[4] = sizeof(N);
        s.p.s = &s; s.p.q = &s.p; out[5] = s.p.s->c * 10 + s.p.q->a;
        U u(4); out[6] = u.sum(); M m; m.a = 1; m.b = 2; out[7] = m.a * 10 + m.b;
        A a; a.k = A::K::Y; A::T t = {{1, 2, 3, 5}}; a.in = t; out[8] = (int)a.k * 100 + a.in.v[3] * 10 + A::In::n;";
    assert_eq!(evaluate(prelude, body, 9), [1234, 9, 5, 40, 12, 39, 13, 12, 354]);
}

#[test]
fn a_function_may_declare_a_struct_and_its_variables_at_once() {
    let prelude = r"
        template <typename T> __device__ T f(T x) {
            constexpr int N = 3; struct P { T a; int b[N]; P *self; };
            P p; p.a = x; p.b[2] = 4; p.self = &p; return p.self->a + p.b[2];
        }";
    let body = r"
        union { float f; int i; } u; u.f = 1.0f; out[0] = u.i == 0x3f800000;
        struct { int a, b; } p, *q = &p; q->a = 3; p.b = 4; out[1] = p.a + q->b; out[2] = f(3); out[3] = f(2.5f) * 2;
        { struct A { int x; } a = {3}, b{4}; out[4] = a.x + b.x; } struct A { float x; } a; a.x = 2.5f; out[5] = a.x * 2;";
    assert_eq!(evaluate(prelude, body, 6), [1, 7, 7, 13, 7, 5]);
}

#[test]
fn unions_are_as_large_as_their_largest_member_and_take_one_value() {
    let prelude = "union C { char c; }; union D { char c[3]; short s; }; union E { char c[4]; int i; };
        union Bits { float f; unsigned u; }; __device__ Bits make(float f) { Bits b; b.f = f; return b; }";
    let body = "out[0] = sizeof(C); out[1] = sizeof(D); out[2] = sizeof(E); Bits b = {1.0f};
        out[3] = b.u == 0x3f800000; out[4] = make(1.0f).u == 0x3f800000; E e; e.i = 5; E f = e; out[5] = f.i;";
    assert_eq!(evaluate(prelude, body, 6), [1, 4, 4, 1, 1, 5]);
}

#[test]
fn members_without_a_value_are_constructed() {
    let prelude = r"
        struct A { int a = 5; }; struct B { A x; struct { int y = 6; } z; };
        struct V { int a; __device__ V() : a(7) {} }; struct W { V v; int b = 2; __device__ W() {} };
        struct R { int h; __device__ R(int x) : h(x) {} }; struct Q { R r; __device__ Q() : r(4) {} };";
    let body = r"
        B b; out[0] = b.x.a * 10 + b.z.y; B c{}; out[1] = c.x.a + c.z.y; W w; out[2] = w.v.a * 10 + w.b;
        Q q; out[3] = q.r.h;";
    assert_eq!(evaluate(prelude, body, 4), [56, 11, 72, 4]);
}

#[test]
fn bases_are_constructed_before_what_is_derived_from_them() {
    let prelude = r"
        struct A { int a; __device__ A() : a(4) {} __device__ A(int x) : a(x) {} }; struct Z { int z = 3; };
        struct B : A, Z { int b; __device__ B() : b(a + 1) {} }; struct C : A { int c; }; struct D : B { int d = 6; };
        struct E : Z, A { int e; __device__ E(int x) : A(x + 1), e(x) {} };";
    let body = r"
        B b; out[0] = b.a * 100 + b.b * 10 + b.z; C c; out[1] = c.a; D d; out[2] = d.a * 1000 + d.b * 100 + d.z * 10 + d.d;
        E e(7); out[3] = e.a * 100 + e.e * 10 + e.z; A *p = &e; out[4] = p->a; C f{}; out[5] = f.a * 10 + f.c;";
    assert_eq!(evaluate(prelude, body, 6), [453, 4, 4536, 873, 8, 40]);
}

#[test]
fn a_struct_may_say_how_it_is_assigned() {
    let prelude = r"
        struct S { int a; __device__ S &operator=(const S &o) { a = o.a + 1; return *this; }
            __device__ void operator=(int x) { a = 10 * x; } };
        struct T { int a; __device__ void operator=(int x) { a = x + 2; } };";
    let body = r"
        S s{1}, t{5}; s = t; out[0] = s.a; s = 3; out[1] = s.a; S u = t; out[2] = u.a; (u = s).a += 100; out[3] = u.a;
        T v{1}, w{7}; v = w; out[4] = v.a; v = 4; out[5] = v.a; __shared__ S m[2]; m[0] = t; out[6] = m[0].a;";
    assert_eq!(evaluate(prelude, body, 7), [6, 30, 5, 131, 7, 6, 6]);
}

#[test]
fn what_structs_cannot_have_is_refused() {
    let refused = |prelude: &str, body: &str, what: &str| {
        let source = format!("{prelude}\n__global__ void k(int *out) {{ {body} }}\n");
        let error = Program::parse(&source, "s.cu", &[]).and_then(|p| p.check()).unwrap_err();
        assert!(error.message.contains(what), "{error}");
    };
    refused("struct S { S s; };", "S s;", "`S` contains itself");
    refused("struct S { struct T { S s; } t; };", "S s;", "`S::T` contains itself");
    refused("struct S : S { };", "S s;", "`S` contains itself");
    refused("struct S { typedef float T; };", "T x = 1.5f;", "the type `T` is not known");
    refused("struct S { template <class T> struct P { T a; }; };", "S s;", "templates of structs");
    refused("", "__shared__ union { int i; } u;", "defined behind other words");
}
