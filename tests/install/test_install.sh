#!/bin/sh
# Installs into an empty prefix and builds and runs the C example from there, once by pkg-config and
# once by find_package. Arguments: cmake, build directory, source directory, C compiler.
set -eu
cmake=$1 build=$2 source=$3 cc=$4

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/prefix
fail() {
  echo "FAILED: $*" >&2
  exit 1
}
# Runs the example and looks at what it prints: 30 steps, down first, a force in the end.
run_example() {
  "$1" >"$work/printed" || fail "$1 ended with status $?"
  [ "$(wc -l <"$work/printed")" -eq 30 ] || fail "$1 printed $(wc -l <"$work/printed") lines"
  awk '$3 != "s" || $4 != "height" || $7 != "force" || $8 != $8 + 0 { bad = 1 }
       NR == 1 { first = $5 } $5 < first { fell = 1 } $8 > 0 { pushed = 1 }
       END { exit bad || !fell || !pushed }' "$work/printed" || {
    cat "$work/printed"
    fail "$1: the box did not fall on the floor"
  }
}

"$cmake" --install "$build" --prefix "$prefix" >"$work/log" || { cat "$work/log"; fail install; }

# the libraries have a version in their names, and nothing of the build stays in what is installed
libdir=$(dirname "$(find "$prefix" -name 'libnoli.so' | head -n 1)")
abi=$(sed -n "s/^#define NOLI_ABI_VERSION //p" "$source/include/noli/version.h")
[ -e "$libdir/libnoli.so.$abi" ] && [ -e "$libdir/libnoli_import.so.$abi" ] || fail "libnoli.so.$abi, libnoli_import.so.$abi"
if grep -rIl -e "$build" -e "$source" "$prefix" >"$work/leaks"; then
  cat "$work/leaks"
  fail "installed files name the build"
fi

# headers include nothing that is not installed
version=$("$prefix/bin/noli" --version) || fail "the program does not run"

export PKG_CONFIG_PATH="$libdir/pkgconfig"
[ "noli $(pkg-config --modversion noli)" = "$version" ] || fail "versions differ"
# shellcheck disable=SC2046 # the flags are words
"$cc" -std=c17 -Wall -Wextra -Werror -o "$work/by_pkg_config" "$source/examples/c/falling_box.c" \
  $(pkg-config --cflags --libs noli) || fail "pkg-config"
run_example "$work/by_pkg_config"
cp "$work/printed" "$work/first"

"$cmake" -S "$source/examples/c" -B "$work/build" -DCMAKE_PREFIX_PATH="$prefix" \
  -DCMAKE_C_COMPILER="$cc" >"$work/log" 2>&1 || { cat "$work/log"; fail "find_package"; }
"$cmake" --build "$work/build" >"$work/log" 2>&1 || { cat "$work/log"; fail "build"; }
run_example "$work/build/falling_box"
# nothing acts at rest, and the force grows with every step
"$work/build/contact_potential" >"$work/potential" || fail "contact_potential"
awk 'NR == 1 { bad = $5 != 0 || $NF != "m" } $(NF - 1) + 0 < before { bad = 1 } { before = $(NF - 1) + 0 }
     END { exit bad || NR != 6 || !(before > 0) }' "$work/potential" || {
  cat "$work/potential"
  fail "contact_potential: wrong forces"
}
# the plate slips: friction is 0.2 of the normal force in the end; files are there
(cd "$work" && build/press >pressed) || fail "press"
awk 'END { exit !(NR == 7 && $1 == "t" && $8 > 0.19 * $5 && $8 < 0.21 * $5) }' "$work/pressed" || {
  cat "$work/pressed"
  fail "press: wrong forces"
}
[ -s "$work/press.vtu" ] && [ -s "$work/press.h5" ] || fail "press: files are missing"
# the ball is held 5 cm above the floor, and slips with the least friction
"$work/build/gripper" >"$work/gripped" || fail "gripper"
awk '$1 == "t" { height = $8 } $1 == "friction" { n++; at[n] = $(NF - 1) }
     END { exit !(height > 75 && n == 4 && at[1] < 70 && at[4] > 75) }' "$work/gripped" || {
  cat "$work/gripped"
  fail "gripper: the ball was not picked up"
}
# every call between steps: states are kept, a body in the way is refused, hand and floor balance the weight
"$work/build/live" >"$work/lived" || fail "live"
awk '/^same state: yes$/ || /^back at the start: yes$/ || /^refused: .*"cube" meets .*"ball"/ || /state untouched$/ { n++ }
     $1 == "weight" { off = $8 + $5 - $2; n += off < 0.05 && off > -0.05 }
     $1 == "copy" { n += $4 > before; before = $4 }
     END { exit n != 8 }' "$work/lived" || {
  cat "$work/lived"
  fail "live: wrong results"
}
# a beam of no more material sags less; a build without NLopt says so
if "$work/build/design" >"$work/designed" 2>&1; then
  awk '$1 == "run" && first == "" { first = $3 } $2 ~ /^[0-9.]+$/ && $4 == "violation" { last = $2; n += $5 < 1e-6 }
       END { exit !(n == 1 && last > 0 && last < 0.5 * first) }' "$work/designed" || {
    cat "$work/designed"
    fail "design: the beam is no better"
  }
