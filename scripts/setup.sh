#!/bin/sh
# Installs the Debian packages that Noli needs and that are not there yet; with the argument "docs" those
# that its documentation needs. Does nothing, and needs no network, when all are there.
# NOLI_SKIP_SETUP=1 skips it.
set -eu

# what builds it, what it links to, what its tests read files back with
packages="gcc make cmake pkg-config libsuitesparse-dev libopenblas-dev liblapack-dev libjansson-dev
libmuparser-dev libhdf5-dev zlib1g-dev libgmp-dev libcmocka-dev python3 python3-meshio"
if [ "${1:-}" = docs ]; then
  packages="python3 python3-markdown-it python3-pygments"
fi

if [ "${NOLI_SKIP_SETUP:-0}" = 1 ]; then
  echo "setup: skipped, as NOLI_SKIP_SETUP asks"
  exit 0
fi
if ! command -v dpkg-query >/dev/null 2>&1; then
  echo "setup: this system has no Debian packages; install what corresponds to:"
  echo "$packages"
  exit 0
fi

is_installed() {
  # a package may stand in for another: pkgconf for pkg-config
  dpkg-query -W -f='${Status}\n' "$1" 2>/dev/null | grep -q '^install ok installed' ||
    { [ "$1" = pkg-config ] && command -v pkg-config >/dev/null 2>&1; } ||
    { [ "$1" = gcc ] && command -v cc >/dev/null 2>&1; }
}

missing=
for package in $packages; do
  is_installed "$package" || missing="$missing $package"
done
if [ -z "$missing" ]; then
  echo "setup: all packages are installed"
  exit 0
fi

sudo=
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null 2>&1; then
    echo "setup: not root, and there is no sudo; as root run:" >&2
    echo "  apt-get install$missing" >&2
    exit 4
  fi
  sudo=sudo
fi
echo "setup: Noli needs these packages of the distribution:$missing"
echo "setup: ${sudo:+$sudo }apt-get install --no-install-recommends$missing"
# the list of packages may be older than what the servers hold
# shellcheck disable=SC2086 # the names are words
$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $missing || {
  $sudo apt-get update
  $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $missing
}
