#!/usr/bin/env python3
"""How long programs with one scan in them take to compile, as their users wait for them.

The engine is generic, so its code is generated where it is used, for each operator and element.
Each program is compiled alone, after all that it depends on; of several checkouts in turn.
"""

import argparse
import json
import os
import platform
import resource
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

HEAD = "use kogge::ops::*;\nuse kogge::*;\n"

PROGRAMS = {
    "f32 sum of a slice": "let mut x = vec![1f32; 99]; inclusive_scan_in_place(&mut x, Sum);",
    "affine maps of a slice": "let mut x = vec![Affine { a: 1f32, b: 2.0 }; 99];"
    " inclusive_scan_in_place(&mut x, Compose);",
    "f32 sum by offsets": "let mut x = vec![1f32; 99];"
    " Scan::new(Sum).segments(by_offsets(&[0u32, 9, 99])).scan_in_place(&mut x).unwrap();",
    "f32 sum along an axis": "let mut x = vec![1f32; 99]; let layout = Layout::row_major(&[9, 11]);"
    " Scan::new(Sum).axis_in_place(&mut x, &layout, 0).unwrap();",
}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkouts", nargs="*", type=Path, default=[Path(__file__).resolve().parents[1]])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--record", type=Path, help="a JSON file for the measurements")
    return parser.parse_args()


def package(root, checkout):
    """A package that depends on a checkout's `kogge`, with a binary for each program."""
    (root / "src/bin").mkdir(parents=True)
    kogge = json.dumps(str(checkout.resolve() / "crates/kogge"))
    (root / "Cargo.toml").write_text(
        '[package]\nname = "programs"\nversion = "0.1.0"\nedition = "2024"\n'
        f"[dependencies]\nkogge = {{ path = {kogge} }}\n[workspace]\n"
    )
    for number, body in enumerate(PROGRAMS.values()):
        source = f'{HEAD}fn main() {{ {body} println!("{{:?}}", x[98]); }}\n'
        (root / f"src/bin/program{number}.rs").write_text(source)


def build(root, *what):
    """Wall-clock and CPU seconds of `cargo build`."""
    environment = {**os.environ, "CARGO_TARGET_DIR": str(root / "target"), "CARGO_INCREMENTAL": "0"}
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run(["cargo", "build", "-q", *what], cwd=root, env=environment, text=True, capture_output=True)
    if done.returncode != 0:
        raise SystemExit(f"error: cargo build in {root} failed:\n{done.stderr}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return time.monotonic() - start, cpu


def compile_once(root, number, profile):
    source = root / f"src/bin/program{number}.rs"
    source.touch()
    return build(root, "--bin", source.stem, *profile)


def commit(checkout):
    git = ["git", "-C", str(checkout), "describe", "--always", "--dirty", "--exclude=*"]
    return subprocess.run(git, capture_output=True, text=True).stdout.strip()


def cpu_name():
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    of = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in lines)}
    if "model name" not in of:
        return platform.processor()
    return f"{of['model name']} (family {of.get('cpu family')}, model {of.get('model')})"


def main():
    options = arguments()
    results, commits = [], [commit(checkout) for checkout in options.checkouts]
    with tempfile.TemporaryDirectory() as directory:
        roots = [Path(directory) / str(n) for n in range(len(options.checkouts))]
        for root, checkout in zip(roots, options.checkouts):
            package(root, checkout)
        for profile in ([], ["--release"]):
            for root in roots:
                build(root, *profile)
            for number, name in enumerate(PROGRAMS):
                times = {root: [] for root in roots}
                for _ in range(options.rounds):
                    for root in roots:
                        times[root].append(compile_once(root, number, profile))
                for root, of in zip(roots, commits):
                    wall, cpu = (statistics.median(column) for column in zip(*times[root]))
                    results.append({
                        "program": name,
                        "profile": "release" if profile else "dev",
                        "commit": of,
                        "seconds": round(wall, 2),
                        "cpu_seconds": round(cpu, 2),
                        "runs": [round(wall, 2) for wall, _ in times[root]],
                    })
                    last = results[-1]
                    print(f"{name:24} {last['profile']:8} {last['commit']:16} {wall:6.1f} s, {cpu:6.1f} s of CPUs")
    if options.record:
        rustc = subprocess.run(["rustc", "--version"], capture_output=True, text=True).stdout.strip()
        machine = {"cpu": cpu_name(), "cpus": os.cpu_count(), "rustc": rustc}
        record = {"machine": machine, "rounds": options.rounds, "compile": results}
        options.record.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
