#!/usr/bin/env bash
# Does Miri find no undefined behaviour, no race and no leak in core, under both models of borrows
# and in several orders of the threads?
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if ! cargo +nightly miri --version > /dev/null 2>&1; then
  rustup component add --toolchain nightly miri rust-src
fi
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target}-miri"
cargo +nightly miri setup > /dev/null 2>&1

# Unit tests have one thread each: one order is all there is.
for borrows in "" -Zmiri-tree-borrows; do
  MIRIFLAGS="$borrows" cargo +nightly miri test -p overtake-core --lib --locked
  MIRIFLAGS="$borrows -Zmiri-many-seeds=0..8 -Zmiri-preemption-rate=0.1 -Zmiri-disable-isolation" \
    cargo +nightly miri test -p overtake-core --test miri_small --test miri_waiting --locked
done
