#!/bin/sh
# Makes a Debian package of the build, unpacks it and uses the program, the Python package and the documents from there.
# Arguments: cpack, build directory, Python or "".
set -eu
cpack=$1 build=$2 python=$3
for needed in dpkg-deb dpkg-shlibdeps; do
  command -v $needed >/dev/null || {
    echo "SKIPPED: $needed is missing"
    exit 77
  }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
  echo "FAILED: $*" >&2
  exit 1
}

"$cpack" --config "$build/CPackConfig.cmake" -B "$work" >"$work/log" 2>&1 || {
  cat "$work/log"
  fail cpack
}
package=$(ls "$work"/noli_*.deb)

# what it says about itself
[ "$(dpkg-deb -f "$package" Package)" = noli ] || fail "the name of the package"
for library in libcholmod libumfpack libhdf5 libjansson libgomp libc6; do
  dpkg-deb -f "$package" Depends | grep -q "$library" || fail "it does not depend on $library"
done
dpkg-deb -f "$package" Recommends | grep -q python3-cffi || fail "it does not recommend python3-cffi"
dpkg-deb --control "$package" "$work/control"
grep -q ldconfig "$work/control/postinst" || fail "the libraries are not registered"
sh -n "$work/control/postinst" || fail postinst
sh -n "$work/control/prerm" || fail prerm

# what is in it
dpkg-deb -x "$package" "$work/root"
libdir=$(dirname "$(find "$work/root/usr" -name 'libnoli.so.*' | head -n 1)")
for file in share/doc/noli/copyright share/doc/noli/start/guide.md share/doc/noli/examples/demo.json include/noli/noli.h; do
  [ -s "$work/root/usr/$file" ] || fail "usr/$file is missing"
done
if find "$work/root" -name __pycache__ | grep -q .; then
  fail "it holds __pycache__"
fi
if grep -rIl -e "$build" "$work/root" >"$work/leaks"; then
  cat "$work/leaks"
  fail "files name the build"
fi

# the program and Python run from there
export LD_LIBRARY_PATH="$libdir"
"$work/root/usr/bin/noli" check "$work/root/usr/share/doc/noli/examples/demo.json" >"$work/log" || fail "noli check"
if [ -n "$python" ] && "$python" -c "import cffi, numpy" 2>/dev/null; then
  folder=$(dirname "$(find "$work/root/usr/lib" -type d -name noli -path '*python3*')")
  PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$folder" "$python" -c "
import noli
assert noli.__file__.startswith('$folder'), noli.__file__
sim = noli.Simulation('$work/root/usr/share/doc/noli/examples/block_slide.json')
assert sim.step().newton_iterations > 0" || fail "the Python package"
fi
