//! The language: each construct run, its result compared with C's.

mod support;

use kogge_lab::{Number, Program, ScalarType, Values};
use support::{Case, evaluate, input, ints};

#[test]
fn integers_follow_c() {
    let body = r"
        unsigned u = 0; u--; out[0] = u > 0x7fffffffu;
        int m = 2147483647; m += 1; out[1] = m;
        out[2] = -7 / 2; out[3] = -7 % 2;
        out[4] = (unsigned char)300; out[5] = (signed char)200;
        out[6] = -1 < 1u;
        out[7] = (-16) >> 2; out[8] = (int)(0xfffffff0u >> 2);
        long long w = 1LL << 40; out[9] = (int)(w >> 38);
        out[10] = 5 & 3 | 8 ^ 1; out[11] = ~5; out[12] = !5; out[13] = 1 ? 2 : 3;
        short s = -5; s *= 3; out[14] = s;
        out[15] = sizeof(int) + sizeof(double) + sizeof(unsigned long long);
    ";
    assert_eq!(
        evaluate("", body, 16),
        [1, i32::MIN, -3, -1, 44, -56, 0, -4, 0x3fff_fffc, 4, 9, -6, 0, 2, -15, 20]
    );
}

#[test]
fn floats_round_as_their_type() {
    let source = r"
        __global__ void k(float *f, double *d) {
            f[0] = 0.1f + 0.2f; f[1] = 1.0f / 3; f[2] = -0.0f; f[3] = fmaxf(1.5f, -2.f);
            f[4] = (int)2.9f; f[5] = sqrtf(2.0f); f[6] = 1e30f * 1e30f; f[7] = -f[2];
            d[0] = 0.1 + 0.2; d[1] = 0.1f; d[2] = fma(2.0, 3.0, 1.0); d[3] = 7 / 2 + 7 / 2.0;
        }";
    let report =
        Case::new(source, "k", 1, 1).value("f", vec![9f32; 8]).value("d", vec![9f64; 4]).run();
    let f = [0.1f32 + 0.2, 1.0 / 3.0, -0.0, 1.5, 2.0, 2f32.sqrt(), f32::INFINITY, 0.0];
    let Values::F32(found) = &report.arrays["f"] else { panic!() };
    for (a, b) in found.iter().zip(f) {
        assert_eq!(a.to_bits(), b.to_bits(), "{a} {b}");
    }
    let d = Values::F64(vec![0.1 + 0.2, f64::from(0.1f32), 7.0, 6.5]);
    assert_eq!(report.arrays["d"], d);
}

#[test]
fn statements_flow_as_in_c() {
    let body = r"
        int n = 0;
        for (int i = 0; i < 10; i++) { if (i == 3) continue; if (i == 7) break; n += i; }
        out[0] = n;
        int i = 5; do { i--; } while (i > 2); out[1] = i;
        while (true) { if (++i > 20) break; } out[2] = i;
        switch (i) { case 1: out[3] = 1; break; case 21: out[3] = 21; case 5: out[3]++; break; default: out[3] = -1; }
        switch (99) { case 1: out[4] = 1; break; default: out[4] = 7; }
        int a = 1, b = 2; out[5] = (a++, b += a, b * 10 + a);
        out[6] = a++ + ++b; out[7] = a * 100 + b;
        int z = 0; (z == 1) && (out[0] = 99); z == 0 || (out[0] = 98);
        for (int j = 0; j < 3; j++) for (int k = 0; k < 3; k++) { if (k == 1) continue; out[8] += j * 3 + k; }
    ";
    assert_eq!(evaluate("", body, 9), [1 + 2 + 4 + 5 + 6, 2, 21, 22, 7, 42, 7, 305, 24]);
}

