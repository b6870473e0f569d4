// What a thread block takes of a call's tiles or strips, one after another: the first few in turn with the other
// blocks, the rest drawn, so that multiprocessors which reach memory faster take more.
//
// Who has been given all of his draws until none is left. So there are as many draws as tiles that aren't given, and one
// more for each such block; and these leave the counter as it was. There is no memory for 2^32 tiles.
//
// One thread of the block draws, and tells the others.
struct Draws {
    u32* counter;
    u64 count;
    u32 given;  // to each block, at least one
    u64 last;   // taken; `count` or more if none was left

    Draws() = default;
    __device__ __forceinline__ Draws(Workspace* workspace, u64 count, u32 given)
        : counter(&workspace->drawn), count(count), given(given), last((u64)(given - 1) * block_count() + block_index()) {}
    // Draws, for the next to be taken: the number takes a trip to memory.
    __device__ __forceinline__ u32 ask() const {
        return last < count ? draw_number_of(counter, (u32)count - (given - 1) * block_count()) : 0;
    }
    __device__ __forceinline__ u64 take(u32 number) {
        if (last < count) last = (u64)given * block_count() + number;
        return last;
    }
};
