# SPDX-License-Identifier: BSD-3-Clause
"""Checks a site that was built: links, anchors, pictures, nothing from elsewhere, no Markdown left over."""

import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

CODE = {"code", "pre", "script", "style"}
VOID = {"area", "base", "br", "col", "hr", "img", "input", "link", "meta", "source", "wbr"}
# What a browser loads by itself, and what it waits for a click to load.
LOADED = {"img": "src", "script": "src", "link": "href", "source": "src", "object": "data", "iframe": "src"}
FROM_ELSEWHERE = re.compile(r"(?:@import\s+|url\(\s*)[\"']?(https?:)?//")
LEFT_OVER = (
    (re.compile(r"\|\s*:?-{3,}"), "a table that is not rendered"),
    (re.compile(r"\]\("), "a link that is not rendered"),
    (re.compile(r"^\s*[-*] \S", re.MULTILINE), "a list that is not rendered: it needs an empty line before it"),
    (re.compile(r"```"), "a code block that is not rendered"),
)


class Page(HTMLParser):
    """The names that links can lead to, the links, and the paragraphs of a page."""

    def __init__(self, path):
        super().__init__()
        self.anchors, self.links, self.paragraphs, self.titles = set(), [], [], []
        self.open = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.anchors.update(filter(None, (values.get("id"), values.get("name") if tag == "a" else None)))
        if tag == "a" and values.get("href"):
            self.links.append((self.getpos()[0], values["href"], False))
        elif values.get(LOADED.get(tag, "")) and values.get("rel") != "canonical":
            self.links.append((self.getpos()[0], values[LOADED[tag]], True))
        if tag == "p":
            self.paragraphs.append([self.getpos()[0], ""])
        if tag == "h1":
            self.titles.append("")
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag in self.open:
            while self.open.pop() != tag:
                pass

    def handle_data(self, data):
        if "p" in self.open and not CODE & set(self.open):
            self.paragraphs[-1][1] += data
        if "h1" in self.open:
            self.titles[-1] += data


class Site:
    def __init__(self, folder):
        self.folder = Path(folder).resolve()
        self.pages = {path: Page(path) for path in sorted(self.folder.rglob("*.html"))}

    def file_of(self, page, path):
        base = self.folder if path.startswith("/") else page.parent
        found = (base / unquote(path).lstrip("/")).resolve() if path else page
        return found / "index.html" if found.is_dir() else found

    def wrong_link(self, page, link, is_loaded):
        """What is wrong with a link; None if it leads somewhere."""
        parts = urlsplit(link)
        if parts.scheme or parts.netloc:
            return f"loads {link}, which is not part of the site" if is_loaded and parts.scheme != "data" else None
        target = self.file_of(page, parts.path)
        if self.folder not in target.parents or not target.is_file():
            return f"{link}: there is no such page"
        if parts.fragment and target in self.pages and \
                unquote(parts.fragment) not in self.pages[target].anchors | {"__toc", "__drawer", "__search"}:
            return f"{link}: there is no such heading"
        return None

    def findings(self):
        """(page, line, what is wrong)"""
        for path, page in self.pages.items():
            for line, link, is_loaded in page.links:
                if wrong := self.wrong_link(path, link, is_loaded):
                    yield path, line, wrong
            for line, text in page.paragraphs:
                for pattern, wrong in LEFT_OVER:
                    if pattern.search(text):
                        yield path, line, f"{wrong}: {' '.join(text.split())[:60]}"
            if len(page.titles) != 1:
                yield path, 1, f"has {len(page.titles)} titles"
        for path in sorted([*self.folder.rglob("*.css"), *self.folder.rglob("*.svg")]):
            if FROM_ELSEWHERE.search(path.read_text(encoding="utf-8")):
                yield path, 1, "loads what is not part of the site"


def problems(folder):
    site = Site(folder)
    found = [f"{path.relative_to(site.folder)}:{line}: {wrong}" for path, line, wrong in site.findings()]
    return found, sum(len(page.links) for page in site.pages.values()), len(site.pages)
