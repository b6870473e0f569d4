#!/usr/bin/env python3
"""kogge beside its rivals of other languages, in one process and in turn.

Rivals in Python are called as their users call them, into an existing output where they can.
Those in C++ (peers.cpp) and Rust (kogge-ffi) are called through ctypes, and repeat short calls on
their own side of it. Every result is checked before anything is timed; a rival whose result is
wrong stops the run. The record has the schema of `kogge-bench cpu`.
"""

import argparse
import ctypes
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
DTYPES = ["i8", "i16", "i32", "i64", "f16", "f32", "f64"]
CPP_DTYPES = ["i8", "i16", "i32", "i64", "f32", "f64"]
# A timed stretch is at least this long, so that the clock and the crossing don't count.
STRETCH_NS = 100_000
# Who is done sooner may find all in cache, and is called so often before it is timed (measure.rs says why).
CACHED_NS = 1_000_000
CALLS_BEFORE = 4
# And for so long at least: threads that rested take a while to wake.
AWAKE_NS = 500_000
# Contenders this many times slower than kogge sit out three rounds in four.
SLOW = 8
MODES = ["into", "in-place"]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dtype", default="f32", help=f"comma-separated, of {', '.join(DTYPES)}")
    parser.add_argument("--mode", default="into,in-place", help=f"comma-separated, of {', '.join(MODES)}")
    parser.add_argument("--log2", default="10,14,17,20,24", help="logarithms of lengths: 10..=24, 12,16")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--seconds", type=float, default=1.0, help="for each type, mode and length")
    parser.add_argument("--rounds", type=int, default=5, help="at least")
    parser.add_argument("--target", type=Path, help="cargo's target folder [default: CARGO_TARGET_DIR, or target]")
    parser.add_argument("--record", type=Path, help="add what was measured to this record")
    parser.add_argument("--all", action="store_true", help="print every contender")
    parser.add_argument("--check", action="store_true", help="check every contender at small lengths; time nothing")
    options = parser.parse_args()
    for name, given, known in (("dtype", options.dtype, DTYPES), ("mode", options.mode, MODES)):
        unknown = [value for value in given.split(",") if value not in known]
        if unknown:
            parser.error(f"argument --{name}: {unknown[0]!r} is none of {', '.join(known)}")
    return options


def lengths(text):
    for part in text.split(","):
        low, _, high = part.partition("..")
        for log2 in range(int(low), int(high.lstrip("=") or low) + 1):
            yield 1 << log2


class Contender:
    """A named way to scan `x` into `y`, or `y` in place."""

    def __init__(self, name, role, threads, run, checked=True, result=None):
        self.name, self.role, self.threads = name, role, threads
        self.run, self.checked = run, checked
        # What is to be checked if it isn't `y`: rivals that can only allocate.
        self.result = result


def stale(library):
    """Whether something that cargo made a library of was changed, or removed, since."""
    rule = library.with_suffix(".d").read_text().splitlines()[0]
    # Behind the first colon and blank; blanks in names are escaped.
    names = re.split(r"(?<!\\) ", rule.split(": ", 1)[1])
    sources = [Path(name.replace("\\ ", " ")) for name in names]
    built = library.stat().st_mtime
    return any(not source.exists() or source.stat().st_mtime > built for source in sources)


