// Values of any plain type as 32-bit words, so that they can be shuffled and kept in registers; and
// values that may not exist, since an operand that doesn't is skipped, never replaced by the identity.

template <class T>
struct Words {
    static constexpr u32 COUNT = (sizeof(T) + 3) / 4;
    u32 word[COUNT];
};

template <class T>
KOGGE_DEVICE Words<T> to_words(const T& value) {
    Words<T> words = {};
    memcpy(&words, &value, sizeof(T));
    return words;
}
template <class T>
KOGGE_DEVICE T from_words(const Words<T>& words) {
    T value;
    memcpy(&value, &words, sizeof(T));
    return value;
}

// The value of another lane. All lanes of the warp take part.
template <class T>
KOGGE_DEVICE T value_of_lane(const T& value, u32 lane) {
    Words<T> words = to_words(value);
#pragma unroll
    for (u32 i = 0; i < Words<T>::COUNT; i++) words.word[i] = shuffle(words.word[i], lane);
    return from_words<T>(words);
}
template <class T>
KOGGE_DEVICE T value_of_lane_below(const T& value, u32 lanes) {
    Words<T> words = to_words(value);
#pragma unroll
    for (u32 i = 0; i < Words<T>::COUNT; i++) words.word[i] = shuffle_up(words.word[i], lanes);
    return from_words<T>(words);
}
template <class T>
KOGGE_DEVICE T value_of_partner(const T& value, u32 mask) {
    Words<T> words = to_words(value);
#pragma unroll
    for (u32 i = 0; i < Words<T>::COUNT; i++) words.word[i] = shuffle_xor(words.word[i], mask);
    return from_words<T>(words);
}

// One of two values. Word by word, since `?:` of two array elements chooses an address, and an array with
// an address lies in local memory.
template <class T>
KOGGE_DEVICE T choose(bool first, const T& one, const T& other) {
    Words<T> words = to_words(one), others = to_words(other);
#pragma unroll
    for (u32 i = 0; i < Words<T>::COUNT; i++) words.word[i] = first ? words.word[i] + 0 : others.word[i] + 0;
    return from_words<T>(words);
}

template <class T, class U>
struct Same {
    static constexpr bool YES = false;
};
template <class T>
struct Same<T, T> {
    static constexpr bool YES = true;
};

template <class T>
struct Maybe {
    T value;
    bool exists;
};

template <class Op, class A = typename Op::Element>
KOGGE_DEVICE Maybe<A> join(const Maybe<A>& left, const A& right) {
    return {left.exists ? Op::combine(left.value, right) : right, true};
}
template <class Op, class A = typename Op::Element>
KOGGE_DEVICE Maybe<A> join(const Maybe<A>& left, const Maybe<A>& right) {
    if (!right.exists) return left;
    return join<Op>(left, right.value);
}
template <class Op, class A = typename Op::Element>
KOGGE_DEVICE A or_identity(const Maybe<A>& maybe) {
    return maybe.exists ? maybe.value : Op::identity();
}
