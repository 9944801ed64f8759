#!/bin/sh
# Installs missing Debian packages, after printing their number and size. Prints nothing and
# needs no network if all are installed. Needs only sh and apt-get.
#
# usage: setup.sh [build|demo|test|lint|docs|python|package|mpi|mesh ...]
#   build   packages of the library and the program (default)
#   demo    build, and packages for pictures of results
#   test    demo, and packages of the tests
#   lint    what checks the sources: clang with sanitizers, clang-format, clang-tidy, codespell (without them tests skip it)
#   docs    packages of `make docs`
#   python  build, and packages of the Python package
#   package build, and packages of `make package`
#   view    build, tests, and a browser
#   mpi     build, MPI and PETSc for `make mpi`
#   mesh    build, and Gmsh for `noli mesh` (optional; Gmsh is under the GPL)
# NOLI_SKIP_SETUP=1 skips it. Exit status: 0 all installed, 2 wrong usage, 4 installation failed.
set -eu
cd "$(dirname "$0")/.."

build="gcc libc6-dev make cmake pkg-config libsuitesparse-dev libopenblas-dev liblapack-dev libjansson-dev
libmuparser-dev libhdf5-dev zlib1g-dev libgmp-dev libnlopt-dev"
pictures="python3 python3-numpy"
docs="python3 python3-markdown-it python3-mdit-py-plugins python3-pygments blahtexml"
python="python3 python3-numpy python3-cffi python3-venv"
tests="g++ libcmocka-dev python3-meshio dpkg-dev file"
lint="clang libclang-rt-dev clang-format clang-tidy codespell"

packages=
for level in "${@:-build}"; do
  case $level in
  build) packages="$packages $build" ;;
  demo) packages="$packages $build $pictures" ;;
  test) packages="$packages $build $pictures $docs $python $tests" ;;
  lint) packages="$packages $build $lint" ;;
  view) packages="$packages $build $tests chromium" ;;
  docs) packages="$packages $docs" ;;
  python) packages="$packages $build $python" ;;
  package) packages="$packages $build dpkg-dev file python3" ;;
  mpi) packages="$packages $build petsc-dev libopenmpi-dev libhdf5-openmpi-dev openmpi-bin libmetis-dev" ;;
  mesh) packages="$packages $build libgmsh-dev" ;;
  *)
    echo "setup: unknown level \"$level\"; use build, demo, test, lint, docs, python, package, mpi or mesh" >&2
    exit 2
    ;;
  esac
done

if [ "${NOLI_SKIP_SETUP:-0}" = 1 ]; then
  echo "setup: skipped because of NOLI_SKIP_SETUP"
  exit 0
fi
if ! command -v dpkg-query >/dev/null 2>&1; then
  echo "setup: this system has no Debian packages; if the build fails, install the equivalents of:"
  echo "$packages" | tr -s ' \n' '  '
  echo
  exit 0
fi

# ---- missing packages ----
is_installed() {
  # a package may stand in for another: pkgconf for pkg-config
  dpkg-query -W -f='${Status}\n' "$1" 2>/dev/null | grep -q '^install ok installed' ||
    { [ "$1" = pkg-config ] && command -v pkg-config >/dev/null 2>&1; } ||
    { [ "$1" = gcc ] && command -v cc >/dev/null 2>&1; } ||
    { [ "$1" = g++ ] && command -v c++ >/dev/null 2>&1; }
}
missing=
for package in $packages; do
  case " $missing " in *" $package "*) continue ;; esac
  is_installed "$package" || missing="${missing:+$missing }$package"
done
[ -n "$missing" ] || exit 0

# ---- their size, from apt-get, including dependencies ----
sudo=
[ "$(id -u)" -eq 0 ] || sudo=sudo
command -v ${sudo:-true} >/dev/null 2>&1 || sudo=none

install="apt-get install --no-install-recommends"
# shellcheck disable=SC2086 # the names are words
plan() {
  LC_ALL=C $install -y --print-uris $missing 2>/dev/null
}
# "118 MB" in MB
megabytes() {
  awk -v n="$1" -v unit="$2" 'BEGIN { print n * (unit == "GB" ? 1000 : unit == "kB" ? 0.001 : unit == "B" ? 0.000001 : 1) }'
}
# apt-get succeeds where lists could not be fetched; where there is no network, nothing else can succeed
update() {
  echo "setup: ${sudo:+$sudo }apt-get update"
  sh scripts/quietly.sh download "setup: apt-get update" 0 build/setup.log $sudo apt-get update -q -o APT::Update::Error-Mode=any
}
if ! plan >/dev/null && [ "$sudo" != none ]; then
  # other sources may fail: what counts is that the packages are known
  update || plan >/dev/null || exit 4
fi
numbers=$(plan | tr -d , | sed -n -e 's/.* \([0-9]*\) newly installed.*/count=\1/p' \
  -e 's|^Need to get \([0-9.]*\) \([kMG]*B\)[ /].*|load="\1 \2"|p' \
  -e 's/^After this operation \([0-9.]*\) \([kMG]*B\) .*/disk="\1 \2"/p')
count=0 load='0 B' disk='0 B'
eval "$numbers"
# shellcheck disable=SC2086 # number and unit are words
minutes=$(awk -v load="$(megabytes $load)" -v disk="$(megabytes $disk)" \
  'BEGIN { print int((load / 5 + disk / 10) / 60 + 1) }')

echo "setup: missing: $missing"
if [ "$count" -gt 0 ]; then
  echo "setup: with dependencies: $count packages, $load to download, $disk on disk, about $minutes min"
fi
if [ "$sudo" = none ]; then
  echo "setup: installing packages requires root, and sudo is not available. As root:" >&2
  echo "  apt-get update && $install $missing" >&2
  echo "Then run the same command again." >&2
  exit 4
fi

# ---- installation ----
quiet_install="$sudo env DEBIAN_FRONTEND=noninteractive LC_ALL=C $install -y -q -o Dpkg::Use-Pty=0"
# shellcheck disable=SC2086 # the names are words, and so are number and unit
download_missing() {
  sh scripts/quietly.sh download "setup: downloading" "$(megabytes $load | cut -d . -f 1)" build/setup.log \
    $quiet_install --download-only -o APT::Status-Fd=1 $missing
}
# shellcheck disable=SC2086
install_missing() {
  sh scripts/quietly.sh packages "setup: ${sudo:+sudo }apt-get install" $((2 * (count > 0 ? count : 200))) build/setup.log \
    $quiet_install $missing
}
status=0
download_missing || status=$?
# the list of packages may be older than the servers, but there must be servers
if [ "$status" -ne 0 ] && [ "$status" -ne 3 ]; then
  update || :
  download_missing && status=0
fi
[ "$status" -eq 0 ] && install_missing || exit 4