else
  grep -q NLopt "$work/designed" || { cat "$work/designed"; fail "design"; }
fi
# the importers are a library of their own: the text scene of the fuzz seeds becomes the scene that `noli convert` makes
mkdir "$work/foreign"
cp "$source/tests/fuzz/seeds/ipc/script.txt" "$work/foreign/scene.txt"
cp "$source/tests/fuzz/seeds/msh/ascii_2.2.msh" "$work/foreign/box.msh"
"$prefix/bin/noli" convert "$work/foreign/scene.txt" "$work/wanted.json" >"$work/log" 2>&1 || { cat "$work/log"; fail convert; }
# shellcheck disable=SC2046 # the flags are words
"$cc" -std=c17 -Wall -Wextra -Werror -o "$work/to_native" "$source/examples/c/to_native.c" \
  $(pkg-config --cflags --libs noli_import) || fail "pkg-config noli_import"
for program in "$work/to_native" "$work/build/to_native"; do
  (cd "$work" && "$program" foreign/scene.txt) >"$work/native.json" || fail "$program ended with status $?"
  cmp "$work/native.json" "$work/wanted.json" || fail "$program: another scene than that of noli convert"
done
cmp "$work/first" "$work/printed" || fail "the two builds print different numbers"

# make install: what to export is said for a prefix of one's own, and is enough; a staged tree asks for nothing
unset PKG_CONFIG_PATH
own=$work/own
"$cmake" -S "$source" -B "$work/made" -DCMAKE_INSTALL_PREFIX="$own" -DNOLI_TESTS=OFF -DNOLI_BENCH=OFF \
  -DCMAKE_C_COMPILER="$cc" >"$work/log" || { cat "$work/log"; fail "configure"; }
# built before: the same files
cp -P "$build/noli" "$build"/libnoli.so* "$build"/libnoli_import.so* "$work/made"
sh "$source/scripts/install.sh" "$work/made" "$work/stage" >"$work/said" || { cat "$work/said"; fail "staged"; }
[ -x "$work/stage$own/bin/noli" ] && [ ! -e "$own" ] || fail "DESTDIR is not where the files are"
! grep -q export "$work/said" || { cat "$work/said"; fail "a staged tree is not used where it lies"; }
sh "$source/scripts/install.sh" "$work/made" >"$work/said" || { cat "$work/said"; fail "make install"; }
grep export "$work/said" >"$work/export.sh" || { cat "$work/said"; fail "does not say what to export"; }
(
  . "$work/export.sh"
  [ "$(command -v noli)" = "$own/bin/noli" ] || fail "noli is not on the path"
  # shellcheck disable=SC2046 # the flags are words
  "$cc" -std=c17 -o "$work/exported" "$source/examples/c/falling_box.c" $(pkg-config --cflags --libs noli)
  LD_LIBRARY_PATH='' run_example "$work/exported"
  sh "$source/scripts/install.sh" "$work/made" | grep export && fail "asks for what is exported"
  exit 0
) || fail "what is exported is not enough"
# where nothing may be written: a line that says what to do (root may write everywhere that is a folder)
sed 's|^CMAKE_INSTALL_PREFIX:.*|CMAKE_INSTALL_PREFIX:PATH=/dev/null/noli|' "$work/made/CMakeCache.txt" >"$work/cache"
mv "$work/cache" "$work/made/CMakeCache.txt"
status=0
sh "$source/scripts/install.sh" "$work/made" >"$work/said" 2>&1 || status=$?
[ "$status" -eq 4 ] && grep -q 'make install PREFIX=' "$work/said" || { cat "$work/said"; fail "status $status"; }

# an installation may be moved
mv "$prefix" "$work/moved"
"$work/moved/bin/noli" --version >/dev/null || fail "the moved program does not run"
echo "installed, built twice, run"
