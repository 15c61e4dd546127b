#!/usr/bin/env bash
# Installs what the other scripts need beyond cargo, where it is missing.
set -euo pipefail

if ! command -v cargo > /dev/null; then
  echo "cargo is needed; see https://rustup.rs" >&2
  exit 1
fi
for component in rustfmt clippy; do
  if ! cargo "${component/rust/}" --version > /dev/null 2>&1; then
    rustup component add "$component"
  fi
done
# Miri and the sanitizers need a nightly compiler.
if ! cargo +nightly --version > /dev/null 2>&1; then
  rustup toolchain install nightly --profile minimal
fi
if ! command -v shellcheck > /dev/null; then
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends shellcheck > /dev/null
fi
