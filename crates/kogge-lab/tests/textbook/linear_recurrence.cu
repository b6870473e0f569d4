// A recurrence y = a y + b as a scan of affine maps: a struct, an operator that
// does not commute, three kernels.
struct __align__(8) Affine {
    float a, b;
    __device__ Affine() : a(1.0f), b(0.0f) {}
    __device__ Affine(float a_, float b_) : a(a_), b(b_) {}
};

__device__ __forceinline__ Affine combine(const Affine x, const Affine y) {
    return Affine(x.a * y.a, y.a * x.b + y.b);
}

template <int THREADS>
__device__ Affine scan_in_block(Affine value, Affine (*unused)) { return value; }

__global__ void blocks(const float2 *in, float2 *out, float2 *totals) {
    __shared__ Affine s[2][64];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t, cur = 0;
    const float2 v = in[i];
    s[0][t] = Affine(v.x, v.y);
    __syncthreads();
    for (int d = 1; d < blockDim.x; d *= 2) {
        Affine mine = s[cur][t];
        s[cur ^ 1][t] = t >= d ? combine(s[cur][t - d], mine) : mine;
        cur ^= 1;
        __syncthreads();
    }
    const Affine r = s[cur][t];
    out[i] = make_float2(r.a, r.b);
    if (t == blockDim.x - 1) totals[blockIdx.x] = make_float2(r.a, r.b);
}

__global__ void spine(float2 *totals, int n) {
    Affine sum;
    for (int i = 0; i < n; ++i) {
        const Affine next(totals[i].x, totals[i].y);
        totals[i].x = sum.a; totals[i].y = sum.b;
        sum = combine(sum, next);
    }
}

__global__ void apply(const float2 *totals, float2 *out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const Affine before(totals[blockIdx.x].x, totals[blockIdx.x].y), own(out[i].x, out[i].y);
    const Affine r = combine(before, own);
    out[i].x = r.a;
    out[i].y = r.b;
}
