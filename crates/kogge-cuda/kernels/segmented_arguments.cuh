// What the kernels that scan runs are told: that of windows and that of rounds. The host writes this struct byte for
// byte: see src/segments/mod.rs.

template <class S>
struct SegmentedArguments {
    const void* input;
    void* output;
    u64 length;
    Workspace* workspace;
    const u32* heads;       // the mask that heads.cuh makes
    const Window* windows;  // what precedes each of its windows, and after the last all there is
    const u32* first;       // of each, 1 + the place of its first head, or 0; null if they aren't tiles of an exact operator
    const u32* cut;         // a bit for each of them, and what long runs leave of those that have it
    const Cover* covers;
    const RunList* list;    // of the tiles that go in rounds
    StretchList* stretches; // of those that neither do nor go by windows
    const void* source;     // offsets, flags or keys
    u64 segments;           // how many offsets give
    const void* leads;      // if the scan is in place: the last segment's length before each window but the first,
    u64 lead_count;         // so many, as they lie in memory
    Inits<S> inits;
};
