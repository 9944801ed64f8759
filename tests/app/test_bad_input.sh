#!/bin/sh
# Mistakes of users: each ends with the documented status and a message that names
# its place; a run that cannot start writes nothing.
# Argument: the program.
set -u
noli=$1
. "${0%/*}/expect.sh"

# refuse TEXT SET...: the scene with these values is bad input, and nothing is written.
refuse() {
  text=$1
  shift
  rm -rf refused
  expect 2 "$text" "$noli" run scene.json -o refused "$@"
  [ ! -e refused ] || fail "$*: left a directory"
}

cat >scene.json <<'END'
{
  "time": {"step": 0.01, "steps": 12},
  "bodies": [{"name": "box", "mesh": {"box": {"size": [1, 1, 1], "cells": [1, 1, 1]}},
              "translate": [0, 0.55, 0]},
             {"name": "upper", "mesh": {"box": {"size": [1, 1, 1], "cells": [1, 1, 1]}},
              "translate": [0, 1.65, 0]}],
  "half_spaces": [{"name": "floor"}],
  "prescribed": [{"body": "upper", "motion": {"velocity": [0.1, 0, 0]}}],
  "forces": [{"body": "box", "nodal": ["0", 0, 0]}]
}
END

# ---- the command line ----
printf '{\n  "time": {"step": "1e-3 // no"}, // ms\n "bodies": []}' >comment.json
expect 2 'comment.json:2:35: a comment; JSON has none' "$noli" check comment.json
printf '{"time": 1, /* s */ "bodies": []}' >comment.json
expect 2 'comment.json:1:13: a comment; JSON has none' "$noli" check comment.json
printf '{"time": 1,, // too many\n "bodies": []}' >comma.json
expect 2 'comma.json:1:12: string or' "$noli" check comma.json
printf '{\n"time": \0}' >zero.json
expect 2 'zero.json:2: byte 11 is zero: a scene must be UTF-8 text' "$noli" check zero.json
printf '' >empty.json
expect 2 'empty.json:1: the scene is empty' "$noli" check empty.json
expect 1 'an argument is empty' "$noli" run ''
expect 1 '--output is empty' "$noli" run scene.json -o ''
expect 1 '--threads takes at most' "$noli" run scene.json --threads 99999999999999
expect 1 '--threads needs an integer of at least 0' "$noli" run scene.json --threads -1
expect 1 '--steps needs an integer' "$noli" run scene.json --steps 1e3
expect 1 '--steps takes at most' "$noli" run scene.json --steps 9000000000000000000
expect 1 '--set needs PATH=VALUE' "$noli" run scene.json --set '=3'
mkdir folder.json
expect 4 'is a directory, not a scene file' "$noli" run folder.json
expect 2 'no summary.json' "$noli" info folder.json

# ---- values ----
refuse 'did you mean "linear"?' --set solver.linaer=cholmod
refuse 'must be a number, got a string: "nan"' --set time.step=nan
refuse 'must be a number, got a string: "1e400"' --set time.step=1e400
refuse 'must be > 0, got -1' --set time.step=-1
refuse 'must be in [1, 1000000000], got 0' --set time.steps=0
refuse 'the list has 2 items' --set 'bodies[2].mesh=x'
refuse 'the path is not valid' --set 'bodies[-1].mesh=x'
refuse 'cells are more than' --set 'bodies[0].mesh.box.cells=[100000,100000,100000]'
refuse 'body "box": tetrahedron 0' --set 'bodies[0].mesh.box.size=[1e200,1e200,1e200]'
[ "$(grep -c 'rest volume' said)" -eq 1 ] || fail 'the rest volume is told more than once'
refuse 'bodies[0].material.young: must be in (0, 1e+40], got 1e+300' --set 'bodies[0].material.young=1e300'
refuse 'bodies[0].material.density: must be in (0, 1e+40], got 1e+300' --set 'bodies[0].material.density=1e300'
refuse 'coordinates of 1e+12 m are rounded to 0.00022 m, too coarse for' \
  --set 'bodies[0].translate=[1e12,0.55,0]' --set 'bodies[1].translate=[1e12,2,0]' --set contact.distance=0.002
