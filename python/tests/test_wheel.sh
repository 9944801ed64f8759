#!/bin/sh
# Builds the wheel twice, installs it into a new virtual environment and runs a scene with it there.
# usage: test_wheel.sh PYTHON SOURCE_DIRECTORY LIBRARY_DIRECTORY. Exit status 77: skipped.
set -eu
python=$1 source=$2 libraries=$3
"$python" -c 'import cffi, numpy' 2>/dev/null || { echo "skipped: no cffi or numpy"; exit 77; }
"$python" -c 'import ensurepip' 2>/dev/null || { echo "skipped: no python3-venv"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
unset NOLI_LIBRARY PYTHONPATH || true

wheel=$("$python" "$source/scripts/python_wheel.py" "$source" "$libraries" "$folder/one")
again=$("$python" "$source/scripts/python_wheel.py" "$source" "$libraries" "$folder/two")
cmp "$wheel" "$again"

# cffi and numpy are those of the system: nothing is downloaded
"$python" -m venv --system-site-packages "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-index "$wheel"
cd "$folder"
cat >scene.py <<'EOF'
import noli, os, sys
from noli import _api
assert noli.__file__.startswith(sys.prefix), noli.__file__
assert _api.ffi is noli.ffi
libraries = [line.split()[-1] for line in open("/proc/self/maps") if "libnoli" in line]
assert libraries and all(path.startswith(sys.prefix) for path in libraries), libraries
sim = noli.Simulation(sys.argv[1])
for report in sim.steps(25):
    pass
assert 0 < report.min_distance < 1e-3, report
import importlib.metadata
files = [str(path) for path in importlib.metadata.files("noli")]
assert any(path.endswith("licenses/LICENSE") for path in files), files
assert not os.path.exists("/usr/share/doc/libcholmod3") or any("cholmod" in path for path in files), files
print(noli.__version__, sim)
EOF
venv/bin/python scene.py "$source/examples/guide/first.json"
