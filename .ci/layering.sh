#!/usr/bin/env bash
# Do imports go one way: between crates, and between the modules of each crate?
set -euo pipefail
cd "$(dirname "$0")/.."

failed=0
fail() {
  echo "layering: $*" >&2
  failed=1
}

# Which of our packages each package may depend on.
depends() {
  local manifest=$1 allowed=$2 found
  found=$(grep -oE '^overtake-[a-z-]+' "$manifest" | sort -u | tr '\n' ' ' || true)
  for package in $found; do
    [[ " $allowed " == *" $package "* ]] || fail "$manifest must not depend on $package"
  done
}
# Itself: its tests switch its features on.
depends crates/core/Cargo.toml "overtake-core"
depends crates/runtime/Cargo.toml "overtake-core"
depends crates/sim/Cargo.toml "overtake-core overtake-runtime"
depends crates/cli/Cargo.toml "overtake-core overtake-runtime overtake-sim"
depends benches/Cargo.toml "overtake-core overtake-runtime overtake-sim"
depends loom-tests/Cargo.toml "overtake-core"

# Modules from the bottom up; each may use those in lines above its own, and the siblings of one
# line do not know each other.
modules() {
  local crate=$1 order=$2 files
  mapfile -t files < <(find "$crate/src" -name '*.rs' | sort)
  awk -v crate="$crate" -v order="$order" '
    BEGIN {
      rows = split(order, row, "\n")
      for (level = 1; level <= rows; level++) {
        count = split(row[level], name, " ")
        for (i = 1; i <= count; i++) rank[name[i]] = level
      }
    }
    FNR == 1 {
      path = FILENAME
      sub("^" crate "/src/", "", path)
      module = path
      sub("/.*", "", module)
      sub("\\.rs$", "", module)
      testing = 0
      if (module != "lib" && module != "main" && !(module in rank)) {
        print "layering: " FILENAME ": module `" module "` has no place in the order" > "/dev/stderr"
        bad = 1
      }
    }
    # Tests may use everything.
    /#\[cfg\(.*test/ { testing = 1 }
    testing || module == "lib" || module == "main" || /^ *\/\// { next }
    {
      rest = $0
      while (match(rest, /crate::[a-z_]+/)) {
        used = substr(rest, RSTART + 7, RLENGTH - 7)
        rest = substr(rest, RSTART + RLENGTH)
        if (used == module || !(used in rank)) continue
        if (rank[used] >= rank[module]) {
          print "layering: " FILENAME ":" FNR ": `" module "` must not use `" used "`" > "/dev/stderr"
          bad = 1
        }
      }
    }
    END { exit bad }
  ' "${files[@]}" || failed=1
}

modules crates/core "fault
sync band error counters
deadline
wait_strategy
ring presence notifier
sweep
channel
sender receiver
batch weak
future
band_sender
sink look iter builder"

modules crates/runtime "lock millis wall_time panics outcome build_error
inside clock job
retry dead_letters event admission lanes publish_error books
settle retry_timer slot
shutdown_state
engine
publish report shutdown
worker
runtime manual
builder"

modules crates/sim "trace contenders sms
replay workload check
compare"

modules crates/cli "exit
say retry_text
args job_line job_file
run
dead_letters replay compare check"

# The checks above read one module per import.
if grep -rnE 'crate::\{' crates/*/src --include='*.rs'; then
  fail "import from one module at a time"
fi

# What the rest of the core must not touch by itself.
if grep -rnE '\b(std|core)::sync\b|std::thread|\b(loom|shuttle)\b' crates/core/src --include='*.rs' |
  grep -vE 'src/(sync|fault)(/|\.rs)|^[^:]+:[0-9]+: *//' | grep -vE 'overtake_(loom|shuttle)'; then
  fail "only sync.rs names std::sync, std::thread, loom or shuttle"
fi
for crate in runtime sim cli; do
  if grep -rnE '\bunsafe\b|sync::atomic' "crates/$crate/src" --include='*.rs' | grep -vE 'forbid\(unsafe_code\)|^[^:]+:[0-9]+: *//'; then
    fail "unsafe and atomics belong to core"
  fi
done

[ "$failed" -eq 0 ] || exit 1
echo "imports go one way"
