// Bitwise or.

template <class T>
struct BitOr {
    typedef T Element;
    static __device__ __forceinline__ T identity() { return 0; }
    static __device__ __forceinline__ T combine(T left, T right) { return (T)(left | right); }
};
