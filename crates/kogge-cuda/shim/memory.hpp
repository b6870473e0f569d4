// What a program under the shim reads its requests into, so that a byte written where none may be ends it.
#pragma once
#include "runtime.hpp"

#include <cstdio>
#include <cstring>
#include <memory>

// Of a way to scan that programs for planted faults leave out: they are compiled for each fault.
#ifdef KOGGE_FEW
#define UNLESS_FEW(...) nullptr
#else
#define UNLESS_FEW(...) __VA_ARGS__
#endif

enum : u32 { GUARD = 256 };
// Bytes at an offset from a multiple of 16, with a guard on both sides.
struct Memory {
    std::unique_ptr<u8[]> bytes;
    u8* at;
    u64 size;
    Memory(u64 size, u32 offset) : bytes(new u8[size + 2 * GUARD + 16]), size(size) {
        std::memset(bytes.get(), 0xc3, size + 2 * GUARD + 16);
        at = bytes.get() + GUARD + (16 - (std::uintptr_t)bytes.get() % 16) % 16 + offset;
    }
    void check() const {
        const u8 *begin = bytes.get(), *end = begin + size + 2 * GUARD + 16;
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
