#!/bin/sh
# The program as people and scripts use it: exit statuses, files, messages.
# Arguments: the program, the source directory.
set -u
noli=$1 source=$2
. "${0%/*}/expect.sh"
trap 'umount "$work/small" 2>/dev/null; rm -rf "$work"' EXIT

cat >scene.json <<'END'
{
  "name": "small",
  "time": {"step": 0.01, "steps": 20},
  "bodies": [{"name": "box", "mesh": {"box": {"size": [1, 1, 1], "cells": [2, 2, 2]}},
              "translate": [0, 0.55, 0]}],
  "half_spaces": [{"name": "floor"}],
  "friction": {"coefficient": 0.3},
  "output": {"every": 5}
}
END
sed 's/0\.55/0.45/' scene.json >below.json
sed 's/"coefficient"/"coeficient"/' scene.json >misspelt.json

# ---- the command line ----
expect 1 'usage: noli' "$noli"
expect 0 'noli 0.' "$noli" --version
expect 0 'usage: noli COMMAND' "$noli" --help
expect 0 'usage: noli run SCENE' "$noli" run --help
expect 0 'usage: noli check SCENE' "$noli" check -h
expect 0 'usage: noli resume DIR' "$noli" help resume
expect 1 'did you mean "run"?' "$noli" rnu scene.json
expect 1 'commands: run check resume info convert' "$noli" frobnicate
expect 1 'did you mean --steps?' "$noli" run scene.json --stesp 3
expect 1 '--steps needs an integer of at least 1, got "0"' "$noli" run scene.json --steps 0
expect 1 '--steps needs a value: N' "$noli" run scene.json --steps
expect 1 '--set needs PATH=VALUE, got "time.step"' "$noli" run scene.json --set time.step
expect 1 'missing argument' "$noli" run
expect 1 'unexpected argument "b"' "$noli" run scene.json b
expect 1 'unknown option -x' "$noli" run -x scene.json

# ---- bad input ----
expect 4 'nowhere.json' "$noli" run nowhere.json
expect 2 'coefficient' "$noli" run misspelt.json
expect 2 'floor' "$noli" run below.json -o out/below
[ ! -e out/below ] || fail 'a scene that cannot start left a directory'
files=$(ls)
expect 2 'not above half-space "floor"' "$noli" check below.json
grep -q -e '--view shows them in a page, --defects in a file' said || fail 'check does not say what shows defects'
# nothing that was not asked for is written; what was is beside the results of the scene
[ "$(ls)" = "$files" ] || fail "check wrote into the current folder: $(ls)"
[ ! -e out ] || fail 'check made a folder of results'
expect 2 'out/below/defects.vtu shows them' "$noli" check below.json --defects --set 'name="below"'
[ -s out/below/defects.vtu ] || fail 'check --defects wrote no file'
expect 2 'elsewhere/b.vtu shows them' "$noli" check below.json -o elsewhere/b.vtu
[ -s elsewhere/b.vtu ] || fail 'check -o wrote no file'
expect 0 'ready to run' "$noli" check scene.json
# a law with parameters has no Young's modulus of its own, to print or to doubt
sed 's/"bodies": \[{/&"material": {"law": "mooney_rivlin", "c10": 0.2, "c01": 0.1}, /' scene.json >rubber.json
expect 0 'mooney_rivlin, parameters 0.2, 0.1, nu 0.4, density' "$noli" check rubber.json
expect 0 '0 warnings' "$noli" check rubber.json
# a ball in a solid box, and one in a hole
cat >nested.json <<'END'
{"time": {"step": 0.01, "steps": 2},
 "bodies": [{"name": "big", "mesh": {"box": {"size": [0.3, 0.3, 0.3], "cells": [4, 4, 4]}}},
            {"name": "small", "mesh": {"sphere": {"radius": 0.04, "cells": 4}}}]}
