#!/bin/sh
# Runs that are killed at random moments, again and again, end with the bits of a run in one go.
# Argument: the program.
set -u
noli=$1
. "${0%/*}/expect.sh"

cat >scene.json <<'END'
{
  "name": "killed",
  "time": {"step": 0.005, "steps": 1000},
  "bodies": [{"name": "box", "mesh": {"box": {"size": [1, 1, 1], "cells": [1, 1, 1]}},
              "translate": [0, 1, 0], "rotate": [10, 0, 20], "velocity": [1, 0, 0]}],
  "half_spaces": [{"name": "floor"}],
  "friction": {"coefficient": 0.3},
  "output": {"every": 40, "checkpoint_seconds": -1, "checkpoint_steps": 40}
}
END

# A number below $1, from the system's noise.
random() { echo $(($(od -An -N2 -tu2 /dev/urandom) % $1)); }
hash_of() { "$noli" info "$1/checkpoint.h5" | sed 's/.*state //; s/,.*//'; }
step_of() { "$noli" info "$1/checkpoint.h5" | sed 's/.*step //; s/,.*//'; }
# Wall times differ from run to run.
without_wall() { cut -d, -f1-2,4- "$1/steps.csv"; }

milliseconds() { echo $(($(date +%s%N) / 1000000)); }
begin=$(milliseconds)
expect 0 '1000 steps' "$noli" run scene.json -o whole --threads 1
# moments from the start of the program to a fifth of a whole run, however fast the machine is
longest=$((($(milliseconds) - begin) / 5))

kills=0 furthest=0
while [ $kills -lt 30 ]; do
  if [ -s cut/checkpoint.h5 ]; then
    "$noli" resume cut --threads 1 >said 2>&1 &
  else
    "$noli" run scene.json -o cut --threads 1 >said 2>&1 &
  fi
  process=$!
  wait_for=$((5 + $(random $longest)))
  sleep "$((wait_for / 1000)).$(printf '%03d' $((wait_for % 1000)))"
  kill -KILL $process 2>/dev/null
  wait $process 2>/dev/null
  kills=$((kills + 1))
  # a folder is whole at any time: a checkpoint that never goes back, rows and frames before it
  if [ -s cut/checkpoint.h5 ]; then
    step=$(step_of cut)
    [ -n "$step" ] || { fail "kill $kills: checkpoint.h5 cannot be read"; break; }
    [ "$step" -ge $furthest ] || fail "kill $kills: step $step after step $furthest"
    furthest=$step
    [ "$(sed -n "$((step + 1))p" cut/steps.csv | cut -d, -f1)" = "$step" ] || [ "$step" -eq 0 ] ||
      fail "kill $kills: steps.csv lacks step $step"
    [ -s "cut/$(printf 'frame_%06d.vtu' "$step")" ] || fail "kill $kills: no frame of step $step"
    grep -q "frame_$(printf '%06d' "$step").vtu" cut/frames.pvd || fail "kill $kills: frames.pvd"
  fi
  [ "$furthest" -lt 1000 ] || break
done
echo "$kills kills, step $furthest"
[ -s cut/checkpoint.h5 ] || "$noli" run scene.json -o cut --threads 1 >said 2>&1
expect 0 '1000 steps' "$noli" resume cut --threads 1

[ -n "$(hash_of cut)" ] && [ "$(hash_of cut)" = "$(hash_of whole)" ] || fail 'the last state differs'
without_wall cut >cut.csv
without_wall whole >whole.csv
cmp cut.csv whole.csv || fail 'steps.csv differs'
for name in forces.csv frames.pvd scene.json $(cd whole && ls frame_*.vtu); do
  cmp "cut/$name" "whole/$name" || fail "$name differs"
done
[ "$(ls cut/*.vtu | wc -l)" -eq "$(ls whole/*.vtu | wc -l)" ] || fail 'frames too many'

# ---- a second Ctrl-C does not wait for the end of the step ----
sed 's/"cells": \[1, 1, 1\]/"cells": [26, 26, 26]/; s/"steps": 1000/"steps": 10000/' scene.json >slow.json
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
grep -q 'interrupted after step' said && echo 'note: the step ended before the second signal'
expect 0 'checkpoint of noli' "$noli" info slow/checkpoint.h5

[ "$failures" -eq 0 ] || exit 1
echo 'killed runs end alike'
