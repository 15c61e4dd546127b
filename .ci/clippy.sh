#!/usr/bin/env bash
# Has clippy nothing to say, about the models neither?
set -euo pipefail
cd "$(dirname "$0")/.."
cargo clippy --workspace --all-targets --locked -- -D warnings
RUSTFLAGS="--cfg overtake_loom" CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target}-loom" \
  cargo clippy -p overtake-core -p overtake-loom-tests --lib --tests --locked -- -D warnings
RUSTFLAGS="--cfg overtake_shuttle" CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target}-shuttle" \
  cargo clippy -p overtake-core -p overtake-loom-tests --lib --tests --locked -- -D warnings