END
expect 2 'lies inside the solid "big"' "$noli" check nested.json -o defects.vtu
[ -s defects.vtu ] || fail 'check drew no nested body'
expect 2 'lies inside the solid "big"' "$noli" run nested.json -o out/nested
[ ! -e out/nested ] || fail 'a scene with a body inside a body left a directory'
sed 's/"box": {.*\[4, 4, 4\]}/"sphere": {"radius": 0.3, "inner_radius": 0.2, "cells": 4}/' nested.json >hollow.json
expect 0 'no inverted elements, 0 warnings' "$noli" check hollow.json
# a card whose thickness is half of 1e-3 l, and the warning about a contact distance above it
cat >card.json <<'END'
{"time": {"step": 0.01, "steps": 1}, "gravity": [0, 0, 0],
 "bodies": [{"name": "card", "mesh": {"mat": {"size": [0.2, 0.2], "thickness": 0.001, "cells": [2, 2]}}},
            {"name": "box", "mesh": {"box": {"size": [0.1, 0.1, 0.1], "cells": [1, 1, 1]}}, "translate": [0, 2, 0]}]}
END
expect 0 'contact distance 0.0005 m' "$noli" check card.json
expect 0 'no inverted elements, 0 warnings' "$noli" check card.json
expect 0 'no inverted elements, 1 warnings' "$noli" check card.json --set 'contact.distance="1e-3 l"'
expect 0 'warning: "card": the contact distance, 0.00207 m, is larger' "$noli" run card.json -o out/card --set 'contact.distance="1e-3 l"'
grep -q 'warning: "card": .* set contact.distance below 0.00' out/card/log.txt || fail 'the warning is not in log.txt'
expect 2 'override friction.coeficient=1: friction.coeficient: unknown key' "$noli" check scene.json --set friction.coeficient=1
expect 0 'converted.json: scene "small"' "$noli" convert scene.json converted.json --set friction.coefficient=0.25
grep -q '"coefficient": 0.25' converted.json || fail 'convert did not replace a value'
expect 1 'defects.vtu is a mesh' "$noli" convert defects.vtu mesh.obj --set friction.coefficient=1
# volume and mass are those that the simulation has: of round tetrahedra, of a section times its thickness
sed 's/"box": {"size": \[1, 1, 1\], "cells": \[2, 2, 2\]}/"sphere": {"cells": 4, "geometry_order": 3}/' scene.json >round.json
sed 's/"box": {.*}},$/"rectangle": {"size": [1, 1]}}, "plane_strain": 0.2,/' scene.json >flat.json
expect 0 'volume 0.523' "$noli" check round.json
expect 0 'volume 0.2 m^3, mass 200 kg' "$noli" check flat.json
expect 2 '' "$noli" info misspelt.json

# ---- motions and forces that never act ----
sed 's/"output"/"obstacles": [{"name": "wall", "mesh": {"box": {}}, "translate": [5, 5, 0],\
    "motion": {"velocity": [0, 0, 0]}}],\
  "prescribed": [{"body": "box", "motion": {"velocity": [1, 0, 0], "from": 5}}],\
  "forces": [{"body": "box", "nodal": [0, 0, 0]}, {"body": "box", "nodal": [1, 0, 0], "to": 0, "from": -1}],\
  &/' scene.json >idle.json
expect 0 'no inverted elements, 4 warnings' "$noli" check idle.json
grep -q 'idle.json:[0-9]*: obstacles\[0\].motion: never acts: "wall" is an obstacle' said || fail 'the still wall is not named'
grep -q 'idle.json:[0-9]*: prescribed\[0\].motion: never acts: it begins at 5 s, the scene ends at 0.2 s' said ||
  fail 'the late motion is not named'
grep -q 'idle.json:[0-9]*: forces\[0\]: never acts: the force is 0' said || fail 'the force of 0 is not named'
grep -q 'idle.json:[0-9]*: forces\[1\]: never acts: it ends at 0 s' said || fail 'the early force is not named'
expect 0 'forces[0]: never acts' "$noli" run idle.json -o idle --steps 1
expect 0 '3 warnings' "$noli" check idle.json --set 'obstacles.wall.motion.velocity=[0,"t",0]'
expect 0 '3 warnings' "$noli" check idle.json --set prescribed[0].motion.from=0.1

# ---- a run ----
expect 0 'result: out/small' "$noli" run scene.json
grep -q '^100%  0.2/0.2 s  step 20/20  left 0:00' said || { fail 'no line of progress'; cat said >&2; }
[ -z "$(grep '%  ' said | grep '.\{80\}')" ] || fail 'lines of progress have more than 79 columns'
for name in scene.json frames.pvd frame_000000.vtu frame_000005.vtu frame_000020.vtu steps.csv \
  forces.csv summary.json checkpoint.h5 log.txt; do
  [ -s "out/small/$name" ] || fail "out/small/$name is missing or empty"
