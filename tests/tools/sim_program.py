# SPDX-License-Identifier: BSD-3-Clause
"""What tests of `mrc sim` share: the program, which is their first argument, and a small scenario in a folder of its own."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

MRC = str(pathlib.Path(sys.argv.pop(1)).absolute())

# Small enough to run in a moment. Which link is cut, for good, depends on the seed; here it is one of plane 1.
SMALL = """title = "Small"
text = "What to see."
seed = 5
[fabric]
planes = 2
racks = 2
hosts_per_rack = 2
uplinks = 2
[workload]
kind = "permutation"
bytes = "64 KiB"
[[fault]]
kind = "cut"
random = 1
of = "uplinks"
at = "1 us"
"""
ENDLESS = SMALL.replace('"64 KiB"', '"64 MiB"\nmessages = 10000')


def mrc(*arguments, cwd=None):
    return subprocess.run([MRC, "sim", *map(str, arguments)], capture_output=True, text=True,
                          timeout=100, check=False, cwd=cwd)


class SimTest(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.small = self.write("small.toml", SMALL)

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path

    def start(self, *arguments, **streams):
        """One that runs until it is told to stop, and not longer than the test."""
        process = subprocess.Popen([MRC, "sim", *map(str, arguments)], text=True,
                                   stdout=subprocess.PIPE, **streams)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process
