//! Specialisations of templates: which one is meant, and which are refused.

mod support;

use kogge_lab::{Diagnostic, Program, Value, Values};
use support::{Case, evaluate, ints};

/// Why a kernel of this body is refused; the prelude has the lines before its own.
fn refusal(prelude: &str, body: &str) -> Diagnostic {
    let source = format!("{prelude}\n__global__ void k(int *out) {{ {body} }}\n");
    Program::parse(&source, "s.cu", &[]).and_then(|p| p.check()).expect_err(body)
}

/// Refusals: the prelude, the body, the message, the line.
fn refused(cases: &[(&str, &str, &str, u32)]) {
    for (prelude, body, message, line) in cases {
        let error = refusal(prelude, body);
        assert_eq!((&*error.message, error.line), (*message, *line), "{prelude}\n{body}");
    }
}

#[test]
fn structs_are_specialised_for_types() {
    let prelude = r"
        template <typename T> struct Traits { static constexpr int value = 1; typedef int type;
            static __device__ T identity() { return 3; } };
        template <> struct Traits<float> { static constexpr int value = 2; typedef double type;
            static __device__ float identity() { return 1.5f; } };
        template <> struct Traits<unsigned int> { enum { value = 3 }; using type = char; };
        template <> struct Traits<const int *> { enum { value = 4 }; };
        struct P { int a; }; template <> struct Traits<P> { static constexpr int value = 5; };
        typedef float Real; using Word = unsigned; typedef const int *In;
        template <typename T> __device__ int value_of(T) { return Traits<T>::value; }
        template <typename T> __device__ typename Traits<T>::type half(T x) { return x / (typename Traits<T>::type)2; }";
    let body = r"
        out[0] = Traits<int>::value; out[1] = Traits<Real>::value; out[2] = Traits<Word>::value;
        out[3] = Traits<unsigned>::value; out[4] = Traits<In>::value; out[5] = Traits<int *>::value;
        out[6] = value_of(P{1}); out[7] = value_of(2u); out[8] = value_of(2.0); out[9] = value_of(1.0f);
        out[10] = sizeof(typename Traits<float>::type); out[11] = sizeof(Traits<Word>::type);
        out[12] = (int)(Traits<float>::identity() * 2); out[13] = Traits<int>::identity();
        out[14] = half(5); out[15] = (int)(half(5.0f) * 10);";
    let expected = [1, 2, 3, 3, 4, 1, 5, 3, 1, 2, 8, 1, 3, 3, 2, 25];
    assert_eq!(evaluate(prelude, body, 16), expected);
}

#[test]
fn structs_are_specialised_for_numbers() {
    let prelude = r"
        constexpr int N = 3; enum Mode { ADD, MAX = 7 };
        template <int A, int B = A + 1, class T = int> struct S { enum { v = 1 }; };
        template <> struct S<1> { enum { v = 2 }; };
        template <> struct S<2 * 2, 7> { enum { v = 3 }; };
        template <> struct S<N, -5, float> { enum { v = 4 }; };
        template <Mode M> struct Op { __device__ int operator()(int a, int b) const { return a + b; } };
        template <> struct Op<MAX> { __device__ int operator()(int a, int b) const { return a > b ? a : b; } };
        template <bool B> struct If { static constexpr int v = 5; };
        template <> struct If<true> { static constexpr int v = 6; };
        template <typename F> __device__ int apply(F f) { return f(3, 4); }";
    let body = r"
        out[0] = S<1>::v; out[1] = S<1, 2>::v; out[2] = S<1, 2, int>::v; out[3] = S<1, 3>::v;
        out[4] = S<4, 7>::v; out[5] = S<4>::v; out[6] = S<3, -5, float>::v; out[7] = S<N, 2 - 7, float>::v;
        Op<ADD> add; Op<MAX> max; out[8] = add(3, 4); out[9] = max(3, 4); out[10] = apply(max) + 10 * apply(Op<ADD>());
        out[11] = If<(N > 2)>::v; out[12] = If<sizeof(int) == 8>::v;";
    assert_eq!(evaluate(prelude, body, 13), [2, 2, 2, 1, 3, 1, 4, 4, 7, 4, 74, 6, 5]);
}

