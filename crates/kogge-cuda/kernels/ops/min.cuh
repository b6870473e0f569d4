// The smaller; NaN propagates, -0.0 < 0.0.

template <class T>
struct Min {
    typedef T Element;
    static __device__ __forceinline__ T identity() { return Number<T>::highest(); }
    static __device__ __forceinline__ T combine(T left, T right) { return Number<T>::minimum(left, right); }
};
