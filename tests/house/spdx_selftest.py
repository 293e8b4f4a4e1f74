#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Shows that scripts/check-spdx finds what lacks the licence line, and nothing else."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

CHECK = Path(__file__).resolve().parents[2] / "scripts" / "check-spdx"
LINE = "SPDX-License-Identifier: BSD-3-Clause"

WITHOUT = {
    "a.cc": "int a;\n",
    "late.h": f"\n\n\n// {LINE}\n",
    "other.py": "# SPDX-License-Identifier: MIT\n",
    "script": "#!/bin/bash\n",
    "sub/CMakeLists.txt": "project(p)\n",
}
FINE = {
    "b.cc": f"// {LINE}\nint b;\n",
    "tool": f"#!/bin/bash\n# {LINE}\n",
    "README.md": "text\n",
    "build/c.cc": "int c;\n",
    "corpus/seed": "#!",
    "data/vectors.jsonl": "{}\n",
}


class SpdxSelfTest(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))

    def run_on(self, files):
        for name, text in files.items():
            path = self.folder / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return subprocess.run(
            [sys.executable, CHECK, self.folder], capture_output=True, text=True, check=False
        )

    def test_reports_each_file_without_the_line(self):
        result = self.run_on(FINE | WITHOUT)
        reported = {
            str(Path(line.split(":")[0]).relative_to(self.folder))
            for line in result.stdout.splitlines()
        }
        self.assertEqual(reported, set(WITHOUT))
        self.assertEqual(result.returncode, 1)

    def test_passes_when_all_have_it(self):
        result = self.run_on(FINE)
        self.assertEqual((result.returncode, result.stdout), (0, ""), result.stderr)


if __name__ == "__main__":
    unittest.main()
