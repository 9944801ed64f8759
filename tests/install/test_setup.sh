#!/bin/sh
# What a newcomer meets first: scripts/setup.sh says what it installs and how much that is, builds are quiet, and the demo
# waits for the program alone. Nothing is installed: apt-get and its like are replaced. Arguments: cmake, source directory.
set -u
cmake=$1 source=$2
. "$source/tests/app/expect.sh"

# a copy of what is run, so that its logs come here, and a system on which nothing of Noli's is installed
mkdir scripts bin
cp "$source/scripts/setup.sh" "$source/scripts/quietly.sh" scripts
for tool in sh awk sed tr grep cut cat mkdir dirname touch env mv rm; do
  ln -s "$(command -v $tool)" bin/$tool
done
cat >bin/dpkg-query <<'END'
#!/bin/sh
for package; do :; done
[ ! -e "installed/$package" ] || echo 'install ok installed'
END
cat >bin/id <<'END'
#!/bin/sh
cat user
END
# apt-get that knows no packages before "update" if there is a file "stale", and fails if there is a file "broken" or, with
# the errors of many packages, "offline"
cat >bin/apt-get <<'END'
#!/bin/sh
echo "$*" >>asked
case $* in
update*)
  if [ -e offline ]; then
    echo "E: Failed to fetch http://deb.debian.org/debian/dists/bookworm/InRelease  Temporary failure resolving 'deb.debian.org'"
    echo 'E: Some index files failed to download.'
    exit 100
  fi
  mkdir -p fresh
  [ ! -e stale ] || mv stale fresh
  exit 0
  ;;
esac
[ ! -e stale ] || { echo 'E: Unable to locate package'; exit 100; }
case $* in
*--print-uris*)
  echo '0 upgraded, 113 newly installed, 0 to remove and 5 not upgraded.'
  echo 'Need to get 17.5 MB/118 MB of archives.'
  echo 'After this operation, 1,529 MB of additional disk space will be used.'
  exit 0
  ;;
esac
[ ! -e broken ] || { echo 'E: Failed to fetch something'; exit 100; }
if [ -e offline ]; then
  for n in 1 2 3 4 5 6 7 8; do echo "Err:$n http://deb.debian.org/debian bookworm/main amd64 gcc amd64 12"; done
  for n in 1 2 3 4 5 6 7 8; do
    echo "E: Failed to fetch http://deb.debian.org/debian/pool/$n.deb  Temporary failure resolving 'deb.debian.org'"
  done
  echo 'E: Unable to fetch some archives, maybe run apt-get update or try with --fix-missing?'
  exit 100
fi
case $* in
*--download-only*Status-Fd=1*)
  for percent in 0.0000 30.2000 60.9000 100.0000; do echo "dlstatus:7:$percent:Retrieving file 7 of 113 (9s remaining)"; done
  exit 0
  ;;
esac
for package; do
  case $package in -* | install | *=*) continue ;; esac
  echo "Unpacking $package ..."
  mkdir -p installed && echo >installed/$package
