// The lists of long runs and stretches by offsets (run_list.cuh), made by the launch that marks heads.
//
// Where a window's last run ends, offsets tell, however far that is: so no window has to know of other windows' heads, and no
// block waits for another. Where there is a mask, it takes places in the lists before it writes that, and knows them when that is
// done. Of what goes in rounds no mask is read, so none is written.

// Notes are first, then the mask, of which a block has as much as it needs.
template <class Offset, bool REVERSE, u32 WINDOW, bool MASKED>
struct OffsetListsShared {
    ListingShared listing;
    OffsetMarks<Offset, REVERSE, WINDOW, MASKED> marks;
};

// What starts in a window of the block: runs one after another from its first head on, up to the end of the last, unless
// that is long.
template <class Marks, u32 WINDOW>
KOGGE_DEVICE ToList starts_in(const Marks& marks, const MarkArguments& arguments, const OffsetWindows<WINDOW>& own, u32 window) {
    const LongRuns& runs = arguments.long_runs;
    ToList all = {0, 0, 0, 0, {0, 0, 0}};
    if (window >= own.windows || marks.last[window] == 0) return all;
    u64 position = own.position(window), end = marks.end[window];
    all.start = position + marks.last[window] - 1;
    all.end = end < arguments.length ? end : arguments.length;
    bool goes_over = runs.are_long(all.start, all.end);
    if (goes_over) all.tiles = runs.tiles_of(all.start, all.end);
    // None only if offsets aren't in order.
    if (marks.first[window] == 0) return all;
    all.stretch = {position + marks.first[window] - 1, goes_over ? all.start : all.end, 0};
    if constexpr (!Marks::IS_MASKED) all.stretch.run = marks.run[window];
    return all;
}

template <class Offset, bool REVERSE, u32 WINDOW, bool MASKED>
KOGGE_DEVICE void list_offsets(const MarkArguments& arguments) {
    typedef OffsetListsShared<Offset, REVERSE, WINDOW, MASKED> Shared;
    launch_dependents();
    Shared& shared = *(Shared*)shared_memory();
    OffsetWindows<WINDOW> own(arguments);
    shared.marks.find(OffsetRuns<Offset, REVERSE>(arguments), own);
    ToList all = starts_in(shared.marks, arguments, own, thread_index());
    Listing listing(arguments.long_runs, shared.listing, all);
    if constexpr (MASKED) shared.marks.write(arguments, own);  // where the block's threads meet
    else sync_block();
    listing.put(arguments.window_count);
}