expect 2 '"box": coordinates of 1e+12 m' "$noli" check scene.json --set 'bodies[0].translate=[1e12,0.55,0]' \
  --set 'bodies[1].translate=[1e12,2,0]'
refuse 'contact distance must be in' --set contact.distance=1e300
refuse 'selects no vertex of "upper"' \
  --set 'prescribed[0].select={"sphere":{"center":[9,9,9],"radius":1}}'
refuse 'there is no "bix"' --set 'prescribed[0].body=bix'
refuse 'unknown name or symbol at character 1' --set 'forces[0].nodal=["foo(t)",0,0]'
refuse 'forces[0].nodal[0]' --set 'forces[0].nodal=["sqrt(",0,0]'

expect 0 'result: out/_.__evil ' "$noli" run scene.json --steps 1 --set 'name="../\nevil"'

# ---- meshes ----
mesh() {
  printf '# vtk DataFile Version 2.0\nx\nASCII\nDATASET UNSTRUCTURED_GRID\n' >"$1"
  printf 'POINTS 4 double\n%s\nCELLS %d %d\n%s\nCELL_TYPES %d\n' \
    "$2" "$3" $((5 * $3)) "$4" "$3" >>"$1"
  for cell in $(seq "$3"); do echo 10 >>"$1"; done
}
mesh nan.vtk '0 0 0 1 nan 0 0 1 0 0 0 1' 1 '4 0 1 2 3'
mesh flat.vtk '0 0 0 1 0 0 0 1 0 1 1 0' 1 '4 0 1 2 3'
mesh range.vtk '0 0 0 1 0 0 0 1 0 0 0 1' 1 '4 0 1 2 7'
mesh twice.vtk '0 0 0 1 0 0 0 1 0 0 0 1' 2 '4 0 1 2 3
4 0 1 2 3'
mesh none.vtk '0 0 0 1 0 0 0 1 0 0 0 1' 0 ''
: >empty.msh
refuse 'nowhere.msh: cannot be opened: No such file' --set 'bodies[0].mesh=nowhere.msh'
refuse 'vertex 1 is not finite' --set 'bodies[0].mesh=nan.vtk'
refuse 'tetrahedron 0 at (0.5, 0.5, 0) has no volume' --set 'bodies[0].mesh=flat.vtk'
refuse 'range.vtk:8' --set 'bodies[0].mesh=range.vtk'
refuse 'tetrahedron 1 occurs twice' --set 'bodies[0].mesh=twice.vtk'
refuse 'has no tetrahedra' --set 'bodies[0].mesh=none.vtk'
refuse 'empty.msh: the file is empty' --set 'bodies[0].mesh=empty.msh'

expect 0 '1 cells that occur twice, first 1' "$noli" info twice.vtk
grep -q 'NOT fit' said || fail 'a mesh with a cell twice is called fit'
printf 'v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nv 0 0 2\nf 1 2 3\nf 1 2 4\nf 1 2 5\n' >fan.obj
expect 0 'harmless' "$noli" info fan.obj
expect 0 'this does not harm contact' "$noli" run scene.json --steps 1 -o fan \
  --set 'obstacles=[{"mesh":"fan.obj","translate":[0,-5,0]}]'

# ---- intersecting or touching bodies, up to rounding ----
refuse '"box" and triangle' --set 'bodies[1].translate=[0,1.5,0]'
sed 's/1\.65/1.5/' scene.json >crossing.json
expect 2 'intersect at (' "$noli" check crossing.json -o crossing.vtu
[ -s crossing.vtu ] || fail 'check wrote no picture of the crossings'
sed 's/1\.65/1.55/' scene.json >touching.json
expect 2 'touch at (' "$noli" check --all touching.json
for body in box upper; do
  grep 'touch at' said | grep -q "\"$body\"" || fail "the touching bodies are not named: $body"
