#!/usr/bin/env python3
"""`kogge scan` on files, beside `cp`, numpy and Polars on the same files.

Each run is a process of its own, as a user starts it, and all contenders of a case run in turn.
Before a run its output is removed, what earlier runs wrote is on disk, and the input is out of the
page cache (`--warm`: in it). Every result is read back and checked once before anything is timed.
A record keeps every run; what is measured again is added to it.
"""

import argparse
import json
import os
import platform
import resource
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

# Address space of kogge in the case of the large file, as by `ulimit -v`.
LIMIT = 2 << 30
BLOCK = 1 << 22


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kogge", type=Path, default=Path("target/release/kogge"))
    parser.add_argument("--directory", type=Path, required=True, help="for files: room for three of the large one")
    parser.add_argument("--cases", default="file,axis,runs", help="some of file, axis, runs, operators")
    parser.add_argument("--only", default="", help="cases whose names contain this")
    parser.add_argument("--gib", type=float, default=6, help="of the large file")
    parser.add_argument("--table", type=Path, help="flights-3m.parquet, for the case runs")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--keep", action="store_true", help="use the inputs of an earlier call, and leave them")
    parser.add_argument("--unchecked", action="store_true", help="an earlier call has checked the results")
    parser.add_argument("--warm", action="store_true", help="inputs lie in the page cache")
    parser.add_argument("--than", type=Path, help="another kogge to stand beside")
    parser.add_argument("--record", type=Path, help="add what was measured to this record")
    return parser.parse_args()


# Inputs, whose sums are known: the sum at i is a hash of i below 2^20, so that sums of floats are
# whole numbers and exact in every order.


def sums(start, end):
    index = np.arange(start, end, dtype=np.uint32)
    return (index * np.uint32(2654435761)) >> np.uint32(12)


def make_array(args, path, shape, axis_first=False):
    """Writes float32 of this shape; sums are known along it flat, or along its first axis."""
    if args.keep and path.exists():
        return
    size = int(np.prod(shape))
    data = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(size,))
    step = shape[1] if axis_first else 1
    for start in range(0, size, BLOCK):
        end = min(start + BLOCK, size)
        now = sums(start, end).astype(np.float32)
        back = max(start - step, 0)
        before = np.zeros(end - start, np.float32)
        known = sums(back, end - step) if end > step else np.zeros(0)
        before[len(before) - len(known) :] = known
        data[start:end] = now - before
    data.flush()
    del data
    with open(path, "r+b") as file:
        np.lib.format.read_magic(file)
        # The same length of header for every shape, so that it can be put in the other's place.
        end = file.tell() + 2 + int.from_bytes(file.read(2), "little")
        text = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {tuple(shape)}, }}"
        file.seek(10)
        file.write(text.ljust(end - 11).encode() + b"\n")


def done(args, path):
    if not args.keep:
        path.unlink()


def check_array(path):
    data = np.load(path, mmap_mode="r").reshape(-1)
    for start in range(0, len(data), BLOCK):
        end = min(start + BLOCK, len(data))
        if not np.array_equal(data[start:end], sums(start, end).astype(np.float32)):
            sys.exit(f"{path} is wrong between {start} and {end}")


# Runs


