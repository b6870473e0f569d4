#!/usr/bin/env bash
# The engine's tests at the NEON level: natively on an AArch64 machine (where `cargo test` does all
# of them anyway), elsewhere cross-compiled and run under QEMU.
#
# Installs QEMU and a linker where apt-get may; skips, saying so, where they can't be had.
# KOGGE_CI_STRICT=1 makes that a failure.
set -euo pipefail
cd "$(dirname "$0")/.."

skip() {
    echo "SKIPPED: NEON ($1)"
    [ "${KOGGE_CI_STRICT:-0}" != 1 ]
    exit
}

# Options say for which target.
run() {
    cargo test -p kogge-cpu "$@" --lib
    cargo test -p kogge-cpu "$@" --test engine -- order:: elements:: free:: operators:: threads:: random::
}
if [ "$(uname -m)" = aarch64 ]; then
    run
    exit
fi

target=aarch64-unknown-linux-gnu
if ! command -v qemu-aarch64 >/dev/null || ! command -v aarch64-linux-gnu-gcc >/dev/null; then
    [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || skip "no QEMU or linker, and no apt-get"
    apt-get update -qq || skip "apt-get update failed"
    apt-get install -y -qq qemu-user gcc-aarch64-linux-gnu libc6-dev-arm64-cross ||
        skip "qemu-user or gcc-aarch64-linux-gnu can't be installed"
fi
command -v rustup >/dev/null || skip "no rustup"
rustup target add "$target" || skip "no standard library for $target"

export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="qemu-aarch64 -L /usr/aarch64-linux-gnu"
run --target "$target"
