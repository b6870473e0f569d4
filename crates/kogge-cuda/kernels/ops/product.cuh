// Multiplication; integers wrap around.

template <class T>
struct Product {
    typedef T Element;
    static __device__ __forceinline__ T identity() { return 1; }
    static __device__ __forceinline__ T combine(T left, T right) { return multiply(left, right); }
};
