//! Launches as hosts write them: by position in a host program, by name in a script.

mod support;

use kogge_lab::catalogue::HostProgram;
use kogge_lab::value::parse;
use kogge_lab::{Arg, Diagnostic, Options, Program, Report, Value, Values, run};
use support::{Case, ints};

/// Values as `--arg` writes them, `name=value`.
fn values(texts: &[&str]) -> Vec<(String, Value)> {
    let value = |text: &&str| {
        let (name, value) = text.split_once('=').unwrap_or_else(|| panic!("{text}"));
        let value = parse(value, &mut |_, _| Err(Diagnostic::general("no file")));
        (name.to_owned(), value.unwrap_or_else(|e| panic!("{text}: {e}")))
    };
    texts.iter().map(value).collect()
}

/// Runs a source as the text of a host says.
fn host(source: &str, text: &str, arguments: &[&str]) -> Result<Report, Diagnostic> {
    let program = Program::parse(source, "k.cu", &[])?;
    let host = HostProgram::parse(text, 1).unwrap_or_else(|e| panic!("{text}: {e}"));
    let script = host.script(source, &program, values(arguments), &[])?;
    run(&program, &script, &Options::default())
}

/// The first elements of `y` after the text of a host.
fn y_after(source: &str, text: &str, arguments: &[&str], n: usize) -> Vec<i32> {
    let report = host(source, text, arguments).unwrap_or_else(|e| panic!("{text}: {e}"));
    assert!(report.is_clean(), "{text}: {:#?}", report.findings);
    ints(&report.arrays["y"])[..n].to_vec()
}

/// Why a host's text is refused.
fn refusal(source: &str, text: &str, arguments: &[&str]) -> String {
    match host(source, text, arguments) {
        Err(error) => error.to_string(),
        Ok(report) => panic!("{text}: {:?}", report.arrays),
    }
}

const DEFAULTS: &str = "
    #define TWO 2
    __global__ void k(int *y, int *sums = nullptr, int n = 3 * TWO, float f = 1.5, const int *p = 0) {
        y[0] = sums == nullptr; y[1] = n; y[2] = (int)(2 * f); y[3] = p == nullptr;
    }";

#[test]
fn default_arguments_count_for_hosts() {
    let after = |text, arguments: &[&str]| y_after(DEFAULTS, text, arguments, 4);
    assert_eq!(after("k<<<1, 1>>>(y);", &["y=int[4]"]), [1, 6, 3, 1]);
    assert_eq!(after("k<<<1, 1>>>(y, y, 7);", &["y=int[4]"]), [0, 7, 3, 1]);
    // An array of the parameter's name is no argument of a host that does not give it.
    let both = "k<<<1, 1>>>(sums); k<<<1, 1>>>(y);";
    assert_eq!(after(both, &["y=int[4]", "sums=int[4]"]), [1, 6, 3, 1]);
    let refused = |text| refusal(DEFAULTS, text, &["y=int[4]"]);
    let few = refused("k<<<1, 1>>>();");
    assert!(few.contains("`k` takes 1 to 5 arguments, the host gives 0"), "{few}");
    let many = refused("k<<<1, 1>>>(y, y, 1, 1, y, 1);");
    assert!(many.contains("`k` takes 1 to 5 arguments, the host gives 6"), "{many}");
}

#[test]
fn default_arguments_count_for_scripts() {
    let case = || Case::new(DEFAULTS, "k", 1, 1).value("y", vec![0i32; 4]);
    assert_eq!(ints(&case().clean("y")), [1, 6, 3, 1]);
    assert_eq!(ints(&case().value("n", 8).clean("y")), [1, 8, 3, 1]);
    let own = case().value("n", 8).launch(|l| l.args.push(("n".into(), Arg::Default)));
    assert_eq!(ints(&own.clean("y")), [1, 6, 3, 1]);
    let error = |case: Case| {
        run(&case.program(), &case.script, &case.options).map(drop).unwrap_err().to_string()
    };
    let none = error(Case::new(DEFAULTS, "k", 1, 1));
    assert!(none.contains("parameter `y` of kernel `k` has no value"), "{none}");
    let none = error(case().launch(|l| l.args.push(("y".into(), Arg::Default))));
    assert!(none.contains("parameter `y` of kernel `k` has no value"), "{none}");
    let computed = "__device__ int v = 3; __global__ void k(int *y, int n = v) { y[0] = n; }";
    let computed = error(Case::new(computed, "k", 1, 1).value("y", vec![0i32; 4]));
    assert!(computed.contains("no constant: give it a value"), "{computed}");
}

