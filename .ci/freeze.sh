#!/usr/bin/env bash
# Do the others go on beside a thread that is stopped inside a call, thousands of times for 200 ms?
# What the tests of every run do in short; OVERTAKE_FREEZES and OVERTAKE_FREEZE_MS change the size.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

said=$(mktemp)
trap 'rm -f "$said"' EXIT

# All tests at once: those who are stopped need no processor.
OVERTAKE_FREEZES="${OVERTAKE_FREEZES:-250}" OVERTAKE_FREEZE_MS="${OVERTAKE_FREEZE_MS:-200}" \
  cargo test --release -p overtake-core --test freeze --locked -- --nocapture --test-threads=16 2>&1 | tee "$said"

inside=$(grep -oE '^freeze .* [0-9]+ inside a call' "$said" | grep -v ' control' | awk '{ sum += $(NF - 3) } END { print sum + 0 }' || true)
least=$((${OVERTAKE_FREEZES:-250} * 8))
if ((inside < least)); then
  echo "freeze.sh: $inside stops were inside a call, expected $least" >&2
  exit 1
fi
echo "freeze.sh: $inside stops inside a call held up nobody"
