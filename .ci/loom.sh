#!/usr/bin/env bash
# Do all loom models hold, did each explore as much as loom-tests/README.md says, and was every
# mutant caught?
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."

said=$(mktemp)
trap 'rm -f "$said"' EXIT

RUSTFLAGS="--cfg overtake_loom" CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target}-loom" \
    cargo test --profile loom -p overtake-loom-tests -- --nocapture --test-threads=1 2>&1 | tee "$said"

failed=0
fail() {
    echo "loom.sh: $*" >&2
    failed=1
}

# The rows of one table, as "name last-column": the table is the one whose header starts with $1.
rows() {
    awk -F'|' -v kind="$1" '
        $2 ~ "^ *" kind " *$" { inside = 1; next }
        !/^\|/ { inside = 0 }
        inside && $2 ~ /`/ { gsub(/[` ]/, "", $2); gsub(/ /, "", $(NF - 1)); print $2, $(NF - 1) }
    ' loom-tests/README.md
}

# What the run printed, as "name number" or "name".
ran_models=$(grep -oE 'model [a-z_]+: [0-9]+ executions' "$said" | awk '{ sub(":", "", $2); print $2, $3 }' || true)
caught=$(grep -oE 'mutant [a-z_]+: caught' "$said" | awk '{ sub(":", "", $2); print $2 }' || true)
models=$(rows model)
mutants=$(rows mutant)

[[ -n $models && -n $mutants ]] || fail "no tables in loom-tests/README.md"

while read -r name least; do
    explored=$(awk -v name="$name" '$1 == name { print $2; exit }' <<<"$ran_models")
    if [[ -z $explored ]]; then
        fail "model $name of the table did not run"
    elif ((explored < least)); then
        fail "model $name explored $explored executions, the table says at least $least"
    fi
done <<<"$models"

while read -r name _; do
    grep -qxF "$name" <<<"$caught" || fail "mutant $name of the table was not caught"
done <<<"$mutants"

while read -r name _; do
    [[ -z $name ]] || grep -qE "^$name " <<<"$models" || fail "model $name is in no table"
done <<<"$ran_models"

while read -r name; do
    [[ -z $name ]] || grep -qE "^$name " <<<"$mutants" || fail "mutant $name is in no table"
done <<<"$caught"

((failed == 0)) || exit 1
echo "loom.sh: $(wc -l <<<"$models") models held, $(wc -l <<<"$mutants") mutants were caught"
