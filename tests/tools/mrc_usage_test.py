#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What `mrc` answers to command lines that it does not understand."""

import re
import subprocess
import sys
import unittest

MRC = sys.argv.pop(1)


class Usage(unittest.TestCase):
    def assert_answer(self, line, answer, command):
        done = subprocess.run([MRC, *line.split()], capture_output=True, text=True, timeout=30,
                              check=False)
        self.assertEqual(done.stderr, f"mrc: {answer}\nTry '{command} --help'.\n")
        self.assertEqual((done.returncode, done.stdout), (2, ""))

    def test_unknown_command(self):
        self.assert_answer("perf read-bw", "unknown command 'read-bw': use write-bw, write-lat",
                           "mrc perf")
        self.assert_answer("perf write-bx h1", "unknown command 'write-bx': did you mean 'write-bw'?",
                           "mrc perf")
        self.assert_answer("simm", "unknown command 'simm': did you mean 'sim'?", "mrc")

    def test_no_command(self):
        self.assert_answer("perf", "a command is required: write-bw, write-lat", "mrc perf")

    def test_unknown_option_and_its_value(self):
        self.assert_answer("perf write-bw h1 --durration 4",
                           "unknown option '--durration': did you mean '--duration'?",
                           "mrc perf write-bw")
        self.assert_answer("perf write-bw h1 --durration=4 --x",
                           "unknown option '--durration': did you mean '--duration'?",
                           "mrc perf write-bw")
        self.assert_answer("perf write-lat h1 --zzz", "unknown option '--zzz'", "mrc perf write-lat")

    def test_one_argument_too_many(self):
        self.assert_answer("perf write-bw h1 h2", "unexpected argument 'h2'", "mrc perf write-bw")


class Help(unittest.TestCase):
    def test_examples_are_of_the_command(self):
        for verb in ("write-bw", "write-lat"):
            text = subprocess.run([MRC, "perf", verb, "--help"], capture_output=True, text=True,
                                  timeout=30, check=True).stdout
            self.assertIn(f"  h1$ mrc perf {verb}\n", text)
            self.assertEqual(re.findall(r"\$ mrc perf (\S+)", text), [verb, verb])


if __name__ == "__main__":
    unittest.main()
