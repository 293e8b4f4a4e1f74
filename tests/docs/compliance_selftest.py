#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests scripts/compliance: small projects for what it takes for a rule and for a tag, and this project with
something wrong planted in a copy of it.

  compliance_selftest.py PYTHON SCRIPT
"""

import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

COMMAND = sys.argv[1:3]
ROOT = Path(COMMAND[1]).resolve().parents[1]
SECTIONS = re.findall(r'^    "([\d.]+)": ', Path(COMMAND[1]).read_text(), re.MULTILINE)
EXCEPTIONS = "docs/protocol/compliance-exceptions.toml"


def exception(rule, missing, reason="it rains"):
    return f'\n[[exception]]\nrule = "{rule}"\nmissing = {missing}\nreason = "{reason}"\n'


class Project(unittest.TestCase):
    """A project in a folder of its own, and what the script says of it."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def append(self, name, text):
        path = self.root / name
        path.write_text(path.read_text() + text)

    def run_script(self, *options):
        done = subprocess.run([*COMMAND, "--root", str(self.root), *options], capture_output=True,
                              text=True, timeout=60)
        return done.returncode, done.stdout + done.stderr

    def expect_failure(self, *texts):
        status, output = self.run_script()
        self.assertEqual(status, 1, output)
        for text in texts:
            self.assertIn(text, output)

    def row(self, rule):
        page = (self.root / "docs/protocol/compliance.md").read_text()
        return next(line for line in page.splitlines() if line.startswith(f"| {rule} |"))


class Small(Project):
    """REL-1 has all sections, code and a test; the other documents are empty."""

    def setUp(self):
        super().setUp()
        for name in ("wire", "queue-pairs", "reliability", "paths", "congestion", "plausibility", "messages",
                     "datagrams"):
            self.write(f"docs/protocol/{name}.md", "# Title\n")
        sources = ", ".join(f"MRC {section}" for section in SECTIONS)
        self.append("docs/protocol/reliability.md", f"\n- **REL-1** ({sources}): The first.\n")
        self.write("docs/protocol/choices.md", "| # | point |\n|---|---|\n| 5 | one |\n")
        self.write(EXCEPTIONS, "")
        self.write("openmrc/core/all.h", "// REL-1\n")
        self.write("tests/all.cc", "// REL-1\n")
        self.write("fuzz/none.cc", "")

    def add_rule(self, text, document="reliability"):
        self.append(f"docs/protocol/{document}.md", text)

    def test_passes_and_its_page_is_up_to_date_once_it_is_written(self):
        self.assertEqual(self.run_script("--check")[0], 1)  # there is no page yet
        status, output = self.run_script()
        self.assertEqual(status, 0, output)
        self.assertIn("1 rules: 1 with code, 1 with tests, 0 exceptions", output)
        self.assertEqual(self.run_script("--check")[0], 0)
        self.write("openmrc/core/more.h", "// REL-1\n")
        self.assertEqual(self.run_script("--check")[0], 1)

    def test_rules_are_paragraphs_list_items_and_table_rows(self):
        self.add_rule("\n**REL-2** (MRC 8) A paragraph\nof two lines. And more.\n\n"
                      "1. **REL-3** (choice 5) an item,\n2. something else\n\n"
                      "| **REL-4** (MRC 8, choice 5) | of | a table |\n"
                      "\nWhat **REL-9** (MRC 8) says is no rule here.\n")
        self.write("openmrc/core/more.h", "// REL-2, REL-3 and REL-4\n")
        self.write("tests/more.cc", "// REL-2, REL-3 and REL-4\n")
        status, output = self.run_script()
        self.assertEqual(status, 0, output)
        self.assertIn("| A paragraph of two lines |", self.row("REL-2"))
        self.assertIn("| an item |", self.row("REL-3"))
        self.assertIn("| MRC 8, choice 5 | of: a table |", self.row("REL-4"))

    def test_only_comments_count(self):
        self.write("openmrc/core/code.h", 'auto text = "REL-1";  // as MRC 1.0 has it\n')
        self.assertEqual(self.run_script()[0], 0)
        self.assertNotIn("code.h", self.row("REL-1"))

    def test_a_tag_belongs_to_the_test_below_it_or_around_it(self):
        self.write("openmrc/core/some_test.cc", "// MRC 8 (REL-1)\n// and more\nTEST(Suite, Below) {\n}\n\n"
                   "TEST_F(Suite, Around) {\n  // REL-1: inside\n}\n\n// REL-1\n\nint unrelated;\n")
        self.write("tests/lab/some.py", "def test_it():  # REL-1\n    pass\n")
        self.run_script()
        for test in ("Suite.Below", "Suite.Around", "some_test.cc", "tests/lab/some.py"):
            self.assertIn(test, self.row("REL-1"))

    def test_sources_of_rules_must_exist(self):
        for source in ("MRC 7.99", "choice 6", "a whim"):
            with self.subTest(source):
                self.add_rule(f"\n- **REL-2** ({source}): Text.\n")
                self.expect_failure(f"REL-2: {source} is nothing that a rule can come from")

    def test_a_prefix_belongs_to_one_document(self):
        self.add_rule("\n- **REL-2** (MRC 8): Text.\n", "paths")
        self.expect_failure("REL-2 has the prefix of another document")

    def test_a_section_needs_a_rule(self):
        self.write("docs/protocol/reliability.md", "- **REL-1** (MRC 8): The first.\n")
        self.expect_failure("MRC 7.5.3 (NACK; trimmed packets) has no rule")

    def test_an_unknown_section_in_a_comment_fails_and_a_whole_chapter_does_not(self):
        self.write("openmrc/core/chapter.h", "// MRC 9.3\n")
        self.assertEqual(self.run_script()[0], 0)
        self.write("openmrc/core/wrong.h", "\n// MRC 7.99\n")
        self.expect_failure("openmrc/core/wrong.h:2")


