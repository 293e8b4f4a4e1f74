#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""examples/training in short: the loss is that of a run without a fault, while a plane is cut and a link flaps."""
import argparse
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

EXAMPLE = Path(__file__).resolve().parents[2] / "examples/training"
STEPS = 40


class Training(unittest.TestCase):
    def test_the_loss_is_that_of_a_run_without_a_fault(self):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(
                [sys.executable, EXAMPLE / "run.py", "--mrc", OPTIONS.mrc, "--python-path",
                 OPTIONS.python_path, "--output", folder, "--steps", str(STEPS), "--seconds", "3",
                 "--runs", "1",
                 "--transports", "openmrc", "--faults", "none", "plane", "flap"],
                capture_output=True, text=True, timeout=500, check=False)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            runs = json.loads((Path(folder) / "summary.json").read_text(encoding="utf-8"))
        self.assertEqual([run["fault"] for run in runs], ["none", "plane", "flap"])
        self.assertEqual([run["steps"] for run in runs], [STEPS] * 3)
        self.assertEqual(len({run["loss"] for run in runs}), 1, runs)
        for run in runs[1:]:
            self.assertGreater(run["steps_during"], 1, run)

    def test_the_script_is_short(self):
        self.assertLess(len((EXAMPLE / "train.py").read_text(encoding="utf-8").splitlines()), 80)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mrc", required=True)
    parser.add_argument("--python-path", required=True, help="where the package openmrc is")
    OPTIONS, rest = parser.parse_known_args()
    if os.geteuid() != 0:
        print("needs root, for network namespaces")
        sys.exit(77)
    if importlib.util.find_spec("torch") is None:
        print("needs PyTorch (python3-torch)")
        sys.exit(77)
    unittest.main(argv=[sys.argv[0]] + rest, verbosity=2)