#[test]
fn pointers_and_local_arrays() {
    let body = r"
        int a[4] = {1, 2, 3}; int *p = a + 1, *q = &a[3];
        out[0] = *p; out[1] = p[1]; out[2] = *(q - 3); out[3] = (int)(q - p); *q = 9; out[4] = a[3];
        int *t = p; p = q; q = t; out[5] = *p * 10 + *q;
        int m[2][3] = {{1, 2, 3}, {4, 5, 6}}; out[6] = m[1][2] * 10 + m[0][1];
        int v = 5; int *pv = &v; *pv += 2; out[7] = v;
        char *bytes = (char *)a; out[8] = bytes[4];
        out[9] = p > q; out[10] = p == a + 3; *out++ += 1; out[10] = 77;
    ";
    assert_eq!(evaluate("", body, 12), [3, 3, 1, 2, 9, 92, 62, 7, 2, 1, 1, 77]);
}

#[test]
fn structs_methods_and_operators() {
    let prelude = r"
        struct __align__(8) Pair { float a, b; };
        __host__ __device__ Pair operator+(const Pair &x, const Pair &y) { Pair r; r.a = x.a * y.a; r.b = x.b * y.a + y.b; return r; }
        template <typename T> struct Max { __device__ __forceinline__ T operator()(T a, T b) const { return a > b ? a : b; } };
        struct Counter { int n; int data[3]; __device__ Counter(int start) : n(start) { data[0] = 1; data[1] = 2; data[2] = 3; }
            __device__ int next() { int old = n++; return old + data[n % 3]; } static __device__ int twice(int x) { return 2 * x; } };
        enum Mode { OFF, ON = 5, AUTO };
        union Bits { float f; unsigned u; };
    ";
    let body = r"
        Pair p = {2.0f, 3.0f}, q = {4.0f, 5.0f}; Pair r = p + q; out[0] = (int)r.a; out[1] = (int)r.b;
        Max<int> op; out[2] = op(3, 9);
        Counter c(4); out[3] = c.next(); out[4] = c.next(); out[5] = Counter::twice(21);
        out[6] = ON + AUTO; float4 v = make_float4(1, 2, 3, 4); v.y += v.w; out[7] = (int)v.y;
        Bits bits; bits.f = 1.0f; out[8] = bits.u == 0x3f800000u; p = q; p.a = 7; out[9] = (int)(p.a + q.a);
        out[10] = sizeof(Pair) + sizeof(float4);
    ";
    assert_eq!(evaluate(prelude, body, 11), [8, 17, 9, 7, 6, 42, 11, 6, 1, 11, 24]);
}

#[test]
fn templates_are_instantiated() {
    let source = r"
        template <typename T, int N = 3> __device__ T power(T x) { T r = 1; for (int i = 0; i < N; ++i) r *= x; return r; }
        template <int N> __device__ int sum_below() { if constexpr (N == 0) return 0; else return N + sum_below<N - 1>(); }
        template <typename T> __device__ void swap(T &a, T &b) { T t = a; a = b; b = t; }
        template <typename T, unsigned BLOCK> __global__ void k(T *out) {
            __shared__ T s[BLOCK]; s[threadIdx.x] = threadIdx.x; __syncthreads();
            T a = 1, b = 2; swap(a, b);
            if (threadIdx.x == 0) { out[0] = power<T, 4>(3); out[1] = power(2); out[2] = sum_below<5>(); out[3] = a * 10 + b; out[4] = s[BLOCK - 1]; }
        }";
    let report = Case::new(source, "k<int, 8>", 1, 8).value("out", vec![0i32; 5]).run();
    assert!(report.is_clean(), "{:#?}", report.findings);
    assert_eq!(ints(&report.arrays["out"]), [81, 8, 15, 21, 7]);
    let report = Case::new(source, "k<double, 8>", 1, 8).value("out", vec![0f64; 5]).run();
    assert_eq!(report.arrays["out"], Values::F64(vec![81.0, 8.0, 15.0, 21.0, 7.0]));
}

