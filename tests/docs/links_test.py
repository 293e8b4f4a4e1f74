#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every link and every repository path in the documents leads somewhere.

    links_test.py [ROOT]

Checked in all *.md files: relative links and their anchors, and paths in `backticks` that begin with a folder of
the repository. Prints what is wrong as file:line and exits 1.
"""

import functools
import re
import sys
from pathlib import Path

FENCE = re.compile(r"^\s*(```|~~~)")
LINK = re.compile(r"!?\[[^\]]*\]\(([^()\s]+)(?:\s+\"[^\"]*\")?\)")
CODE = re.compile(r"`([^`\n]+)`")
HEADING = re.compile(r"^#{1,6}\s+(.*?)\s*#*$")
ANCHOR = re.compile(r"<a\s+(?:id|name)=\"([^\"]+)\"")
FOLDERS = "openmrc|src|tests|docs|scripts|tools|examples|fuzz|bench|cmake|include|packaging|\\.ci"
PATH = re.compile(rf"^(?:{FOLDERS})/[\w.*?/{{}},+-]*")


def documents(root):
    for path in sorted(root.rglob("*.md")):
        if not any(part in ("build", ".git") for part in path.relative_to(root).parts[:-1]):
            yield path


def prose(path):
    """(line number, text) of what stands outside of code blocks."""
    in_code = False
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if FENCE.match(line):
            in_code = not in_code
        elif not in_code:
            yield number, line


def slug(heading):
    """The anchor that GitHub gives a heading."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


@functools.cache
def anchors(path):
    found, seen = set(), {}
    for _, line in prose(path):
        found.update(ANCHOR.findall(line))
        if match := HEADING.match(line):
            name = slug(match.group(1))
            count = seen.get(name, 0)
            seen[name] = count + 1
            found.add(f"{name}-{count}" if count else name)
    return found


def broken_link(document, target):
    """What is wrong with a link; None if it leads somewhere."""
    if re.match(r"[a-z]+:", target):
        return None
    name, _, anchor = target.partition("#")
    path = (document.parent / name).resolve() if name else document
    if not path.exists():
        return f"link to {target}: there is no such file"
    if anchor and path.suffix == ".md" and anchor not in anchors(path):
        return f"link to {target}: there is no such heading"
    return None


def expand_braces(text):
    if match := re.search(r"\{([^{}]*)\}", text):
        for choice in match.group(1).split(","):
            yield from expand_braces(text[: match.start()] + choice + text[match.end():])
    else:
        yield text


def missing_paths(root, code):
    """Paths of the repository in a piece of code that do not exist."""
    match = PATH.match(code.split(" ")[0])
    if not match or code[match.end():match.end() + 1] in ("<", "$", "("):
        return  # none, or one with a placeholder
    for name in expand_braces(match.group(0).rstrip(".,:/")):
        if not any(root.glob(name)):
            yield f"`{name}`: there is no such file"


def findings(root):
    for document in documents(root):
        for number, line in prose(document):
            problems = [broken_link(document, target) for target in LINK.findall(CODE.sub("", line))]
            for code in CODE.findall(line):
                problems += missing_paths(root, code)
            for problem in filter(None, problems):
                yield f"{document.relative_to(root)}:{number}: {problem}"


def main():
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[2]).resolve()
    found = list(findings(root))
    print("\n".join(found) or f"{len(list(documents(root)))} documents: every link and path leads somewhere")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
