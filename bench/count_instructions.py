#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Counts with callgrind how many instructions a measured function takes per call.

  count_instructions.py PROGRAM --rounds 1000 NAME=FUNCTION[<=LIMIT] ...

PROGRAM calls each FUNCTION (a C name) as many times as --rounds says; only what runs inside it is
counted. Counts are the same on a busy and on an idle machine. Fails when a count is over its limit.
"""

import argparse
import re
import subprocess
import sys
import tempfile

SECONDS_MAX = 120


def instructions(program, function):
    with tempfile.NamedTemporaryFile() as profile:
        done = subprocess.run(
            ["valgrind", "--tool=callgrind", f"--toggle-collect={function}",
             f"--callgrind-out-file={profile.name}", program],
            capture_output=True, text=True, timeout=SECONDS_MAX, check=False)
    collected = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode != 0 or not collected:
        sys.exit(f"callgrind failed on {program}:\n{done.stderr}")
    if int(collected[1]) == 0:
        sys.exit(f"{program} never calls {function}")
    return int(collected[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--rounds", type=int, required=True)
    parser.add_argument("measures", nargs="+", metavar="NAME=FUNCTION[<=LIMIT]")
    options = parser.parse_args()

    too_many = False
    print(f"{'what':<44} {'instructions':>12} {'limit':>6}")
    for measure in options.measures:
        name, function, limit = re.fullmatch(r"([^=]+)=(\w+)(?:<=(\d+))?", measure).groups()
        count = instructions(options.program, function) / options.rounds
        print(f"{name:<44} {count:>12.0f} {limit or '':>6}")
        too_many = too_many or (limit is not None and count > int(limit))
    if too_many:
        print("FAILED: over the limit")
    return int(too_many)


if __name__ == "__main__":
    sys.exit(main())
