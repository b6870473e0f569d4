//! Where members of structs lie.

use super::verdicts;

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