#[test]
fn the_most_special_struct_is_meant() {
    let prelude = r"
        template <typename T> struct Box { T x; };
        template <typename T, int N> struct S { enum { v = 1 }; };
        template <typename T> struct S<T, 32> { enum { v = 2 }; };
        template <int N> struct S<double, N> { enum { v = 100 + N }; };
        template <> struct S<double, 32> { enum { v = 4 }; };
        template <typename T> struct K { enum { v = 1 }; };
        template <typename T> struct K<T *> { enum { v = 2 }; };
        template <typename T> struct K<T **> { enum { v = 3 }; };
        template <typename T> struct K<const T *> { enum { v = 4 }; };
        template <typename T> struct K<const T> { enum { v = 5 }; };
        template <typename T, int N> struct K<T[N]> { enum { v = 10 + N }; };
        template <typename T> struct K<Box<T>> { enum { v = 7 }; };
        template <typename T> struct K<Box<T *>> { enum { v = 8 }; };
        template <> struct K<Box<int *>> { enum { v = 9 }; };
        template <typename T, typename U> struct P { enum { v = 1 }; };
        template <typename T> struct P<T, T> { enum { v = 2 }; };
        template <typename T, typename U> struct P<T *, U *> { enum { v = 3 }; };
        template <typename T> struct P<T *, T *> { enum { v = 4 }; };
        template <typename T, int N, bool B = (N > 3)> struct Q { enum { v = 1 }; };
        template <typename T, int N> struct Q<T, N, true>;
        template <typename T, int N> struct Q<T, N, true> { enum { v = 2 * N }; };
        using Pair = Box<float>;";
    let body = r"
        out[0] = S<int, 31>::v; out[1] = S<int, 32>::v; out[2] = S<double, 5>::v; out[3] = S<double, 32>::v;
        out[4] = K<int>::v; out[5] = K<int *>::v; out[6] = K<int **>::v; out[7] = K<const int *>::v;
        out[8] = K<const float>::v; out[9] = K<int *const>::v; out[10] = K<float[6]>::v; out[11] = K<Pair>::v;
        out[12] = K<Box<char *>>::v; out[13] = K<Box<int *>>::v; out[14] = K<int ***>::v; out[15] = K<int *const *>::v;
        out[16] = P<int, char>::v; out[17] = P<int, int>::v; out[18] = P<int *, char *>::v; out[19] = P<int *, int *>::v;
        out[20] = Q<int, 3>::v; out[21] = Q<int, 4>::v;";
    let expected = [1, 2, 105, 4, 1, 2, 3, 4, 5, 5, 16, 7, 8, 9, 3, 4, 1, 2, 3, 4, 1, 8];
    assert_eq!(evaluate(prelude, body, 22), expected);
}

#[test]
fn specialisations_recur_and_use_their_parameters() {
    let prelude = r"
        template <int N> struct F { enum { v = N * F<N - 1>::v }; }; template <> struct F<0> { enum { v = 1 }; };
        template <typename T> struct Depth { enum { v = 0 }; typedef T base; };
        template <typename T> struct Depth<T *> { enum { v = 1 + Depth<T>::v }; typedef typename Depth<T>::base base; };
        template <int N, typename T> struct Sum { static __device__ T of(const T *x) { return x[N - 1] + Sum<N - 1, T>::of(x); } };
        template <typename T> struct Sum<0, T> { static __device__ T of(const T *) { return 0; } };
        template <typename T, int N> struct View { T *data; __device__ T at(int i) const { return data[i]; } };
        template <typename T> struct View<T, 1> : View<T, 2> { T own; __device__ View(T x) : own(x) {} __device__ T at(int) const { return own; } };
        template <typename T> struct Less; template <typename T> struct Op; template <> struct Op<int>;
        template <> struct Less<int> { __device__ bool operator()(int a, int b) const { return a < b; } };
        template <> struct Op<int> { Op *next; int n; __device__ int twice() const { return 2 * n; } };";
    let body = r"
        out[0] = F<5>::v; out[1] = Depth<int ***>::v; out[2] = sizeof(Depth<short **>::base);
        int a[3] = {1, 2, 4}; out[3] = Sum<3, int>::of(a); View<int, 3> view{a}; View<int, 1> one(9);
        out[4] = view.at(2); out[5] = one.at(2); out[6] = Less<int>()(3, 4); Op<int> op{nullptr, 8}; out[7] = op.twice();";
    assert_eq!(evaluate(prelude, body, 8), [120, 3, 2, 7, 4, 9, 1, 16]);
}