#[test]
fn the_preprocessor_expands() {
    let prelude = r#"
        #include <cuda_runtime.h>
        #define TWICE(x) ((x) + (x))
        #define CAT(a, b) a##b
        #define LOG(...) printf(__VA_ARGS__)
        #define SELF SELF_ + 1
        #define SELF_ 4
        #if defined(TWICE) && !defined(NOPE) && (3 * 2 >= 6)
        #define GOOD 1
        #else
        #error not reached
        #endif
        #ifdef NOPE
        garbage ( that is never read
        #elif 1
        #define ELSE 2
        #endif
        #define LONG_ONE 1 + \
                         2
    "#;
    let body = r#"
        int xy = 3; out[0] = TWICE(TWICE(2)); out[1] = CAT(x, y); out[2] = SELF; out[3] = GOOD + ELSE; out[4] = LONG_ONE;
        LOG("%d\n", xy);
        #pragma unroll
        for (int i = 0; i < 2; i++) out[5] += i;
    "#;
    assert_eq!(evaluate(prelude, body, 6), [8, 3, 5, 3, 3, 1]);
}

#[test]
fn defines_replace_type_and_operator() {
    let source = r"
        #ifndef T
        #define T float
        #endif
        #ifndef COMBINE
        #define COMBINE(a, b) ((a) + (b))
        #endif
        __device__ T combine(T a, T b) { return COMBINE(a, b); }
        __global__ void k(T *x) { x[0] = combine(x[0], x[1]); }";
    let defines = [("T".into(), "int".into()), ("COMBINE(a,b)".into(), "((a) * (b))".into())];
    let program = Program::parse(source, "k.cu", &defines).unwrap();
    let script = kogge_lab::Script::new()
        .value("x", vec![6i32, 7])
        .launch(kogge_lab::Launch::new("k", 1, 1));
    let report = kogge_lab::run(&program, &script, &Default::default()).unwrap();
    assert_eq!(ints(&report.arrays["x"]), [42, 7]);
    assert_eq!(report.work(), 1);
}

#[test]
fn ids_in_three_dimensions() {
    let source = r"
        __global__ void k(int *out) {
            int block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
            int thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
            out[block * blockDim.x * blockDim.y * blockDim.z + thread] = threadIdx.z * 100 + threadIdx.y * 10 + threadIdx.x + blockIdx.z * 1000;
        }";
    let case = Case::new(source, "k", 1, 1).value("out", vec![-1i32; 48]).launch(|l| {
        l.grid = [1, 1, 2];
        l.block = [4, 3, 2];
    });
    let expected: Vec<i32> =
        (0..48).map(|i| i / 24 * 1000 + i % 24 / 12 * 100 + i % 12 / 4 * 10 + i % 4).collect();
    assert_eq!(ints(&case.clean("out")), expected);
}

#[test]
fn device_variables_keep_their_values() {
    let source = r"
        __device__ int counter = 3; __constant__ int table[] = {10, 20, 30}; __device__ unsigned int blocks;
        static const int SCALE = 2;
        __global__ void k(int *out) { if (threadIdx.x == 0) { out[blockIdx.x] = table[blockIdx.x] * SCALE; atomicAdd(&counter, 1); atomicAdd(&blocks, 1u); } }";
    let report = Case::new(source, "k", 3, 32)
        .value("out", vec![0i32; 3])
        .value("blocks", Number::Int(40))
        .run();
    assert!(report.is_clean());
    assert_eq!(ints(&report.arrays["out"]), [20, 40, 60]);
    assert_eq!(ints(&report.arrays["counter"]), [6]);
    assert_eq!(report.arrays["blocks"], Values::U32(vec![43]));
}

#[test]
fn warp_functions() {
    let source = r"
        __global__ void k(int *out) {
            int lane = threadIdx.x;
            int up = __shfl_up_sync(0xffffffff, lane, 3);
            int down = __shfl_down_sync(0xffffffff, lane, 3, 8);
            int x = __shfl_xor_sync(0xffffffff, lane, 5);
            int first = __shfl_sync(0xffffffff, lane * 2, 7);
            unsigned odd = __ballot_sync(0xffffffff, lane & 1);
            out[lane] = up; out[32 + lane] = down; out[64 + lane] = x; out[96 + lane] = first;
            out[128 + lane] = (odd == 0xaaaaaaaau) + 2 * __any_sync(0xffffffff, lane == 31) + 4 * __all_sync(0xffffffff, lane < 31) + __popc(odd) * 8;
        }";
    let case = Case::new(source, "k", 1, 32).value("out", vec![0i32; 160]);
    let found = ints(&case.clean("out"));
    for lane in 0..32i32 {
        let i = lane as usize;
        assert_eq!(found[i], if lane < 3 { lane } else { lane - 3 });
        assert_eq!(found[32 + i], if lane % 8 < 5 { lane + 3 } else { lane });
        assert_eq!(found[64 + i], lane ^ 5);
        assert_eq!(found[96 + i], 14);
        assert_eq!(found[128 + i], 1 + 2 + 16 * 8);
    }
}

#[test]
fn unused_code_is_read_past() {
    let source = r#"
        #include <iostream>
        #include <vector>
        using namespace std;
        #define CHECK(call) do { cudaError_t e = call; if (e != cudaSuccess) exit(1); } while (0)
        static void helper(std::vector<float> &v) { for (auto &x : v) x = []() { return 1.0f; }(); }
        class Timer { public: Timer() { start = 0; } ~Timer() {} double elapsed() const; private: double start; };
        __device__ void unused() { asm volatile("nop;"); goto end; end:; }
        __global__ void k(int *out) { out[threadIdx.x] = threadIdx.x; }
        int main(int argc, char **argv) { int *d; cudaMalloc(&d, 4); k<<<1, 4>>>(d); CHECK(cudaDeviceSynchronize()); std::cout << "done\n"; return 0; }
    "#;
    let case = Case::new(source, "k", 1, 4).value("out", vec![9i32; 4]);
    assert_eq!(ints(&case.clean("out")), [0, 1, 2, 3]);
}

#[test]
fn refusals_say_where_and_what() {
    let refused = |body: &str, what: &str| {
        let source = format!("__global__ void k(int *x) {{\n  {body}\n}}\n");
        let program = Program::parse(&source, "k.cu", &[]).unwrap();
        let error = program.check().unwrap_err();
        assert_eq!((error.source_name.as_str(), error.line), ("k.cu", 2), "{error}");
        assert!(error.column >= 3, "{error}");
        assert!(error.message.contains(what), "{error}");
    };
    refused("goto end;", "goto");
    refused("x[0] = 1", "expected `;`, found the end of the function");
    refused("x[0] =", "expected an expression, found the end of the function");
    refused("auto f = [] (int a) { return a; };", "lambda");
    refused("asm(\"nop;\");", "asm");
    refused("int y = unknown_thing;", "unknown_thing");
    refused("missing(x);", "missing");
    refused("int *p = new int;", "new");
    refused("k<<<1, 1>>>(x);", "launch");
    refused("x = 5.0;", "convert");
    refused("static int n = 0;", "static");
    refused("float f = 1.0f % 2.0f;", "floating-point");
    refused("__shfl_up(x[0], 1);", "removed");
    refused("half y = 3;", "the type `half` is not known");
    refused("half *y = 0; y + 3;", "`half`");
    refused("for (int y : x) {}", "range-based");
    refused("while (int y = x[0]) {}", "declarations in conditions");
    refused("atomic_ref<int, 3> y(x[0]);", "a type where a value is needed");
    let array = "const int t[2] = {1, 2};\n__global__ void k(int *x) { x[0] = t[1]; }";
    let error = Program::parse(array, "k.cu", &[]).unwrap().check().unwrap_err();
    assert!(error.help.is_some_and(|help| help.contains("__constant__")));
    let parameter = "__global__ void k(half *x) {}";
    let error = Program::parse(parameter, "k.cu", &[]).unwrap_err();
    assert!(error.message.contains("the type `half` is not known"), "{error}");
}

#[test]
fn recursion_is_refused() {
    let source = "__device__ int f(int n) { return n ? f(n - 1) : 0; }\n__global__ void k(int *x) { x[0] = f(x[0]); }";
    let error = Program::parse(source, "r.cu", &[]).unwrap().check().unwrap_err();
    assert!(error.message.contains("recursion") || error.message.contains("deep"), "{error}");
}

#[test]
fn kernels_and_variables_are_listed() {
    let source = "__device__ float table[4];\ntemplate <typename T> __global__ void a(const T *x, unsigned n) {}\n\
        extern \"C\" __global__ void __launch_bounds__(256) b(float *, volatile int *flags) {}";
    let program = Program::parse(source, "l.cu", &[]).unwrap();
    let [a, b] = program.kernels() else { panic!() };
    assert_eq!((a.name.as_str(), a.template.len(), a.line), ("a", 1, 2));
    assert_eq!((a.parameters[0].pointer, a.parameters[0].scalar), (true, None));
    assert_eq!(a.parameters[1].scalar, Some(ScalarType::U32));
    assert_eq!((b.parameters[0].name.as_str(), b.parameters[1].name.as_str()), ("arg0", "flags"));
    assert_eq!((program.variables()[0].name.as_str(), program.variables()[0].len), ("table", 4));
}

#[test]
fn a_functor_without_members_needs_no_value() {
    let source = "struct Add { __device__ int operator()(int a, int b) const { return a + b; } };
        template <class Op> __global__ void k(int *x, Op op) { x[threadIdx.x] = op(x[threadIdx.x], 1); }";
    let case = Case::new(source, "k<Add>", 1, 32).value("x", input(32));
    let expected: Vec<i32> = input(32).iter().map(|v| v + 1).collect();
    assert_eq!(ints(&case.clean("x")), expected);
}

#[test]
fn a_header_that_is_not_there_is_missed_only_where_it_is_needed() {
    let source = |value: &str| {
        format!(
            "#include \"errors.h\"\n__global__ void k(int *x) {{\n    x[threadIdx.x] = {value};\n}}"
        )
    };
    let case = |value| Case::new(&source(value), "k", 1, 32).value("x", vec![0i32; 32]);
    assert_eq!(ints(&case("7").clean("x")), [7; 32]);
    let case = case("SEVEN");
    let error = kogge_lab::run(&case.program(), &case.script, &case.options).unwrap_err();
    assert_eq!((error.line, error.column), (3, 22));
    assert!(error.message.contains("SEVEN"), "{error}");
    assert!(error.help.is_some_and(|help| help.contains("errors.h")));
}

#[test]
fn positions_do_not_drift_to_types() {
    let source = "typedef int T;\n__device__ T twice(T a) { return a + a; }\n__global__ void k(T *x) {\n    twice((T)x[99]);\n}";
    let report = Case::new(source, "k", 1, 1).value("x", vec![0i32]).run();
    assert_eq!(report.findings[0].line, 4);
}

#[test]
fn a_constant_condition_leaves_the_common_type() {
    let body = r"
        short v = 3; unsigned short w = 4; unsigned u = 5;
        out[0] = (1 ? -1 : 1u) > 0; out[1] = (0 ? u : -1) > 0; out[2] = (1 ? 1 : 2.0) / 2 == 0.5;
        out[3] = sizeof(1 ? v : w); out[4] = sizeof(1 ? v : v); out[5] = sizeof(true ? 1 : 2LL);
        out[6] = 1 ? v : u; int a[2] = {1, 2}; out[7] = (1 ? -1 : (unsigned)a[0]) > 0; int *p = a;
        out[8] = (0 ? p[0] * 1ull : -1) > 0; out[9] = (1 ? -1 : 1 ? 1 : 1u) > 0;
    ";
    assert_eq!(evaluate("", body, 10), [1, 1, 1, 4, 2, 8, 3, 1, 1, 1]);
}

#[test]
fn an_assignment_is_an_lvalue_whose_effects_happen_once() {
    let prelude = "__device__ void grow(int &x) { x += 10; }
        struct P { int a; }; __device__ P make(int *calls) { ++*calls; P p = {5}; return p; }";
    let body = r"
        int a[4] = {0, 0, 0, 0}; int i = 0;
        (a[i++] = 3) += 4; out[0] = i; out[1] = a[0]; out[2] = a[1];
        i = 1; (a[i++] += 1)++; out[3] = i; out[4] = a[1]; i = 2; ++(++a[i++]); out[5] = i; out[6] = a[2];
        int n = 1; grow(++n); out[7] = n; grow(n = 3); out[8] = n;
        int calls = 0; out[9] = (calls++, make(&calls)).a; out[10] = calls;
    ";
    assert_eq!(evaluate(prelude, body, 11), [1, 7, 0, 2, 2, 3, 2, 12, 13, 5, 2]);
}

#[test]
fn functions_of_bits_have_the_operands_that_cuda_declares() {
    let body = r"
        long long wide = -1, high = 1LL << 32; int minus = -1, one = 1; unsigned most = 0xffffffffu;
        out[0] = __popc(wide); out[1] = __clz(high + 1); out[2] = __ffs(high); out[3] = __brev(one) > 0;
        out[4] = __umulhi(minus, minus); out[5] = __mulhi(most, most); out[6] = umin(minus, one);
        out[7] = umax(minus, one); out[8] = __popcll(minus); out[9] = __clzll(one); out[10] = __ffsll(high);
        out[11] = sizeof(llabs(minus)); out[12] = __saturatef(0.0f / (one - 1)) == 0.0f;
        out[13] = 1 / fminf(0.0f, -0.0f) < 0; out[14] = 1 / fmaxf(-0.0f, 0.0f * one) > 0;
    ";
    let expected = [32, 31, 0, 1, -2, 0, 1, -1, 64, 63, 33, 8, 1, 1, 1];
    assert_eq!(evaluate("", body, 15), expected);
}

#[test]
fn what_would_be_printed_is_evaluated() {
    let body = r#"int i = 0; printf("%d %s\n", i++, "text"); out[0] = i;"#;
    assert_eq!(evaluate("", body, 1), [1]);
    let source = "__global__ void k(int *x) {\n    printf(\"%d\", x[1]);\n}";
    let report = Case::new(source, "k", 1, 1).value("x", vec![0i32]).run();
    assert_eq!(report.findings[0].line, 2);
}

#[test]
fn the_overload_is_chosen_that_fits_best() {
    let prelude = r"
        __device__ int a(int) { return 1; } __device__ int a(double) { return 2; }
        __device__ int b(long long) { return 1; } __device__ int b(int) { return 2; }
        template <typename T> __device__ int c(T) { return 1; } __device__ int c(int) { return 2; }
        template <typename T> __device__ int c(T *) { return 3; }
        __device__ int e(int, double) { return 1; } __device__ int e(int, int) { return 2; }
        template <typename T> __device__ T twice(T *x) { return x[0] + x[0]; }
        struct A { int n; __device__ int &at(int) { return n; } __device__ const int &at(int) const { return n; } };
    ";
    let body = r"
        float f = 1; short s = 1; bool t = true; volatile int v = 4; volatile int *p = &v;
        out[0] = a(f); out[1] = a(s); out[2] = a(t); out[3] = b(s); out[4] = b('c');
        out[5] = c(s); out[6] = c(1); out[7] = c(out); out[8] = c(f); out[9] = e(1, f); out[10] = e(s, t);
        out[11] = twice(p); A h{6}; out[12] = h.at(0);
    ";
    assert_eq!(evaluate(prelude, body, 13), [2, 1, 1, 2, 2, 1, 2, 3, 1, 1, 2, 8, 6]);
}

#[test]
fn defaults_see_what_their_declaration_sees() {
    let prelude = r"
        constexpr int N = 7; struct P { int a = N; int b = a + 1; };
        __device__ int f(int x = N) { return x; }
        template <class T = int, int M = 4> __device__ T g(T x = M) { return x; }
    ";
    let body = r"
        int N = 3, a = 50; P p; P q{}; out[0] = f() + 100 * N; out[1] = g(); out[2] = g<int, 8>();
        out[3] = p.a; out[4] = p.b; out[5] = q.b; out[6] = a;
    ";
    assert_eq!(evaluate(prelude, body, 7), [307, 4, 8, 7, 8, 8, 50]);
}

#[test]
fn characters_and_small_products() {
    let body = r#"
        out[0] = '\r'; out[1] = '\''; out[2] = '\\'; out[3] = '\x41'; out[4] = '\101'; out[5] = '\0';
        out[6] = '"'; out[7] = '\xff'; out[8] = '\a'; int big = 0x1000003, minus = -2;
        out[9] = __mul24(big, 3); out[10] = __mul24(minus, 3); out[11] = __umul24(big, 5u);
    "#;
    let expected = [13, 39, 92, 65, 65, 0, 34, -1, 7, 9, -6, 15];
    assert_eq!(evaluate("", body, 12), expected);
}

#[test]
fn references_and_operators_change_what_they_are_given() {
    let prelude = r"
        enum class S : unsigned char { A, B }; struct P { int a; }; __device__ P &operator+=(P &x, const P &y) { x.a += 10 * y.a; return x; }
        __device__ P operator+(P x, P y) { return P{x.a + y.a}; }
        template <class T> struct V { T x; __device__ V operator*(const V &o) const { return {x * o.x}; } };
    ";
    let body = r"
        P p{1}, q{2}; p += q; out[0] = p.a; V<int> v{3}, w{4}; out[1] = (v * w).x;
        const int &r = 2.7f; out[2] = r; float f = 3.9f; const int &s = f; out[3] = s;
        enum class L : short { A = 3 }; L l = L::A; S t = S::B; out[7] = sizeof(l) + 10 * sizeof(t) + (t == S::B);
        dim3 d = 5, e(6), b = blockDim; out[4] = d.x + d.y; out[5] = e.x * e.z; out[6] = b.x;
    ";
    assert_eq!(evaluate(prelude, body, 8), [21, 12, 2, 3, 6, 6, 1, 13]);
}

/// As g++ has it, whose layout is CUDA's.
#[test]
fn bases_are_parts_of_what_is_derived_from_them() {
    let prelude = r"
        struct A { char z; int a; };
        struct B { short y; double b; };
        struct C : A, B { int c; };
        struct D : C { char d; };
        struct P { int p; char q; };
        struct Q : P { char r; };
        __device__ void set(B &x, int v) { x.b = v; }
        __device__ void seta(A &x, int v) { x.a = v; }
        __device__ double get(const B &x) { return x.b; }
        __device__ double byval(B x) { return x.b; }";
    let body = r"
        C x; x.a = 1; x.b = 2; x.c = 3; x.z = 4; x.y = 5;
        out[0] = x.a; out[1] = x.b; out[2] = x.c;
        set(x, 7); out[3] = x.b; seta(x, 8); out[4] = x.a;
        D y; y.z = 0; y.a = 1; y.b = 2; y.c = 3; y.d = 4; y.y = 6; set(y, 9); out[5] = y.b; out[6] = y.d;
        B z = y; out[7] = z.b + z.y; A &w = y; w.a = 5; out[8] = y.a;
        B *p = &y; p->b = 11; out[9] = y.b; D *q = (D *)p; out[10] = q->d; out[11] = get(y) + byval(x);
        out[12] = sizeof(A); out[13] = sizeof(B); out[14] = sizeof(C); out[15] = sizeof(D); out[16] = sizeof(Q);
        B *none = (C *)nullptr; out[17] = none == nullptr; __shared__ D s; set(s, 21); out[18] = s.b; out[19] = x.z + x.y;";
    assert_eq!(
        evaluate(prelude, body, 20),
        [1, 2, 3, 7, 8, 9, 4, 15, 5, 11, 4, 18, 8, 16, 32, 32, 12, 1, 21, 9]
    );
}

#[test]
fn methods_of_bases_have_the_part_that_is_theirs() {
    let prelude = r"
        struct A { int v; __device__ void inc() { v += 1; } __device__ int get() const { return v; } };
        struct B { double b; int w; __device__ void twice() { b *= 2; w *= 2; } __device__ double sum() const { return b + w; } };
        struct C : A, B {
            int c;
            __device__ void all() { inc(); twice(); c += v + w; }
            __device__ int mine() { return B::sum() + A::get(); }
        };
        template <class T> struct Op : B { T t; __device__ T f() { twice(); return t + b; } };
        struct T : A { int v; __device__ int own() const { return v; } };";
    let body = r"
        C x; x.v = 1; x.b = 2; x.w = 3; x.c = 4;
        x.inc(); x.twice(); out[0] = x.v; out[1] = x.b; out[2] = x.w; out[3] = x.c;
        x.all(); out[4] = x.v; out[5] = x.b; out[6] = x.w; out[7] = x.c; out[8] = x.sum();
        Op<int> o; o.b = 3; o.w = 1; o.t = 5; out[9] = o.f(); out[10] = o.w;
        __shared__ C s; s.v = 1; s.b = 2; s.w = 3; s.c = 4; s.all(); out[11] = s.c; out[12] = s.b;
        C *p = &s; p->twice(); out[13] = p->w; B *q = p; q->twice(); out[14] = s.w; out[15] = x.mine();
        T t; t.v = 5; A &r = t; r.v = 3; out[16] = t.v; out[17] = t.get(); out[18] = t.own();";
    assert_eq!(
        evaluate(prelude, body, 19),
        [2, 4, 6, 4, 3, 8, 12, 19, 20, 11, 2, 12, 4, 12, 24, 23, 5, 3, 5]
    );
}

#[test]
fn a_cast_to_a_reference_takes_the_bytes() {
    let prelude = "struct A { int a; }; struct Z { int z; }; struct B : Z, A { int b; };";
    let body = r"
        float f[4] = {1.0f, 2.0f, 3.0f, 4.0f}; float x = 1.5f; const float c = 2.0f; B b; b.z = 1; b.a = 7;
        out[0] = reinterpret_cast<int &>(f[0]) == 0x3f800000; out[1] = reinterpret_cast<const int &>(x) == 0x3fc00000;
        float4 v = reinterpret_cast<float4 &>(f[0]); out[2] = (int)(v.y * 10 + v.w); reinterpret_cast<int &>(x) = 0x40000000;
        out[3] = (int)x; out[4] = static_cast<const int &>(x) + (const int &)c; out[5] = (int &)f[1] == 0x40000000;
        out[6] = static_cast<A &>(b).a; static_cast<A &>(b).a = 9; out[7] = b.a + b.z; int i = 3;
        out[8] = static_cast<int &>(i)++ + i;
    ";
    assert_eq!(evaluate(prelude, body, 9), [1, 1, 24, 2, 4, 1, 7, 10, 7]);
}

/// A template's `extern __shared__ T s[]` works for one type, and fails for a second.
#[test]
fn dynamic_shared_arrays_of_one_name_are_one_variable() {
    let source = "template <class T> __global__ void k(T *x) {
            extern __shared__ T s[]; s[threadIdx.x] = x[0]; x[0] = s[threadIdx.x];
        }
        __global__ void other(int *y) { extern __shared__ int s[]; s[0] = 1; y[0] = s[0]; }";
    let check = |second: &str| {
        let dynamic = |l: &mut kogge_lab::Launch| l.shared_bytes = 16;
        let mut case =
            Case::new(source, "k<float>", 1, 1).value("x", vec![0f32; 4]).launch(dynamic);
        case.script = case.script.launch(kogge_lab::Launch::new(second, 1, 1));
        let case = case.launch(dynamic);
        let case = if second == "other" { case.value("y", vec![0i32; 4]) } else { case };
        kogge_lab::run(&case.program(), &case.script, &case.options).map(|report| report.is_clean())
    };
    assert!(check("k<float>").unwrap());
    let error = check("other").unwrap_err();
    assert_eq!(error.line, 4);
    assert!(
        error.message.contains("`s` is one of `int` here and one of `float` in line 2"),
        "{error}"
    );
    let both = source.replace("template <class T>", "typedef float T;");
    let program = Program::parse(&both, "k.cu", &[]).unwrap();
    assert!(program.check().unwrap_err().message.contains("are one variable"));
    assert!(Program::parse(&both.replace("float", "int"), "k.cu", &[]).unwrap().check().is_ok());
}

#[test]
fn one_value_may_stand_in_braces_or_parentheses() {
    let body = r#"
        auto a{3}; const auto b(2.5f); auto &r{out[1]}; int &s(out[2]); int &t{out[3]};
        out[0] = a; r = b * 2; s = 4; t = sizeof(b); auto *p{out}; p[4] = 6;
        _Pragma("unroll") for (int i = 0; i < 3; i++) out[5] += i;
    "#;
    assert_eq!(evaluate("", body, 6), [3, 5, 4, 4, 6, 3]);
}
