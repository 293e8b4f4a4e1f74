#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compiles each public C header alone, as C and as C++, and tries the choice of a version."""

import argparse
import subprocess
import sys

WARNINGS = "-Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Werror".split()
HEADERS = (
    "mrc.h",
    "mrc_api_ver.h",
    "mrc_compat.h",
    "mrc_ctl.h",
    "mrc_ctl_api_ver.h",
    "mrc_openmrc.h",
)
LANGUAGES = ("c11", "c17", "c++11", "c++17", "c++23")

# Which header, what the program defines before it, and what the compiler must say; None: nothing.
CHOICES = [
    (header, f"{macro} {version}", said)
    for header, macro, ver in (
        ("mrc_api_ver.h", "MRC_API_VER_USED", "MRC_API_VER"),
        ("mrc_ctl_api_ver.h", "MRC_CTL_API_VER_USED", "MRC_CTL_API_VER"),
    )
    for version, said in (
        (f"{ver}(1, 0, 0)", None),
        (f"{ver}(1, 0, 1)", None),
        (f"{ver}_LATEST", None),
        (f"{ver}(1, 0, 2)", "is newer than this header"),
        (f"{ver}(0x80, 0, 0)", "is newer than this header"),
        (f"{ver}(0, 0, 0)", "is the oldest"),
    )
] + [
    ("mrc_api_ver.h", "MRC_VENDOR_API_VER_USED MRC_API_VER_LATEST", None),
    ("mrc_api_ver.h", "MRC_VENDOR_API_VER_USED MRC_API_VER(1, 0, 1)", "is newer than this header"),
    ("mrc_ctl_api_ver.h", "MRC_CTL_VENDOR_API_VER_USED MRC_CTL_API_VER_LATEST", None),
    (
        "mrc_ctl_api_ver.h",
        "MRC_CTL_VENDOR_API_VER_USED MRC_CTL_API_VER(1, 0, 1)",
        "is newer than this header",
    ),
]


def complaints(compiler, include, standard, source):
    language = "c++" if "++" in standard else "c"
    command = [compiler, f"-std={standard}", *WARNINGS, f"-I{include}", "-fsyntax-only"]
    result = subprocess.run(
        [*command, "-x", language, "-"], input=source, capture_output=True, text=True, check=False
    )
    return result.stderr if result.returncode else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--c-compiler", required=True)
    parser.add_argument("--cxx-compiler", required=True)
    parser.add_argument("--include", required=True, help="the folder of the headers")
    arguments = parser.parse_args()

    bad = 0
    for standard in LANGUAGES:
        compiler = arguments.cxx_compiler if "++" in standard else arguments.c_compiler
        for header in HEADERS:
            # Twice, because of the guard. The variable is there because C wants a declaration.
            source = f"#include <{header}>\n#include <{header}>\nextern int declaration;\n"
            text = complaints(compiler, arguments.include, standard, source)
            bad += bool(text)
            print(f"{'FAIL' if text else 'ok'}: {header} as {standard}\n{text}", end="")
    for header, choice, said in CHOICES:
        source = f"#define {choice}\n#include <{header}>\nextern int declaration;\n"
        text = complaints(arguments.c_compiler, arguments.include, "c11", source)
        right = said in text if said else not text
        bad += not right
        print(f"{'ok' if right else 'FAIL'}: {choice}: {said or 'accepted'}")
        if not right:
            print(text or "the compiler said nothing")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