def drop(path):
    """Puts a file on disk and out of the page cache."""
    with open(path, "rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def fetch(path):
    with open(path, "rb") as file:
        while file.read(1 << 22):
            pass


def run(contender, case, warm):
    case["output"].unlink(missing_ok=True)
    os.sync()
    (fetch if warm else drop)(case["input"])

    def limit():
        if contender.get("limit"):
            resource.setrlimit(resource.RLIMIT_AS, (LIMIT, LIMIT))

    start = time.perf_counter()
    child = subprocess.Popen(contender["command"], preexec_fn=limit, stdout=subprocess.PIPE, text=True)
    said = child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    done = time.perf_counter()
    with open(case["output"], "rb") as file:
        os.fsync(file.fileno())
    synced = time.perf_counter()
    if status:
        sys.exit(f"{contender['name']} failed: {status}")
    return {
        "seconds": done - start,
        "seconds_with_fsync": synced - start,
        "seconds_without_start": float(said) if said else None,
        "output_bytes": case["output"].stat().st_size,
        "cpu_seconds": usage.ru_utime + usage.ru_stime,
        "peak_bytes": usage.ru_maxrss * 1024,
    }


def measure(case, args):
    if not args.unchecked:
        for contender in case["contenders"]:
            run(contender, case, args.warm)
            case["check"](contender)
    cell = {"case": case["name"], "input_bytes": case["bytes"], "warm": args.warm, "series": []}
    for contender in case["contenders"]:
        entry = {key: contender[key] for key in ("name", "role", "says")}
        cell["series"].append(entry | {"runs": []})
    for _ in range(args.rounds):
        for contender, entry in zip(case["contenders"], cell["series"]):
            entry["runs"].append(run(contender, case, args.warm))
    case["output"].unlink()
    return cell


def add(record, cell):
    """Puts a cell into a record, its runs behind those of the same case."""
    same = lambda old: all(old[key] == cell[key] for key in ("case", "input_bytes", "warm"))
    old = next(filter(same, record["cases"]), None)
    if old is None:
        record["cases"].append(cell)
        return cell
    for entry in cell["series"]:
        known = next((known for known in old["series"] if known["name"] == entry["name"]), None)
        if known is None:
            old["series"].append(entry)
        else:
            known["runs"] += entry["runs"]
    return old


def show(cell):
    def median(entry, key):
        return statistics.median(run[key] for run in entry["runs"])

    kogge = next(entry for entry in cell["series"] if entry["role"] == "kogge")
    print(f"{cell['case']}, {cell['input_bytes'] / 2**30:.2f} GiB, {'warm' if cell['warm'] else 'cold'}, medians of")
    for entry in cell["series"]:
        done, synced = median(entry, "seconds"), median(entry, "seconds_with_fsync")
        print(
            f"  {len(entry['runs'])} x {entry['name']:20} {done:7.3f} s, with fsync {synced:7.3f} s,"
            f" {median(entry, 'cpu_seconds'):6.2f} s of cores, {median(entry, 'peak_bytes') / 2**20:5.0f} MiB,"
            f" kogge is {done / median(kogge, 'seconds'):5.2f} and"
            f" {synced / median(kogge, 'seconds_with_fsync'):5.2f} times as fast",
            flush=True,
        )


# Cases


def kogge(args, options, case_input, output, **more):
    words = options.split()
    says = " ".join(["kogge scan", case_input.name, *words, "-o", output.name])
    found = [("kogge", "kogge", args.kogge)]
    if args.than:
        found.append(("kogge before", "other", args.than))
    return [
        {"name": name, "role": role, "says": says, **more}
        | {"command": [str(binary), "scan", str(case_input), *words, "-o", str(output)]}
        for name, role, binary in found
    ]


def python(name, program, case_input, output):
    """A program that reads `input` and writes `output`, timed inside as well, imports apart."""
    imports, body = program
    text = f"{imports}\nimport sys, time\ninput, output = sys.argv[1:]\nstart = time.perf_counter()\n"
    text += f"{body}\nprint(time.perf_counter() - start)\n"
    command = [sys.executable, "-c", text, str(case_input), str(output)]
    return {"name": name, "role": "rival", "says": body, "command": command}


def file_case(args):
    source, output = args.directory / "large.npy", args.directory / "large-out.npy"
    make_array(args, source, (int(args.gib * 2**30) // 4,))
    copy = ["cp", "--reflink=never", str(source), str(output)]
    yield {
        "name": "sum of a large .npy",
        "input": source,
        "output": output,
        "bytes": source.stat().st_size,
        "check": lambda contender: contender["role"] == "copy" or check_array(output),
        "contenders": [
            {"name": "cp", "role": "copy", "says": "cp --reflink=never", "command": copy},
            *kogge(args, "--op sum", source, output, limit=True),
        ],
    }
    done(args, source)


def axis_case(args):
    tall, wide = (262144, 1024), (1024, 262144)
    for shape, axis in [(tall, 0), (tall, 1), (wide, 0)]:
        source, output = args.directory / f"axis-{axis}-{shape[0]}.npy", args.directory / "axis-out.npy"
        make_array(args, source, shape, axis_first=axis == 0)
        lines = "x = np.load(input, mmap_mode='r')\n"
        lines += "y = np.lib.format.open_memmap(output, mode='w+', dtype=x.dtype, shape=x.shape)\n"
        lines += f"np.cumsum(x, axis={axis}, out=y)\ny.flush()"
        whole = f"np.save(output, np.cumsum(np.load(input), axis={axis}))"
        copy = ["cp", "--reflink=never", str(source), str(output)]

        def check(contender, axis=axis, source=source, output=output):
            if contender["role"] == "copy":
                return
            if axis == 0:
                check_array(output)
            else:
                expected = np.cumsum(np.load(source), axis=axis)
                assert np.array_equal(np.load(output), expected), contender["name"]

        yield {
            "name": f"sum along axis {axis} of {shape[0]}x{shape[1]}",
            "input": source,
            "output": output,
            "bytes": source.stat().st_size,
            "check": check,
            "contenders": [
                {"name": "cp", "role": "copy", "says": "cp --reflink=never", "command": copy},
                *kogge(args, f"--axis {axis}", source, output),
                python("numpy", ("import numpy as np", whole), source, output),
                python("numpy, mapped files", ("import numpy as np", lines), source, output),
            ],
        }
        done(args, source)


def runs_case(args):
    import polars as pl

    source, output = args.table, args.directory / "runs-out.parquet"
    body = "x = pl.scan_parquet(input)\n"
    body += "x.with_columns(delay_sum=pl.col('delay').cast(pl.Int64).cum_sum()"
    body += ".over(pl.col('origin').rle_id())).sink_parquet(output)"
    expected = []

    def check(contender):
        found = pl.read_parquet(output).select("delay", "origin", "delay_sum")
        if not expected:
            rest = pl.read_parquet(source, columns=["delay", "origin"])
            sums = pl.col("delay").cast(pl.Int64).cum_sum().over(pl.col("origin").rle_id())
            expected.append(rest.with_columns(delay_sum=sums))
        assert found.equals(expected[0], null_equal=True), contender["name"]

    yield {
        "name": "sum by runs of a key, Parquet into Parquet",
        "input": source,
        "output": output,
        "bytes": source.stat().st_size,
        "check": check,
        "contenders": [
            *kogge(args, "--column delay --by origin", source, output),
            python("polars", ("import polars as pl", body), source, output),
        ],
    }


def operators_case(args):
    """Every operator beside another kogge; `cp` shows the disk."""
    source, output = args.directory / "operators.npy", args.directory / "operators-out.npy"
    make_array(args, source, (1 << 28,))
    for op in "sum product min max logaddexp last-valid argmin argmax".split():
        yield {
            "name": f"{op} of a .npy",
            "input": source,
            "output": output,
            "bytes": source.stat().st_size,
            "check": lambda contender: None,
            "contenders": kogge(args, f"--op {op}", source, output),
        }
    done(args, source)


CASES = {"file": file_case, "axis": axis_case, "runs": runs_case, "operators": operators_case}


def machine():
    cpu = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if "model name" in line), "")
    return {
        "cpu": cpu,
        "cpus": os.cpu_count(),
        "kernel": f"{platform.system()} {platform.release()}",
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
    }


def versions():
    git = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, cwd=Path(__file__).parent)
    found = {"numpy": np.__version__, "kogge": git.stdout.strip()}
    try:
        import polars

        found["polars"] = polars.__version__
    except ImportError:
        pass
    return found


def main():
    args = arguments()
    args.kogge = args.kogge.resolve()
    if not args.kogge.exists():
        sys.exit(f"{args.kogge} is missing: cargo build --release -p kogge-cli")
    needed = int(args.gib * 2**30) * 2 if "file" in args.cases else 3 << 30
    if shutil.disk_usage(args.directory).free < needed:
        sys.exit(f"{args.directory} has too little room")
    record = {"machine": machine(), "versions": versions(), "cases": []}
    if args.record and args.record.exists():
        record["cases"] = json.loads(args.record.read_text())["cases"]
    for name in args.cases.split(","):
        for case in CASES[name](args):
            if args.only not in case["name"]:
                continue
            cell = add(record, measure(case, args))
            cell["date"] = time.strftime("%Y-%m-%d")
            show(cell)
            if args.record:
                args.record.write_text(json.dumps(record, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
