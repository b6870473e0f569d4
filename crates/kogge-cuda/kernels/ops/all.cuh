// Whether all are non-zero: 1 or 0.

template <class T>
struct All {
    typedef T Element;
    static __device__ __forceinline__ T identity() { return 1; }
    static __device__ __forceinline__ T combine(T left, T right) { return left != 0 && right != 0; }
};
