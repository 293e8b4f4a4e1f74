#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Plants violations in a small tree and shows that scripts/layers finds each of them."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

LAYERS = Path(__file__).resolve().parents[2] / "scripts" / "layers"

CLEAN = {
    "openmrc/layers.txt": "# comment\nbase:\nwire: base\ncore: base wire\n",
    "openmrc/base/time.h": "",
    "openmrc/wire/packet.h": '#include "openmrc/base/time.h"\n',
    "openmrc/core/paths/ev.h": '#include "openmrc/wire/packet.h"\n',
    "openmrc/core/endpoint/endpoint.h": '#include "openmrc/base/time.h"\n'
    '#include "openmrc/core/paths/ev.h"\n',
    "openmrc/wire/packet_test.cc": '#include "openmrc/wire/packet.h"\n#include "tests/support/hex.h"\n',
    "tests/support/hex.h": "",
    "include/mrc.h": "",
    "tools/mrc/main.cc": '#include "openmrc/core/paths/ev.h"\n#include "mrc.h"\n',
}


class LayersSelfTest(unittest.TestCase):
    def plant(self, folder, changes):
        for name, text in (CLEAN | changes).items():
            path = Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")

    def run_layers(self, folder, *arguments):
        return subprocess.run([sys.executable, LAYERS, "--root", folder, *arguments],
                              capture_output=True, text=True, check=False)

    def check(self, changes):
        with tempfile.TemporaryDirectory() as folder:
            self.plant(folder, changes)
            return self.run_layers(folder, "--check")

    def assert_found(self, changes, *words):
        result = self.check(changes)
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
        for word in words:
            self.assertIn(word, result.stdout)

    def test_a_clean_tree_passes(self):
        result = self.check({})
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def test_an_include_without_an_arrow_is_found(self):
        self.assert_found({"openmrc/base/clock.h": '#include "openmrc/core/paths/ev.h"\n'},
                          "openmrc/base must not include openmrc/core", "openmrc/base/clock.h")

    def test_also_in_a_unit_test(self):
        self.assert_found({"openmrc/base/a_test.cc": '#include "openmrc/wire/packet.h"\n'},
                          "a unit test of openmrc/base must not include openmrc/wire")

    def test_an_arrow_without_an_include_is_found(self):
        self.assert_found({"openmrc/wire/packet.h": ""}, "wire does not include base")

    def test_a_folder_without_a_line_is_found(self):
        self.assert_found({"openmrc/new/a.h": ""}, "openmrc/new has no line")

    def test_an_include_that_is_no_file_is_found(self):
        self.assert_found({"tools/mrc/main.cc": '#include "openmrc/core/ev.h"\n'},
                          '"openmrc/core/ev.h" is no file')
        self.assert_found({"openmrc/core/paths/b.h": '#include "ev.h"\n'}, '"ev.h" is no file')

    def test_a_cycle_of_sub_folders_is_found(self):
        self.assert_found({"openmrc/core/paths/b.h": '#include "openmrc/core/endpoint/endpoint.h"\n'},
                          "folders include each other in a circle")

    def test_a_cycle_of_files_is_found(self):
        self.assert_found({"openmrc/core/paths/a.h": '#include "openmrc/core/paths/b.h"\n',
                           "openmrc/core/paths/b.h": '#include "openmrc/core/paths/a.h"\n'},
                          "files include each other in a circle")

    def test_the_picture_is_written_and_compared(self):
        with tempfile.TemporaryDirectory() as folder:
            self.plant(folder, {"ARCHITECTURE.md": "a\n<!-- layers:begin -->\nold\n<!-- layers:end -->\nb\n"})
            self.assertEqual(self.run_layers(folder, "--draw", "--check").returncode, 1)
            self.assertEqual(self.run_layers(folder, "--draw", "--write").returncode, 0)
            self.assertEqual(self.run_layers(folder, "--draw", "--check").returncode, 0)
            text = (Path(folder) / "ARCHITECTURE.md").read_text(encoding="utf-8")
            self.assertIn("  core --> wire\n", text)
            self.assertNotIn("old", text)
            self.assertTrue(text.startswith("a\n") and text.endswith("\nb\n"), text)

    def test_a_document_without_markers_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            self.plant(folder, {"ARCHITECTURE.md": "a\n"})
            self.assertIn("layers:begin", self.run_layers(folder, "--draw", "--write").stderr)


if __name__ == "__main__":
    unittest.main()
