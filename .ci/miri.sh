#!/usr/bin/env bash
# Undefined behaviour in the unsafe parts, looked for by Miri: the engine's tests, scaled down, and
# the facade's strided views. Intrinsics can't be interpreted, so only the portable level is seen,
# and kernels of vectors of elements with arrays for the vectors.
#
# Long, and therefore not in the gate. On a core of a Zen 5, test by test, the commands of one thread take 17
# minutes, columns, the pool and the facade 4, seven of the nine tests of threads 5. How long
# `operators_may_use_the_pool_themselves` takes (more than 3), `the_callers_pool_is_used`, lines (the first of them 2), segments and
# windows isn't known: they have not been run to their end.
#
# Skips, saying so, where no nightly toolchain with Miri can be had; KOGGE_CI_STRICT=1 makes that a
# failure.
set -euo pipefail
cd "$(dirname "$0")/.."

skip() {
    echo "SKIPPED: Miri ($1)"
    [ "${KOGGE_CI_STRICT:-0}" != 1 ]
    exit
}

command -v rustup >/dev/null || skip "no rustup"
rustup run nightly rustc --version || skip "no nightly toolchain"
rustup component add --toolchain nightly miri rust-src || skip "nightly has no Miri"

export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target}/miri"
cargo +nightly miri setup

# One thread, with strict provenance.
export MIRIFLAGS="-Zmiri-strict-provenance"
cargo +nightly miri test -p kogge-cpu --lib -- algorithm masks
cargo +nightly miri test -p kogge-cpu --test order --test elements --test free --test memory

# Several threads: the queues under rayon cast integers to pointers and don't keep to Stacked
# Borrows, and the threads of its global pool outlive the tests, which Miri would call a leak.
export MIRIFLAGS="-Zmiri-tree-borrows -Zmiri-permissive-provenance -Zmiri-ignore-leaks"
export RAYON_NUM_THREADS=3
cargo +nightly miri test -p kogge-cpu --lib -- columns pool
cargo +nightly miri test -p kogge-cpu --test threads --test lines --test segments --test windows
cargo +nightly miri test -p kogge --test axis strided
