#!/bin/sh
# `noli design`: files, the best scene, interruption and resume, gradients, errors.
# Arguments: the program, the source directory.
set -u
noli=$1 source=$2
. "${0%/*}/expect.sh"
scene=$source/examples/design/friction.json

# a build without NLopt refuses searches, and does the rest
"$noli" design "$scene" -o probe >said 2>&1
if grep -q 'has no NLopt' said; then
  echo "skipped: this build has no NLopt"
  exit 77
fi

# ---- a search ----
expect 0 'converged after' "$noli" design "$scene" -o whole
[ "$(wc -l <whole/history.csv)" -ge 4 ] || fail "the history is short"
head -1 whole/history.csv | grep -qx 'evaluation,status,best,violation,slope,residual_error,at_yield,objective,friction block floor' ||
  fail "columns of history.csv"
[ "$(grep -c '<circle' whole/history.svg)" -eq "$(($(wc -l <whole/history.csv) - 1))" ] || fail "points of history.svg"
[ "$(wc -l <whole/gradients.csv)" -eq "$(wc -l <whole/history.csv)" ] || fail "rows of gradients.csv"
expect 0 '' "$noli" run whole/best.json -o run
grep -q '"design"' whole/best.json && fail "the best scene still searches"

# ---- a search in two parts takes the same way ----
expect 0 'evaluations after 2' "$noli" design "$scene" -o parts --set design.evaluations=2
[ "$(wc -l <parts/history.csv)" -eq 3 ] || fail "two evaluations are not two rows"
expect 0 'resumed: 2 evaluations are known' "$noli" design "$scene" -o parts --resume
cmp parts/history.csv whole/history.csv || fail "another way after --resume"
cmp parts/history.svg whole/history.svg || fail "another picture after --resume"
cmp parts/best.json whole/best.json || fail "another result after --resume"
# a line that was cut off is computed again
head -c "$(($(wc -c <whole/history.csv) - 7))" whole/history.csv >parts/history.csv
expect 0 'known' "$noli" design "$scene" -o parts --resume
cmp parts/history.csv whole/history.csv || fail "another way after a damaged history"
expect 2 'another scene than this one' "$noli" design "$scene" -o parts --resume --set time.step=0.02
# a history with other columns
sed 's/,residual_error,at_yield//' whole/history.csv >parts/history.csv
expect 2 'parts/history.csv: not a history of this version of noli' "$noli" design "$scene" -o parts --resume

# ---- how far to trust gradients ----
cat >still.json <<'END'
{"time": {"step": 0.1, "steps": 2, "integrator": "quasi_static"},
 "bodies": [{"name": "beam", "mesh": {"box": {"size": [0.4, 0.1, 0.1], "cells": [4, 1, 1]}},
   "material": {"law": "hencky", "young": 1e6, "yield": 5e3, "hardening": 1e5}}],
 "prescribed": [{"body": "beam", "select": {"side": "-x"}, "motion": {"hold": true}}],
 "design": {"variables": [{"parameter": "yield", "of": "beam", "lower": 1e3, "upper": 1e4}], "evaluations": 1,
   "objective": [{"quantity": "centre", "body": "beam", "component": "y", "form": "value"}]}}
END
expect 0 'points at yield, where derivatives are those of one side' "$noli" design still.json -o still
[ "$(tail -1 still/history.csv | cut -d, -f7)" -gt 0 ] || fail "history.csv has no points at yield"

# ---- gradients ----
expect 0 'relative error' "$noli" design "$scene" --check
expect 0 'objective 0.035952520177, residual error' "$noli" design "$scene" --check
expect 0 ' MB of states, 0 steps computed again' "$noli" design "$scene" --check
expect 0 'points at yield, where derivatives are those of one side' "$noli" design still.json --check

