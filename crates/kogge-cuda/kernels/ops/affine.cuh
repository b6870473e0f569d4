// Composition of the maps x -> a x + b: the left one first. Product and sum are rounded separately.

template <class T>
struct Affine {
    T a, b;
};
template <class T>
struct Compose {
    typedef Affine<T> Element;
    static __device__ __forceinline__ Element identity() { return {1, Number<T>::zero()}; }
    static __device__ __forceinline__ Element combine(Element left, Element right) {
        return {multiply(left.a, right.a), add(multiply(left.b, right.a), right.b)};
    }
};
