#!/bin/sh
# Results that are moved: with their meshes, alone, into a place with copies of them; meshes that
# are gone or have changed.
# Argument: the program.
set -u
noli=$1
. "${0%/*}/expect.sh"

mkdir project project/meshes project/frames
cat >project/meshes/ball.vtk <<'EOF'
# vtk DataFile Version 3.0
a tetrahedron
ASCII
DATASET UNSTRUCTURED_GRID
POINTS 4 double
0 0 0  1 0 0  0 1 0  0 0 1
CELLS 1 5
4 0 1 2 3
CELL_TYPES 1
10
EOF
printf 'v -4 0 -4\nv 4 0 -4\nv 4 0 4\nv -4 0 4\nf 3 2 1\nf 4 3 1\n' >project/meshes/floor.obj
for k in 1 2 3; do
  printf 'v -1 %d 0\nv 1 %d 0\nv 0 %d 1\nf 1 2 3\n' "$((k + 4))" "$((k + 4))" "$((k + 4))" >project/frames/lid_$k.obj
done
cat >project/scene.json <<'EOF'
{
  "time": {"step": 0.01, "steps": 8},
  "bodies": [{"name": "ball", "mesh": "meshes/ball.vtk", "translate": [0, 0.3, 0]}],
  "obstacles": [{"name": "floor", "mesh": "meshes/floor.obj"},
                {"name": "lid", "mesh": "frames/lid_1.obj",
                 "motion": {"sequence": {"files": "frames/lid_%d.obj", "first": 1, "fps": 25}}}]
}
EOF

# pictures are those of a browser, which a machine may not have
picture=
for browser in chromium chromium-browser google-chrome google-chrome-stable; do
  command -v "$browser" >/dev/null && picture=picture
done
[ -n "$picture" ] || echo 'no Chromium: pictures are left out'

# use DIR STATUS TEXT: all that reads a result
use() {
  directory=$1 status=$2 text=$3
  for command in "audit $directory" "view $directory" "report $directory" ${picture:+"picture $directory"} \
    "convert $directory surface.glb" "check $directory/scene.json"; do
    # shellcheck disable=SC2086
    expect "$status" "$text" "$noli" $command
  done
  expect "$status" "$text" "$noli" run "$directory/scene.json" -o again --force
}

# ---- the folder of the project with all in it ----
(cd project && "$noli" run scene.json -o out/whole --quiet && "$noli" run scene.json -o out/cut --steps 5 --quiet &&
  "$noli" run scene.json -o out/two --steps 5 --quiet)
grep -q "$work" project/out/whole/scene.json || fail 'the original places are not recorded'
! grep -q '"mesh": "/' project/out/whole/scene.json || fail 'meshes are named by absolute paths'
use project/out/whole 0 ''
cp -R project kept
mv project moved
use moved/out/whole 0 ''
expect 0 '8 steps' "$noli" resume moved/out/cut
grep -q 'not the scene of the checkpoint' said && fail 'a moved scene is called another one'
cmp -s moved/out/cut/frame_000008.vtu kept/out/whole/frame_000008.vtu || fail 'a moved and resumed run differs'

# ---- through a link that leads elsewhere ----
ln -s "$work/moved/out" link
use link/whole 0 ''
mkdir far far/away
ln -s "$work/far/away" moved/linked
expect 0 '' "$noli" run moved/scene.json -o moved/linked/run
use far/away/run 0 ''

# ---- the result alone: its meshes are where they were ----
cp -R kept project
mkdir deep deep/er
mv project/out/whole deep/er/whole
mv project/out/cut deep/er/cut
use deep/er/whole 0 ''
expect 0 '8 steps' "$noli" resume deep/er/cut
cmp -s deep/er/cut/frame_000008.vtu kept/out/whole/frame_000008.vtu || fail 'a result that was moved alone differs'

# ---- its meshes are gone: the message says where to put them; there they are found ----
rm -r project
missing='bodies[0].mesh: "../../meshes/ball.vtk" is not there, nor is "'"$work"'/project/meshes/ball.vtk", where it was'
use deep/er/whole 2 "$missing"
expect 2 "$missing" "$noli" resume deep/er/whole --steps 1
cp kept/meshes/* kept/frames/* deep/er/whole
use deep/er/whole 0 ''
expect 0 '9 steps' "$noli" resume deep/er/whole --steps 1

# ---- a mesh that has changed ----
sed 's/0 0 1$/0 0 1.5/' kept/meshes/ball.vtk >moved/meshes/ball.vtk
changed='ball.vtk" has changed since the results were written'
for command in view report picture; do
  expect 2 "$changed" "$noli" $command moved/out/whole
done
expect 2 "$changed" "$noli" convert moved/out/whole surface.glb
expect 3 'findings' "$noli" audit moved/out/whole
expect 2 'has changed since the run was started' "$noli" resume moved/out/two
expect 0 'has changed since this scene was written' "$noli" run moved/out/whole/scene.json -o again --force
# the one with the digest is taken where both are there
mkdir project
cp -R kept/meshes kept/frames project
use moved/out/whole 0 ''
expect 0 '8 steps' "$noli" resume moved/out/two
sed 's/0 0 1$/0 0 1.5/' kept/meshes/ball.vtk >project/meshes/ball.vtk
expect 2 "$changed" "$noli" view moved/out/whole

# ---- scenes that others write ----
rm -r project moved
cp -R kept project
expect 0 '' "$noli" convert project/scene.json project/converted.json
mv project moved
expect 0 'ready to run' "$noli" check moved/converted.json

# ---- by hand ----
sed 's/"digest": "[0-9a-f]*"/"digest": "12"/' moved/converted.json >moved/short.json
expect 2 'files[0].digest: must be 16 hexadecimal digits' "$noli" check moved/short.json
sed 's/"original"/"orignal"/' moved/converted.json >moved/misspelt.json
expect 2 'did you mean "original"?' "$noli" check moved/misspelt.json

[ "$failures" -eq 0 ] || exit 1
echo 'results can be moved'