done
[ "$(wc -l <out/small/steps.csv)" -eq 21 ] || fail 'steps.csv has not 21 lines'
[ "$(head -n 1 out/small/steps.csv)" = "step,time,wall_s,newton,linear_iterations,contacts,\
min_distance,kappa,kinetic,elastic,gravity,contact_energy,friction_energy,momentum_x,momentum_y,\
momentum_z,max_speed,max_penetration,damping_loss,substeps,retries,friction_loss,friction_ratio,\
friction_error,linear_fallbacks,solver_fallbacks,increment,imbalance,\
friction_stored,contacts_held,contacts_sliding,slid,adhesion_energy,rigid_stretch,joint_gap" ] || fail 'the header of steps.csv is not the contract'
grep -q '"finished": true' out/small/summary.json || fail 'summary.json does not say finished'
expect 0 '5 frames' "$noli" info out/small
expect 0 'step 20' "$noli" info out/small/checkpoint.h5
expect 0 '5 frames' "$noli" info out/small/frames.pvd
expect 0 'mass 1000 kg' "$noli" info scene.json
expect 0 '' "$noli" run scene.json -o quiet --quiet
[ ! -s said ] || { fail '--quiet is not quiet'; cat said >&2; }

# ---- with other values, and again into the same place ----
expect 0 '10 steps' "$noli" run scene.json -o other --steps=10 --set time.step=0.005 --threads 1
expect 0 '3 steps' "$noli" run scene.json -o other --steps 3
[ ! -e other/frame_000005.vtu ] || fail 'a frame of the earlier run is still there'
mkdir foreign && echo mine >foreign/scene.json
expect 4 'was not written by a run of Noli' "$noli" run scene.json -o foreign
[ "$(cat foreign/scene.json)" = mine ] || fail 'a foreign file was overwritten'
# the scene as run runs, from anywhere
expect 0 '20 steps' "$noli" run out/small/scene.json -o again
cmp -s again/frame_000020.vtu out/small/frame_000020.vtu || fail 'the scene as run differs'

# ---- resuming: the same bits as in one go, whatever the number of threads ----
expect 0 '7 steps' "$noli" run scene.json -o cut --steps 7 --threads 1
expect 0 'resuming from step 7' "$noli" resume cut --threads 2
cmp -s cut/frame_000020.vtu out/small/frame_000020.vtu || fail 'a resumed run differs'
cmp -s cut/forces.csv out/small/forces.csv || fail 'forces of a resumed run differ'
expect 0 '22 steps' "$noli" resume cut --steps 2
grep -q 'not the scene of the checkpoint' said && fail 'an unchanged scene is called changed'
air='bodies[0].volume={"region": "body", "model": "quadratic", "compression": 1e-6, "pressure": 50}'
expect 0 '9 steps' "$noli" run scene.json -o air --steps 9 --set "$air"
expect 0 '4 steps' "$noli" run scene.json -o leak --steps 4 --set "$air"
expect 0 'resuming from step 4' "$noli" resume leak --steps 5
[ "$(head -n 1 air/volumes.csv)" = step,time,region,body,volume,rest_volume,pressure,energy ] ||
  fail 'the header of volumes.csv is not the contract'
[ "$(wc -l <air/volumes.csv)" -eq 10 ] || fail 'volumes.csv has not 10 lines'
cmp -s leak/volumes.csv air/volumes.csv || fail 'volumes of a resumed run differ'
[ ! -e out/small/volumes.csv ] || fail 'volumes.csv without volumes'
legs='springs=[{"name": "legs", "body": "*", "select": {"side": "-y"}, "stiffness": 100, "damping": 1}]'
expect 0 '9 steps' "$noli" run scene.json -o sprung --steps 9 --set "$legs"
expect 0 '4 steps' "$noli" run scene.json -o half --steps 4 --set "$legs"
expect 0 'resuming from step 4' "$noli" resume half --steps 5
[ "$(head -n 1 sprung/springs.csv)" = step,time,spring,body,to,force_x,force_y,force_z,length,energy ] ||
  fail 'the header of springs.csv is not the contract'
