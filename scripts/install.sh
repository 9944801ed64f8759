#!/bin/sh
# Installs the build, registers the library with the loader if run by root, and prints the variables that a shell
# needs to use it.
#
# usage: install.sh BUILD [DESTDIR]    the prefix is that of the build
# Exit status: 0 installed, 2 wrong usage, 4 files could not be written.
set -eu
build=$1 destdir=${2:-}
prefix=$(sed -n 's/^CMAKE_INSTALL_PREFIX:[A-Z]*=//p' "$build/CMakeCache.txt")
case $prefix in
/*) ;;
*)
  echo "install: the prefix must begin with /, got \"$prefix\"" >&2
  exit 2
  ;;
esac
place=$destdir$prefix
while [ ! -e "$place" ]; do
  place=$(dirname "$place")
done
if [ ! -d "$place" ] || [ ! -w "$place" ]; then
  echo "install: $place is not writable. Use \"sudo make install\", or \"make install PREFIX=\$HOME/.local\"" >&2
  exit 4
fi

DESTDIR=$destdir cmake --install "$build" >"$build/install.log" 2>&1 || {
  tail -n 5 "$build/install.log" >&2
  exit 4
}
library=$(grep '/libnoli\.so\.[0-9]*$' "$build/install_manifest.txt")
libdir=$(dirname "$library")
echo "install: Noli is in $destdir$prefix: bin/noli, ${libdir#"$prefix/"}/libnoli.so and libnoli_import.so, include/noli"
# a staged tree is not used in place
[ -z "$destdir" ] || exit 0

# a system without ldconfig does not need it
[ "$(id -u)" -ne 0 ] || PATH=$PATH:/usr/sbin:/sbin ldconfig 2>/dev/null || true

# programs linked through pkg-config or CMake find the library by their rpath
needed=
case :$PATH: in
*":$prefix/bin:"*) ;;
*) needed="$needed
  export PATH=\"$prefix/bin:\$PATH\"" ;;
esac
case :${PKG_CONFIG_PATH:-}:$(pkg-config --variable pc_path pkg-config 2>/dev/null): in
*":$libdir/pkgconfig:"*) ;;
*) needed="$needed
  export PKG_CONFIG_PATH=\"$libdir/pkgconfig${PKG_CONFIG_PATH:+:\$PKG_CONFIG_PATH}\"" ;;
esac
[ -z "$needed" ] || echo "install: to use it:$needed"
