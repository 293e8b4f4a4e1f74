#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Shows that a library finds the headers of what it links and no others.

Compiles one include at a time with the include folders that the library itself is compiled with.
"""

import argparse
import subprocess
import sys


def compile_include(arguments, header):
    command = [arguments.compiler, "-std=c++23", "-fsyntax-only", "-x", "c++", "-"]
    command += [f"-I{folder}" for folder in arguments.folders]
    return subprocess.run(
        command, input=f'#include "{header}"\n', capture_output=True, text=True, check=False
    )


def is_missing(header, result):
    """Whether it failed for the right reason, in the words of gcc or of clang."""
    words = (f"{header}: No such file or directory", f"'{header}' file not found")
    return result.returncode != 0 and any(word in result.stderr for word in words)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--folders", nargs="*", default=[])
    parser.add_argument("--sees", nargs="*", default=[])
    parser.add_argument("--does-not-see", nargs="*", default=[])
    arguments = parser.parse_args()
    if not arguments.folders or not arguments.sees:
        sys.exit("nothing to try: give include folders, and a header that they hold")

    bad = 0
    for header in arguments.sees:
        result = compile_include(arguments, header)
        bad += result.returncode != 0
        print(f"{'FAIL' if result.returncode else 'ok'}: sees {header}\n{result.stderr}", end="")
    for header in arguments.does_not_see:
        result = compile_include(arguments, header)
        missing = is_missing(header, result)
        bad += not missing
        print(f"{'ok' if missing else 'FAIL'}: does not see {header}")
        if not missing:
            print(
                result.stderr or "it compiled: take the link to that library out of this one,\n"
                "or allow it in the table of tests/house/CMakeLists.txt if the design does\n"
                "(a copy of OpenMRC installed where the compiler looks by itself does this too)"
            )
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