#[test]
fn default_arguments_may_depend_on_the_template() {
    let source =
        "template <typename T, int N> __global__ void k(T *y, T first = N, int size = sizeof(T)) {
            y[0] = first; y[1] = size;
        }";
    let case = Case::new(source, "k<double, 5>", 1, 1).value("y", vec![0f64; 2]);
    assert_eq!(case.clean("y"), Values::F64(vec![5.0, 8.0]));
}

#[test]
fn pointers_may_be_null() {
    let source = "__global__ void k(int *y, int *sums, const float *p, int n) {
            y[0] = sums == nullptr; y[1] = p == nullptr; y[2] = n;
        }";
    for text in [
        "k<<<1, 1>>>(y, 0, 0, 0);",
        "k<<<1, 1>>>(y, nullptr, NULL, 0);",
        "k<<<1, 1>>>(y, s, none, s);",
        "f(y, p, n) { k<<<1, 1>>>(y, p, p, n); } f(y, nullptr, 0);",
    ] {
        let given = ["y=int[3]", "s=0", "none=nullptr"];
        assert_eq!(y_after(source, text, &given, 3), [1, 1, 0], "{text}");
    }
    let given = "k<<<1, 1>>>(y, y, NULL, 3);";
    assert_eq!(y_after(source, given, &["y=int[3]"], 3), [0, 1, 3]);
    let refused = |text: &str| refusal(source, text, &["y=int[3]", "real=0.5", "no=0.0"]);
    let number = "parameter `n` takes a number (int)";
    assert!(refused("k<<<1, 1>>>(y, y, NULL, nullptr);").contains(number));
    assert!(refused("f(y, n) { k<<<1, 1>>>(y, y, n, n); } f(y, NULL);").contains(number));
    for p in ["1", "real", "no", "N"] {
        let text = format!("k<<<1, 1>>>(y, y, {p}, 3);");
        assert!(refused(&text).contains("parameter `p` takes an array of float"), "{text}");
    }
}

#[test]
fn a_kernel_of_vectors_takes_their_components() {
    let source = "__global__ void k(uint4 *v, int *y) {
            y[threadIdx.x] = v[threadIdx.x].w; v[threadIdx.x].x = threadIdx.x;
        }";
    for v in ["v=uint4:iota(3)", "v=uint:iota(12)"] {
        let report = host(source, "k<<<1, 3>>>(v, y);", &[v, "y=int[3]"]).unwrap();
        assert_eq!(ints(&report.arrays["y"]), [3, 7, 11], "{v}");
        let after = Values::U32(vec![0, 1, 2, 3, 1, 5, 6, 7, 2, 9, 10, 11]);
        assert_eq!((report.is_clean(), &report.arrays["v"]), (true, &after), "{v}");
    }
}

const OVERLOADS: &str = "
    __global__ void add(int *y, const int *x) { y[0] = x[0]; }
    __global__ void add(int *y, const int *x, int *z) { y[0] = 10 + (z != nullptr); }
    __global__ void add(int *y, const int *x, float *z) { y[0] = 20; }
    __global__ void add(int *y, const int *x, int n) { y[0] = 30 + n; }
    template <typename T> __global__ void add(T *y, T a, T b, T c) { y[0] = 40 + a; }
    __global__ void add(int *y, long a, int b, int c, int d) { y[0] = a; }
    __global__ void add(int *y, int a, int b, int c, int d) { y[0] = a; }";

#[test]
fn hosts_pick_the_kernel_that_takes_their_arguments() {
    for (text, given, expected) in [
        ("add<<<1, 1>>>(y, x);", "x=int:5", 5),
        ("add<<<1, 1>>>(y, x, y);", "x=int:5", 11),
        ("add<<<1, 1>>>(y, x, z);", "x=int:5 z=float[1]", 20),
        ("add<<<1, 1>>>(y, x, 3);", "x=int:5", 33),
        ("add<<<1, 1>>>(y, x, n);", "x=int:5 n=4", 34),
        ("add<int><<<1, 1>>>(y, 2, 0, 0);", "", 42),
        ("int t[1]; add<<<1, 1>>>(y, x, t);", "x=int:5", 11),
    ] {
        let given: Vec<&str> = given.split_whitespace().chain(["y=int[1]"]).collect();
        assert_eq!(y_after(OVERLOADS, text, &given, 1), [expected], "{text}");
    }
    for (text, what) in [
        (
            "add<<<1, 1>>>(y);",
            "no kernel `add` takes 1 argument (help: the source has add(int *, const int *), add(int *",
        ),
        ("add<<<1, 1>>>(y, x, u);", "no kernel `add` takes arguments of these types (help: "),
        ("add<<<1, 1>>>(y, x, nullptr);", "may mean the kernel of line 3 or that of line 4"),
        ("add<<<1, 1>>>(y, 1, 2, 3, 4);", "may mean the kernel of line 7 or that of line 8"),
        ("add<int><<<1, 1>>>(y, x);", "no kernel `add<int>` takes 2 arguments"),
    ] {
        let error = refusal(OVERLOADS, text, &["y=int[1]", "x=int:5", "u=unsigned[1]"]);
        assert!(error.contains(what), "{text}: {error}");
    }
}

