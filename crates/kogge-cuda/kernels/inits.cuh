// The initial values and the totals of a launch that scans many lines or segments, each by itself. The
// host writes these structs byte for byte: see src/inits.rs.

enum : u64 { INITS_NONE = 0, INITS_BY_VALUE = 1, INITS_IN_MEMORY = 2, INITS_EACH = 3 };

template <class S>
struct Inits {
    typedef typename S::Op::Element A;
    typedef typename S::Accumulator Stored;
    u64 kind;
    const void* memory;  // one `Stored` on the device, or one per part
    void* totals;        // where the totals of the parts go, or null
    Stored value;

    // The initial value of a line or segment.
    __device__ __forceinline__ Maybe<A> of(u64 part) const {
        if (kind == INITS_NONE) return {A(), false};
        Stored init = value;
        if (kind == INITS_IN_MEMORY) part = 0;
        if (kind >= INITS_IN_MEMORY) memcpy(&init, (const Stored*)memory + part, sizeof(Stored));
        return {Convert<A, Stored>::of(init), true};
    }
    // Puts a line's or segment's total in its place, if totals are wanted.
    __device__ __forceinline__ void put_total(u64 part, const Maybe<A>& total) const {
        if (!totals) return;
        Stored stored = Convert<Stored, A>::of(or_identity<typename S::Op>(total));
        memcpy((Stored*)totals + part, &stored, sizeof(Stored));
    }
};
