# SPDX-License-Identifier: BSD-3-Clause
"""Links of the documents, as they are valid in the repository, made valid in the site.

A page of docs/ keeps its path. Whatever else is linked becomes a page below repository/: documents as they are, other
text files in a code block.
"""

import posixpath
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PREFIX = "repository/"
LINK = re.compile(r"(?P<skip>^(?P<fence>```+|~~~+).*?^(?P=fence)|`[^`\n]+`)"
                  r"|(?P<label>!?\[(?:[^\]\[]|`[^`]*`)*\])\((?P<target>[^()\s]+)\)", re.MULTILINE | re.DOTALL)
LANGUAGES = {".c": "c", ".cc": "cpp", ".h": "cpp", ".py": "python", ".toml": "toml", ".json": "json"}


def page_of(name):
    """The page (its source below the site's docs) of a file of the repository."""
    if name == "README.md":
        return "README.md"  # the site's own start page
    if name == "docs/man/openmrc.toml.5":
        return "guide/configuration.md"
    if name.startswith("docs/man/"):
        return "reference/commands.md"
    if name.startswith("docs/"):
        return name.removeprefix("docs/")
    return PREFIX + name + ("" if name.endswith(".md") else ".md")


def target_of(source, link):
    """The file of the repository that a link in the file `source` leads to, and the anchor; None: it leads outside."""
    name, _, anchor = link.partition("#")
    if re.match(r"[a-z]+:", link) or not name:
        return None
    path = posixpath.normpath(posixpath.join(posixpath.dirname(source), name))
    return path, anchor


def rewrite(source, text):
    """The text of the file `source` with links from page to page. A link to a folder becomes plain text."""
    here = posixpath.dirname(page_of(source))

    def replace(match):
        found = None if match["skip"] else target_of(source, match["target"])
        if found is None:
            return match[0]
        name, anchor = found
        if (ROOT / name).is_dir():
            return match["label"].removeprefix("[").removesuffix("]")
        if name.startswith("docs/man/mrc"):
            anchor = Path(name).stem
        return f"{match['label']}({posixpath.relpath(page_of(name), here or '.')}{'#' * bool(anchor)}{anchor})"

    return LINK.sub(replace, text)


def linked_from(source, text):
    """The files of the repository that a document links to."""
    targets = (target_of(source, match["target"]) for match in LINK.finditer(text) if not match["skip"])
    return {name for name, _ in filter(None, targets) if (ROOT / name).is_file()}


def page_text(name):
    """The Markdown of the page of a file that is not below docs/."""
    text = (ROOT / name).read_text(encoding="utf-8")
    if name.endswith(".md"):
        return rewrite(name, text)
    return f"# {Path(name).name}\n\n`{name}`\n\n~~~~~ {LANGUAGES.get(Path(name).suffix, 'text')}\n{text}~~~~~\n"


def pages(documents):
    """The files outside of docs/ that are pages: these documents, and what they and docs/ link to."""
    found, waiting = set(), set(documents)
    for path in sorted((ROOT / "docs").rglob("*.md")):
        name = path.relative_to(ROOT).as_posix()
        waiting |= linked_from(name, path.read_text(encoding="utf-8"))
    while waiting:
        name = waiting.pop()
        if name in found or page_of(name) == "README.md" or name.startswith("docs/"):
            continue
        found.add(name)
        if name.endswith(".md"):
            waiting |= linked_from(name, (ROOT / name).read_text(encoding="utf-8"))
    return found