class Rust:
    """The contenders of kogge-ffi, and what the harness knows."""

    def __init__(self, target):
        name = {"Darwin": "libkogge_bench_ffi.dylib", "Windows": "kogge_bench_ffi.dll"}
        path = target / "release" / name.get(platform.system(), "libkogge_bench_ffi.so")
        if not path.exists():
            sys.exit(f"{path} is missing: cargo build --release -p kogge-bench-ffi")
        if stale(path):
            # A record would name the sources' commit.
            sys.exit(f"{path} is older than its sources: cargo build --release -p kogge-bench-ffi")
        lib = self.lib = ctypes.CDLL(str(path))
        size, pointer, flag = ctypes.c_size_t, ctypes.c_void_p, ctypes.c_bool
        text = ctypes.c_char_p
        for function, result, parameters in [
            ("count", size, [size, flag]),
            ("name", text, [size, flag, size]),
            ("role", text, [size, flag, size]),
            ("threads", size, [size, flag, size]),
            ("checked", flag, [size, flag, size]),
            ("call", None, [size, flag, size, pointer, pointer, size, size]),
            ("rest", flag, []),
            ("fill", None, [size, pointer, size]),
            ("check", flag, [size, pointer, size]),
            ("begin", pointer, []),
            ("table", pointer, [text, flag]),
            ("add", pointer, [text, text]),
            ("free", None, [pointer]),
        ]:
            entry = getattr(lib, f"kogge_bench_{function}")
            entry.restype, entry.argtypes = result, parameters
            setattr(self, function, entry)

    def text(self, pointer):
        """A string that the library made."""
        if not pointer:
            return None
        value = ctypes.cast(pointer, ctypes.c_char_p).value.decode()
        self.free(pointer)
        return value

    def contenders(self, dtype, in_place, x, y):
        number = DTYPES.index(dtype)
        for i in range(self.count(number, in_place)):
            def run(calls, i=i):
                source = None if in_place else x.ctypes.data
                self.call(number, in_place, i, source, y.ctypes.data, len(y), calls)
            name = self.name(number, in_place, i).decode()
            role = self.role(number, in_place, i).decode()
            threads = self.threads(number, in_place, i)
            yield Contender(name, role, threads, run, self.checked(number, in_place, i))


class Cpp:
    """The contenders of peers.cpp, compiled when they are older than their source."""

    def __init__(self, target, threads):
        source, library = HERE / "peers.cpp", target / "libkogge_peers.so"
        if not library.exists() or library.stat().st_mtime < source.stat().st_mtime:
            flags = "-std=c++20 -O3 -march=native -fwrapv -shared -fPIC".split()
            compiler = os.environ.get("CXX", "g++")
            command = [compiler, *flags, source, "-o", library, "-ltbb"]
            if not shutil.which(compiler) or subprocess.run(command).returncode:
                sys.exit(f"error: {source.name} doesn't compile: apt install g++ libtbb-dev")
        self.lib = ctypes.CDLL(str(library))
        size, pointer = ctypes.c_size_t, ctypes.c_void_p
        self.lib.peers_name.restype = self.lib.peers_versions.restype = ctypes.c_char_p
        self.lib.peers_name.argtypes = self.lib.peers_parallel.argtypes = [size]
        self.lib.peers_parallel.restype = ctypes.c_bool
        self.lib.peers_count.restype = size
        self.lib.peers_call.argtypes = [size, size, pointer, pointer, size, size]
        self.lib.peers_set_threads.argtypes = [size]
        self.lib.peers_set_threads(threads)
        self.threads = threads

    def versions(self):
        return [self.lib.peers_versions().decode() + ", -O3 -march=native"]

    def contenders(self, dtype, in_place, x, y):
        if dtype not in CPP_DTYPES:
            return
        number = CPP_DTYPES.index(dtype)
        for i in range(self.lib.peers_count()):
            def run(calls, i=i):
                source = y if in_place else x
                self.lib.peers_call(number, i, source.ctypes.data, y.ctypes.data, len(y), calls)
            threads = self.threads if self.lib.peers_parallel(i) else 1
            name = self.lib.peers_name(i).decode()
            yield Contender(name, "peer", threads, run)


