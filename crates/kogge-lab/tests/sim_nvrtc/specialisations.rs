//! Templates that are specialised.

use super::verdicts;

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
