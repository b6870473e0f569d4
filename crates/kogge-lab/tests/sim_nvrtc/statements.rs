//! Declarations, statements and how they are written.

use super::{refused, source, taken, verdicts};
use kogge_lab::Program;

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
