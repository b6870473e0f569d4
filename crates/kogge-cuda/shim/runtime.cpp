// The shim's runtime: a resident thread block has an OS thread; a CUDA thread is a fiber of it, switched
// at every warp collective and every wait, in an order drawn from a seed. So blocks race for real and
// warps interleave at random; a copy is made by an agent of its own, at a time of its own.
//
// Within a block only one fiber runs at a time, so that the runtime's own state needs no atomics.
#include "runtime.hpp"
#include "order.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <linux/futex.h>
#include <memory>
#include <random>
#include <sched.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>
#include <vector>

// Saves the callee-saved registers and the stack of one fiber, and takes up another's.
extern "C" void shim_switch(void** save, void* load);
#if defined(__x86_64__)
asm(R"(
.text
.globl shim_switch
shim_switch:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
)");
#else
#error "the shim's fiber switch is written for x86-64"
#endif

namespace shim {
namespace {

enum : u32 { WARP = 32, AGENTS = 4 };
// Not a power of two: else all stacks would want the same few lines of the cache.
enum : u64 { STACK_BYTES = (128 << 10) + 576 };
// Turns in which a block sees nothing go on anywhere before it counts as standing still.
enum : u64 { PATIENCE = 1 << 13 };
// Turns without news after which threads that looked in vain may look again: one may come back to a slot without
// waiting for it. Much fewer than a block has patience for.
enum : u64 { TRUST = 1 << 6 };
// A block that stands sleeps for so many turns, until another tells something or so many nanoseconds are over.
enum : u64 { NAP = 1 << 4, NAP_NANOSECONDS = 50'000 };
// A block that lets the others go ahead does so for so many milliseconds at most.
enum : u32 { MOST_MILLISECONDS = 200 };

// In one of so many launches whose blocks are all resident, one begins late, and in as many one stops on its way: where faults are
// planted more often, since it takes time.
u32 late_in() {
    static const u32 one_in = [] {
        const char* given = std::getenv("KOGGE_LATE");
        return given ? (u32)std::max(std::atoi(given), 1) : 16;
    }();
    return one_in;
}

// A CUDA thread.
struct Fiber {
    void* stack_pointer = nullptr;
    u32 thread = 0;
    bool done = false;
    bool polls = false;  // waits for nothing that this block could do
    // Looks at slots since there were so many news, and one of these slots.
    u64 news = 0, looks = 0;
    const void* seen = nullptr;
    bool (*ready)(const void*, u64) = nullptr;
    const void* ready_of = nullptr;
    u64 ready_than = 0;
};

// Threads that wait for each other: a warp, a named barrier, a block.
struct Group {
    u32 arrived = 0;
    u64 generation = 0;
    u64 order[2];  // of even and odd generations
};

// A copy that an agent has yet to make, or an arrival after those of the same thread.
struct Copy {
    u32 thread, agent;
    u32* unmade;  // copies of the same batch that its agent has yet to make, or stores of the thread
    bool store;   // from shared memory
    u8* to;
    const u8* from;
    u32 bytes;
    Barrier* barrier;
    const u64* order;
};

// The copies not yet made, as issued. Allocates nothing: what one fiber allocates and another frees would
// look like a race of the kernel's.
struct Queue {
    enum : u32 { ROOM = 1 << 16, WINDOW = 64, PIECE = 1 << 10 };
    // Not initialised: most programs need but a few pages of it.
    std::unique_ptr<Copy[]> copies{new Copy[ROOM]};
    // What orders each copy, fresh places each time round. The detector lets fresh places that a thread releases one after
    // another share a clock, which an agent acquires once; into others it copies all that the thread knows.
    std::unique_ptr<u64[]> orders[2 * ROOM / PIECE];
    u64 first = 0, end = 0;  // never reset: an index modulo the room is a place

