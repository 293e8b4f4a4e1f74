#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Holds the exported symbols of a shared library to a promise.

--list FILE          exports exactly the names in FILE: one on each line, written as nm writes them
                     (with @@VERSION where the library has versions); # starts a comment
--versions-of OTHER  what both libraries export has the same version in both
"""

import argparse
import subprocess
import sys
from pathlib import Path


def exported(library):
    """The symbols of the library. Absolute ones are the names of versions, not symbols."""
    command = ["nm", "-D", "--defined-only", "--format=posix", library]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    fields = (line.split() for line in lines)
    return {name for name, kind, *_ in fields if kind != "A"}


def listed(file):
    lines = (line.partition("#")[0].strip() for line in Path(file).read_text().splitlines())
    return {line for line in lines if line}


def against_list(symbols, file):
    names = listed(file)
    if not names:
        sys.exit(f"{file}: names nothing")
    missing = [f"not exported: {name}" for name in sorted(names - symbols)]
    return missing + [f"exported but not in {file}: {name}" for name in sorted(symbols - names)]


def default_versions(symbols):
    """Of each name, the version that programs linked today get."""
    return dict(symbol.split("@@") for symbol in symbols if "@@" in symbol)


def against_versions(symbols, other):
    ours, theirs = default_versions(symbols), default_versions(exported(other))
    shared = sorted(ours.keys() & theirs.keys())
    if not shared:
        return [f"shares no symbol that has a version with {other}"]
    return [
        f"{name} has version {ours[name]}, in {other} {theirs[name]}"
        for name in shared
        if ours[name] != theirs[name]
    ]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("library")
    parser.add_argument("--list", metavar="FILE")
    parser.add_argument("--versions-of", metavar="OTHER")
    arguments = parser.parse_args()
    if not arguments.list and not arguments.versions_of:
        parser.error("nothing to compare with: give --list or --versions-of")

    symbols = exported(arguments.library)
    wrong = against_list(symbols, arguments.list) if arguments.list else []
    if arguments.versions_of:
        wrong += against_versions(symbols, arguments.versions_of)
    for line in wrong:
        print(f"{arguments.library}: {line}")
    if wrong:
        sys.exit(1)
    print(f"{arguments.library}: {len(symbols)} symbols, as promised")


if __name__ == "__main__":
    main()
