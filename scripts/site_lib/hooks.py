# SPDX-License-Identifier: BSD-3-Clause
"""Hooks of mkdocs: pages that are not in docs/, and links of those that are."""

import os
import re
import sys
import tempfile
from pathlib import Path

from mkdocs.structure.files import File

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from site_lib import outside, reference  # noqa: E402  (mkdocs does not know where this folder is)

DOCUMENTS = ("ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md")
NOT_PAGES = ("man/", "figures/", "protocol/compliance-exceptions.toml")
# Tables without a heading, which Markdown does not have, have an empty one.
EMPTY_HEAD = re.compile(r"<thead>\s*<tr>\s*(?:<th[^>]*></th>\s*)+</tr>\s*</thead>")
generated = tempfile.TemporaryDirectory(prefix="openmrc-site-")


def program():
    """The `mrc` whose help is the reference of commands."""
    named = os.environ.get("OPENMRC_MRC")
    built = sorted(outside.ROOT.glob("build/*/tools/mrc"), key=lambda path: path.stat().st_mtime)
    if not named and not built:
        raise SystemExit("no mrc is built here: cmake --build --preset dev --target mrc, or set OPENMRC_MRC")
    return Path(named or built[-1]).resolve()


def on_files(files, config):
    for file in list(files):
        if file.src_uri.startswith(NOT_PAGES):
            files.remove(file)
    texts = {outside.page_of(name): outside.page_text(name) for name in outside.pages(DOCUMENTS)}
    texts["reference/commands.md"] = reference.commands_page(program())
    texts["reference/counters.md"] = reference.counters_page()
    for name, text in texts.items():
        path = Path(generated.name) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        files.append(File(name, generated.name, config["site_dir"], config["use_directory_urls"]))
    return files


def on_page_markdown(markdown, page, config, files):
    if page.file.abs_src_path.startswith(generated.name):
        return markdown  # its links are those of the site already
    return outside.rewrite(f"docs/{page.file.src_uri}", markdown)


def on_page_content(html, page, config, files):
    return EMPTY_HEAD.sub("", html)
