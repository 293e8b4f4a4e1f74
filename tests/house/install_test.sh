#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Installs a build tree into a temporary prefix and builds programs of somebody else against it, each
# through the CMake package and through pkg-config: one that uses OpenMRC::wire, and the example of
# the C++ interface. Through pkg-config also with clang, whatever the libraries were compiled with.
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
links=$(find "$prefix" -type l ! -name '*.so' ! -name libibverbs-system.so.1)
[[ -z $links ]] || fail "installed as symbolic links: $links"
dangling=$(find "$prefix" -xtype l)
[[ -z $dangling ]] || fail "lead nowhere: $dangling"
[[ -n $(find "$prefix" -type l -name libibverbs-system.so.1) ]] ||
  fail "nothing leads to the machine's own libibverbs.so.1"
[[ -n $(find "$prefix" -path '*/stub/libibverbs-system.so.1') ]] ||
  fail "there is no library for machines without it"
for library in libmrc libnv_mrc lib_mrc libmrc-ctl; do
  [[ -e $(echo "$prefix"/lib*/"$library.so") || -e $(echo "$prefix"/lib/*/"$library.so") ]] ||
    fail "$library.so is not installed"
done
for file in bash-completion/completions/mrc zsh/site-functions/_mrc fish/vendor_completions.d/mrc.fish \
  openmrc/fabrics/{parts,published,small}.toml; do
  [[ -s $prefix/share/$file ]] || fail "$file is not installed"
done
knows_home=$(grep -rlF -e "$source" -e "$build" -e "$prefix" \
  --include='*.cmake' --include='*.pc' "$prefix" || true)
[[ -z $knows_home ]] || fail "these files name the place that they were built in: $knows_home"

echo "== archives"
for archive in "$prefix/$libdir"/libopenmrc_*.a; do
  [[ -z $(objdump -h "$archive" | grep '\.gnu\.lto_') ]] ||
    fail "${archive##*/} is compiled again by g++ in every link"
  [[ -n $(nm --defined-only "$archive" 2>/dev/null | grep ' [TWV] ') ]] ||
    fail "${archive##*/} holds no machine code"
done

# build_by_cmake <project> <program>: leaves it in $work/by-cmake/<program>
build_by_cmake() {
  local build="$work/build-$2"
  "$cmake" -S "$1" -B "$build" -G "$generator" -DCMAKE_CXX_COMPILER="$cxx" \
    -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$prefix" >"$work/log" || fail "$(cat "$work/log")"
  grep -qF "OpenMRC_DIR:PATH=$prefix/" "$build/CMakeCache.txt" ||
    fail "CMake found another OpenMRC than the one just installed"
  "$cmake" --build "$build"
  install -D "$build/$2" "$work/by-cmake/$2"
}

# build_by_pkg_config <compiler> <folder> <source> <package> <program>: leaves it in
# $work/<folder>/<program>
build_by_pkg_config() {
  local flags
  read -ra flags < <(PKG_CONFIG_PATH=$prefix/$libdir/pkgconfig pkg-config --cflags --libs "$4")
  echo "$1, $4: ${flags[*]}"
  mkdir -p "$work/$2"
  "$1" -std=c++23 "$3" -o "$work/$2/$5" "${flags[@]}"
}

echo "== build through the CMake package"
build_by_cmake "$consumer" consumer
build_by_cmake "$source/examples/cpp" write
echo "== build through pkg-config"
for way in "$cxx by-pkg-config" "clang++-19 by-clang"; do
  read -r compiler folder <<<"$way"
  build_by_pkg_config "$compiler" "$folder" "$consumer/main.cc" openmrc-wire consumer
  build_by_pkg_config "$compiler" "$folder" "$source/examples/cpp/write.cc" openmrc write
done

echo "== run"
for built in by-cmake by-pkg-config by-clang; do
  "$work/$built/consumer" | tee "$work/printed"
  grep -q "^SACK of " "$work/printed" || fail "the program did not print its line"
  "$source/examples/cpp/write_test.sh" "$work/$built/write"
done
