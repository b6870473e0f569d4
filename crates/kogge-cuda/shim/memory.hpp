// What a program under the shim reads its requests into, so that a byte written where none may be ends it;
// and its specimens by name. Without containers of the standard library: reading their headers takes
// longer than compiling a specimen.
#pragma once
#include "runtime.hpp"

#include <cstdio>
#include <cstring>
#include <initializer_list>

// A program that goes on asking slots, which no deadlock is seen in, ends after so long. What tries faults answers within
// seconds, or has one; the race detector takes several times as long.
#if defined(KOGGE_FEW) && !defined(__SANITIZE_THREAD__)
constexpr unsigned REQUEST_SECONDS = 10;
#elif defined(KOGGE_FEW)
constexpr unsigned REQUEST_SECONDS = 30;
#else
constexpr unsigned REQUEST_SECONDS = 300;
#endif

// Whether the program has the specimen of this name: a fault is tried on one alone, since most of its time would go into
// compiling the others.
constexpr bool has([[maybe_unused]] const char* name) {
#ifdef KOGGE_ONLY
    return __builtin_strcmp(name, KOGGE_ONLY) == 0;
#else
    return true;
#endif
}
// Whether it has that in a way to scan: 1 for exclusive, and 2 more for reverse. Of brackets it has all four. Of others
// two, which take half of the time to compile: these or those by the length of the name, or all if they are wanted. Programs
// for planted faults are compiled for each of them, and have two.
constexpr bool has_way([[maybe_unused]] const char* name, [[maybe_unused]] u32 way) {
#ifdef KOGGE_FEW
    return way % 3 == 0;
#elif defined(KOGGE_ALL_WAYS)
    return true;
#else
    return __builtin_strncmp(name, "brackets", 8) == 0 || (way % 3 == 0) == (__builtin_strlen(name) % 2 == 0);
#endif
}
// What stands for a specimen that the program hasn't got.
struct Absent {};
template <bool HAS, class S>
struct Either {
    typedef S Type;
};
template <class S>
struct Either<false, S> {
    typedef Absent Type;
};
#define IF_HAS(name, ...) typename Either<has(#name), __VA_ARGS__>::Type
#define IF_HAS_WAY(name, way, ...) typename Either<has(#name) && has_way(#name, way), __VA_ARGS__>::Type

enum : u32 { GUARD = 256 };
// Bytes at an offset from a multiple of 16, with a guard on both sides.
struct Memory {
    u8* bytes;
    u8* at;
    u64 size;
    Memory(u64 size, u32 offset) : bytes(new u8[size + 2 * GUARD + 16]), size(size) {
        std::memset(bytes, 0xc3, size + 2 * GUARD + 16);
        at = bytes + GUARD + (16 - (std::uintptr_t)bytes % 16) % 16 + offset;
    }
    Memory(const Memory&) = delete;
    ~Memory() { delete[] bytes; }
    void check() const {
        const u8 *begin = bytes, *end = begin + size + 2 * GUARD + 16;
        for (const u8* p = begin; p < at; p++) untouched(*p);
        for (const u8* p = at + size; p < end; p++) untouched(*p);
    }

  private:
    static void untouched(u8 byte) {
        if (byte != 0xc3) shim::fail("a byte outside the output was written");
    }
};

inline void read_all(u8* to, u64 bytes) {
    if (std::fread(to, 1, bytes, stdin) != bytes) shim::fail("the request ends early");
}

// A specimen's entry under its name, and the workspace that its requests share, as calls do.
template <class Entry>
struct Named {
    const char* name;
    Entry entry;
    Memory* workspace = nullptr;

    // Zeroed at first.
    Memory& shared(u64 bytes) {
        if (!workspace) {
            workspace = new Memory(bytes, 0);
            std::memset(workspace->at, 0, bytes);
        }
        return *workspace;
    }
};
template <class Entry, u32 N>
Named<Entry>& find(Named<Entry> (&entries)[N], const char* name) {
    for (Named<Entry>& e : entries)
        if (std::strcmp(e.name, name) == 0) return e;
    shim::fail("no specimen has this name");
}
