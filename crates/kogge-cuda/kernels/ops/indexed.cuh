// The extreme value with the index of its first place; 16 bytes for every number.

template <class T>
struct Indexed {
    u64 index;
    T value;
    u8 fill[8 - sizeof(T)];
};
template <>
struct Indexed<double> {
    u64 index;
    double value;
};
template <>
struct Indexed<long long> {
    u64 index;
    long long value;
};
template <>
struct Indexed<u64> {
    u64 index;
    u64 value;
};

template <class T>
KOGGE_DEVICE Indexed<T> indexed(T value, u64 index) {
    Indexed<T> indexed = {};
    indexed.index = index;
    indexed.value = value;
    return indexed;
}
template <class T>
struct ArgMin {
    typedef Indexed<T> Element;
    static __device__ __forceinline__ Element identity() { return indexed(Number<T>::highest(), ~0ull); }
    static __device__ __forceinline__ Element combine(Element left, Element right) {
        bool tie = !precedes(left.value, right.value) && right.index < left.index;
        return precedes(right.value, left.value) || tie ? right : left;
    }
};
template <class T>
struct ArgMax {
    typedef Indexed<T> Element;
    static __device__ __forceinline__ Element identity() { return indexed(Number<T>::lowest(), ~0ull); }
    static __device__ __forceinline__ Element combine(Element left, Element right) {
        bool tie = !exceeds(left.value, right.value) && right.index < left.index;
        return exceeds(right.value, left.value) || tie ? right : left;
    }
};