# ---- a shape with a surface of its own, which moves with it ----
cat >hull.obj <<'END'
v -0.52 -0.52 -0.52
v 0.52 -0.52 -0.52
v 0.52 0.52 -0.52
v -0.52 0.52 -0.52
v -0.52 -0.52 0.52
v 0.52 -0.52 0.52
v 0.52 0.52 0.52
v -0.52 0.52 0.52
f 4 3 2 1
f 5 6 7 8
f 1 2 6 5
f 2 3 7 6
f 3 4 8 7
f 4 1 5 8
END
cat >carried.json <<'END'
{"time": {"step": 0.01, "steps": 8}, "contact": {"stiffness": 1e8, "distance": 0.01}, "friction": {"coefficient": 0.3},
 "bodies": [{"name": "cube", "mesh": {"box": {"size": [1, 1, 1], "cells": [2, 1, 1]}}, "order": 2, "translate": [0, 0.55, 0],
   "velocity": [0.5, -1, 0], "proxy": {"mesh": "hull.obj"}, "material": {"young": 1e5}}],
 "half_spaces": [{"name": "floor"}],
 "design": {"variables": [{"parameter": "rest_position", "of": "cube", "control": "cage", "cage": [2, 2, 1],
     "lower": [-0.1, 0, 0], "upper": [0.1, 0.1, 0]}], "evaluations": 3,
   "objective": [{"quantity": "displacement", "body": "cube", "component": "x", "form": "value"}]}}
END
expect 0 'relative error' "$noli" design carried.json --check
expect 0 'evaluations after 3' "$noli" design carried.json -o carried
cp hull.obj carried
expect 0 '' "$noli" run carried/best.json -o run

# surfaces that cannot move with a body
cat >far.json <<'END'
{"time": {"step": 0.01, "steps": 1}, "bodies": [{"name": "cube", "mesh": {"box": {"size": [1, 1, 1], "cells": [1, 1, 1]}},
   "rest": [[-0.5, -0.5, -0.5], [0.5, -0.5, -0.5], [-0.5, 0.5, -0.5], [0.5, 0.5, -0.5], [-0.5, -0.5, 0.6], [0.5, -0.5, 0.6],
     [-0.5, 0.5, 0.6], [0.5, 0.5, 0.6]], "proxy": {"mesh": {"box": {"size": [4, 1, 1], "cells": [1, 1, 1]}}}}]}
END
cat >sheet.json <<'END'
{"time": {"step": 0.01, "steps": 1}, "bodies": [{"name": "sheet", "mesh": {"rectangle": {"size": [1, 1], "cells": [1, 1]}},
   "shell": {"thickness": 0.01}, "rest": [[-0.5, -0.5, 0], [0.6, -0.5, 0], [-0.5, 0.5, 0], [0.5, 0.5, 0]],
   "proxy": {"mesh": {"box": {"size": [1, 1, 1], "cells": [1, 1, 1]}}}}]}
END
expect 2 'body "cube": vertex 0 of the collision mesh at' "$noli" check far.json
expect 2 'body "sheet" is a shell: its elements are linear' "$noli" check sheet.json

# ---- errors ----
expect 4 'there is no search to resume' "$noli" design "$scene" -o nowhere --resume
expect 2 'has no design: a key "design" says' "$noli" design "$source/examples/guide/first.json" -o none
expect 2 'there is no entity "blok"; did you mean "block"?' "$noli" design "$scene" -o none --set 'design.variables[0].of="blok"'
expect 2 'did you mean "quantity"?' "$noli" design "$scene" -o none --set 'design.objective[0].quantty="x"'
expect 2 'design.variables[0].lower' "$noli" design "$scene" -o none --set 'design.variables[0].lower="a"'
expect 1 '' "$noli" design "$scene" --resumed
expect 4 'whole: is a directory, not a scene file' "$noli" design whole
touch file
expect 4 'cannot create the directory' "$noli" design "$scene" -o file/design

[ $failures -eq 0 ] || exit 1