    bool empty() const { return first == end; }
    Copy& at(u64 i) { return copies[(first + i) % ROOM]; }
    bool wants_places() const { return end % PIECE == 0; }
    void renew_places() { orders[end % (2 * ROOM) / PIECE].reset(new u64[PIECE]); }
    void push(Copy copy) {
        if (end - first == ROOM) fail("more copies at once than the shim keeps");
        copy.order = &orders[end % (2 * ROOM) / PIECE][end % PIECE];
        order::release(copy.order);
        copies[end++ % ROOM] = copy;
    }
    // One of the oldest. An arrival waits for earlier copies of its thread.
    Copy take(u64 random) {
        u64 pick = random % (end - first < WINDOW ? end - first : WINDOW);
        for (u64 i = 0; at(pick).to == nullptr && i < pick; i++)
            if (at(i).thread == at(pick).thread) pick = i;
        Copy copy = at(pick);
        for (; pick > 0; pick--) at(pick) = at(pick - 1);
        first++;
        return copy;
    }
};

// A word that another block writes into this one's shared memory, or its arrival; places as offsets.
struct Store {
    enum : u64 { ARRIVAL = ~0ull };
    u64 to, barrier;
    u32 word;
    const u64* order;
};

// Those not yet made. Blocks put them in while this one takes them out: by a lock of which the race detector doesn't
// know, so that it orders nothing of the kernel's.
struct Mail {
    enum : u32 { ROOM = 1 << 14 };
    std::atomic_flag busy = ATOMIC_FLAG_INIT;
    std::vector<Store> stores;
    std::vector<u64> orders = std::vector<u64>(ROOM);
    u64 sent = 0;
    bool open = false;

    Mail() { stores.reserve(ROOM); }
    template <class F>
    auto locked(F action) {
        while (busy.test_and_set(std::memory_order_acquire)) sched_yield();
        auto result = action();
        busy.clear(std::memory_order_release);
        return result;
    }
};

// The copies of a thread between two of its arrivals are a batch.
struct Batches {
    enum : u32 { MOST = 64 };  // at once
    u32 unmade[MOST][AGENTS] = {};
    u32 current = 0;

    void next() {
        current = (current + 1) % MOST;
        for (u32 left : unmade[current])
            if (left) fail("more batches of copies at once than the shim keeps");
    }
};

// A thread's stores by the copy engine.
struct Stores {
    u32 unmade = 0;
    u64 order;
};

struct Warp {
    Group group;
    u32 exchange[2][WARP];
    u64 collectives[WARP] = {};
};

// What a block needs room for, kept from launch to launch: fresh pages, and threads new to the race detector,
// cost more than a short scan. The main thread alone makes it, so that nothing here orders two blocks.
struct Room {
    std::unique_ptr<u8[]> stacks, memory;
    std::vector<u64> barrier_order;  // two for every eight bytes of shared memory
    std::vector<u64> made_order;     // of the copies of each thread
    std::vector<Batches> batches;    // of each thread
    std::vector<Stores> stores;      // likewise
    std::vector<order::Thread> known_as;
    order::Thread agents[AGENTS];
    Queue copies;
    Mail mail;

    Room() {
        for (order::Thread& agent : agents) agent = order::create();
    }
    void fit(u32 threads, u32 shared_bytes) {
        if (threads > made_order.size()) {
            stacks.reset(new u8[threads * STACK_BYTES]);
            made_order.resize(threads);
            batches.resize(threads);
            stores.resize(threads);
            while (known_as.size() < threads) known_as.push_back(order::create());
        }
        if (shared_bytes / 8 * 2 + 2 > barrier_order.size()) {
            memory.reset(new u8[shared_bytes + 128]);
            barrier_order.resize(shared_bytes / 8 * 2 + 2);
        }
    }
};

struct Cluster {
    std::atomic<u64> arrived{0};  // threads at its barrier
    u64 initialised = 0;          // what orders its blocks' barriers in shared memory
};

struct Launch {
    u32 blocks, threads, shared_bytes, seed;
    void (*kernel)(const void*);
    const void* arguments;
    const std::unique_ptr<Room>* rooms;
    u32 cluster;                   // blocks of a cluster
    std::atomic<u64> progress{0};  // steps of all blocks
    std::atomic<u32> news{0};      // how often a block told others something
    std::atomic<u32> asleep{0};    // blocks that wait for that
    std::vector<Cluster> clusters = std::vector<Cluster>(blocks / cluster);
    std::atomic<u32> begun{0};     // blocks
    u32 late = ~0u;                // the block that lets the others go ahead, if any does,
    u64 late_at = 0;               // when it has taken so many steps
    // Of each block the progress at which it stands still, if it does.
    enum : u64 { GOES_ON = ~0ull, ENDED = GOES_ON - 1 };
    std::vector<std::atomic<u64>> stands = std::vector<std::atomic<u64>>(blocks);

