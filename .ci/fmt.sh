#!/usr/bin/env bash
# Is everything formatted?
set -euo pipefail
cd "$(dirname "$0")/.."
cargo fmt --all --check
