// The last value that isn't NaN, else the left one.

template <class T>
struct LastValid {
    typedef T Element;
    // The quiet NaN that Rust calls NAN.
    static __device__ __forceinline__ T identity() {
        return of_bits(bits_of(Number<T>::highest()) | bits_of(Number<T>::highest()) >> 1);
    }
    static __device__ __forceinline__ T combine(T left, T right) { return right != right ? left : right; }
};
