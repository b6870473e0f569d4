// What a kernel is told. The host writes this struct byte for byte: see src/launch.rs.

enum : u32 { NO_INIT = 0, INIT_BY_VALUE = 1, INIT_IN_MEMORY = 2 };

template <class S>
struct Arguments {
    const void* input;
    void* output;
    u64 length;
    Workspace* workspace;
    const void* init_memory;  // an `S::Accumulator` on the device
    void* total;              // where the total goes, or null
    u64 init_kind;
    typename S::Accumulator init;
};

template <class S>
KOGGE_DEVICE Maybe<typename S::Op::Element> init_of(const Arguments<S>& arguments) {
    typedef typename S::Op::Element A;
    typedef typename S::Accumulator Stored;
    if (arguments.init_kind == NO_INIT) return {A(), false};
    Stored init = arguments.init;
    if (arguments.init_kind == INIT_IN_MEMORY) memcpy(&init, (const Stored*)arguments.init_memory, sizeof(Stored));
    return {Convert<A, Stored>::of(init), true};
}
template <class S>
KOGGE_DEVICE void store_total(const Arguments<S>& arguments, const Maybe<typename S::Op::Element>& total) {
    typedef typename S::Accumulator Stored;
    Stored stored = Convert<Stored, typename S::Op::Element>::of(or_identity<typename S::Op>(total));
    memcpy((Stored*)arguments.total, &stored, sizeof(Stored));
}