cmp -s half/springs.csv sprung/springs.csv || fail 'springs of a resumed run differ'
[ ! -e out/small/springs.csv ] || fail 'springs.csv without springs'
load='time={"step": 0.1, "steps": 6, "integrator": "quasi_static", "increments": {"initial": 0.01}}'
clamp='prescribed=[{"body": "*", "select": {"side": "-y"}, "motion": {"hold": true}}]'
expect 0 '6 steps' "$noli" run scene.json -o load --set "$load" --set "$clamp"
expect 0 '3 steps' "$noli" run scene.json -o loaded --set "$load" --set "$clamp" --steps 3
expect 0 'resuming from step 3' "$noli" resume loaded --threads 2 --steps 3
cmp -s load/frame_000006.vtu loaded/frame_000006.vtu || fail 'a resumed run with increments differs'
[ "$(sed -n 2p load/steps.csv | cut -d , -f 1,2)" = 1,0.10000000000000001 ] ||
  fail 'increments change the times of steps'
probes='output.probes=[{"name": "top", "body": "*", "select": {"side": "+y"}, "quantity": "position"}]'
expect 0 '6 steps' "$noli" run scene.json -o probed --steps 6 --set "$probes"
expect 0 '4 steps' "$noli" run scene.json -o probed_twice --steps 4 --set "$probes"
expect 0 'resuming from step 4' "$noli" resume probed_twice --steps 2
[ "$(head -n 1 probed/probes.csv)" = step,time,top_x,top_y,top_z ] ||
  fail 'the header of probes.csv is not the contract'
[ "$(wc -l <probed/probes.csv)" -eq 7 ] || fail 'probes.csv has not 7 lines'
cmp -s probed/probes.csv probed_twice/probes.csv || fail 'probes of a resumed run differ'
[ ! -e out/small/probes.csv ] || fail 'probes.csv without probes'
expect 2 'output.probes[0].quantity: "positions" is not known; did you mean "position"?' "$noli" check scene.json \
  --set 'output.probes=[{"name": "top", "body": "*", "quantity": "positions"}]'
expect 4 'nowhere: cannot be opened: No such file or directory; to start a run: noli run SCENE -o nowhere' "$noli" resume nowhere
mkdir empty
expect 2 'empty: not a result of Noli: it has no scene.json; to start a run: noli run SCENE -o DIR' "$noli" resume empty
expect 2 'scene.json: a file, not the directory of a run' "$noli" resume scene.json
cp scene.json empty
expect 4 'empty: no run to resume: it has no log.txt of Noli; to start a run: noli run' "$noli" resume empty
cp -r cut changed && sed -i 's/100000\.0/90000.0/' changed/scene.json
expect 0 'not the scene of the checkpoint' "$noli" resume changed --steps 1
cp -r cut raised
sed -i 's/"origin": \[[^]]*\]/"origin": [0, 0.02, 0]/' raised/scene.json
expect 2 'is on or below "floor"' "$noli" resume raised --steps 1
head -c 700 cut/checkpoint.h5 >torn && mv torn cut/checkpoint.h5
expect 0 'resuming from step 20' "$noli" resume cut --steps 1

# ---- a finished run is left unchanged; the message tells how to extend it ----
expect 0 'again: this run has finished: 20 steps, 0.2 s; to extend it: noli resume again --steps N' "$noli" resume again
cp -r again longer
expect 0 'this run has finished' "$noli" resume longer
diff -r again longer >/dev/null || fail 'resuming a finished run changed it'
sed -i 's/"steps": 20/"steps": 23/' longer/scene.json
expect 0 '23 steps' "$noli" resume longer

