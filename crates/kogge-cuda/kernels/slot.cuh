// What blocks tell each other: one slot a tile (or segment), read and written 16 bytes at a time.
//
// Each 16 bytes are {8 bytes of the value, epoch}, so a reader that sees this call's epoch has the value
// with it, without a fence; and because the epoch rises with every call, nothing is ever cleared. Epochs
// have 64 bits: they don't wrap around.

// The state that outlives a call; zeroed once, when it is allocated.
struct Workspace {
    u64 epoch;  // of the last call that ended
    u32 drawn;  // tiles, lots or strips in a call under way; none between calls
    u32 unused;
};

template <class A>
struct Slot {
    static constexpr u32 PARTS = (sizeof(A) + 7) / 8;
    struct Parts {
        u64 part[PARTS];
    };

    // The slots follow the workspace's head.
    static __device__ __forceinline__ u8* at(Workspace* workspace, u64 index) {
        return (u8*)(workspace + 1) + index * PARTS * 16;
    }
    static __device__ __forceinline__ void publish(Workspace* workspace, u64 index, const A& value, u64 epoch) {
        Parts parts = {};
        memcpy(&parts, &value, sizeof(A));
        u8* slot = at(workspace, index);
#pragma unroll
        for (u32 i = 0; i < PARTS; i++) store_slot(slot + i * 16, parts.part[i], epoch);
    }
    // Whether the slot holds this call's value, which is then in `value`.
    static __device__ __forceinline__ bool peek(Workspace* workspace, u64 index, A& value, u64 epoch) {
        Parts parts;
        u8* slot = at(workspace, index);
        bool fresh = true;
#pragma unroll
        for (u32 i = 0; i < PARTS; i++) {
            u64 seen;
            load_slot(slot + i * 16, parts.part[i], seen);
            fresh = fresh && seen == epoch;
        }
        memcpy(&value, &parts, sizeof(A));
        return fresh;
    }
    // The value of a slot, waited for.
    static __device__ __forceinline__ A await(Workspace* workspace, u64 index, u64 epoch) {
        A value;
        while (!peek(workspace, index, value, epoch)) {
        }
        return value;
    }
};
