#!/bin/sh
# Runs every target of libFuzzer in BUILD for so many seconds each; what they found stays in
# BUILD/fuzz/KIND, from run to run. Ends with 1 when some input does harm.
#   run.sh BUILD SECONDS
set -u
sources=$(cd "$(dirname "$0")/.." && pwd)
build=$(cd "$1" && pwd) || exit 1
failed=0
for target in "$build"/tests/fuzz/fuzz_*; do
  [ -x "$target" ] && [ -f "$target" ] || continue
  kind=${target##*fuzz_}
  mkdir -p "$build/fuzz/$kind/inputs"
  cp "$sources/fuzz/seeds/$kind"/* "$build/fuzz/$kind/inputs"
  # inputs that do harm are written where it runs
  if (cd "$build/fuzz/$kind" && LSAN_OPTIONS="suppressions=$sources/libomp.supp:print_suppressions=0" \
    UBSAN_OPTIONS=halt_on_error=1 OMP_WAIT_POLICY=passive \
    "$target" -max_total_time="$2" -max_len=20000 -timeout=60 -rss_limit_mb=4000 inputs >log 2>&1); then
    echo "$kind: $(grep -c NEW "$build/fuzz/$kind/log") new inputs in $2 s, none does harm"
  else
    echo "$kind: an input does harm; it lies in $build/fuzz/$kind, where log says more" >&2
    failed=1
  fi
done
exit $failed
