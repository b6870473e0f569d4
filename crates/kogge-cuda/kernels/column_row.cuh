// A row of a line in shared memory, where a fetch has put it: its total, and its values.

template <class S>
struct FromStage {
    typedef typename S::Input Input;
    const u8* row;

    __device__ __forceinline__ void begin_octet() {}
    __device__ __forceinline__ void end_octet() {}
    __device__ __forceinline__ void take(u32 octet, u32 i, Input (&value)[Order<Input>::CHUNK]) {
        read_column_chunk<Input, S::COLUMNS>(row, octet * CHUNKS_PER_OCTET + i, value);
    }
};

template <class S>
struct StagedRow {
    typedef typename S::Op::Element A;
    typedef typename S::Output Output;
    static constexpr u32 ROW = Order<typename S::Input>::CHUNK * CHUNKS_PER_ROW;
    const u8* at;
    u32 elements;  // one at least

    __device__ __forceinline__ A total() const {
        FromStage<S> source = {at};
        if (elements == ROW) return whole_row_total<S>(source);
        Delays<A> delays = {};
        Nowhere nowhere;
        return descend_row<S, false>(delays, {A(), false}, elements, source, nowhere);
    }
    // Writes the values, from what precedes the row on.
    __device__ __forceinline__ void scan(const Maybe<A>& before, u8* to, long long stride) const {
        constexpr u32 NATURAL = natural_alignment<Output>();
        if constexpr (alignof(Output) < NATURAL) {
            if (((u64)to | (u64)stride) % NATURAL != 0) return scan_to<alignof(Output)>(before, to, stride);
        }
        scan_to<NATURAL>(before, to, stride);
    }

  private:
    template <u32 ALIGNMENT>
    __device__ __forceinline__ void scan_to(const Maybe<A>& before, u8* to, long long stride) const {
        FromStage<S> source = {at};
        Places<Output, ALIGNMENT> sink = {to, stride};
        Delays<A> delays = {};
        // Where it's known that something precedes the row, no value is chosen between two.
        if (elements == ROW && before.exists) descend_row<S, true>(delays, {before.value, true}, ROW, source, sink);
        else descend_row<S, false>(delays, before, elements, source, sink);
    }
};