#[test]
fn arguments_of_specialisations_may_need_the_template() {
    let prelude = "template <typename T> struct S { enum { v = 1 }; };
        template <> struct S<S<int>> { enum { v = 2 }; };
        template <typename T> struct S<S<T>> { enum { v = 3 }; };
        template <int N> struct I { enum { v = N }; };
        template <> struct I<I<1>::v + 1> { enum { v = 5 }; };
        template <> struct I<I<2>::v + 1> { enum { v = 7 }; };";
    let body = "out[0] = S<int>::v; out[1] = S<S<int>>::v; out[2] = S<S<char>>::v; out[3] = S<S<S<int>>>::v;
        out[4] = I<1>::v; out[5] = I<2>::v; out[6] = I<6>::v;";
    assert_eq!(evaluate(prelude, body, 7), [1, 2, 3, 3, 1, 5, 7]);
    let late = format!("{prelude} template <> struct I<1> {{}};");
    refused(&[(&late, "out[0] = I<1>::v;", "`I<1>` is used above its specialisation", 6)]);
}

#[test]
fn functions_are_specialised() {
    let prelude = r"
        struct P { int a; };
        template <typename T> __device__ T zero(); template <> __device__ int zero<int>() { return 7; }
        template <> __device__ float zero() { return 2.5f; }
        template <typename T> __device__ int f(T) { return 1; } template <typename T> __device__ int f(T *) { return 2; }
        template <> __device__ int f<float>(float) { return 3; } template <> __device__ int f(double) { return 4; }
        template <> __device__ int f<>(int *p) { return *p; } template <> __device__ int f<char *>(char *) { return 5; }
        __device__ int f(short) { return 6; }
        template <typename T, int N = 2> __device__ int g(const T &x, int k = N) { return x + k; }
        template <> __device__ int g<int>(const int &x, int k) { return 100 * x + k; }
        template <> __device__ int g<int, 3>(const int &x, int k) { return 1000 * x + k; }
        template <typename T> __device__ void put(T *to, const T &x); template <> __device__ void put<P>(P *to, const P &x);
        template <> __device__ void put<P>(P *to, const P &x) { to->a = x.a + 1; }
        template <int N> __device__ int sum(const int *x) { return x[N - 1] + sum<N - 1>(x); }
        template <> __device__ int sum<0>(const int *) { return 0; }
        template <typename T> __device__ int kind(T x) { return f(x); }
        template <typename T> __device__ P operator+(P p, T x) { p.a += x; return p; }
        template <> __device__ P operator+(P p, unsigned x) { p.a -= x; return p; }";
    let body = r"
        float x = 1; double d = 1; int i = 8; short s = 1; char c = 1; P p{1};
        out[0] = zero<int>(); out[1] = (int)(2 * zero<float>()); out[2] = f(x); out[3] = f(d); out[4] = f(i); out[5] = f(&i);
        out[6] = f(s); out[7] = f(&x); out[8] = f(&c); out[9] = f<char *>(&c); out[10] = kind(x) + 10 * kind(&i);
        out[11] = g(3); out[12] = g(3, 5); out[13] = g<int, 3>(3); out[14] = g<float>(3.0f); out[15] = g<int, 4>(3);
        put(&p, P{4}); out[16] = p.a; int a[3] = {1, 2, 4}; out[17] = sum<3>(a); out[18] = (p + 3).a; out[19] = (p + 3u).a;";
    let expected = [7, 5, 3, 4, 1, 8, 6, 2, 2, 5, 83, 302, 305, 3003, 5, 7, 5, 7, 8, 2];
    assert_eq!(evaluate(prelude, body, 20), expected);
}

#[test]
fn kernels_are_specialised() {
    let source = "template <typename T> __global__ void k(T *out, int n) { out[0] = n; }
        template <> __global__ void k<float>(float *y, int m) { y[0] = m + 0.5f; }
        template <> __global__ void k(double *y, int) { y[0] = 0.25; }
        template __global__ void k<int>(int *, int); extern template __global__ void k<char>(char *, int);";
    let run = |kernel: &str, out: Value| {
        let report = Case::new(source, kernel, 1, 1).value("out", out).value("n", 3).run();
        assert!(report.is_clean(), "{:#?}", report.findings);
        report.arrays["out"].clone()
    };
    assert_eq!(run("k<int>", vec![0i32].into()), Values::I32(vec![3]));
    assert_eq!(run("k<float>", vec![0f32].into()), Values::F32(vec![3.5]));
    assert_eq!(run("k<double>", vec![0f64].into()), Values::F64(vec![0.25]));
}