# ---- a run is resumed with the meshes that it was started with, and no others ----
mkdir meshes
cat >meshes/one.obj <<'END'
v -1 -0.5 -1
v 1 -0.5 -1
v 1 -0.5 1
v -1 -0.5 1
f 1 3 2
f 1 4 3
END
for k in 1 2 3; do sed "s/-0\.5/-0.5$k/" meshes/one.obj >meshes/frame_$k.obj; done
sed 's/ -0\.5 / -0.55 /' meshes/one.obj >meshes/other.obj
cat >table.json <<'END'
{
  "time": {"step": 0.01, "steps": 6},
  "bodies": [{"name": "box", "mesh": {"box": {"cells": [1, 1, 1]}}, "translate": [0, 0.5, 0]}],
  "obstacles": [
    {"name": "table",
     "mesh": "meshes/one.obj"},
    {"name": "lift", "mesh": "meshes/one.obj", "translate": [0, -1, 0],
     "motion": {"sequence": {"files": "meshes/frame_%d.obj", "first": 1, "fps": 50}}}
  ]
}
END
expect 0 '2 steps' "$noli" run table.json --steps 2
cp -r out/table before
touch meshes/one.obj
expect 0 '3 steps' "$noli" resume out/table --steps 1
rm -r out/table && cp -r before out/table
# refused FILE PLACE WORDS: nothing in the folder changes but the log's first line
refused() {
  expect 2 "$1" "$noli" resume out/table
  grep -q "$2: .*$3" said || fail "does not name the place or the reason: $(cat said)"
  for name in checkpoint.h5 steps.csv scene.json summary.json log.txt frames.pvd; do
    cmp -s "before/$name" "out/table/$name" || fail "a refused resume changed $name"
  done
}
cp meshes/one.obj kept.obj && cp meshes/other.obj meshes/one.obj
refused "$work/meshes/one.obj" 'out/table/scene.json:[0-9]*: obstacles\[0\].mesh' 'has changed since the run was started'
expect 3 'the state of another model' "$noli" audit out/table
cp kept.obj meshes/one.obj
cp meshes/other.obj meshes/frame_2.obj
refused "$work/meshes/frame_2.obj" 'scene.json:[0-9]*: obstacles\[1\].motion.sequence.files' 'has changed'
sed "s/-0\.5/-0.52/" meshes/one.obj >meshes/frame_2.obj
cp meshes/other.obj meshes/frame_4.obj
refused "$work/meshes/frame_4.obj" 'scene.json:[0-9]*: obstacles\[1\].motion.sequence.files' 'did not exist'
rm meshes/frame_4.obj
mv meshes/frame_3.obj kept_3.obj
refused "$work/meshes/frame_3.obj" 'out/table/scene.json' 'the scene no longer reads'
mv kept_3.obj meshes/frame_3.obj
rm meshes/one.obj
expect 2 'meshes/one.obj' "$noli" resume out/table
mkdir moved && cp kept.obj moved/one.obj
# the same mesh in another place is the same mesh; another one there is not
sed -i 's,meshes/one.obj,moved/one.obj,' out/table/scene.json
expect 0 'resuming from step 2' "$noli" resume out/table --steps 1
grep -q 'not the scene of the checkpoint' said && fail 'a mesh in another place makes another scene'
cp meshes/other.obj moved/one.obj
rm -r out/table && cp -r before out/table
sed -i 's,meshes/one.obj,moved/one.obj,' out/table/scene.json
expect 2 'the state of another model: "table" had another rest shape' "$noli" resume out/table --steps 1
cp kept.obj meshes/one.obj
# scenes of other programs: the files that they name
printf 'time 1 0.05\nshapes input 1\nfallen.msh 0 0.5 0  0 0 0  1 1 1\nground 0.1 0\n' >fallen.txt
"$noli" convert out/small/frame_000000.vtu fallen.msh >/dev/null 2>&1
printf '# vtk DataFile Version 2.0\none\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 4 double\n0 0 0 1 0 0 0 1 0 0 0 1\nCELLS 1 5\n4 0 1 2 3\nCELL_TYPES 1\n10\n' >fallen.vtk
"$noli" convert fallen.vtk fallen.msh >/dev/null
expect 0 '2 steps' "$noli" run fallen.txt --steps 2
sed 's/1 0 0 0 1 0/1.1 0 0 0 1 0/' fallen.vtk >wide.vtk && "$noli" convert wide.vtk fallen.msh >/dev/null
expect 2 "$work/fallen.msh\" has changed since the run was started" "$noli" resume out/fallen

# ---- standard input ----
expect 0 'result: out/small' sh -c "'$noli' run - --steps 2 <scene.json"
sed '/"name": "small"/d; s,{"box": {[^}]*}},"fallen.msh",' scene.json >nameless.json
expect 0 'result: out/stdin' sh -c "'$noli' run - --steps 2 <nameless.json"
grep -q "\"$work/fallen.msh\"" out/stdin/scene.json || fail 'scene.json of standard input has a relative path'
expect 0 '20 steps' sh -c "cd / && '$noli' resume '$work/out/stdin'"
expect 0 'ready to run' sh -c "'$noli' check - <scene.json"
expect 2 '<stdin>:7: friction.coeficient: unknown key' sh -c "'$noli' check - <misspelt.json"
expect 2 '<stdin>:2: byte 4 is zero' sh -c "printf '{\n \0}' | '$noli' check -"