class Python:
    """numpy, PyTorch, Polars and PyArrow; each is called once for each call."""

    def __init__(self, threads):
        import numpy
        import polars
        import pyarrow
        import pyarrow.compute
        import torch

        torch.set_num_threads(threads)
        pyarrow.set_cpu_count(threads)
        self.numpy, self.polars, self.pyarrow, self.torch = numpy, polars, pyarrow, torch
        self.threads = threads

    def versions(self):
        modules = [self.numpy, self.torch, self.polars, self.pyarrow]
        names = [f"{module.__name__} {module.__version__}" for module in modules]
        return [f"Python {platform.python_version()}", *names]

    def contenders(self, dtype, in_place, x, y):
        numpy, torch = self.numpy, self.torch
        tensor = torch.from_numpy(y)
        if in_place:
            yield self.one("numpy cumsum", lambda: numpy.cumsum(y, dtype=y.dtype, out=y))
            yield self.one("PyTorch cumsum_", lambda: tensor.cumsum_(0, dtype=tensor.dtype), self.threads)
            return
        source = torch.from_numpy(x)
        yield self.one("numpy cumsum", lambda: numpy.cumsum(x, dtype=x.dtype, out=y))
        yield self.one(
            "PyTorch cumsum",
            lambda: torch.cumsum(source, 0, dtype=source.dtype, out=tensor),
            self.threads,
        )
        if dtype == "f16":
            return
        series = self.polars.Series(x)
        yield self.one(
            "Polars cum_sum, allocated",
            lambda: series.cum_sum(),
            self.threads,
            lambda: series.cum_sum().to_numpy().astype(x.dtype, copy=False),
        )
        array, compute = self.pyarrow.array(x), self.pyarrow.compute
        yield self.one(
            "PyArrow cumulative_sum, allocated",
            lambda: compute.cumulative_sum(array),
            1,
            lambda: compute.cumulative_sum(array).to_numpy(),
        )

    @staticmethod
    def one(name, once, threads=1, result=None):
        def run(calls):
            for _ in range(calls):
                once()
        return Contender(name, "peer", threads, run, result=result)