    void tell() {
        news++;
        if (asleep > 0) syscall(SYS_futex, &news, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
    }
    // Until there are other news than these, or for a nap: a limit that std::atomic's wait doesn't have.
    void sleep(u32 known) {
        timespec nap = {0, NAP_NANOSECONDS};
        asleep++;
        syscall(SYS_futex, &news, FUTEX_WAIT_PRIVATE, known, &nap, nullptr, 0);
        asleep--;
    }
    // One block in some launches lets the others go ahead: before its first step, or somewhere on its way.
    void draw_late() {
        u32 odds = late_in(), rest = seed / odds;
        if (seed % odds > 1) return;
        late = rest % blocks;
        std::mt19937 random(seed);
        if (seed % odds == 1) late_at = ((u64)threads << random() % 8) + random() % threads;
    }
    // Whether all blocks stand still at the progress that still is.
    bool deadlocked() const {
        u64 now = progress;
        for (const std::atomic<u64>& at : stands)
            if (at != now && at != ENDED) return false;
        return progress == now;
    }
};

struct Block {
    Launch* launch;
    u32 index;
    std::vector<Fiber> fibers;
    std::vector<Warp> warps;
    Group whole, named[16];
    Room& room;
    u8* shared;
    Queue& copies;
    order::Thread scheduler = order::current();
    u64 started, ended;  // what orders the launch, and its end
    void* scheduler_stack = nullptr;
    Fiber* running = nullptr;
    std::mt19937 random;
    u64 steps = 0;           // of this block alone
    bool distrusts = false;  // threads that looked in vain may look again

