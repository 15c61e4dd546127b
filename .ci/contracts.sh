#!/usr/bin/env bash
# Do the figures of the command line agree with the real logs, counted here with awk?
set -euo pipefail
cd "$(dirname "$0")/.."
traces=../shared/traces
if [ ! -d "$traces" ]; then
  echo "skipped: there are no real logs in $traces"
  exit 0
fi
cargo build --release --locked -p overtake
overtake=target/release/overtake

# The first number under a key of a JSON object.
number() { grep -oE "\"$1\":-?[0-9.]+" <<< "$2" | head -n 1 | cut -d : -f 2; }

same() {
  if [ "$2" != "$3" ]; then
    echo "$1: expected $2, got $3" >&2
    exit 1
  fi
}

check_swf() {
  local log=$1 json counted
  json=$("$overtake" replay "$log" --json)
  same "$log, twice" "$json" "$("$overtake" replay "$log" --json)"
  counted=$(if [[ $log == *.gz ]]; then gzip -dc "$log"; else cat "$log"; fi |
    awk '!/^;/ && NF == 18 { jobs++; if ($11 == 1) completed++; if ($11 == 0) failed++; if ($11 == 5) cancelled++ }
         END { print jobs + 0, completed + 0, failed + 0, cancelled + 0 }')
  same "$log: jobs completed failed cancelled" "$counted" \
    "$(number jobs "$json") $(number completed "$json") $(number failed "$json") $(number cancelled "$json")"
  same "$log: done and dead" "$(number completed "$json") $(number failed "$json")" \
    "$(number "done" "$json") $(number dead "$json")"
  same "$log: runs" $(($(number "done" "$json") + $(number discarded "$json") + 4 * $(number dead "$json"))) \
    "$(number runs "$json")"
  echo "$log: $counted"
}

for log in "$traces"/*.swf "$traces"/*.swf.gz; do check_swf "$log"; done

pods=$traces/alibaba-gpu-2023-openb-pods.csv
json=$("$overtake" replay "$pods" --json)
counted=$(awk -F, 'NR > 1 { jobs++; phase[$8]++ }
  END { print jobs, phase["Succeeded"] + phase["Running"], phase["Failed"], phase["Pending"] }' "$pods")
same "$pods: jobs completed failed cancelled" "$counted" \
  "$(number jobs "$json") $(number completed "$json") $(number failed "$json") $(number cancelled "$json")"
echo "$pods: $counted"

# The burst: urgent jobs must wait far less under strict bands than in one queue.
burst=$traces/ricc-2010-2.jobs9001-17000.swf
strict=$(number p50 "$("$overtake" replay "$burst" --json --policy strict)")
fifo=$(number p50 "$("$overtake" replay "$burst" --json --policy fifo)")
if ! awk -v strict="$strict" -v fifo="$fifo" 'BEGIN { exit !(strict * 10 < fifo) }'; then
  echo "$burst: the urgent band waits $strict s under strict bands, $fifo s in one queue" >&2
  exit 1
fi
echo "$burst: the median urgent job waits $strict s under strict bands, $fifo s in one queue"