done
# 0.55 - 0.5 is not 0.05: the gap is 4e-17 m
sed 's/"floor"/"floor", "origin": [0, 0.05, 0]/' scene.json >grazing.json
expect 2 'is not above half-space "floor"' "$noli" check grazing.json
expect 2 'is not above half-space "floor"' "$noli" run grazing.json -o refused
[ ! -e refused ] || fail 'a scene that touches left a directory'

# ---- expressions that go wrong on the way: located, after the last good state is written ----
# stop TEXT SET...: the solver cannot go on.
stop() {
  text=$1
  shift
  rm -rf stopped
  expect 3 "$text" "$noli" run scene.json -o stopped "$@"
  grep -q '"finished": false' stopped/summary.json || fail "$*: says finished"
  "$noli" info stopped/checkpoint.h5 >said 2>&1 || fail "$*: no checkpoint"
}
stop 'step 1 (t = 0 s) failed: the force on body "box", vertex 0, is not finite at t = 0.01 s' \
  --set 'forces[0].nodal=["sqrt(-1)",0,0]'
stop 'step 6 (t = 0.05 s) failed: the force on body "box", vertex 0' \
  --set 'forces[0].nodal=["sqrt(0.055-t)",0,0]'
grep -q 'step 5,' said || fail 'the state before the failure is not kept'
stop 'step 10 (t = 0.09 s) failed: the prescribed motion of body "upper", vertex 0' \
  --set 'prescribed[0].motion.velocity=["1/(t-0.1)",0,0]'
stop 'blocked by rounding: the stiffness of the elements of "box" is' --set time.step=1e5 \
  --set 'bodies[0].material.young=1e15' --set solver.max_substeps=1
stop 'last iteration (1)' --set solver.max_iterations=1 --set solver.tolerance=1e-12 \
  --set solver.max_substeps=1

# ---- errors that the simulation finds are located in the scene too ----
sed 's/"translate": \[0, 0.55, 0\]/&, "volume": {"region": "cavity"}/' scene.json >hollow.json
expect 2 'hollow.json:4: bodies[0].volume: volume 0 of body "box"' "$noli" run hollow.json -o hollow

# ---- a check tells nothing of what an error kept it from measuring ----
cat >sheet.json <<'END'
{"time": {"step": 0.01, "duration": 0.1},
 "bodies": [{"name": "sheet", "mesh": {"plane": {"size": [1, 1], "cells": [2, 2]}}, "shell": {"thickness": 0.01}}]}
END
expect 0 'volume 0.01 m^3, mass 10 kg' "$noli" check sheet.json
expect 2 'needs closed oriented surfaces' "$noli" check sheet.json --set contact.model=gcp
grep -q 'volume\|mass\|contact distance' said && fail 'a check told what it did not measure'

# ---- names with escape codes, on the terminal and in the log ----
sed 's/: "box"/: "b\\u001b[2Jx"/' scene.json >escape.json
grep -q u001b escape.json || fail 'no name with an escape code'
for command in 'check escape.json' 'run escape.json -o escaped' 'info escaped' 'info escape.json' 'audit escaped'; do
  "$noli" $command >said 2>&1
  ! grep -q "$(printf '\033')" said || fail "$command: an escape code on the terminal"
done
! grep -q "$(printf '\033')" escaped/log.txt || fail 'an escape code in the log'

# ---- motions that are not finite, never and from some time on ----
expect 2 'motion 0 of body "upper": vertex 0 is not finite at t = 0.01 s' \
  "$noli" check scene.json --set 'prescribed[0].motion={"displacement": [0, "sqrt(-1-t)", 0]}'
expect 2 'is not finite at t = 0.02 s' \
  "$noli" check scene.json --set 'prescribed[0].motion={"displacement": [0, "1e-9/(0.02-t)", 0]}'

# ---- a motion that contact does not allow goes as far as it can, with a warning ----
expect 0 'prescribed motion stopped by contact of "upper" with "box"' \
  "$noli" run scene.json -o pressed --set 'prescribed[0].motion.velocity=[0,-20,0]'

