#!/bin/sh
# Configures a build with CMake, quietly. A build whose folder was moved or copied is of no use to CMake, which then
# refuses it: it is removed, and made again.
#
# usage: configure.sh BUILD [--without-tests] OPTIONS OF CMAKE...
#   --without-tests: a new build has none, and needs none of their packages; an older one stays as it is
# Exit status: 0, or that of CMake, whose output is then shown.
set -eu
cd "$(dirname "$0")/.."
build=$1
shift
tests=
[ "${1:-}" != --without-tests ] || { tests=-DNOLI_TESTS=OFF; shift; }

if [ -f "$build/CMakeCache.txt" ]; then
  # entries of CMake's cache: NAME:TYPE=VALUE
  for name in CMAKE_HOME_DIRECTORY CMAKE_CACHEFILE_DIR; do
    [ "$name" = CMAKE_HOME_DIRECTORY ] && here=$(pwd -P) || here=$(cd "$build" && pwd -P)
    before=$(sed -n "s/^$name:INTERNAL=//p" "$build/CMakeCache.txt")
    if [ "$(cd "$before" 2>/dev/null && pwd -P)" != "$here" ]; then
      echo "build: $build was made in $before: it is made again here"
      rm -rf "$build"
      break
    fi
  done
fi
[ ! -f "$build/CMakeCache.txt" ] || tests=
mkdir -p "$build"
cmake "$@" $tests >"$build/configure.log" 2>&1 || {
  status=$?
  cat "$build/configure.log" >&2
  exit "$status"
}
