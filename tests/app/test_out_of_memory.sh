#!/bin/sh
# Where memory gives out, also to the libraries that Noli uses, runs end by themselves, with a
# message, and leave a checkpoint that can be gone on from.
# Arguments: the program, the library that refuses memory (refuse_memory.c).
set -u
noli=$1 refuse=$2
. "${0%/*}/expect.sh"

cat >scene.json <<'END'
{
  "name": "poor",
  "time": {"step": 0.01, "steps": 3},
  "bodies": [{"name": "box", "mesh": {"box": {"size": [1, 1, 1], "cells": [2, 2, 2]}},
              "translate": [0, 0.5005, 0], "velocity": [1, -1, 0]}],
  "obstacles": [{"name": "plate", "mesh": {"plane": {"size": [3, 3]}}, "translate": [0, -0.2, 0],
                 "motion": {"velocity": [0, "0.1*sin(t)", 0]}}],
  "half_spaces": [{"name": "floor"}],
  "friction": {"coefficient": 0.3},
  "output": {"every": 1, "checkpoint_seconds": -1, "checkpoint_steps": 1}
}
END
sed 's/\[2, 2, 2\]/[8, 8, 8]/' scene.json >fine.json

state_of() { "$noli" info "$1/checkpoint.h5" | sed -n 's/.*state \([0-9a-f]*\),.*/\1/p'; }

# with VARIABLE=VALUE COMMAND...: the program with less memory; its status in $got. Nothing takes
# longer than a minute.
with() {
  setting=$1
  shift
  rm -f refused
  timeout 60 env "LD_PRELOAD=$refuse" NOLI_MEMORY_LOG=refused "$setting" \
    NOLI_REFUSE_SPARES="$spared" "$@" >said 2>&1
  got=$?
}

# poor VARIABLE=VALUE SCENE: a run that may end, but in order.
poor() {
  rm -rf out
  with "$1" "$noli" run "$2" -o out --threads 2 -q
  runs=$((runs + 1))
  [ $got -le 4 ] || fail "$1 $2: status $got: $(cat refused said)"
  if [ $got -eq 0 ]; then
    [ "$(state_of out)" = "$(state_of "whole_${2%.json}")" ] || fail "$1 $2: another state: $(cat refused)"
  else
    ended=$((ended + 1))
    [ -s said ] || fail "$1 $2: status $got without a message: $(cat refused)"
    if [ -s out/checkpoint.h5 ]; then
      [ -n "$(state_of out)" ] || fail "$1 $2: the checkpoint cannot be read: $(cat refused)"
      rm -rf left
      mv out left
    fi
  fi
}

for scene in scene fine; do
  expect 0 '3 steps' "$noli" run $scene.json -o whole_$scene --threads 2
done

# ---- no more than so many bytes at a time ----
spared='' runs=0 ended=0
with NOLI_REFUSE=0 "$noli" run scene.json -o out --threads 2 -q
[ $got -eq 0 ] && most=$(sed 's/.* requests, \([0-9]*\) bytes.*/\1/' refused) || fail 'cannot be counted'
for share in 1 2 3 4 5 6 8 10 12 14 16 20 85 88 90 92 94 96 97 98 99; do
  poor NOLI_MEMORY_LIMIT=$((most / 100 * share)) scene.json
done
for megabytes in 9 10 12 14 15 16 17 18; do poor NOLI_MEMORY_LIMIT=$((megabytes * 1000000)) fine.json; done
echo "$runs limits, $ended runs ended"
[ $ended -gt 20 ] || fail "only $ended runs ended"
mv left poor && scene=$(sed -n 's/.*"cells": \[\([28]\).*/\1/p' poor/scene.json | head -1)
expect 0 '3 steps' "$noli" resume poor --threads 2
whole=whole_scene && [ "$scene" = 2 ] || whole=whole_fine
[ "$(state_of poor)" = "$(state_of $whole)" ] || fail 'a resumed run has another state'

# ---- readers with as little memory ----
for command in 'check scene.json' 'info whole_scene/checkpoint.h5' 'audit whole_scene'; do
  for kilobytes in 50 200 500 2000 8500; do
    with NOLI_MEMORY_LIMIT=${kilobytes}000 "$noli" $command
    { [ $got -le 4 ] && [ -s said ]; } || fail "$command, $kilobytes kB: status $got: $(cat refused said)"
  done
done

# ---- one request after the other is refused, and no more ----
# HDF5 and the expression parser end the process themselves where that happens to them; they are
# asked for nothing before there is enough.
spared='libhdf5 libstdc++ ld-linux' runs=0 ended=0
with NOLI_REFUSE=0 "$noli" run scene.json -o out --threads 2 -q
[ $got -eq 0 ] && requests=$(sed 's/ requests.*//' refused) || fail 'cannot be counted'
number=1
while [ "$number" -le "$requests" ]; do
  poor NOLI_REFUSE=$number scene.json
  number=$((number + requests / 45))
done
echo "$runs of $requests requests refused, one at a time, $ended runs ended"
[ $ended -gt 30 ] || fail "only $ended runs ended"

# ---- zlib and the JSON parser are refused ----
# what they lack is not taken for a mistake in the file
refused_to() {
  meets=$1 most=$2
  shift 2
  number=1
  while [ "$number" -le "$most" ]; do
    rm -f refused
    timeout 60 env "LD_PRELOAD=$refuse" NOLI_MEMORY_LOG=refused NOLI_REFUSE=$number NOLI_REFUSE_MEETS="$meets" \
      "$noli" "$@" >said 2>&1
    got=$?
    { [ $got -eq 0 ] || { [ $got -eq 4 ] && grep -q 'out of memory' said; }; } ||
      fail "$meets, request $number, $*: status $got: $(cat refused said)"
    number=$((number + 1))
  done
}
refused_to libjansson 12 check scene.json
refused_to libz 6 audit whole_scene

[ "$failures" -eq 0 ] || exit 1
echo 'runs end in order without memory'
