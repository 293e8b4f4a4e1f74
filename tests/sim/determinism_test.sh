#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# One scenario, one seed: the same result file, and the same time series, for 1, 2 and 4 threads and
# for 1, 2 and 4 processes; and the same result with a series and without.
#   determinism_test.sh <mrc> <mrc-sim-mpi> <mpirun> <scenario> [checksum of the file]
# One of the two programs may be empty, and is left out then.
# The checksum, if given, is that of every build: debug and release, gcc and clang. The line "origin"
# is left out: it names the program and its version.
set -euo pipefail

mrc=$1 mpi=$2 mpirun=$3 scenario=$4 expected=${5:-}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# Root in a container is the usual case here; and there may be fewer processors than processes.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_rmaps_base_oversubscribe=1

fail() {
  echo "determinism: $*" >&2
  exit 1
}

series=(--series-hosts h0,h3 --series-links 4 --series)
if [[ -n $mrc ]]; then
  "$mrc" sim run "$scenario" --quiet --json "$folder/threads-1" >/dev/null
  for threads in 2 4; do
    "$mrc" sim run "$scenario" --quiet --threads "$threads" --json "$folder/threads-$threads" \
      "${series[@]}" "$folder/threads-$threads.csv" >/dev/null
  done
fi
if [[ -n $mpi ]]; then
  # Open MPI does not give back all of its memory at the end.
  export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
  for ranks in 1 2 4; do
    "$mpirun" -n "$ranks" "$mpi" "$scenario" --json "$folder/ranks-$ranks" \
      "${series[@]}" "$folder/ranks-$ranks.csv" >/dev/null
  done
fi
# Only files that are there count: one of the programs may have been left out.
shopt -s nullglob
tables=("$folder"/*.csv)
[[ ${#tables[@]} -gt 0 ]] || fail "neither program was given"
[[ $(wc -l <"${tables[0]}") -gt 1 ]] || fail "the series has no samples"
for file in "${tables[@]}"; do
  cmp "${tables[0]}" "$file" || fail "${file##*/} differs from ${tables[0]##*/}"
done
rm "${tables[@]}"
results=("$folder"/*)
for file in "${results[@]}"; do
  [[ -f $file ]] && sed -i '/^"origin": /d' "$file"
done
first=${results[0]}
for file in "${results[@]}"; do
  cmp "$first" "$file" || fail "${file##*/} differs from ${first##*/}"
done
sum=$(sha256sum <"$first")
echo "${#tables[@]} equal series, ${#results[@]} equal results of $(stat -c %s "$first") bytes, sha256 ${sum%% *}"
if [[ -n $expected && ${sum%% *} != "$expected" ]]; then
  fail "another build gave $expected"
fi