done
END
chmod +x bin/*
setup() {
  rm -f asked
  PATH=$PWD/bin sh scripts/setup.sh "$@"
}
wrote() {
  grep -qF -- "$2" "$1" || { fail "$1 lacks \"$2\""; cat "$1" >&2; }
}

# ---- nobody to install ----
echo 1000 >user
expect 4 'sudo is not available. As root:' setup demo
wrote said '113 packages, 17.5 MB to download, 1529 MB on disk, about 3 min'
wrote said 'apt-get update && apt-get install --no-install-recommends gcc libc6-dev make cmake'
grep -qv print-uris asked && fail 'something was installed'
expect 2 'unknown level "everything"' setup everything
NOLI_SKIP_SETUP=1 expect 0 'skipped' setup test

# ---- root; old lists; a failure ----
echo 0 >user
touch stale broken
expect 4 'a file could not be fetched: Failed to fetch something' setup build
wrote said 'all output: build/setup.log'
wrote asked 'update'
rm broken
# one sentence without network, and no second try; with old lists, too
touch offline
for lists in fresh stale; do
  [ $lists = fresh ] || touch stale
  expect 4 "there is no network: Temporary failure resolving 'deb.debian.org'; connect this machine" setup build
  [ "$(grep -c 'deb.debian.org' said)" -eq 1 ] && [ "$(wc -l <said)" -le 4 ] || { fail 'more than a sentence'; cat said >&2; }
done
rm offline
expect 0 'setup: downloading: 4 MB 8 MB 12 MB 17 MB' setup build
rm -r installed
expect 0 'missing: gcc libc6-dev make' setup build
[ -e installed/libsuitesparse-dev ] && [ ! -e installed/python3-numpy ] && [ ! -e installed/libcmocka-dev ] ||
  fail 'build installs other things than it needs'
expect 0 'missing: python3 python3-numpy' setup demo
[ ! -e installed/libcmocka-dev ] || fail 'the demo installs what tests need'
expect 0 'g++ libcmocka-dev python3-meshio' setup test
expect 0 'missing: clang libclang-rt-dev clang-format clang-tidy codespell' setup lint
for level in build demo test lint docs; do
  expect 0 '' setup $level
  [ ! -s said ] && [ ! -e asked ] || fail "$level: says or asks something, and nothing is missing"
done

# ---- quiet commands ----
cat >fake.sh <<'END'
for n in $1; do echo "[ $n%] Building C object some.c.o"; done
[ -z "$2" ] || echo "$2"
echo '[100%] Built target noli'
exit $3
END
quietly() {
  sh scripts/quietly.sh build compiling 0 build/log sh fake.sh "$@"
}
quietly '10 60 100' '' 0 >said 2>&1 || fail 'the status is lost'
[ "$(cat said)" = 'compiling: 25 % 50 % 75 % 100 %' ] || { fail 'progress'; cat said >&2; }
quietly '' '' 0 >said 2>&1 && [ ! -s said ] || { fail 'nothing to do is not silent'; cat said >&2; }
expect 3 'a.c:1: error: what is this' quietly '10' 'a.c:1: error: what is this' 3
wrote said 'failed; all output: build/log'
expect 0 'a.c:1: warning: odd' quietly '10 20' 'a.c:1: warning: odd' 0
wrote build/log '20%] Building C object'

# ---- a folder that was moved or copied ----
mkdir -p first/scripts first/other
cp "$source/scripts/configure.sh" first/scripts
ln -s "$cmake" bin/cmake
cat >first/CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.24)
project(small NONE)
option(NOLI_TESTS "" ON)
END
configure() {
  PATH=$PWD/bin:$PATH sh "$1/scripts/configure.sh" build/release --without-tests -S . -B build/release
}
expect 0 '' configure first
grep -q 'NOLI_TESTS:BOOL=OFF' first/build/release/CMakeCache.txt || fail 'a new build has tests'
sed -i 's/NOLI_TESTS:BOOL=OFF/NOLI_TESTS:BOOL=ON/' first/build/release/CMakeCache.txt
expect 0 '' configure first
[ ! -s said ] && grep -q 'NOLI_TESTS:BOOL=ON' first/build/release/CMakeCache.txt || fail 'a build that has tests loses them'
cp -r first copied
ln -s first linked
expect 0 '' configure linked
[ ! -s said ] || { fail 'a link to the folder counts as another one'; cat said >&2; }
expect 0 "build: build/release was made in $PWD/first: it is made again here" configure copied
mv first moved
expect 0 "build: build/release was made in $PWD/first: it is made again here" configure moved
grep -q "NOLI_TESTS:BOOL=OFF" moved/build/release/CMakeCache.txt || fail 'the new build has tests'
expect 0 '' configure moved
[ ! -s said ] || fail 'it is made again twice'
grep -q 'sh scripts/configure.sh' "$source/Makefile" && ! grep -q 'cmake -S\|cmake --preset' "$source/Makefile" ||
  fail 'make configures in another way'

# ---- the demo compiles the libraries and the program, nothing else ----
"$cmake" -S "$source" -B build/dry -G 'Unix Makefiles' -DNOLI_TESTS=OFF >log 2>&1 || { fail configure; cat log >&2; }
env MAKEFLAGS= "$cmake" --build build/dry --target noli_program --target noli --target noli_import -- -n -k >commands 2>&1
# a dry run gets as far as the archive, which it does not make: to all objects but those of the program
grep -o 'Building C object [^ ]*\.c\.o' commands | sort -u >objects
# the template of the pages is made by the build; of the two search/method_*.c and scene/build_design*.c it takes one, of src/mpi those that refuse
compiled=$(grep -cv 'page_template\.c\.o$' objects) sources=$(find "$source/src" -name '*.c' ! -name method_none.c ! -name build_design_none.c ! -path "$source/src/mpi/*" | wc -l)
sources=$((sources + $(find "$source/src/mpi" -name '*_none.c' | wc -l)))
[ "$compiled" -eq "$sources" ] || fail "$compiled objects for $sources sources of the libraries"
grep -v 'noli_\(text_\|import_\)\{0,1\}objects' objects && fail 'the demo waits for objects that it does not need'
make -C "$source" -n demo BUILD="$work/build/other" NOLI_SKIP_SETUP=1 >commands 2>&1
wrote commands '--target noli_program'
wrote commands '--without-tests'

[ "$failures" -eq 0 ] || exit 1
