#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Plants what is wrong in a small site and shows that it is found; links are rewritten as they should be."""

import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
from site_lib import check, outside, reference  # noqa: E402

PAGE = "<html><body><h1 id=\"top\">Title</h1>\n{}\n</body></html>"


class Check(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.write("index.html", '<a href="guide/a.html#top">a</a> <a href="https://example.org/">b</a>')
        self.write("guide/a.html", '<p>See <a href="../#top">start</a>.</p><pre>- | --- | ](x)</pre>')

    def write(self, name, body):
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(PAGE.format(body) if name.endswith("html") else body, encoding="utf-8")

    def found(self):
        return "\n".join(check.problems(self.folder)[0])

    def test_a_clean_site_passes(self):
        self.assertEqual(check.problems(self.folder), ([], 3, 2))

    def test_what_is_wrong_is_found(self):
        for body, wrong in (
            ('<a href="b.html">x</a>', "b.html: there is no such page"),
            ('<a href="../README.md">x</a>', "README.md: there is no such page"),
            ('<a href="../../outside.html">x</a>', "there is no such page"),
            ('<a href="#gone">x</a>', "#gone: there is no such heading"),
            ('<a href="../index.html#gone">x</a>', "there is no such heading"),
            ('<img src="gone.svg">', "gone.svg: there is no such page"),
            ('<img src="https://example.org/a.png">', "is not part of the site"),
            ('<script src="//example.org/a.js"></script>', "is not part of the site"),
            ('<link rel="stylesheet" href="https://fonts.example/a.css">', "is not part of the site"),
            ("<p>a | b\n|---|---|</p>", "a table that is not rendered"),
            ("<p>text:\n- first\n- second</p>", "a list that is not rendered"),
            ("<p>[a](b.md)</p>", "a link that is not rendered"),
            ("<p>```console</p>", "a code block that is not rendered"),
            ("<h1>Another</h1>", "has 2 titles"),
        ):
            with self.subTest(body):
                self.write("guide/a.html", body)
                self.assertIn("guide/a.html:", self.found())
                self.assertIn(wrong, self.found())

    def test_style_sheets_load_nothing_from_elsewhere(self):
        self.write("a.css", "@import url(a.css); p { background: url(\"b.svg\") }")
        self.assertEqual(self.found(), "")
        self.write("a.css", "@import url(https://fonts.example/a.css)")
        self.assertIn("a.css:1: loads what is not part of the site", self.found())


class Links(unittest.TestCase):
    def assert_becomes(self, before, after, source="docs/guide/lab.md"):
        self.assertEqual(outside.rewrite(source, before), after)

    def test_pages_of_docs_keep_their_links(self):
        self.assert_becomes("[a](perf.md#options-of-perftest) [b](../fabric.md) [c](#on-a-host)",
                            "[a](perf.md#options-of-perftest) [b](../fabric.md) [c](#on-a-host)")
        self.assert_becomes("![p](throughput.svg) [w](https://example.org/a.md)",
                            "![p](throughput.svg) [w](https://example.org/a.md)")

    def test_the_rest_of_the_repository_has_pages(self):
        self.assert_becomes("[a](../../ARCHITECTURE.md#layers)", "[a](../repository/ARCHITECTURE.md#layers)")
        self.assert_becomes("[`w`](../../examples/cpp/write.cc)", "[`w`](../repository/examples/cpp/write.cc.md)")
        self.assert_becomes("[start](../../README.md)", "[start](../README.md)")
        self.assert_becomes("[p](docs/protocol/README.md)", "[p](../protocol/README.md)", "CONTRIBUTING.md")

    def test_man_pages_are_the_reference(self):
        self.assert_becomes("[m](../man/mrc-lab.1)", "[m](../reference/commands.md#mrc-lab)")
        self.assert_becomes("[m](../man/openmrc.toml.5)", "[m](configuration.md)")

    def test_folders_and_code_have_no_links(self):
        self.assert_becomes("see [figures](../figures)", "see figures")
        for code in ("`[a](../../ARCHITECTURE.md)`", "```\n[a](../../ARCHITECTURE.md)\n```"):
            self.assert_becomes(code, code)


class Reference(unittest.TestCase):
    def test_every_counter_has_its_metric(self):
        page = reference.counters_page()
        for row in ('| `sacks_sent` | `openmrc_sacks_sent_total` | SACKs sent |',
                    '| `retransmits_loss` | `openmrc_retransmits_total{reason="loss"}` |',
                    '| `send_calls` | `openmrc_datapath_send_calls_total` |',
                    '| `openmrc_plane_data_sent_total{plane="N"}` |',
                    "| `ether_type_not_ip` |"):
            self.assertIn(row, page)
        for source in ("core/context/counters.def", "datapath/counters.def", "wire/field/reject.def"):
            lines = (ROOT / "openmrc" / source).read_text(encoding="utf-8").splitlines()
            counters = [line for line in lines if line.startswith("OPENMRC_")]
            self.assertGreater(len(counters), 10)
            for line in counters:
                self.assertIn(f"| `{line.split(chr(34))[1]}` |", page)


if __name__ == "__main__":
    unittest.main()
