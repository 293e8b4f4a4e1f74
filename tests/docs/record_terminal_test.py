#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""scripts/record-terminal draws what a program showed: text, colours, moments, and nothing else."""

import importlib.util
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SVG = "{http://www.w3.org/2000/svg}"
PROGRAM = r"""
printf 'one & two\n\033[31mred\033[0m plain\n'; sleep 0.5
printf '\033[1A\033[Jlater, in %s columns\n' "$(stty size < /dev/tty | cut -d' ' -f2)"; exit 3
"""

if importlib.util.find_spec("pyte") is None:
    print("pyte is not installed for this Python: skipped")
    sys.exit(77)


class RecordTerminal(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.picture = self.folder / "a.svg"

    def record(self, *options, command=("sh", "-c", PROGRAM)):
        return subprocess.run([sys.executable, ROOT / "scripts/record-terminal", "--columns", "40", "--rows", "5",
                               "--prompt", "show it", *options, *command],
                              capture_output=True, text=True, timeout=60, check=False)

    def texts(self):
        root = xml.etree.ElementTree.parse(self.picture).getroot()
        return [(text.text, text.get("fill")) for text in root.iter(f"{SVG}text")]

    def test_the_last_screen(self):
        self.assertEqual(self.record("--still", self.picture).returncode, 3)
        self.assertEqual(self.texts(), [("$ show it", None), ("one & two", None), ("later, in 40 columns", None)])

    def test_the_screen_that_shows_a_text(self):
        self.assertEqual(self.record("--still", self.picture, "--when", "red").returncode, 3)
        self.assertIn(("red", "#ff7b72"), self.texts())
        self.assertIn(("plain", None), self.texts())
        done = self.record("--still", self.picture, "--when", "blue")
        self.assertEqual((done.returncode, done.stderr), (1, "record-terminal: 'blue' was never shown\n"))

    def test_all_screens(self):
        self.assertEqual(self.record("--animated", self.picture).returncode, 3)
        shown = [text for text, _ in self.texts()]
        self.assertLess(shown.index("red"), shown.index("later, in 40 columns"))
        self.assertIn("@keyframes film", self.picture.read_text(encoding="utf-8"))

    def test_a_program_that_does_not_end(self):
        done = self.record("--still", self.picture, "--timeout", "0.5", command=("sleep", "60"))
        self.assertEqual(done.returncode, 1)
        self.assertIn("sleep did not end within 0.5 s", done.stderr)


if __name__ == "__main__":
    unittest.main()
