#!/bin/sh
# Broken starts (broken_starts.py): each is repaired, runs, and passes the audit, or is refused with
# a reason. With TABLE set, prints the table of docs/howto/repair.md.
# Arguments: the program, a Python interpreter, the source directory.
set -u
noli=$1 python=$2 source=$3
. "${0%/*}/expect.sh"

"$python" "$source/tests/app/broken_starts.py" scenes || fail "broken_starts.py"
[ "$(wc -l <scenes/expected.txt)" -ge 20 ] || fail "fewer than twenty scenes"
cd scenes || exit 1

while read -r name wanted what; do
  expect 2 '' "$noli" check "$name.json" -o defects.vtu
  defects=$(sed -n 's/^\([0-9]*\) initial defects.*/\1/p' said)
  if [ "$wanted" = refused ]; then
    expect 2 'not repaired' "$noli" check --repair -o "fixed_$name.json" "$name.json"
    [ ! -e "fixed_$name.json" ] || fail "$name: wrote a scene that is refused"
    ls | grep -q "fixed_${name}_.*vtk" && fail "$name: left a start behind"
    result="refused"
  else
    expect 0 'ready to run' "$noli" check --repair -o "fixed_$name.json" "$name.json"
    moved=$(sed -n 's/.*repaired, \([0-9]* of [0-9]*\) bodies.*/\1/p' said)
    most=$(sed -n 's/.*moved [^ ]* m (\([^ ]*\) l).*/\1/p' said | sort -g | tail -1)
    result="$moved moved, at most $most l"
    grep -q deformed said && result="$result, deformed"
    expect 0 'ready to run: no intersections' "$noli" check "fixed_$name.json"
    expect 0 '' "$noli" run "fixed_$name.json" -o "run_$name" --set debug.audit=true
    expect 0 'nothing is wrong' "$noli" audit "run_$name"
  fi
  [ -z "${TABLE:-}" ] || echo "| \`$name\` | $what | $defects | $result |"
done <expected.txt

# ---- long lists: the first 20 defects, then counts, whose sum is the number of all ----
expect 2 'of which the first 20 are listed' "$noli" check random_pile.json
all=$(sed -n 's/^\([0-9]*\) initial defects.*/\1/p' said)
counted=$(sed -n 's/^noli: error: and \([0-9]*\) more.*/\1/p' said | awk '{ n += $1 } END { print n + 0 }')
[ "$(grep -c '^noli: error: .* at ' said)" -eq 20 ] || fail "not 20 defects are listed"
[ $((counted + 20)) -eq "$all" ] || fail "20 and $counted are not $all defects"
expect 2 "$all initial defects; " "$noli" check --all random_pile.json
[ "$(grep -c '^noli: error: .* at ' said)" -eq "$all" ] || fail "--all does not list all"

# ---- what is written where ----
grep -q '"start": "fixed_copies_row_0_start.vtk"' fixed_copies.json || fail "copies: no start"
grep -q '"start"' fixed_boxes.json && fail "boxes: a translation needs no start"
expect 0 'no intersections' "$noli" check fixed_boxes.json
expect 0 '0 initial defects repaired, 0 of 2' "$noli" check --repair -o again.json fixed_boxes.json

# ---- settling ----
expect 0 'all gaps reach the contact distance' \
  "$noli" check --settle -o settled.json fixed_pile.json --set contact.distance=0.01
"$noli" check settled.json 2>&1 | grep -q 'closer than the contact distance' && fail "not settled"
expect 2 'set contact.distance below' \
  "$noli" check --settle -o far.json fixed_pile.json --set contact.distance=0.1

# a rod between two held sheets: the way up leads through one
cat >between.json <<'END'
{"time": {"step": 0.01, "duration": 0.02}, "contact": {"distance": 0.01},
 "bodies": [{"name": "rod", "mesh": {"line": {"length": 0.5, "segments": 5}}, "rod": {"radius": 1e-4}}],
 "obstacles": [
   {"name": "below", "mesh": {"plane": {"size": [1, 1], "cells": [4, 4]}}, "translate": [0, -0.001, 0]},
   {"name": "above", "mesh": {"plane": {"size": [1, 1], "cells": [4, 4]}}, "translate": [0, 0.002, 0]}]}
END
expect 2 'no motion was found that leads through no thin body' "$noli" check --settle -o rod.json between.json
[ ! -e rod.json ] || fail "a rod went through a sheet"
expect 0 '"rod": moved 0.00901 m' "$noli" check --settle -o rod.json between.json --set 'obstacles[1].translate=[0,0.05,0]'

# ---- wrong usage ----
expect 1 'need -o FILE' "$noli" check --repair boxes.json
expect 2 'a scene is written as .json' "$noli" check --repair -o fixed.vtk boxes.json
expect 4 'nowhere' "$noli" check --repair -o nowhere/fixed.json copies.json

[ $failures -eq 0 ] || exit 1
