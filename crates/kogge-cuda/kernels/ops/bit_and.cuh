// Bitwise and.

template <class T>
struct BitAnd {
    typedef T Element;
    static __device__ __forceinline__ T identity() { return (T)~(T)0; }
    static __device__ __forceinline__ T combine(T left, T right) { return (T)(left & right); }
};