class Planted(Project):
    """A copy of this project, which passes, and what is wrong with it after one change."""

    def setUp(self):
        super().setUp()
        for folder in ("docs/protocol", "openmrc", "tests", "fuzz"):
            shutil.copytree(ROOT / folder, self.root / folder,
                            ignore=lambda _, names: [name for name in names if "corpus" in name])
        status, output = self.run_script("--check")
        self.assertEqual(status, 0, output)

    def plant_rule(self, name):
        self.append("docs/protocol/reliability.md", f"\n- **{name}** (MRC 7.5.2): A SACK is planted.\n")

    def test_a_rule_without_a_test_fails_unless_there_is_a_reason(self):
        self.plant_rule("REL-999")
        self.expect_failure("REL-999 has no code and no exception", "REL-999 has no tests and no exception")
        self.write("openmrc/core/planted.h", "// MRC 7.5.2 (REL-999)\n")
        self.expect_failure("REL-999 has no tests and no exception")
        self.append(EXCEPTIONS, exception("REL-999", ["tests"]))
        status, output = self.run_script()
        self.assertEqual(status, 0, output)
        self.assertIn("*it rains*", self.row("REL-999"))

    def test_a_tag_of_an_unknown_rule_fails(self):
        self.write("openmrc/core/planted.h", "\n// REL-998: nobody wrote that\n")
        self.expect_failure("openmrc/core/planted.h:2: REL-998 is no rule")

    def test_an_identifier_that_is_used_twice_fails(self):
        self.plant_rule("REL-1")
        self.expect_failure("REL-1 is used twice, also at reliability.md:")

    def test_an_exception_that_is_not_needed_fails(self):
        self.append(EXCEPTIONS, exception("REL-1", ["tests"]))
        self.expect_failure("REL-1 has tests: the exception is not needed")

    def test_an_exception_for_no_rule_fails(self):
        self.append(EXCEPTIONS, exception("REL-999", ["code"]))
        self.expect_failure("compliance-exceptions.toml: there is no rule REL-999")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
