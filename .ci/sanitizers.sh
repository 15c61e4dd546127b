#!/usr/bin/env bash
# Do ThreadSanitizer and AddressSanitizer find nothing in core under stress?
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

sysroot=$(rustc +nightly --print sysroot)
if [[ ! -d $sysroot/lib/rustlib/src/rust/library ]]; then
  rustup component add --toolchain nightly rust-src
fi
target=$(rustc +nightly -vV | sed -n 's/^host: //p')
base=${CARGO_TARGET_DIR:-target}

# What the second of several panicking drops says is leaked on purpose.
suppressed=$(mktemp)
trap 'rm -f "$suppressed"' EXIT
echo "leak:discard_all" > "$suppressed"

# The standard library is built too, so that its locks are seen by the sanitizer.
for sanitizer in thread address; do
  LSAN_OPTIONS="suppressions=$suppressed" RUSTFLAGS="-Zsanitizer=$sanitizer" CARGO_TARGET_DIR="$base-$sanitizer" \
    cargo +nightly test -Zbuild-std --target "$target" -p overtake-core --locked \
    --test stress --test closing --test drops --test miri_waiting -- --test-threads=2
done