#[test]
fn explicit_instantiations_change_nothing() {
    let prelude = "template <typename T> struct S { T x; }; extern template struct S<int>; template struct S<int>;
        template <typename T> __device__ int f(T x) { return x; } template __device__ int f<int>(int);";
    assert_eq!(evaluate(prelude, "S<int> s{3}; out[0] = s.x + f(4);", 1), [7]);
}

const ANY: &str = "template <typename T> struct S { enum { v = 1 }; };\n";

#[test]
fn wrong_specialisations_of_structs_are_refused() {
    let any = |special: &str| format!("{ANY}{special}");
    let s = "out[0] = S<int>::v;";
    let none = "`S` is no template that is declared above: this specialises nothing";
    refused(&[
        ("\nstruct S {};\ntemplate <> struct S<int> { enum { v = 2 }; };", s, none, 3),
        ("template <> struct S<int> { enum { v = 2 }; };", s, none, 1),
        ("template <> struct S<int> {};\ntemplate <class T> struct S {};", s, none, 1),
        (&any("struct S<int> {};"), s, "a specialisation begins with `template <>`", 2),
        (&any("template <> struct S {};"), s, "a specialisation says what it is for: `S<…>`", 2),
        (&any("template <> struct S<int, 3> {};"), s, "too many template arguments", 2),
        (&any("template <> struct S<> {};"), s, "the template argument `T` is missing", 2),
        (&any("template <> struct S<3> {};"), s, "the template argument `T` must be a type", 2),
        (
            "template <int N> struct S {};\ntemplate <> struct S<int> {};",
            "S<3> s;",
            "the template argument `N` must be a value",
            2,
        ),
        (
            "template <int N> struct S {};\ntemplate <class T> struct S<T *> {};",
            "S<3> s;",
            "the template argument `N` must be a value",
            2,
        ),
        (
            &any("template <> struct S<int> {};\ntemplate <> struct S<signed> {};"),
            s,
            "`S<int>` is specialised already, in line 2",
            3,
        ),
        (
            &any("template <class U> struct S<U> {};"),
            s,
            "this specialisation is for all that its template is for",
            2,
        ),
        (
            &any("template <class T, int N> struct S<T *> {};"),
            s,
            "the arguments of this specialisation don't tell `N`",
            2,
        ),
        (
            &any("template <class T = int> struct S<T *> {};"),
            s,
            "the parameter `T` of a specialisation has no default",
            2,
        ),
        (
            &any("template <> struct S<int>;"),
            "S<int> s;",
            "`S<int>` is declared, but not defined",
            3,
        ),
        ("template <class T> struct S;", "S<int> s;", "`S<int>` is declared, but not defined", 2),
    ]);
}

