#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Counts with callgrind how many instructions measured functions take per round.

  count_instructions.py PROGRAM --rounds 1000 NAME=FUNCTION[+FUNCTION...][-FUNCTION...][<=LIMIT] ...
  count_instructions.py "PROGRAM ARGUMENT ..." --per packets NAME=...

Only what runs inside a FUNCTION (a C name) is counted, and divided by the number of rounds: the
one that is given, or the N of a line "packets N" that PROGRAM prints. What a FUNCTION behind a minus
takes is subtracted. Counts are the same on a busy and on an idle machine. Fails when a count is over
its limit.
"""

import argparse
import functools
import re
import shlex
import subprocess
import sys
import tempfile

SECONDS_MAX = 120


@functools.cache
def instructions(program, function):
    """How many in all, and what the program printed."""
    with tempfile.NamedTemporaryFile() as profile:
        done = subprocess.run(
            ["valgrind", "--tool=callgrind", f"--toggle-collect={function}",
             f"--callgrind-out-file={profile.name}", *shlex.split(program)],
            capture_output=True, text=True, timeout=SECONDS_MAX, check=False)
    collected = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode != 0 or not collected:
        sys.exit(f"callgrind failed on {program}:\n{done.stderr}")
    if int(collected[1]) == 0:
        sys.exit(f"{program} never calls {function}")
    return int(collected[1]), done.stdout


def per_round(program, functions, options):
    count = 0
    for sign, function in re.findall(r"([+-]?)(\w+)", functions):
        collected, printed = instructions(program, function)
        rounds = options.rounds
        if options.per:
            line = re.search(rf"^{options.per} (\d+)$", printed, re.MULTILINE)
            if not line:
                sys.exit(f"{program} prints no number of {options.per}")
            rounds = int(line[1])
        count += -collected / rounds if sign == "-" else collected / rounds
    return count


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    rounds = parser.add_mutually_exclusive_group(required=True)
    rounds.add_argument("--rounds", type=int)
    rounds.add_argument("--per", metavar="WORD")
    parser.add_argument("measures", nargs="+", metavar="NAME=FUNCTION[+|-FUNCTION...][<=LIMIT]")
    options = parser.parse_args()

    too_many = False
    print(f"{'what':<44} {'instructions':>12} {'limit':>6}")
    for measure in options.measures:
        name, functions, limit = re.fullmatch(r"([^=]+)=([\w+-]+)(?:<=(\d+))?", measure).groups()
        count = per_round(options.program, functions, options)
        print(f"{name:<44} {count:>12.0f} {limit or '':>6}", flush=True)
        too_many = too_many or (limit is not None and count > int(limit))
    if too_many:
        print("FAILED: over the limit")
    return int(too_many)


if __name__ == "__main__":
    sys.exit(main())
