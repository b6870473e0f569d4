// The product of 2x2 matrices, left times right; every operation rounded.

template <class T>
struct Matrix2 {
    T m00, m01, m10, m11;
};
template <class T>
struct MatMul {
    typedef Matrix2<T> Element;
    static __device__ __forceinline__ Element identity() { return {1, Number<T>::zero(), Number<T>::zero(), 1}; }
    static __device__ __forceinline__ Element combine(Element l, Element r) {
        return {
            add(multiply(l.m00, r.m00), multiply(l.m01, r.m10)),
            add(multiply(l.m00, r.m01), multiply(l.m01, r.m11)),
            add(multiply(l.m10, r.m00), multiply(l.m11, r.m10)),
            add(multiply(l.m10, r.m01), multiply(l.m11, r.m11)),
        };
    }
};
