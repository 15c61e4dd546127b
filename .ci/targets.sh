#!/usr/bin/env bash
# Does core, with its tests, compile where words are 32 bits wide, on another processor, on other systems? And do
# some of the tests pass with 32 bits, where this machine can run them?
# Not asked: processors without 64-bit atomics (thumbv7, armv5). Core's words have 64 bits; it cannot be had there.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

targets=(i686-unknown-linux-gnu aarch64-unknown-linux-gnu x86_64-pc-windows-gnu aarch64-apple-darwin)
if [ "$#" -gt 0 ]; then targets=("$@"); fi

# Installs a target, or says that it cannot be had, which is no answer.
have() {
  if [[ ! -d $(rustc --print sysroot)/lib/rustlib/$1 ]] && ! rustup target add "$1"; then
    echo "skipped: $1 cannot be installed"
    return 1
  fi
}

checked=0
for target in "${targets[@]}"; do
  have "$target" || continue
  RUSTFLAGS="-D warnings" cargo check -p overtake-core --all-targets --target "$target" --locked
  RUSTFLAGS="-D warnings" cargo check -p overtake-core --all-targets --all-features --target "$target" --locked
  checked=$((checked + 1))
done
echo "core compiles for $checked of ${#targets[@]} other targets"

# Linked by the toolchain itself and without a library of the system: no package is needed.
small=i686-unknown-linux-musl
if [[ $(uname -sm) == "Linux x86_64" ]] && have "$small"; then
  RUSTFLAGS="-D warnings -Clinker=rust-lld -Clink-self-contained=yes" cargo test -p overtake-core --target "$small" \
    --locked --lib --test miri_small --test capacity --test model --test sizes --test drops --test timeouts
fi
