#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Holds the references of the section [transport] against the code.

  transport_docs.py TRANSPORT_KEYS [ROOT]            fails where a document lists other keys than the code
  transport_docs.py TRANSPORT_KEYS [ROOT] --write    brings the documents up to date
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys

# A default that a file could say, and not a remark such as "rate x base_rtt".
VALUE = re.compile(r'["\d].*|true|false')


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("root", type=pathlib.Path, nargs="?", default=pathlib.Path(__file__).parents[2])
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    printed = subprocess.run([options.program], capture_output=True, text=True, timeout=30, check=True)
    presets = json.loads(printed.stdout)

    differing = [name for name, text in DOCUMENTS.items()
                 if not update(options.root / name, text(presets), options.write)]
    for name in differing:
        print(f"{name} has other keys of [transport] than the code")
    if differing:
        print("To update the documents: cmake --build --preset dev --target update_docs")
        return 1
    print(f"{len(DOCUMENTS)} documents and the code have the same {len(presets['nic'])} keys of [transport]")
    return 0


def update(document, text, write):
    """Whether the document has this text between its markers, or has it now."""
    before, begin, rest = split_after(document.read_text(encoding="utf-8"), "transport:begin", document)
    _, end, after = split_after(rest, "transport:end", document)
    updated = before + begin + text + end + after
    if write:
        document.write_text(updated, encoding="utf-8")
    return write or updated == before + begin + rest


def split_after(text, marker, document):
    """What is before the line with the marker, that line, and what is after it."""
    line = re.search(rf"^.*\b{marker}\b.*\n", text, re.MULTILINE)
    if line is None:
        sys.exit(f"{document.name} has no {marker}")
    return text[: line.start()], line[0], text[line.end():]


def table(presets):
    """A table for files that start from the preset software."""
    def default_of(nic, software):
        if nic["name"] == "preset" or nic["default"] == software["default"]:
            return code(software["default"])
        return f"{code(nic['default'])} / {code(software['default'])}"

    lines = ["| key | type | default (nic / software) | range | meaning |", "|---|---|---|---|---|"]
    lines += [f"| `{nic['name']}` | {nic['type']} | {default_of(nic, software)} | {nic['range'] or '-'} "
              f"| {nic['description']} |" for nic, software in zip(presets["nic"], presets["software"])]
    return "\n".join(lines) + "\n"


def code(default):
    return f"`{default}`" if VALUE.fullmatch(default) else default


def manual_page(presets):
    """Entries for openmrc.toml, which starts from the preset software."""
    entries = []
    for nic, software in zip(presets["nic"], presets["software"]):
        parts = [", ".join(filter(None, (software["type"], software["range"]))), f"default: {software['default']}"]
        if nic["default"] != software["default"] and nic["name"] != "preset":
            parts.append(f"with preset nic: {nic['default']}")
        entries.append(f".TP\n.B {nic['name']}\n{nic['description']}\n({'; '.join(parts)})\n".replace("-", "\\-"))
    return "".join(entries)


DOCUMENTS = {
    "docs/guide/configuration.md": table,
    "docs/man/openmrc.toml.5": manual_page,
}


if __name__ == "__main__":
    sys.exit(main())
