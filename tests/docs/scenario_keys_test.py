#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""docs/scenarios.md has the keys that the code reads, and no others.

The keys of [fabric] and [transport] that scenarios share with other files are in docs/fabric.md and
docs/guide/configuration.md.
"""

import re
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ("scenario.cc", "scenario_workload.cc", "scenario_training.cc", "scenario_trace.cc", "scenario_jobs.cc",
           "scenario_devices.cc", "scenario_fault_section.cc", "scenario_failure_section.cc", "fault_fields.cc")
READ = re.compile(r'(?:Field::\w+\(|\.(?:require|find|elements|for_each_table)\(|->require\(|read_one_host\(\w+, )"(\w+)"')
THRESHOLD = re.compile(r'read_threshold\(section, "(\w+)"')  # by bytes or by time
LIST = re.compile(r"key : \{([^}]*)\}")
SECTION = re.compile(r'(?:section|for_each_table)\("(\w+)"')
NAME = re.compile(r"`(\w+)`")


def keys_read():
    text = "".join((ROOT / "openmrc/sim/scenario" / name).read_text(encoding="utf-8") for name in SOURCES)
    listed = [name for names in LIST.findall(text) for name in re.findall(r'"(\w+)"', names)]
    thresholds = [f"{name}_{unit}" for name in THRESHOLD.findall(text) for unit in ("bytes", "time")]
    return {*READ.findall(text), *listed, *thresholds}, set(SECTION.findall(text))


def keys_of_tables(text):
    """What stands in the columns `key` of all tables."""
    names, column = set(), None
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")] if line.startswith("|") else []
        if not cells:
            column = None
        elif column is None:
            column = cells.index("key") if "key" in cells else -1
        elif column >= 0:
            names.update(NAME.findall(cells[column]))
    return names


def words_in_code(text):
    """Every word in `backticks` and code blocks."""
    code = re.findall(r"^```.*?^```|`[^`\n]+`", text, re.MULTILINE | re.DOTALL)
    return set(re.findall(r"\w+", "\n".join(code)))


class ScenarioKeys(unittest.TestCase):
    def setUp(self):
        self.text = (ROOT / "docs/scenarios.md").read_text(encoding="utf-8")
        self.keys, self.sections = keys_read()

    def test_every_key_of_the_code_is_in_the_document(self):
        self.assertGreater(len(self.keys), 40)
        self.assertEqual(self.keys - words_in_code(self.text), set())

    def test_every_section_has_its_heading(self):
        headings = set(re.findall(r"^## `\[+(\w+)\]+`", self.text, re.MULTILINE))
        self.assertEqual(headings, {"fabric", "transport", "switches", "nics", "workload", "job", "fault", "failures"})
        self.assertLessEqual(headings, self.sections)

    def test_every_key_of_the_document_is_in_the_code(self):
        documented = keys_of_tables(self.text)
        self.assertGreater(len(documented), 40)
        self.assertEqual(documented - self.keys, set())


if __name__ == "__main__":
    sys.exit(unittest.main())