# ---- a step that fails leaves the state before it ----
expect 3 'step 1 (t = 0 s) failed' "$noli" run scene.json -o stuck --set solver.max_iterations=1 \
  --set 'solver.tolerance=1e-12' --set solver.max_substeps=1
grep -q '"finished": false' stuck/summary.json || fail 'a failed run says finished'
grep -q '"failure": "' stuck/summary.json || fail 'a failed run does not say why'
[ -s stuck/frame_000000.vtu ] || fail 'a failed run left no frame'
expect 0 'step 0' "$noli" info stuck/checkpoint.h5

# ---- interruption ----
# waits until a command succeeds, for at most a minute
await() {
  tries=0
  until "$@" >/dev/null 2>&1 || [ $tries -ge 600 ]; do
    sleep 0.1
    tries=$((tries + 1))
  done
}
sed 's/"steps": 20/"steps": 100000/' scene.json >long.json
"$noli" run long.json -o long >interrupted 2>&1 &
process=$!
await [ -s long/frame_000005.vtu ]
expect 4 'another run is writing here' "$noli" run long.json -o long
kill -INT $process
wait $process
got=$?
[ "$got" -eq 130 ] || fail "Ctrl-C: status $got, want 130"
grep -q 'stopping after the current step; Ctrl-C again stops immediately' interrupted || fail 'Ctrl-C is not answered'
grep -q '"finished": false' long/summary.json || fail 'an interrupted run says finished'
expect 4 'to resume it: noli resume long; to replace it: noli run --force' "$noli" run long.json -o long --steps 1
expect 0 'resuming from' "$noli" resume long --steps 1

# a closed terminal, with and without nohup
"$noli" resume long >said 2>&1 &
process=$!
await grep -q 'resuming from' said
sleep 0.5
kill -HUP $process
wait $process
got=$?
[ "$got" -eq 129 ] || fail "SIGHUP: status $got, want 129"
grep -q 'interrupted after step' said || fail 'SIGHUP did not end the run in order'
rm said
(trap '' HUP && exec "$noli" resume long >said 2>&1) &
process=$!
await grep -q 'resuming from' said
sleep 0.5
kill -HUP $process
sleep 0.2
kill -INT $process
wait $process
got=$?
[ "$got" -eq 130 ] || fail "SIGHUP under nohup: status $got, want 130"
# nobody reads the messages
mkfifo words
head -n 1 <words >/dev/null &
expect 0 '' sh -c "'$noli' run scene.json -o unread >totals 2>words"
grep -q '20 steps' totals || fail 'a run that nobody read did not end'
echo hello >unread/frames.pvd
expect 2 'not a list of frames' "$noli" resume unread --steps 1

# ---- a folder that is removed ----
"$noli" run long.json -o gone >said 2>&1 &
process=$!
await [ -s gone/frame_000005.vtu ]
mv gone elsewhere
wait $process
got=$?
[ "$got" -eq 4 ] || fail "a removed folder: status $got, want 4"
grep -q 'gone: the directory was removed or replaced' said || fail 'the removed folder is not named'
grep -q 'this run cannot be resumed' said || fail 'a checkpoint is promised that is not there'
grep -q 'untouched' said && fail 'a checkpoint that is gone is called untouched'

# ---- disks ----
expect 2 'larger than 256 MiB' "$noli" check /dev/zero
expect 4 'standard output cannot be written' sh -c "'$noli' --version >/dev/full"
echo file >flat
expect 4 'flat' "$noli" run scene.json -o flat/below
if [ "$(id -u)" -ne 0 ]; then
  mkdir locked && chmod a-w locked
  expect 4 'Permission denied' "$noli" run scene.json -o locked/out
fi
mkdir small
if mount -t tmpfs -o size=48k tmpfs small 2>/dev/null; then
  expect 4 'No space left on device' "$noli" run long.json -o small/out
  "$noli" info small/out/checkpoint.h5 >/dev/null || fail 'the checkpoint on the full disk is bad'
  tail -c 1 small/out/steps.csv | od -c | grep -q '\\n' || fail 'steps.csv ends in half a row'
  umount small
else
  echo 'note: no small disk to fill (needs root)'
fi

