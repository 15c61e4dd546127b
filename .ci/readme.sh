#!/usr/bin/env bash
# Does the README's first command do what the README says?
set -euo pipefail
cd "$(dirname "$0")/.."
command=$(grep -m 1 '^cargo run' README.md)
echo "+ $command"
status=0
summary=$(eval "$command") || status=$?
echo "$summary"
# Some jobs of the sample die, which is exit code 1.
[ "$status" -eq 1 ]
without_time() { sed 's/ in [0-9.]* s//'; }
expected=$(grep -m 1 -o '^3020 accepted.*refused' README.md | without_time)
if ! without_time <<< "$summary" | grep -qxF "$expected"; then
  echo "the README promises: $expected" >&2
  exit 1
fi
