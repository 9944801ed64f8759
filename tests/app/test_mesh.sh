#!/bin/sh
# `noli mesh`: what it refuses, and, in builds with Gmsh, what it fills.
# Arguments: the program, a Python interpreter, the source directory. Status 77: built without Gmsh.
set -u
noli=$1 python=$2 source=$3
. "${0%/*}/expect.sh"
"$python" "$source/tests/app/surfaces.py" . || fail "surfaces.py"

# ---- refused by any build ----
expect 2 'open at edge (5, 7), from (0.5, -0.5, 0.5) to (0.5, 0.5, 0.5)' "$noli" mesh open.obj -o x.msh
expect 2 'edge (1, 7) meets triangle 16 (8, 9, 13) at (0.5, -0.2, -0.2)' "$noli" mesh crossing.obj -o x.msh
expect 2 'not filled' "$noli" mesh crossing.obj -o x.msh
echo 'v 0 0 0' >points.obj
expect 2 'has no triangles' "$noli" mesh points.obj -o x.msh
expect 4 'nowhere.obj' "$noli" mesh nowhere.obj -o x.msh
expect 1 'needs -o FILE.msh' "$noli" mesh box.obj
expect 1 'needs -o FILE.msh' "$noli" mesh box.obj -o x.vtk
expect 1 '--size needs a length > 0 in m, got "0.1m"' "$noli" mesh box.obj -o x.msh --size 0.1m
expect 1 '--order' "$noli" mesh box.obj -o x.msh --order 5
[ ! -e x.msh ] || fail "wrote a mesh of a surface that is refused"

"$noli" mesh box.obj -o box.msh >said 2>&1
if grep -q 'without Gmsh' said; then
  grep -q 'libgmsh-dev' said || fail "does not say which package is missing"
  [ ! -e box.msh ] || fail "wrote a mesh without Gmsh"
  [ $failures -eq 0 ] || exit 1
  echo "skipped: built without Gmsh (-DNOLI_GMSH=ON needs libgmsh-dev)"
  exit 77
fi

# ---- filled: the volume of the surface, whatever the order ----
# has FILE WORDS: noli info says them
has() {
  expect 0 "$2" "$noli" info "$1"
  expect 0 'fit for simulation' "$noli" info "$1"
}
has box.msh 'volume 1, '
for order in 1 2 3 4; do
  expect 0 "1 solid, order $order" "$noli" mesh ball.obj -o ball.msh --order $order
  grep -q 'scaled Jacobian: least 0\.[0-9]' said || fail "order $order: no quality"
  has ball.msh 'volume 4.0194, '
  # it takes part in a simulation
  cat >run.json <<'END'
{"time": {"step": 0.01, "steps": 2}, "debug": {"audit": true},
 "bodies": [{"name": "ball", "mesh": "ball.msh", "translate": [0, 1.001, 0]}], "half_spaces": [{"name": "floor"}]}
END
  expect 0 'volume 4.0' "$noli" check run.json
  [ $order -gt 2 ] || expect 0 '' "$noli" run run.json -o run --force
done

# cavities and several solids
expect 0 '3 solids' "$noli" mesh nested.obj -o nested.msh
has nested.msh 'tags of tetrahedra: 1 ('
PYTHONPATH="$source/tests/app" "$python" -B - nested.msh "$noli" <<'END' || fail "nested: wrong volume"
import re, subprocess, sys
from surfaces import ball, box

def volume(part):
    x, triangles = part
    return sum(sum(x[a][k] * (x[b][(k + 1) % 3] * x[c][(k + 2) % 3] - x[b][(k + 2) % 3] * x[c][(k + 1) % 3])
                   for k in range(3)) for a, b, c in triangles) / 6

said = subprocess.run([sys.argv[2], "info", sys.argv[1]], capture_output=True, text=True).stdout
got = float(re.search(r"volume ([0-9.]+)", said).group(1))
want = abs(volume(ball(1, 10))) - abs(volume(ball(0.7, 9))) + abs(volume(ball(0.4, 8))) + abs(volume(box(0.5)))
print(got, want)
sys.exit(abs(got - want) > 1e-5 * want)
END

# meshed anew
expect 0 '1 solid' "$noli" mesh box.obj -o fine.msh --size 0.25
has fine.msh 'volume 1, '
cp box.msh before.msh
expect 4 '' "$noli" mesh box.obj -o nowhere/box.msh
ls | grep -q 'part.msh' && fail "left a scratch file"
cmp -s box.msh before.msh || fail "changed another mesh"

[ $failures -eq 0 ] || exit 1
