#!/bin/sh
# The guide's scenes run, its script prints the output in the guide, and the messages that it explains are those of
# the program. Arguments: the program, the source directory, Python.
set -u
noli=$1 source=$2 python=$3
. "${0%/*}/expect.sh"
guide=$source/docs/start/guide.md scenes=$source/examples/guide

# explained TEXT: the last command printed it, and the guide has it in its table.
explained() {
  grep -qF -- "$1" said || { fail "it does not say \"$1\""; cat said >&2; }
  grep '^|' "$guide" | grep -qF -- "$1" || fail "the guide does not explain \"$1\""
}

# ---- scenes ----
for scene in "$scenes"/*.json; do
  expect 0 'ready to run' "$noli" check "$scene"
done
expect 0 '' "$noli" run "$scenes/first.json" -o first --steps 30 --quiet
expect 0 '' "$noli" run "$scenes/press.json" -o press --steps 70 --quiet
expect 0 't 0.70 s' "$python" "$scenes/ratio.py" press
"$python" "$scenes/ratio.py" press >printed
grep -E '^t 0\.[67]0' "$guide" >wanted
[ -s wanted ] && grep -qFf wanted printed || { fail 'the guide shows other forces'; cat printed >&2; }

# ---- after ./demo: the commands of the guide and of the start page, in order, in a new shell ----
"$python" -c 'import numpy' 2>/dev/null && pictures=1 || { pictures=0; echo 'no NumPy: pictures are left out'; }
# commands PAGE FROM: the code blocks of sh below the first line that begins with FROM
commands() {
  sed -n "/^$2/,\$p" "$source/docs/$1" | awk '/^```sh/ { on = 1; next } /^```/ { on = 0 } on' | grep -v '^make\|^paraview'
}
mkdir -p checkout/build/release
ln -s "$source/examples" "$source/scripts" checkout
ln -s "$noli" checkout/build/release/noli
commands index.md 'the same. The program' >typed
commands start/guide.md '' >>typed
sed -n 's/.*with.*ParaView: `\([^`]*\)`.*/\1/p' "$guide" >>typed
[ "$pictures" -eq 1 ] || { grep -v render.py typed >left && mv left typed; }
[ "$(grep -c '^noli run' typed)" -eq 2 ] && grep -q '^export PATH' typed || { fail 'the commands are not found'; cat typed >&2; }
expect 0 '' env -i PATH=/usr/bin:/bin HOME="$PWD" OMP_WAIT_POLICY=passive OPENBLAS_NUM_THREADS=1 \
  sh -euc 'cd checkout && . ../typed'
[ "$pictures" -eq 0 ] || { [ -s checkout/demo.png ] && [ -s checkout/first.png ]; } || fail 'there are no pictures'

# ---- messages ----
change() {
  sed "$1" "$scenes/first.json" >changed.json
}
change 's/poisson/poison/'
expect 2 'unknown key' "$noli" check changed.json
explained 'bodies[0].material.poison: unknown key; did you mean "poisson"?'
change 's/0\.4,/0.5,/'
expect 2 'must be in' "$noli" check changed.json
explained 'bodies[0].material.poisson: must be in (-1, 0.5), got 0.5'
change 's/0\.2,/0.04,/'
expect 2 'defects' "$noli" check changed.json
explained 'is not above half-space "floor"'
change 's/{"box".*}}/"cube.msh"/'
expect 2 'cube.msh' "$noli" check changed.json
explained 'cannot be opened: No such file or directory'
change 's/"duration": 1/"duration": 1, "integrator": "quasi_static"/'
expect 3 'free to' "$noli" run changed.json -o static --quiet
explained 'quasi_static: body "cube" is free to'

[ "$failures" -eq 0 ] || exit 1
