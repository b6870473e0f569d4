// Whether any is non-zero: 1 or 0.

template <class T>
struct Any {
    typedef T Element;
    static __device__ __forceinline__ T identity() { return 0; }
    static __device__ __forceinline__ T combine(T left, T right) { return left != 0 || right != 0; }
};