#[test]
fn scripts_name_one_of_several_kernels_by_its_types() {
    let case = |name| {
        let case = Case::new(OVERLOADS, name, 1, 1).value("y", vec![0i32]);
        case.value("x", vec![5i32])
    };
    let report = case("add(int*, int const*)").run_or_error();
    assert!(report.unwrap_err().contains("name one of add(int *, const int *), add(int *"));
    let report = case("add( int*,const int * )").run();
    assert_eq!(
        (ints(&report.arrays["y"]), report.launches[0].kernel.as_str()),
        (vec![5], "add(int *, const int *)")
    );
    assert_eq!(ints(&case("add(int *, const int *, int)").value("n", 2).run().arrays["y"]), [32]);
    let error = case("add").run_or_error().unwrap_err();
    assert!(error.contains("may mean the kernel of line 2 or that of line 3"), "{error}");
    // One kernel may be named with its types as well.
    let one = "template <int N> __global__ void k(int *y, int) { y[0] = N; }";
    let case = Case::new(one, "k<3>(int *, int)", 1, 1).value("y", vec![0i32]).value("arg1", 1);
    assert_eq!((ints(&case.clean("y")), case.run().launches[0].kernel.as_str()), (vec![3], "k"));
}

#[test]
fn arrays_tell_template_arguments() {
    let source = "
        template <typename T> struct Plus { __device__ T operator()(T a, T b) const { return a + b; } };
        template <typename T, int N = 4> __global__ void k(T *y) { y[0] = 10 * sizeof(T) + N; }
        template <int N, typename T = char> __global__ void l(int *y, const T *x, T more) {
            y[0] = 100 * sizeof(T) + 10 * (T(1.5) > T(1)) + N + more;
        }
        template <typename P, class Op = Plus<int>, unsigned M = 1u << 31> __global__ void p(P y) {
            y[0] = Op()(sizeof(P), 1) + (M >> 30);
        }
        template <typename T> __global__ void o(T *y, T n) { y[0] = n; }
        template <typename T> __global__ void o(T *y, T *x, T n) { y[0] = -n; }";
    for (text, x, expected) in [
        ("k<<<1, 1>>>(y);", "", 44),
        ("k<int><<<1, 1>>>(y);", "", 44),
        ("k<int, 5><<<1, 1>>>(y);", "", 45),
        ("short t[1] = 0; k<<<1, 1>>>(t); l<3><<<1, 1>>>(y, t, 2);", "", 205),
        ("l<3><<<1, 1>>>(y, x, 2);", "x=double[1]", 815),
        ("l<3><<<1, 1>>>(y, nullptr, 2);", "", 105),
        ("l<3, float><<<1, 1>>>(y, x, 2);", "x=float[1]", 415),
        ("p<<<1, 1>>>(y);", "", 11),
        ("o<<<1, 1>>>(y, 3);", "", 3),
        ("o<<<1, 1>>>(y, y, 3);", "", -3),
    ] {
        let given: Vec<&str> = x.split_whitespace().chain(["y=int[1]"]).collect();
        assert_eq!(y_after(source, text, &given, 1), [expected], "{text}");
    }
}

#[test]
fn template_arguments_that_nothing_tells_are_named() {
    let source = "template <typename T, int N> __global__ void k(T *y, T *x) {}
        template <typename T = int> __global__ void l(T *y, T n) {}
        template <typename T> __global__ void m(int *y, T n) {}";
    for (text, what) in [
        (
            "k<<<1, 1>>>(y, y);",
            "the launch of `k` gives no array that tells its template argument `N` (help: name T, N in the launch: k<T, N><<<)",
        ),
        ("k<<<1, 1>>>(nullptr, 0);", "no array that tells its template argument `T`"),
        (
            "k<<<1, 1>>>(y, x);",
            "the launch of `k` gives arrays of different types for its template argument `T`",
        ),
        ("m<<<1, 1>>>(y, 3);", "no array that tells its template argument `T`"),
        ("l<int, 3><<<1, 1>>>(y, 3);", "too many template arguments"),
        ("l<3><<<1, 1>>>(y, 3);", "`T` must be a type"),
    ] {
        let error = refusal(source, text, &["y=int[1]", "x=float[1]"]);
        assert!(error.contains(what), "{text}: {error}");
    }
}