def paged(numpy, dtype, length):
    """Zeros from the start of a page, so that input and output lie alike for every contender."""
    dtype = numpy.dtype(dtype[0] + str(int(dtype[1:]) // 8))
    size, page = length * dtype.itemsize, 4096
    memory = numpy.empty(size + page, numpy.uint8)
    start = -memory.ctypes.data % page
    values = memory[start : start + size].view(dtype)
    values.fill(0)
    return values


def stretch(contender, calls):
    start = time.perf_counter_ns()
    contender.run(calls)
    return time.perf_counter_ns() - start


def enough(contender):
    """Calls that fill a stretch, so that neither the clock nor the crossing counts."""
    if stretch(contender, 1) < CACHED_NS:
        contender.run(CALLS_BEFORE)
    calls = 1
    while (took := stretch(contender, calls)) < STRETCH_NS and calls < 100_000:
        calls = max(2 * calls, min(10 * calls, calls * STRETCH_NS // max(1, took)))
    return calls


def quantile(times, q):
    place = q * (len(times) - 1)
    low = int(place)
    high = min(low + 1, len(times) - 1)
    return times[low] + (times[high] - times[low]) * (place - low)


def interleaved(contenders, seconds, rounds, rest):
    """Times contenders in turn, round after round; as measure.rs does."""
    calls = [enough(one) for one in contenders]
    once = [max(1, stretch(one, n) // n) for one, n in zip(contenders, calls)]
    kogge = next(t for one, t in zip(contenders, once) if one.role == "kogge")
    times = [[] for _ in contenders]
    turns = restless = 0
    start, round_ = time.perf_counter(), 0
    while round_ < rounds or time.perf_counter() - start < seconds:
        for i, one in enumerate(contenders):
            if once[i] > SLOW * kogge and round_ % 4:
                continue
            # Threads of the one before may go on for a while: everybody begins with the CPUs to itself.
            turns, restless = turns + 1, restless + (not rest())
            if once[i] < CACHED_NS:
                # What fits in the caches is measured there, not where the one before left it.
                begin = time.perf_counter_ns()
                one.run(CALLS_BEFORE)
                while time.perf_counter_ns() - begin < AWAKE_NS:
                    one.run(CALLS_BEFORE)
            times[i].append(stretch(one, calls[i]) / calls[i])
        round_ += 1
    if restless:
        print(f"{restless} of {turns} turns began while other threads of the process ran", file=sys.stderr)
    return [
        {
            "name": one.name,
            "role": one.role,
            "threads": one.threads,
            "runs": len(t),
            "calls_per_run": n,
            "median_ns": quantile(sorted(t), 0.5),
            "min_ns": min(t),
            "p25_ns": quantile(sorted(t), 0.25),
            "p75_ns": quantile(sorted(t), 0.75),
        }
        for one, t, n in zip(contenders, times, calls)
    ]


class Harness:
    """All contenders, and the buffers they meet on."""

    def __init__(self, options):
        target = options.target or Path(os.environ.get("CARGO_TARGET_DIR", HERE.parents[1] / "target"))
        # The pools are made at the first use, with these threads.
        os.environ["RAYON_NUM_THREADS"] = os.environ["POLARS_MAX_THREADS"] = str(options.threads)
        self.rust = Rust(target)
        self.cpp = Cpp(target, options.threads)
        self.python = Python(options.threads)
        self.options = options

    def cell(self, dtype, mode, length):
        numpy = self.python.numpy
        number, in_place = DTYPES.index(dtype), mode == "in-place"
        y = paged(numpy, dtype, length)
        x = y if in_place else paged(numpy, dtype, length)
        self.rust.fill(number, x.ctypes.data, length)
        contenders = [
            one
            for family in (self.rust, self.cpp, self.python)
            for one in family.contenders(dtype, in_place, x, y)
        ]
        for one in contenders:
            self.verify(one, number, in_place, y, f"{one.name}: wrong for {length} {dtype}, {mode}")
        if self.options.check:
            return None
        series = interleaved(contenders, self.options.seconds, self.options.rounds, self.rust.rest)
        size = y.dtype.itemsize
        return {"dtype": dtype, "element_bytes": size, "mode": mode, "len": length, "series": series}

    def verify(self, one, number, in_place, y, message):
        if in_place:
            self.rust.fill(number, y.ctypes.data, len(y))
        else:
            y.fill(0)
        if one.result is None:
            one.run(1)
            result = y
        else:
            result = self.python.numpy.ascontiguousarray(one.result())
        if one.checked and not self.rust.check(number, result.ctypes.data, len(y)):
            sys.exit(message)

    def header(self):
        record = json.loads(self.rust.text(self.rust.begin()))
        record["runs"][0]["versions"] += self.cpp.versions() + self.python.versions()
        return record

    def report(self, record):
        text = json.dumps(record).encode()
        print(self.rust.text(self.rust.table(text, self.options.all)), end="", flush=True)
        if self.options.record:
            error = self.rust.text(self.rust.add(str(self.options.record).encode(), text))
            if error:
                sys.exit(error)


def check(harness):
    """Every contender at lengths that try its edges, and the checker itself against Python's sums."""
    import itertools

    numpy = harness.python.numpy
    for number, dtype in enumerate(DTYPES):
        x = numpy.zeros(1000, numpy.dtype(dtype[0] + str(int(dtype[1:]) // 8)))
        harness.rust.fill(number, x.ctypes.data, len(x))
        kind = float if dtype[0] == "f" else int
        sums = itertools.accumulate(map(kind, x))
        wide = numpy.array(list(sums), numpy.float64 if kind is float else object)
        if kind is int:
            wide = numpy.array([value % (1 << 64) for value in wide], numpy.uint64)
        y = wide.astype(x.dtype)
        assert harness.rust.check(number, y.ctypes.data, len(y)), dtype
        y[500] += y.dtype.type(1)
        assert not harness.rust.check(number, y.ctypes.data, len(y)), dtype
        for mode in MODES:
            for length in (1, 2, 1000, 4097, 70_001):
                harness.cell(dtype, mode, length)
    print("every contender is right")


def main():
    options = arguments()
    harness = Harness(options)
    if options.check:
        check(harness)
        return
    for dtype in options.dtype.split(","):
        for mode in options.mode.split(","):
            record = harness.header()
            for length in lengths(options.log2):
                record["runs"][0]["cells"].append(harness.cell(dtype, mode, length))
                print(f"{dtype} {mode} {length}", file=sys.stderr)
            harness.report(record)


if __name__ == "__main__":
    main()
