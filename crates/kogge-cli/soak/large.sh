#!/usr/bin/env bash
# Data larger than memory: scans a .npy file of 6 GiB within 2 GiB of address space, checks the
# result, and compares the time with that of `cp` on the same disk.
#
#   crates/kogge-cli/soak/large.sh [DIRECTORY [GIB [RUNS]]]
#
# DIRECTORY (default: a new one under $TMPDIR) needs room for twice the file. Runs alternate between
# `cp` and `kogge`; the report is the median of each and their ratio, to be read on an otherwise
# idle machine. Exits with 1 if a sum is wrong. Needs python3 (its standard library only), and the
# command built by `cargo build --release`; KOGGE names another one.
set -euo pipefail
root=$(cd "$(dirname "$0")/../../.." && pwd)
kogge=${KOGGE:-${CARGO_TARGET_DIR:-$root/target}/release/kogge}
directory=${1:-$(mktemp -d)}
gib=${2:-6}
runs=${3:-3}
limit_kib=$((2 << 20))
cd "$directory"
trap 'rm -f input.npy output.npy' EXIT

python3 - "$gib" <<'PYTHON'
import array, random, struct, sys

block = array.array("q", (random.getrandbits(64) - 2**63 for _ in range(1 << 20)))
blocks = int(sys.argv[1]) << 7
header = "{'descr': '<i8', 'fortran_order': False, 'shape': (%d,), }" % (blocks * len(block))
header = header.ljust(128 - 10 - 1) + "\n"
with open("input.npy", "wb") as file:
    file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
    for _ in range(blocks):
        file.write(block.tobytes())
PYTHON

seconds() {
    rm -f output.npy
    sync
    local start=$EPOCHREALTIME
    "$@"
    local end=$EPOCHREALTIME
    python3 -c "print($end - $start)"
}
scan() { (ulimit -v "$limit_kib"; exec "$kogge" scan input.npy -o output.npy "$@"); }

copies=() scans=()
for ((run = 0; run < runs; run++)); do
    copies+=("$(seconds cp input.npy output.npy)")
    scans+=("$(seconds scan)")
done
python3 - "$gib" "${copies[*]}" "${scans[*]}" <<'PYTHON'
import statistics, sys

gib = float(sys.argv[1])
copies, scans = ([float(s) for s in text.split()] for text in sys.argv[2:])
copy, scan = statistics.median(copies), statistics.median(scans)
print(f"cp:         {gib / copy:.2f} GiB/s (median of {len(copies)}: {copy:.2f} s)", copies)
print(f"kogge scan: {gib / scan:.2f} GiB/s (median of {len(scans)}: {scan:.2f} s)", scans)
print(f"ratio:      {copy / scan:.2f}")
PYTHON

# The sums at the ends of some pieces, and the whole, by another program and another way.
check() {
    python3 - "$1" <<'PYTHON'
import array, sys

reverse = sys.argv[1] == "reverse"
with open("input.npy", "rb") as x, open("output.npy", "rb") as y:
    x.seek(128)
    y.seek(128)
    block = array.array("q", x.read(8 << 20))
    total, length = sum(block), len(block)
    prefix = 0
    x.seek(0, 2)
    blocks = (x.tell() - 128) // (8 << 20)
    for i in range(blocks):
        y.seek(128 + i * (8 << 20))
        first = array.array("q", y.read(8))[0]
        expected = (total * (blocks - i)) if reverse else (total * i + block[0])
        if (first - expected) % 2**64:
            sys.exit(f"element {i * length} is {first}, should be {expected} modulo 2^64")
print(f"{blocks} sums checked ({sys.argv[1]})")
PYTHON
}
check forward
scan --reverse
check reverse