grep -q '"finished": true' pressed/summary.json || fail 'a run with a blocked motion does not finish'
grep -q '"blocked_steps": [1-9]' pressed/summary.json || fail 'blocked steps are not counted'
grep -q '"motion_error": [0-9.e-]*[1-9]' pressed/summary.json || fail 'the distance from the target is not recorded'
grep -q '"blocked_by": "prescribed motion stopped by contact' pressed/summary.json ||
  fail 'what blocks a motion is not recorded'
expect 0 'm from its target, and did not reach it in' grep 'a prescribed motion ends' pressed/log.txt
expect 0 '' "$noli" run scene.json -o free --steps 2
grep -q '"blocked_steps": 0' free/summary.json || fail 'a free motion counts as blocked'
grep -q '"blocked_by": null' free/summary.json || fail 'a free motion is blocked by something'

# ---- what only the simulation finds is located, too ----
tied='ties=[{"body": "upper", "select": {"side": "-y"}, "to": "box", "distance": 0.2}]'
refuse 'scene.json:8: prescribed[0].motion: motion 0 prescribes vertex 0 of "upper", which a tie binds' --set "$tied"
expect 2 'scene.json:8: prescribed[0].motion: motion 0' "$noli" check scene.json --set "$tied"
printf '{"time": {"step": 0.1, "steps": 1}, "gravity": [0, 0, 0],
 "bodies": [{"name": "sheet", "mesh": {"plane": {"cells": [3, 3]}}, "shell": {"thickness": 1e-3}}],
 "ties": [{"body": "sheet", "select": {"vertices": [0]}, "to": "sheet", "distance": 1}],
 "prescribed": [{"body": "sheet", "select": {"vertices": [5]}, "motion": {"hold": true}},
  {"body": "sheet", "select": {"side": "-x"}, "motion": {"name": "pin", "hold": true}}]}' >seam.json
expect 2 'seam.json:5: prescribed[1].motion: motion 1 prescribes vertex 0 of "sheet"' "$noli" run seam.json
refuse 'scene.json:3: bodies[0]: body "box": coordinates of 1e+13 m are rounded' \
  --set 'bodies[0].translate=[0,1e13,0]' --set contact.distance=0.002
refuse 'pairs[0]: pair 0, "box" and "upper": a contact distance of 1e-09 m differs' \
  --set 'pairs=[{"a": "box", "b": "upper", "distance": 1e-9}]'
refuse 'scene.json: the contact distance must be in' --set contact.distance=1e16
refuse 'scene.json:3: bodies[0]: body "box" has a contact offset' --set contact.model=gcp --set bodies[0].contact_offset=1e-3

# ---- places that are no files ----
mkfifo pipe.vtu
ln -s pipe.vtu link.msh
expect 4 'something that is no file' "$noli" check crossing.json -o pipe.vtu
mesh good.vtk "0 0 0 1 0 0 0 1 0 0 0 1" 1 "4 0 1 2 3"
expect 4 "not a regular file" "$noli" convert good.vtk link.msh
[ -p pipe.vtu ] || fail 'a pipe was replaced by a file'
expect 4 'crossing.json: cannot create the directory' "$noli" check crossing.json -o crossing.json/x.vtu
(
  ulimit -f 8
  "$noli" run scene.json -o limited --set 'bodies[0].mesh.box.cells=[9,9,9]' >limited.txt 2>&1
)
got=$?
[ "$got" -eq 4 ] || { fail "a file that may not grow: status $got, want 4"; cat limited.txt >&2; }

# ---- closed streams: no message goes to the files ----
"$noli" run scene.json -o closed --steps 1 <&- >&- 2>&-
got=$?
[ "$got" -eq 0 ] || fail "closed streams: status $got, want 0"
[ "$(wc -l <closed/steps.csv)" -eq 2 ] || fail 'closed streams: steps.csv holds something else'
! grep -q 'result' closed/*.csv || fail 'closed streams: messages in a result file'

[ "$failures" -eq 0 ] || exit 1
echo 'bad input is refused and located'
