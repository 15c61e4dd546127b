#!/usr/bin/env bash
# Is every history of small programs explained by one order, does nobody sleep beside what it waits
# for, is every mutant caught, and does no stopped thread hold up others?
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

said=$(mktemp)
trap 'rm -f "$said"' EXIT

RUSTFLAGS="--cfg overtake_shuttle" CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target}-shuttle" RUST_BACKTRACE=0 \
  cargo test --profile loom -p overtake-loom-tests --locked -- --nocapture 2>&1 | tee "$said"

# A test that was not compiled, or did nothing, passes too.
count() { grep -cE "$1" "$said" || true; }
for least in '20 ^stopping [a-z_]+: [0-9]{4,} runs' '19 ^histories [a-z_]+: [0-9]+ schedules' \
  '38 ^waiting [a-z_]+: [0-9]+ schedules' '40 ^mutant [A-Za-z]+: caught'; do
  found=$(count "${least#* }")
  if ((found < ${least%% *})); then
    echo "shuttle.sh: $found lines like '${least#* }', expected ${least%% *}" >&2
    exit 1
  fi
done
