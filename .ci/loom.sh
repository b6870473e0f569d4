#!/usr/bin/env bash
# Every interleaving of the hand-over between threads, tried by loom. The flag goes to the crate under
# test alone: what it depends on is compiled anew only where other tests want more features of it. Tests of
# kernels, which take a minute to compile, are left out.
set -euo pipefail
cd "$(dirname "$0")/.."

tests=$(cargo rustc -p kogge-cpu --lib --profile test --features loom \
    --message-format=json-render-diagnostics -- --cfg loom |
    sed -n 's/.*"executable":"\([^"]*\)".*/\1/p')
found=$("$tests" handover --list --format terse | wc -l)
[ "$found" -gt 0 ] || { echo "no test of the hand-over in $tests" >&2; exit 1; }
"$tests" handover
