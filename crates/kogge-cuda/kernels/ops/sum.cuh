// Addition; integers wrap around, and the float identity is -0.0.

template <class T>
struct Sum {
    typedef T Element;
    static __device__ __forceinline__ T identity() { return Number<T>::zero(); }
    static __device__ __forceinline__ T combine(T left, T right) { return add(left, right); }
};
