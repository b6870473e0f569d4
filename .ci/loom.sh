#!/usr/bin/env bash
# Every interleaving of the hand-over between threads, tried by loom. Well under a minute, most of
# it compiling: loom has a target directory of its own, since the flag changes every crate.
set -euo pipefail
cd "$(dirname "$0")/.."

export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target}/loom"
export RUSTFLAGS="--cfg loom ${RUSTFLAGS:-}"
cargo test -p kogge-cpu --lib handover