    Block(Launch* launch, u32 index, Room& room) : launch(launch), index(index), room(room), copies(room.copies) {}
    void progress() {
        steps++;
        launch->progress.fetch_add(1, std::memory_order_relaxed);
    }
};

thread_local Block* block = nullptr;
// Read afresh after every switch, so never kept across one by inlining.
__attribute__((noinline)) Block& current() { return *block; }
Cluster& own_cluster() { return current().launch->clusters[current().index / current().launch->cluster]; }
Warp& warp() { return current().warps[current().running->thread / WARP]; }
u32 lane() { return current().running->thread % WARP; }

void yield() {
    Block& b = current();
    Fiber* self = b.running;
    order::run_as(b.scheduler);
    shim_switch(&self->stack_pointer, b.scheduler_stack);
}
void wait_for(bool (*ready)(const void*, u64), const void* of, u64 than) {
    if (ready(of, than)) return;
    Fiber& self = *current().running;
    self.ready = ready, self.ready_of = of, self.ready_than = than;
    yield();
}
// Whether a thread comes back to a slot with no news since. A slot is kept until as many more have been seen, as in
// Brent's search for a cycle, so that it doesn't matter how many are polled in turn.
bool looks_in_vain(Fiber& f, const void* slot, u32 news) {
    if (f.news != news) f.news = news, f.looks = 0, f.seen = nullptr;
    if (f.seen == slot) return true;
    if (std::has_single_bit(++f.looks)) f.seen = slot;
    return false;
}
bool has_news(const void* launch, u64 than) { return ((const Launch*)launch)->news != than || current().distrusts; }
// Gives others a turn before a look at what other blocks write; as many as it takes, if it would be in vain.
void pause(const void* slot) {
    Launch& launch = *current().launch;
    Fiber& self = *current().running;
    self.polls = true;
    if (looks_in_vain(self, slot, launch.news))
        self.ready = has_news, self.ready_of = &launch, self.ready_than = self.news;
    yield();
    self.polls = false;
}

bool past(const void* group, u64 generation) { return ((const Group*)group)->generation != generation; }
void meet(Group& group, u32 threads, bool ordered) {
    u64 generation = group.generation;
    const u64* order = &group.order[generation % 2];
    if (ordered) order::release(order);
    if (++group.arrived == threads) {
        group.arrived = 0;
        group.generation++;
        current().progress();
    } else {
        if (group.arrived > threads) fail("more threads at a barrier than it awaits");
        wait_for(past, &group, generation);
    }
    if (ordered) order::acquire(order);
}

// All lanes give a word; a lane then reads those of others.
u32* exchange(u32 word) {
    Warp& w = warp();
    u32 l = lane();
    u32* buffer = w.exchange[w.collectives[l]++ % 2];
    buffer[l] = word;
    meet(w.group, WARP, false);
    return buffer;
}

// The layout of `Barrier`: phase, bytes awaited, arrivals of a phase, arrivals awaited.
struct Phase {
    u8 phase;
    std::int32_t bytes;
    u16 arrivals, awaited;
};
Phase unpack(u64 word) {
    return {(u8)(word >> 56), (std::int32_t)((u32)(word >> 32) << 8) >> 8, (u16)(word >> 16), (u16)word};
}
u64 pack(Phase p) {
    return (u64)p.phase << 56 | (u64)((u32)p.bytes & 0xffffff) << 32 | (u64)p.arrivals << 16 | p.awaited;
}
const u64* order_of(const Barrier* barrier, u32 parity) {
    Block& b = current();
    u64 at = (const u8*)barrier - b.shared;
    if (at >= b.launch->shared_bytes) fail("a barrier outside shared memory");
    return &b.room.barrier_order[at / 8 * 2 + parity % 2];
}
void update(Barrier* barrier, u32 arrivals, std::int32_t bytes) {
    order::touches(barrier);
    Phase p = unpack(*barrier);
    order::release(order_of(barrier, p.phase));
    if (p.awaited < arrivals) fail("more arrivals than a barrier awaits");
    p.awaited -= arrivals;
    p.bytes += bytes;
    if (p.awaited == 0 && p.bytes == 0) p = {(u8)(p.phase + 1), 0, p.arrivals, p.arrivals};
    *barrier = pack(p);
    current().progress();
}
bool phase_over(const void* barrier, u64 parity) { return (unpack(*(const Barrier*)barrier).phase & 1) != parity; }

void issue(u8* to, const u8* from, u32 bytes, Barrier* barrier, bool store = false) {
    Block& b = current();
    u32 thread = b.running->thread, agent = b.random() % AGENTS;
    if (b.copies.wants_places()) {
        // Who frees them must be who allocated them, or it would look like a race.
        order::run_as(b.scheduler);
        b.copies.renew_places();
        order::run_as(b.room.known_as[thread]);
    }
    Batches& batches = b.room.batches[thread];
    u32* unmade = store ? &b.room.stores[thread].unmade : &batches.unmade[batches.current][agent];
    b.copies.push({thread, agent, unmade, store, to, from, bytes, barrier, nullptr});
    if (to) ++*unmade;
    else batches.next();
}
void make_a_copy(Block& b) {
    Copy copy = b.copies.take(b.random());
    order::run_as(b.room.agents[copy.agent]);
    order::acquire(copy.order);
    u64* made = &b.room.made_order[copy.thread];
    if (copy.to == nullptr) order::acquire(made);
    if (copy.to) {
        order::reads(copy.from, copy.bytes);
        order::writes(copy.to, copy.bytes);
        std::memcpy(copy.to, copy.from, copy.bytes);
        // An arrival comes after all of its batch: after the last that each agent makes.
        --*copy.unmade;
        if (copy.store) order::release(&b.room.stores[copy.thread].order);
        else if (*copy.unmade == 0) order::release(made);
    }
    if (copy.barrier) update(copy.barrier, copy.to ? 0 : 1, copy.to ? -(std::int32_t)copy.bytes : 0);
    b.progress();
    order::run_as(b.scheduler);
}

// Makes one of the stores that other blocks have sent, if there is any.
bool take_mail(Block& b) {
    Mail& mail = b.room.mail;
    Store store;
    bool any = mail.locked([&] {
        if (mail.stores.empty()) return false;
        std::swap(mail.stores[b.random() % mail.stores.size()], mail.stores.back());
        store = mail.stores.back();
        mail.stores.pop_back();
        return true;
    });
    if (!any) return false;
    order::run_as(b.room.agents[b.random() % AGENTS]);
    order::acquire(store.order);
    bool arrives = store.to == Store::ARRIVAL;
    if (!arrives) {
        order::writes(b.shared + store.to, 4);
        std::memcpy(b.shared + store.to, &store.word, 4);
    }
    update((Barrier*)(b.shared + store.barrier), arrives ? 1 : 0, arrives ? 0 : -4);
    order::run_as(b.scheduler);
    return true;
}

[[noreturn]] void fiber_main() {
    order::acquire(&current().started);
    Launch& launch = *current().launch;
    launch.kernel(launch.arguments);
    Block& b = current();
    order::release(&b.ended);
    b.running->done = true;
    b.progress();
    order::run_as(b.scheduler);
    void* unused;
    shim_switch(&unused, b.scheduler_stack);
    std::abort();
}

void resume(Block& b, Fiber& f) {
    if (!f.polls) b.progress();
    b.running = &f;
    order::run_as(b.room.known_as[f.thread]);
    shim_switch(&b.scheduler_stack, f.stack_pointer);
}

// Ends the program once every block has had its turns and none went on.
struct Watch {
    u64 seen = 0, turns = 0;
    void look(Launch& launch, u32 index, u64 more) {
        u64 progress = launch.progress.load(std::memory_order_relaxed);
        if (progress != seen) seen = progress, turns = 0;
        turns += more;
        if (turns < PATIENCE) return;
        turns = 0;
        launch.stands[index] = seen;
        if (launch.deadlocked()) fail("deadlock: no thread of any block can go on");
    }
};

// The core is for the blocks that this one waits for: for a turn, or if it `stands`, until they tell it something.
void let_others(Block& b, Watch& watch, bool stands, u32 news) {
    if (!stands) {
        sched_yield();
        watch.look(*b.launch, b.index, 1);
        return;
    }
    for (u64 turns = 0; turns < TRUST; turns += NAP) {
        b.launch->sleep(news);
        watch.look(*b.launch, b.index, NAP);
        if (b.launch->news != news) return;
    }
    b.distrusts = true;
}

// Waits till the other blocks have ended or stand still, or for a while.
void let_go_ahead(const Launch& launch, u32 index) {
    auto goes_on = [&](u32 i) { return i != index && launch.stands[i] == Launch::GOES_ON; };
    for (u32 waited = 0, i = 0; i < launch.blocks && waited < MOST_MILLISECONDS;) {
        if (!goes_on(i)) i++;
        else waited++, usleep(1000);
    }
}

void schedule(Block& b) {
    u32 threads = b.launch->threads, left = threads;
    Watch watch;
    bool resumed = true, late = b.index == b.launch->late;
    while (left > 0) {
        if (late && b.steps >= b.launch->late_at) late = false, let_go_ahead(*b.launch, b.index);
        u64 before = b.steps;
        u32 news = b.launch->news;
        // Threads up or down from a random one on, some warps left out if last time somebody went on.
        u32 start = b.random() % threads, step = b.random() % 2 ? 1 : threads - 1;
        u32 skip = resumed ? b.random() & b.random() : 0;
        resumed = false;
        for (u32 n = 0, i = start; n < threads; n++, i += step) {
            if (i >= threads) i -= threads;
            Fiber& f = b.fibers[i];
            if (f.done || skip >> (i / WARP) % 32 & 1) continue;
            if (f.ready) {
                if (!f.ready(f.ready_of, f.ready_than)) continue;
                f.ready = nullptr;
            }
            resume(b, f);
            resumed = true;
            if (f.done) left--;
        }
        // Many, if nobody went on: they are what is waited for.
        u32 odds = resumed ? 4 : 64;
        while (!b.copies.empty() && b.random() % odds) make_a_copy(b);
        while (own_cluster().arrived > 0 && b.random() % odds && take_mail(b)) {
        }
        b.distrusts = false;
        if (b.steps == before) let_others(b, watch, !resumed && skip == 0 && b.copies.empty(), news);
    }
    if (!b.copies.empty()) fail("a block ended before its copies were made");
    Mail& mail = b.room.mail;
    bool all = mail.locked([&] {
        mail.open = false;
        return mail.stores.empty();
    });
    if (!all) fail("a block ended before all came that others write into it");
}

void prepare(Block& b) {
    Launch& launch = *b.launch;
    b.random.seed(launch.seed * 7919 + b.index);
    u8* memory = b.room.memory.get();
    b.shared = memory + (128 - (std::uintptr_t)memory % 128) % 128;
    std::memset(b.shared, 0xa5, launch.shared_bytes);
    b.warps = std::vector<Warp>(launch.threads / WARP);
    b.fibers = std::vector<Fiber>(launch.threads);
    for (u32 t = 0; t < launch.threads; t++) {
        Fiber& f = b.fibers[t];
        f.thread = t;
        u8* stack = b.room.stacks.get() + t * STACK_BYTES;
        void** top = (void**)(((std::uintptr_t)stack + STACK_BYTES) & ~(std::uintptr_t)15);
        *--top = nullptr;
        *--top = (void*)fiber_main;
        for (int i = 0; i < 6; i++) *--top = nullptr;
        f.stack_pointer = top;
    }
}

void run_block(Launch* launch, u32 index) {
    Block b(launch, index, *launch->rooms[index]);
    prepare(b);
    block = &b;
    order::release(&b.started);
    schedule(b);
    order::acquire(&b.ended);
    block = nullptr;
}

// Runs blocks one after another, as long as there are some. That one has ended is told when the next goes on: else all that are left
// might seem to stand still.
void run_blocks(Launch* launch) {
    for (u32 ended = ~0u;;) {
        u32 index = launch->begun++;
        if (index < launch->blocks) launch->stands[index] = Launch::GOES_ON;
        if (ended != ~0u) launch->stands[ended] = Launch::ENDED;
        if (index >= launch->blocks) return;
        run_block(launch, index);
        ended = index;
    }
}

}  // namespace

void fail(const char* what) {
    std::fprintf(stderr, "shim: %s\n", what);
    std::fflush(stderr);
    std::_Exit(3);
}

void launch(u32 blocks, u32 threads, u32 shared_bytes, u32 seed, void (*kernel)(const void*), const void* arguments,
            u32 cluster, u32 residents) {
    static std::vector<std::unique_ptr<Room>> rooms;
    while (rooms.size() < blocks) rooms.emplace_back(new Room);
    cluster = std::min(cluster, blocks);
    if (blocks % cluster) fail("blocks that aren't in whole clusters");
    Launch launch = {blocks, threads, shared_bytes, seed, kernel, arguments, rooms.data(), cluster};
    if (residents >= blocks) launch.draw_late();
    // Those that others have to end before don't go on.
    for (u32 i = 0; i < blocks; i++) launch.stands[i] = i < residents ? Launch::GOES_ON : Launch::ENDED;
    for (u32 i = 0; i < blocks; i++) rooms[i]->fit(threads, shared_bytes), rooms[i]->mail.open = true;
    std::vector<std::thread> workers;
    for (u32 i = 0; i < std::min(blocks, residents); i++) workers.emplace_back(run_blocks, &launch);
    for (auto& worker : workers) worker.join();
}

u32 thread_index() { return current().running->thread; }
u32 block_index() { return current().index; }
u32 block_count() { return current().launch->blocks; }
u8* shared_memory() { return current().shared; }

void sync_block() { meet(current().whole, current().launch->threads, true); }
void sync_warp() { meet(warp().group, WARP, true); }
void sync_group(u32 id, u32 threads) { meet(current().named[id], threads, true); }
u32 shuffle(u32 word, u32 from) { return exchange(word)[from % WARP]; }
u32 ballot(u32 word) {
    u32 *votes = exchange(word), bits = 0;
    for (u32 i = 0; i < WARP; i++) bits |= (u32)(votes[i] != 0) << i;
    return bits;
}
bool all_lanes(u32 word) { return ballot(word) == ~0u; }

u64 barrier_word(u32 arrivals) { return pack({0, 0, (u16)arrivals, (u16)arrivals}); }
void barrier_arrive(Barrier* barrier, u32 bytes) { update(barrier, 1, (std::int32_t)bytes); }
void barrier_wait(Barrier* barrier, u32 parity) {
    order::touches(barrier);
    wait_for(phase_over, barrier, parity);
    order::acquire(order_of(barrier, parity));
}
void barrier_init_fence() { order::release(&own_cluster().initialised); }

bool all_arrived(const void* cluster, u64 threads) { return ((const Cluster*)cluster)->arrived >= threads; }
u64 threads_of_a_cluster() { return (u64)current().launch->cluster * current().launch->threads; }
void cluster_arrive() {
    if (own_cluster().arrived.fetch_add(1) >= threads_of_a_cluster()) fail("the cluster's barrier serves once");
    current().launch->tell();
    current().progress();
}
void cluster_wait() {
    wait_for(all_arrived, &own_cluster(), threads_of_a_cluster());
    order::acquire(&own_cluster().initialised);
}
// Sends to a block of the cluster; `to` is null for an arrival alone.
void send(u32 block, const void* to, u32 word, Barrier* barrier) {
    Block& b = current();
    u32 cluster = b.launch->cluster;
    if (block >= cluster) fail("a store to a block that isn't in the cluster");
    Mail& mail = b.launch->rooms[b.index / cluster * cluster + block]->mail;
    u64 place = to ? (const u8*)to - b.shared : Store::ARRIVAL, counter = (u8*)barrier - b.shared;
    if (to && (place % 4 || place + 4 > b.launch->shared_bytes)) fail("a store outside shared memory");
    bool sent = mail.locked([&] {
        if (mail.stores.size() == Mail::ROOM) fail("more stores at once than the shim keeps");
        const u64* order = &mail.orders[mail.sent++ % Mail::ROOM];
        order::release(order);
        if (mail.open) mail.stores.push_back({place, counter, word, order});
        return mail.open;
    });
    if (!sent) fail("a store to a block that has ended");
    b.launch->tell();
    b.progress();
}
void store_remote(u32* to, u32 block, u32 word, Barrier* barrier) { send(block, to, word, barrier); }
void arrive_remote(u32 block, Barrier* barrier) { send(block, nullptr, 0, barrier); }
void copy_later(void* to, const void* from, u32 bytes, Barrier* barrier) {
    u32 unit = bytes == 4 ? 4 : 16;
    if (((std::uintptr_t)to | (std::uintptr_t)from | bytes) % unit) fail("a copy off its boundary");
    issue((u8*)to, (const u8*)from, bytes, barrier);
}
void arrive_later(Barrier* barrier) { issue(nullptr, nullptr, 0, barrier); }
void store_later(void* to, const void* from, u32 bytes) {
    Block& b = current();
    if (((std::uintptr_t)to | (std::uintptr_t)from | bytes) % 16) fail("a store off its boundary");
    u64 at = (const u8*)from - b.shared;
    if (at > b.launch->shared_bytes || bytes > b.launch->shared_bytes - at) fail("a store from outside shared memory");
    issue((u8*)to, (const u8*)from, bytes, nullptr, true);
}
bool all_stored(const void* stores, u64) { return ((const Stores*)stores)->unmade == 0; }
void await_stores() {
    const Stores& own = current().room.stores[current().running->thread];
    wait_for(all_stored, &own, 0);
    order::acquire(&own.order);
}

// 16 bytes at once, by cmpxchg16b.
void store_slot(void* to, u64 low, u64 high) {
    auto* slot = (unsigned __int128*)to;
    unsigned __int128 value = (unsigned __int128)high << 64 | low, seen = *slot, before;
    while ((before = __sync_val_compare_and_swap(slot, seen, value)) != seen) seen = before;
    current().launch->tell();
    current().progress();
}
void load_slot(const void* from, u64& low, u64& high) {
    pause(from);
    unsigned __int128 value = __sync_val_compare_and_swap((unsigned __int128*)from, 0, 0);
    low = (u64)value, high = (u64)(value >> 64);
}
u64 load_word(const u64* from) { return std::atomic_ref<u64>(*const_cast<u64*>(from)).load(std::memory_order_relaxed); }
void store_word(u64* to, u64 word) { std::atomic_ref<u64>(*to).store(word, std::memory_order_relaxed); }

}  // namespace shim
