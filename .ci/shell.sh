#!/usr/bin/env bash
# Has shellcheck nothing to say about these scripts?
set -euo pipefail
cd "$(dirname "$0")/.."
shellcheck .ci/run .ci/*.sh
