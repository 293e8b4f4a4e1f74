#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Holds docs/protocol/wire.md against the code.

  protocol_docs.py LAYOUT_TABLES DOCUMENT REJECT_DEF            fails where a header table differs or is
                                                                missing, or a reason of rejection is not
                                                                named, or one is named that is none
  protocol_docs.py LAYOUT_TABLES DOCUMENT REJECT_DEF --write    brings the tables up to date
"""

import argparse
import pathlib
import re
import subprocess
import sys

REASON = re.compile(r'^OPENMRC_REJECT\(\w+, "(\w+)"', re.MULTILINE)
NAMED_REASON = re.compile(r"(?<!\*)\*([a-z0-9]+(?:_[a-z0-9]+)+)\*(?!\*)")
BLOCK = re.compile(r"<!-- layout (\S+) -->\n.*?<!-- end -->\n", re.DOTALL)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("document", type=pathlib.Path)
    parser.add_argument("reject_def", type=pathlib.Path)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()

    printed = subprocess.run([options.program], capture_output=True, text=True, timeout=30, check=True)
    tables = {match[1]: match[0] for match in BLOCK.finditer(printed.stdout)}
    text = options.document.read_text()
    found = {match[1]: match[0] for match in BLOCK.finditer(text)}

    missing = sorted(set(tables) - set(found))
    unknown = sorted(set(found) - set(tables))
    differing = sorted(name for name in found if name in tables and found[name] != tables[name])
    if options.write:
        options.document.write_text(BLOCK.sub(lambda m: tables.get(m[1], m[0]), text))
        differing = []
    reasons = set(REASON.findall(options.reject_def.read_text()))
    named = set(NAMED_REASON.findall(text))
    unnamed = sorted(reasons - named)
    no_reason = sorted(named - reasons)
    for what, names in [("no table for", missing), ("a table for the unknown", unknown),
                        ("another table than the code for", differing),
                        ("no word on the rejection", unnamed), ("the unknown rejection", no_reason)]:
        if names:
            print(f"{options.document.name} has {what} {', '.join(names)}")
    if missing or unknown or differing or unnamed or no_reason:
        print("To update the tables: cmake --build --preset dev --target update_docs")
        return 1
    print(f"{len(found)} header tables and {len(reasons)} reasons of rejection agree with the code")
    return 0


if __name__ == "__main__":
    sys.exit(main())
