#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Fails where a source or a document uses a word for which the field has another.

    words_test.py [FOLDER]     (default: the whole project; words.txt is the list)
"""

import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ARROW = "  ->  "
GAP = r"[\s/#*.\\\"]+"  # a blank of a phrase, also at the end of a line of a comment or string
SUFFIXES = set(".c .cc .h .def .py .sh .lua .md .toml .yml .json .txt .cmake .1 .5 .8".split())
# The past keeps its words, and this test has to name them. The corpora are bytes.
SKIPPED = re.compile(r"(^|/)(CHANGELOG\.md|words\.txt|words_(self)?test\.py)$|^fuzz/corpus/|^build/")


class Word:
    """A pattern that must not occur, and what to write instead."""

    def __init__(self, line):
        pattern, self.better = line.split(ARROW, 1)
        self.pattern = re.compile(pattern.strip().replace(" ", GAP))

    def places(self, text):
        for match in self.pattern.finditer(text):
            yield text.count("\n", 0, match.start()) + 1, " ".join(match.group().split())


def read_words(file=HERE / "words.txt"):
    lines = file.read_text(encoding="utf-8").splitlines()
    return [Word(line) for line in lines if line and not line.startswith("#")]


def tracked(root):
    """What git knows; outside of a checkout, every file."""
    done = subprocess.run(["git", "-C", root, "ls-files"], capture_output=True, text=True,
                          check=False)
    if done.returncode == 0 and done.stdout:
        return done.stdout.splitlines()
    return [str(path.relative_to(root)) for path in sorted(root.rglob("*")) if path.is_file()]


def texts(root):
    for name in tracked(root):
        path = root / name
        is_text = path.suffix in SUFFIXES or (not path.suffix and name.startswith("scripts/"))
        if is_text and path.is_file() and not SKIPPED.search(name):
            yield name, path.read_text(encoding="utf-8", errors="replace")


def findings(root, words):
    for name, text in texts(root):
        for word in words:
            for line, found in word.places(text):
                yield f"{name}:{line}: '{found}': write {word.better}"


def main(arguments):
    root = Path(arguments[0]) if arguments else HERE.parents[1]
    found = sorted(findings(root, read_words()))
    for one in found:
        print(one)
    if found:
        sys.exit(f"{len(found)} words to replace; tests/house/words.txt has the reasons")


if __name__ == "__main__":
    main(sys.argv[1:])
