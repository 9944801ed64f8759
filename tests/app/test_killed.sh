#!/bin/sh
# Runs that are killed at random moments, again and again, end with the bits of a run in one go.
# Argument: the program. NOLI_KILL_SEED: other moments.
set -u
noli=$1
. "${0%/*}/expect.sh"
n_kills=36 n_steps=200

# every step ends with a frame and a checkpoint: there is always something in the making
cat >scene.json <<END
{
  "name": "killed",
  "time": {"step": 0.01, "steps": $n_steps},
  "bodies": [{"name": "box", "mesh": {"box": {"size": [1, 1, 1], "cells": [1, 1, 1]}},
              "translate": [0, 0.8, 0], "rotate": [10, 0, 20], "velocity": [1, 0, 0]}],
  "half_spaces": [{"name": "floor"}],
  "friction": {"coefficient": 0.3},
  "output": {"every": 1, "checkpoint_seconds": -1, "checkpoint_steps": 1}
}
END

# random N: a number below N in $drawn, the same ones for the same seed.
seed=${NOLI_KILL_SEED:-20}
echo "seed $seed"
random() {
  seed=$(((seed * 1103515245 + 12345) % 2147483648))
  drawn=$((seed / 8192 % $1))
}
state_of() { "$noli" info "$1/checkpoint.h5" | sed 's/.*step \([0-9]*\),.*state \([0-9a-f]*\),.*/\1 \2/'; }
# Wall times differ from run to run.
without_wall() { cut -d, -f1-2,4- "$1/steps.csv"; }
microseconds() { echo $(($(date +%s%N) / 1000)); }

begin=$(microseconds)
expect 0 '2 steps' "$noli" run scene.json -o two --steps 2 --threads 1
longest=$(($(microseconds) - begin))
expect 0 "$n_steps steps" "$noli" run scene.json -o whole --threads 1

# ---- one life after the other ends between its first moment and a few steps after its start ----
kills=0 furthest=0 progress=0
while [ $kills -lt $n_kills ] && [ "$furthest" -lt $n_steps ]; do
  if [ -s cut/checkpoint.h5 ]; then
    "$noli" resume cut --threads 1 >said 2>&1 &
  else
    "$noli" run scene.json -o cut --threads 1 >said 2>&1 &
  fi
  process=$!
  random "$longest"
  sleep "$((drawn / 1000000)).$(printf '%06d' $((drawn % 1000000)))"
  kill -KILL $process 2>/dev/null || fail "kill $kills: nothing to kill any more: $(cat said)"
  wait $process 2>/dev/null
  kills=$((kills + 1))
  # a folder is complete at any time: a checkpoint that never gets older, rows and frames before it
  [ -s cut/checkpoint.h5 ] || { longest=$((longest * 5 / 4)); continue; }
  state=$(state_of cut)
  now=${state% *}
  [ -n "$now" ] || { fail "kill $kills: checkpoint.h5 cannot be read"; break; }
  [ "$now" -ge $furthest ] || fail "kill $kills: step $now after step $furthest"
  gained=$((now - furthest)) furthest=$now
  # however fast the machine is at the moment: most lives get through the start, none far
  if [ $gained -gt 0 ]; then progress=$((progress + 1)); else longest=$((longest * 5 / 4)); fi
  [ $gained -lt 5 ] || longest=$((longest / 2))
  [ "$now" -eq 0 ] || [ "$(sed -n "$((now + 1))p" cut/steps.csv | cut -d, -f1)" = "$now" ] ||
    fail "kill $kills: steps.csv lacks step $now"
  [ -s "cut/$(printf 'frame_%06d.vtu' "$now")" ] || fail "kill $kills: no frame of step $now"
  grep -q "frame_$(printf '%06d' "$now").vtu" cut/frames.pvd || fail "kill $kills: frames.pvd"
done
echo "$kills kills, step $furthest, $progress lives got further"
[ $kills -eq $n_kills ] || fail "$kills kills, want $n_kills"
[ $progress -gt 0 ] || fail 'no life got further'
[ -s cut/checkpoint.h5 ] || "$noli" run scene.json -o cut --threads 1 >said 2>&1
expect 0 "$n_steps steps" "$noli" resume cut --threads 1
[ "$(state_of cut)" = "$(state_of whole)" ] || fail "the last state differs: $(state_of cut), $(state_of whole)"
expect 0 '' "$noli" audit cut
without_wall cut >cut.csv
without_wall whole >whole.csv
cmp cut.csv whole.csv || fail 'steps.csv differs'
for name in forces.csv frames.pvd scene.json $(cd whole && ls frame_*.vtu); do
  cmp "cut/$name" "whole/$name" || fail "$name differs"
done
[ "$(ls cut/*.vtu | wc -l)" -eq "$(ls whole/*.vtu | wc -l)" ] || fail 'frames too many'
[ -z "$(ls cut | grep tmp)" ] || fail "left behind: $(ls cut | grep tmp)"

# ---- a second Ctrl-C does not wait for the end of the step ----
sed 's/"cells": \[1, 1, 1\]/"cells": [26, 26, 26]/' scene.json >slow.json
"$noli" run slow.json -o slow --threads 1 >said 2>&1 &
process=$!
tries=0
while [ ! -s slow/checkpoint.h5 ] && [ $tries -lt 300 ]; do sleep 0.1; tries=$((tries + 1)); done
kill -INT $process
sleep 0.05
kill -INT $process 2>/dev/null
wait $process
got=$?
[ "$got" -eq 130 ] || fail "two Ctrl-C: status $got, want 130"
grep -q 'stopping after the current step; Ctrl-C again stops immediately' said || fail 'the first Ctrl-C is not answered'
if grep -q 'interrupted after step' said; then
  echo 'note: the step ended before the second signal'
else
  grep -q 'stopped immediately: .* noli resume slow' said || fail 'the second Ctrl-C is not answered'
fi
# ---- another run does not replace a killed one ----
cp slow/checkpoint.h5 kept.h5
grep -q '^1,' slow/steps.csv || printf '1,0.01\n' >>slow/steps.csv
expect 4 'to resume it: noli resume slow; to replace it: noli run --force' "$noli" run slow.json -o slow
cmp -s slow/checkpoint.h5 kept.h5 || fail 'a run that was refused changed the checkpoint'
expect 0 '1 steps' "$noli" run scene.json -o slow --force --steps 1
expect 0 '1 steps' "$noli" run scene.json -o slow --steps 1
expect 0 'checkpoint of noli' "$noli" info slow/checkpoint.h5

[ "$failures" -eq 0 ] || exit 1
echo 'killed runs end alike'
