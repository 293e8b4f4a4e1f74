#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Shows that words_test.py finds a planted word, and leaves out what it should."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

CHECK = Path(__file__).resolve().with_name("words_test.py")

PLANTED = {
    "a.cc": ("// One.\n// It was held\n// for lost.\n", "a.cc:2: 'held // for lost': write declared"),
    "b.md": ("Planes; 4 if not said.\n", "b.md:1: 'if not said': write default"),
    "tool.1": ("Lost packets are sent again.\n", "tool.1:1: 'sent again': write retransmitted"),
    "sub/c.h": ("struct PeerCard;\n", "sub/c.h:1: 'PeerCard': write ConnectionInfo"),
}
FINE = {
    "CHANGELOG.md": "The last packet is sent again.\n",
    "d.cc": "const Sent again = collect();  // present, represented\n",
    "image.png": "in vain",
}


class WordsSelfTest(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))

    def run_on(self, files):
        for name, text in files.items():
            path = self.folder / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return subprocess.run([sys.executable, CHECK, self.folder], capture_output=True, text=True,
                              check=False)

    def test_names_place_and_better_word(self):
        done = self.run_on(FINE | {name: text for name, (text, _) in PLANTED.items()})
        self.assertEqual(done.returncode, 1)
        lines = done.stdout.splitlines()
        self.assertEqual(len(lines), len(PLANTED), done.stdout)
        for _, expected in PLANTED.values():
            self.assertTrue(any(line.startswith(expected) for line in lines), done.stdout)

    def test_is_silent_where_all_is_well(self):
        done = self.run_on(FINE)
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)


if __name__ == "__main__":
    unittest.main()
