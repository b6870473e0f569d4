// What a copy may read beside the bytes that are wanted. The copy engine takes longer where it begins or ends within a sector of
// memory, and what is no multiple of 16 bytes others have to see to.

enum : u32 { SECTOR = 32 };

// Memory that may be read, whoever scans it; none where others write there meanwhile.
struct Readable {
    const u8 *first, *behind;

    // That of a whole sequence, unless it is scanned in place.
    static __device__ __forceinline__ Readable of(const void* input, const void* output, u64 bytes) {
        if (input == output) return {nullptr, nullptr};
        return {(const u8*)input, (const u8*)input + bytes};
    }
    // Takes in what lies beside the bytes in their first and last sector, if all of it may be read.
    __device__ __forceinline__ void widen(const u8*& from, u32& bytes) const {
        const u8 *end = from + bytes, *lower = from - (u64)from % SECTOR, *higher = end + (u64)-(u64)end % SECTOR;
        if (lower < first || higher > behind) return;
        from = lower;
        bytes = (u32)(higher - lower);
    }
};