#[test]
fn ambiguous_and_late_specialisations_are_refused() {
    let pairs = "template <class T, class U> struct P { enum { v = 1 }; };
        template <class T, class U> struct P<T *, U> { enum { v = 2 }; };
        template <class T, class U> struct P<T, U *> { enum { v = 3 }; };
        template <int N, bool B> struct Q { enum { v = 1 }; };
        template <int N> struct Q<N, true> { enum { v = 2 }; };
        template <bool B> struct Q<4, B> { enum { v = 3 }; };";
    let use_above = format!(
        "{ANY}__device__ int g() {{ return S<int>::v; }}
        template <> struct S<int> {{ enum {{ v = 2 }}; }};"
    );
    let pointer_above = format!(
        "{ANY}__device__ int g() {{ return S<int *>::v; }}
        template <class T> struct S<T *> {{ enum {{ v = 2 }}; }};"
    );
    let call_above = "template <class T> __device__ int f(T) { return 1; }
        __device__ int g() { return f(3); }
        template <> __device__ int f(int) { return 2; }";
    refused(&[
        (
            pairs,
            "out[0] = P<int *, int *>::v;",
            "`P<int *, int *>` is ambiguous: the specialisations of lines 2 and 3 are for it, and \
             neither is more special",
            7,
        ),
        (
            pairs,
            "out[0] = Q<4, true>::v;",
            "`Q<4, 1>` is ambiguous: the specialisations of lines 5 and 6 are for it, and neither is \
             more special",
            7,
        ),
        (
            "template <class T> struct S {}; template <class T> struct S<T *>;
            template <class T> struct S<T *> {};
            template <class U> struct S<U *> {};",
            "S<int *> s;",
            "`S<int *>` is ambiguous: the specialisations of lines 2 and 3 are for it, and neither is \
             more special",
            4,
        ),
        (
            &use_above,
            "out[0] = g();",
            "`S<int>` is used above its specialisation in line 3: declare that first",
            2,
        ),
        (
            &use_above,
            "out[1] = S<int>::v; out[0] = g();",
            "`S<int>` is used above its specialisation in line 3: declare that first",
            2,
        ),
        (
            &pointer_above,
            "out[0] = g();",
            "`S<int *>` is used above its specialisation in line 3: declare that first",
            2,
        ),
        (
            call_above,
            "out[0] = g();",
            "`f<int>` is used above its specialisation in line 3: declare that first",
            2,
        ),
    ]);
    assert_eq!(evaluate(pairs, "out[0] = P<int *, int>::v; out[1] = Q<4, false>::v;", 2), [2, 3]);
    // A template is instantiated where it is used.
    let template = "template <class T> __device__ int f(T) { return 1; }
        template <class T> __device__ int g(T x) { return f(x); }
        template <> __device__ int f(int) { return 2; }";
    assert_eq!(evaluate(template, "out[0] = g(3);", 1), [2]);
}

#[test]
fn wrong_specialisations_of_functions_are_refused() {
    let f = "template <class T> __device__ int f(T) { return 1; }\n";
    let any = |special: &str| format!("{f}{special}");
    let none = "`f` is no template that is declared above: this specialises nothing";
    let other = "no template `f` that is declared above has a specialisation of these types";
    let call = "out[0] = f(3);";
    refused(&[
        ("template <> __device__ int f(int) { return 2; }", call, none, 1),
        (
            "__device__ int f(int) { return 1; }\ntemplate <> __device__ int f(int) { return 2; }",
            call,
            none,
            2,
        ),
        (&format!("template <> __device__ int f(int) {{ return 2; }}\n{f}"), call, none, 1),
        (&any("template <> __device__ int f<float>(int) { return 2; }"), call, other, 2),
        (&any("template <> __device__ float f(int) { return 2; }"), call, other, 2),
        (&any("template <> __device__ int f<int>(int &) { return 2; }"), call, other, 2),
        (&any("template <> __device__ int f(int, int) { return 2; }"), call, other, 2),
        (
            &any("template <> __device__ int f<3>(int) { return 2; }"),
            call,
            "the template argument `T` must be a type",
            2,
        ),
        (
            &any("template <> __device__ int f<int, int>(int) { return 2; }"),
            call,
            "too many template arguments",
            2,
        ),
        (
            &any(
                "template <> __device__ int f(int) { return 2; }\ntemplate <> __device__ int f<int>(int) { return 3; }",
            ),
            call,
            "`f<int>` is specialised already, in line 2",
            3,
        ),
        (
            &any("template <class T> __device__ int f<T *>(T *) { return 2; }"),
            call,
            "a function's template is specialised for all its parameters, or not",
            2,
        ),
        (
            &any("__device__ int f<int>(int) { return 2; }"),
            call,
            "a specialisation begins with `template <>`",
            2,
        ),
        (
            &any("template <> __device__ int f(int x = 3) { return 2; }"),
            call,
            "a specialisation has the default arguments of its template",
            2,
        ),
        (
            &any("template <> __device__ int f(int);"),
            call,
            "`f<int>` is declared, but not defined",
            3,
        ),
        (
            "template <class T> __device__ T g(); template <> __device__ int g() { return 2; }",
            "out[0] = (int)g<float>();",
            "`g<float>` is declared, but not defined",
            2,
        ),
    ]);
}

