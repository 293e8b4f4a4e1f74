#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Installs a build tree into a temporary prefix and builds a program of somebody else against it,
# once through the CMake package and once through pkg-config.
#   install_test.sh <cmake> <build tree>
set -euo pipefail

cmake=$1 build=$2
source=$(cd "$(dirname "$0")/../.." && pwd)
consumer=$source/tests/house/consumer

# What the build tree was configured with.
cached() { sed -n "s/^$1:[A-Z]*=//p" "$build/CMakeCache.txt"; }
cxx=$(cached CMAKE_CXX_COMPILER)
generator=$(cached CMAKE_GENERATOR)
libdir=$(cached CMAKE_INSTALL_LIBDIR)
sanitizers=$(cached OPENMRC_SANITIZE)
if [[ -n $sanitizers ]]; then
  echo "skipped: built with -fsanitize=$sanitizers, and the outside program is built without it"
  exit 77
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/prefix

fail() {
  echo "install_test: $*" >&2
  exit 1
}

echo "== install"
# Not $DESTDIR, which the caller may have set for an install of its own.
env -u DESTDIR "$cmake" --install "$build" --prefix "$prefix" >"$work/log" ||
  fail "$(cat "$work/log")"
(cd "$prefix" && find . -type f | sort)
# Libraries have their names for linking; they lead to a file beside them.
links=$(find "$prefix" -type l ! -name '*.so')
[[ -z $links ]] || fail "installed as symbolic links: $links"
dangling=$(find "$prefix" -xtype l)
[[ -z $dangling ]] || fail "lead nowhere: $dangling"
for library in libmrc libnv_mrc lib_mrc libmrc-ctl; do
  [[ -e $(echo "$prefix"/lib*/"$library.so") || -e $(echo "$prefix"/lib/*/"$library.so") ]] ||
    fail "$library.so is not installed"
done
knows_home=$(grep -rlF -e "$source" -e "$build" -e "$prefix" \
  --include='*.cmake' --include='*.pc' "$prefix" || true)
[[ -z $knows_home ]] || fail "these files name the place that they were built in: $knows_home"

echo "== build through the CMake package"
"$cmake" -S "$consumer" -B "$work/build" -G "$generator" -DCMAKE_CXX_COMPILER="$cxx" \
  -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$prefix"
grep -qF "OpenMRC_DIR:PATH=$prefix/" "$work/build/CMakeCache.txt" ||
  fail "CMake found another OpenMRC than the one just installed"
"$cmake" --build "$work/build"
"$work/build/consumer" | tee "$work/by-cmake"

echo "== build through pkg-config"
export PKG_CONFIG_PATH=$prefix/$libdir/pkgconfig
read -ra flags < <(pkg-config --cflags --libs --static openmrc-wire)
echo "${flags[*]}"
"$cxx" -std=c++23 "$consumer/main.cc" -o "$work/by-hand" "${flags[@]}"
"$work/by-hand" | tee "$work/by-pkg-config"

cmp "$work/by-cmake" "$work/by-pkg-config" || fail "the two programs do not print the same"
grep -q "^SACK of " "$work/by-cmake" || fail "the program did not print its line"
