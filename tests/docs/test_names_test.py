#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every test that a document names in `backticks` exists.

    test_names_test.py [ROOT]

Two forms are names of tests: `house.layers`, of CTest, and `World.IsAFunctionOfItsSeed`, of GoogleTest. Both may end
with a star. Prints what is wrong as file:line and exits 1.
"""

import fnmatch
import re
import sys
from pathlib import Path

from links_test import CODE, documents, prose

ADDED = re.compile(r"add_test\(NAME ([a-z]+\.\w+)")
BY_FUNCTION = re.compile(r"^ *openmrc_(house|abi|lab)_test\((\w+)", re.MULTILINE)
FUZZERS = re.compile(r"^ *openmrc_fuzz\((\w+)", re.MULTILINE)
CASE = re.compile(r"\bTEST(?:_[FP])?\((\w+),\s*(\w+)\)")
CASE_NAME = re.compile(r"[A-Z]\w*[a-z]\w*\.[A-Z]\w*[a-z]\w*\*?")
FILE_SUFFIXES = {"h", "cc", "c", "py", "md", "toml", "txt", "def", "lua", "json", "html", "pcapng", "sha256", "so"}


def sources(root, pattern):
    for path in root.rglob(pattern):
        if "build" not in path.relative_to(root).parts:
            yield path.read_text(encoding="utf-8")


def test_names(root):
    names = set()
    for text in sources(root, "CMakeLists.txt"):
        names.update(ADDED.findall(text))
        names.update(f"{family}.{name}" for family, name in BY_FUNCTION.findall(text))
        names.update(f"fuzz.{name}_{kind}" for name in FUZZERS.findall(text) for kind in ("replay", "short"))
    for text in sources(root, "*.cc"):
        names.update(f"{suite}.{case}" for suite, case in CASE.findall(text))
    return names


def is_test_name(code, families):
    family, _, rest = code.partition(".")
    by_ctest = family in families and re.fullmatch(r"\w+\*?", rest) and rest not in FILE_SUFFIXES
    return by_ctest or CASE_NAME.fullmatch(code)


def findings(root):
    names = test_names(root)
    families = {name.partition(".")[0] for name in names if name[0].islower()}
    for document in documents(root):
        for number, line in prose(document):
            for code in CODE.findall(line):
                if is_test_name(code, families) and not fnmatch.filter(names, code):
                    yield f"{document.relative_to(root)}:{number}: `{code}`: there is no such test"


def main():
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[2]).resolve()
    found = list(findings(root))
    print("\n".join(found) or "every test that a document names exists")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
