#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Links a program to libmrc by each name that existing makefiles use, and runs it.

Whatever the name, the program must remember the library by its one SONAME.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

SONAME = "libmrc.so.1"
SOURCE = Path(__file__).with_name("link_names.c")


def run(command, **more):
    result = subprocess.run(command, capture_output=True, text=True, check=False, **more)
    return result.returncode, result.stdout + result.stderr


def mistake(arguments, how, program):
    """What is wrong with a program linked `how`; None if nothing."""
    command = [arguments.compiler, *arguments.flags.split(), f"-I{arguments.include}", str(SOURCE)]
    status, text = run([*command, *how, "-o", program])
    if status:
        return f"does not link:\n{text}"
    _, text = run(["readelf", "-d", program])
    needed = re.findall(r"\(NEEDED\).*\[(.*mrc.*)\]", text)
    if needed != [SONAME]:
        return f"needs {needed or 'no libmrc'} and not {SONAME}"
    status, text = run([program], env={**os.environ, "LD_LIBRARY_PATH": arguments.libraries})
    return f"ended with {status}:\n{text}" if status else None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--flags", default="", help="of the compiler; write --flags='-a -b'")
    parser.add_argument("--include", required=True, help="the folder of mrc.h")
    parser.add_argument("--libraries", required=True, help="the folder of libmrc.so")
    arguments = parser.parse_args()

    folder = arguments.libraries
    bad = 0
    for how in (
        [f"-L{folder}", "-lmrc"],
        [f"-L{folder}", "-lnv_mrc"],
        [f"{folder}/lib_mrc.so"],
    ):
        with tempfile.TemporaryDirectory() as temporary:
            wrong = mistake(arguments, how, f"{temporary}/program")
        bad += wrong is not None
        print(f"{'FAIL' if wrong else 'ok'}: {' '.join(how)} {wrong or ''}".rstrip())
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