# ---- meshes ----
cat >tet.vtk <<'END'
# vtk DataFile Version 2.0
one
ASCII
DATASET UNSTRUCTURED_GRID
POINTS 4 double
0 0 0 1 0 0 0 1 0 0 0 1
CELLS 1 5
4 0 1 2 3
CELL_TYPES 1
10
END
expect 0 '1 tetrahedra' "$noli" convert tet.vtk tet.msh
expect 0 '1 tetrahedra' "$noli" info tet.msh
expect 4 'nowhere.obj' "$noli" convert nowhere.obj out.ply
expect 2 '' "$noli" convert tet.vtk out.xyz

# cells of a kind that a mesh has none of are not listed
for word in 'convert tet.vtk tet.msh' 'info tet.msh' 'check scene.json' 'info scene.json'; do
  "$noli" $word >said 2>&1
  grep -qE '[^0-9]0 (triangles|tetrahedra|segments|points)' said && fail "$word lists nothing: $(cat said)"
done

# ---- scenes of other programs: run and converted they give the same state ----
"$noli" convert tet.vtk tet.msh >/dev/null
printf 'time 1 0.05\nzoom 2\nshapes input 1\ntet.msh 0 0.5 0  0 0 0  1 1 1\nground 0.1 0\n' >fall.txt
expect 0 'fall.txt:2: "zoom" has no meaning here' "$noli" run fall.txt --steps 3 -o text
expect 0 'scene "fall"' "$noli" convert fall.txt native.json
expect 0 '' "$noli" run native.json --steps 3 -o native
hash_of() { "$noli" info "$1/checkpoint.h5" | sed 's/.*state //; s/,.*//'; }
[ -n "$(hash_of text)" ] && [ "$(hash_of text)" = "$(hash_of native)" ] || fail 'converting changes the run'
expect 0 'ready to run' "$noli" check fall.txt
expect 0 'scene "fall"' "$noli" info fall.txt
expect 2 'a scene is written as .json' "$noli" convert fall.txt fall.msh
sed 's/ground/graund/' fall.txt >wrong.ipc
expect 2 'wrong.ipc:5: unknown keyword' "$noli" convert wrong.ipc wrong.json
[ ! -e wrong.json ] || fail 'a scene that cannot be read left a file'

# ---- audits ----
expect 0 'nothing is wrong' "$noli" audit native
expect 0 '"clean": true' "$noli" audit native --json
"$noli" audit native --json | python3 -m json.tool >/dev/null || fail 'the audit is no JSON'
cp -r native damaged && rm damaged/frame_000002.vtu
expect 3 'frame_000002.vtu: missing' "$noli" audit damaged
expect 3 '"kind": "file"' "$noli" audit damaged --json
expect 2 'not a result of Noli' "$noli" audit nowhere
expect 1 'usage: noli audit DIR' "$noli" audit
expect 0 '3 steps' "$noli" run native.json --steps 3 -o audited --set 'debug.audit="every_iteration"'
expect 2 'known: "off", "every_step", "every_iteration"' "$noli" run native.json --steps 3 -o audited --set 'debug.audit="always"'

# ---- modes ----
expect 0 '6 without stiffness' "$noli" modes scene.json -o shaken/modes --count 8
[ "$(head -1 shaken/modes/modes.csv)" = mode,frequency,effective_mass_x,effective_mass_y,effective_mass_z ] ||
  fail 'modes.csv has another header'
[ "$(wc -l <shaken/modes/modes.csv)" -eq 9 ] && [ -s shaken/modes/mode_000008.vtu ] || fail 'modes are missing'
[ "$(sed 1d shaken/modes/modes.csv | head -6 | cut -d, -f2 | sort -u)" = 0 ] || fail 'a free body has six rigid motions'
expect 0 'about the state at t = 0.15 s' "$noli" modes native.json --checkpoint native/checkpoint.h5
expect 0 'without contact, friction and damping' "$noli" modes scene.json
expect 2 'vertices have 81 free components' "$noli" modes scene.json --count 82
expect 4 'no_checkpoint.h5: cannot read' "$noli" modes scene.json --checkpoint no_checkpoint.h5
expect 1 'needs an integer of at least 1' "$noli" modes scene.json --count 0
echo file >shaken/file
expect 4 'shaken/file: cannot create the directory' "$noli" modes scene.json -o shaken/file/modes

# ---- the examples of the repository ----
for scene in "$source"/examples/*.json; do
  expect 0 'ready to run' "$noli" check "$scene"
  expect 0 '2 steps' "$noli" run "$scene" --steps 2 -o example
done

[ "$failures" -eq 0 ] || exit 1
echo 'the program keeps its contract'
