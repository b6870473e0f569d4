// A value and a flag as wide as the value, so that there is no padding.

template <class T, class Flag>
struct Flagged {
    T value;
    Flag flag;
};

// Operator `O`, starting anew at each flag (Schwartz, 1980).
template <class O, class Flag>
struct Segmented {
    typedef Flagged<typename O::Element, Flag> Element;
    static __device__ __forceinline__ Element identity() { return {O::identity(), 0}; }
    static __device__ __forceinline__ Element combine(Element left, Element right) {
        return {right.flag ? right.value : O::combine(left.value, right.value),
                (Flag)(left.flag != 0 || right.flag != 0)};
    }
};

// The last value whose flag is set.
template <class T, class Flag>
struct LastFlagged {
    typedef Flagged<T, Flag> Element;
    static __device__ __forceinline__ Element identity() { return {0, 0}; }
    static __device__ __forceinline__ Element combine(Element left, Element right) { return right.flag ? right : left; }
};