#[test]
fn what_cannot_be_told_is_refused() {
    let outside = ": outside the language of the laboratory";
    let loose = format!(
        "references and enumerations as arguments of `S`, which has specialisations{outside}"
    );
    let special = format!(
        "{ANY}template <> struct S<int> {{ enum {{ v = 2 }}; }}; enum E {{ A }};
        template <class T> __device__ int by(T &x) {{ return S<T>::v; }}
        template <class T> __device__ int any(T &&x) {{ return S<T>::v; }}
        template <class T> __device__ int same(const T &x) {{ return S<T>::v; }}"
    );
    for body in [
        "out[0] = S<int &>::v;",
        "typedef int &R; out[0] = S<R>::v;",
        "out[0] = S<E>::v;",
        "enum L { B }; out[0] = S<L *>::v;",
        "out[0] = S<decltype(out[0])>::v;",
    ] {
        assert_eq!(refusal(&special, body).message, loose, "{body}");
    }
    for body in ["const int x = 3; out[0] = by(x);", "int x = 3; out[0] = any(x);"] {
        assert_eq!(refusal(&special, body).message, loose, "{body}");
    }
    let body = "int x = 3; const int y = 4; out[0] = by(x); out[1] = any(3); out[2] = same(y); out[3] = S<decltype(3)>::v;";
    assert_eq!(evaluate(&special, body, 4), [2, 2, 2, 2]);
    refused(&[
        (
            &format!("{ANY}template <class T> struct S<T &> {{}};"),
            "out[0] = S<int>::v;",
            &format!("specialisations for references{outside}"),
            2,
        ),
        (
            "template <class T> __device__ int f(T) { return 1; }\ntemplate <> __device__ int f(const int &) { return 2; }",
            "out[0] = f(3);",
            &format!("specialisations for references{outside}"),
            2,
        ),
        (
            &format!("{ANY}template <> struct S<int> {{ int a : 3; }};"),
            "out[0] = S<float>::v;",
            &format!("bit fields{outside}"),
            2,
        ),
        (
            "template <class T> struct S { static constexpr int v = 1; };\ntemplate <> constexpr int S<float>::v = 2;",
            "out[0] = S<float>::v;",
            &format!("specialisations of members{outside}"),
            2,
        ),
        (
            "template <class T> struct S { __device__ int get() { return 1; } };\ntemplate <> __device__ int S<float>::get() { return 2; }",
            "S<int> s; out[0] = s.get();",
            &format!("methods defined outside their struct{outside}"),
            2,
        ),
        (
            "struct S { template <class T> __device__ int f(T) { return 1; }\ntemplate <> __device__ int f(int) { return 2; } };",
            "S s; out[0] = s.f(3);",
            &format!("specialisations of members{outside}"),
            2,
        ),
        (
            "template <class T> constexpr int width = 1;\ntemplate <> constexpr int width<float> = 2;",
            "out[0] = width<float>;",
            &format!("specialisations of variables{outside}"),
            2,
        ),
        (
            "template <class T> struct S { enum { v = 1 }; };\ntemplate <class T, class... U> struct S<T (*)(U...)> {};",
            "out[0] = S<int>::v;",
            &format!("template template parameters and parameter packs{outside}"),
            2,
        ),
    ]);
    // What no kernel uses is read past.
    let unused = format!("{ANY}template <> struct S<std::string> {{ std::string x; }};");
    assert_eq!(evaluate(&unused, "out[0] = 5;", 1), [5]);
}

#[test]
fn recursion_without_an_end_is_too_deep() {
    let deep = "this is nested too deeply";
    let factorial = "template <int N> struct F { enum { v = N * F<N - 1>::v }; };";
    let special = format!("{factorial} template <> struct F<100> {{ enum {{ v = 1 }}; }};");
    let pointers = "template <class T> struct D { enum { v = 0 }; };
        template <class T> struct D<T *> { enum { v = D<T **>::v }; };";
    for (prelude, body) in [
        (factorial, "out[0] = F<5>::v;"),
        (&special, "out[0] = F<5>::v;"),
        (pointers, "out[0] = D<int *>::v;"),
    ] {
        assert_eq!(refusal(prelude, body).message, deep, "{prelude}");
    }
}

#[test]
fn a_specialised_operator_is_counted() {
    let source = "template <class T> __device__ T combine(T a, T b) { return a; }
        template <> __device__ int combine(int a, int b) { return a + b; }
        __global__ void k(int *out) { out[0] = combine(out[0], combine(out[1], 3)); }";
    let report = Case::new(source, "k", 1, 1).value("out", vec![1i32, 2]).run();
    assert_eq!((ints(&report.arrays["out"]), report.work()), (vec![6, 2], 2));
}
