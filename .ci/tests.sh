#!/usr/bin/env bash
# Do all tests pass, run as the README says?
set -euo pipefail
cd "$(dirname "$0")/.."
command=$(grep -m 1 '^cargo test' README.md)
echo "+ $command"
eval "$command"
