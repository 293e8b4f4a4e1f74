#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests scripts/compliance on small projects: what it takes for a tag, and when it fails.

  compliance_selftest.py PYTHON SCRIPT
"""

import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

COMMAND = sys.argv[1:3]
SECTIONS = re.findall(r'^    "([\d.]+)": ', Path(COMMAND[1]).read_text(), re.MULTILINE)


def tags(sections):
    return "".join(f"// MRC {section}\n" for section in sections)


class Compliance(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        # A project in which every section has code and a test.
        self.write("openmrc/core/all.h", tags(SECTIONS))
        self.write("tests/all.cc", tags(SECTIONS))
        self.write("fuzz/none.cc", "")
        self.write("docs/protocol/compliance-exceptions.toml", "")

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def run_script(self, *options):
        done = subprocess.run([*COMMAND, "--root", str(self.root), *options], capture_output=True,
                              text=True, timeout=20)
        return done.returncode, done.stdout + done.stderr

    def row(self, section):
        page = (self.root / "docs/protocol/compliance.md").read_text()
        return next(line for line in page.splitlines() if line.startswith(f"| {section} |"))

    def test_a_complete_project_passes_and_its_page_is_up_to_date(self):
        self.assertEqual(self.run_script("--check")[0], 1)  # there is no page yet
        self.assertEqual(self.run_script()[0], 0)
        self.assertEqual(self.run_script("--check")[0], 0)
        self.write("openmrc/core/more.h", "// MRC 8\n")
        self.assertEqual(self.run_script("--check")[0], 1)

    def test_lists_and_tables_name_several_sections(self):
        self.write("openmrc/core/list.h", "// (MRC 6.1, 10.1.2) and MRC 6.2 (Tables 6-3, 6-4) and 8: why\n")
        self.run_script()
        for section in ("6.1", "10.1.2", "6.2", "8"):
            self.assertIn("core/list.h", self.row(section))

    def test_only_comments_count(self):
        self.write("openmrc/core/code.h", 'auto text = "MRC 8";  // as MRC 1.0 has it\n')
        self.assertEqual(self.run_script()[0], 0)
        self.assertNotIn("code.h", self.row("8"))

    def test_a_tag_belongs_to_the_test_below_it_or_around_it(self):
        self.write("openmrc/core/some_test.cc", "// MRC 8\n// and more\nTEST(Suite, Below) {\n}\n\n"
                   "TEST_F(Suite, Around) {\n  // MRC 8: inside\n}\n\n// MRC 8\n\nint unrelated;\n")
        self.run_script()
        self.assertIn("Suite (2)", self.row("8"))
        self.assertIn("some_test.cc", self.row("8"))

    def test_a_section_without_code_or_test_fails_unless_there_is_a_reason(self):
        self.write("openmrc/core/all.h", tags(section for section in SECTIONS if section != "7.5.3"))
        status, output = self.run_script()
        self.assertEqual(status, 1)
        self.assertIn("MRC 7.5.3", output)
        self.write("docs/protocol/compliance-exceptions.toml",
                   '[[exception]]\nsection = "7.5.3"\nmissing = ["code"]\nreason = "it rains"\n')
        self.assertEqual(self.run_script()[0], 0)
        self.assertIn("it rains", self.row("7.5.3"))

    def test_a_reason_that_is_not_needed_fails(self):
        self.write("docs/protocol/compliance-exceptions.toml",
                   '[[exception]]\nsection = "8"\nmissing = ["tests"]\nreason = "it rains"\n')
        status, output = self.run_script()
        self.assertEqual(status, 1)
        self.assertIn("MRC 8", output)

    def test_an_unknown_section_fails_and_a_whole_chapter_does_not(self):
        self.write("openmrc/core/chapter.h", "// MRC 9.3\n")
        self.assertEqual(self.run_script()[0], 0)
        self.write("openmrc/core/wrong.h", "\n// MRC 7.99\n")
        status, output = self.run_script()
        self.assertEqual(status, 1)
        self.assertIn("openmrc/core/wrong.h:2", output)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
