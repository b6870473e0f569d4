// The larger; NaN propagates, -0.0 < 0.0.

template <class T>
struct Max {
    typedef T Element;
    static __device__ __forceinline__ T identity() { return Number<T>::lowest(); }
    static __device__ __forceinline__ T combine(T left, T right) { return Number<T>::maximum(left, right); }
};
