#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every command and every option that `mrc --help` shows has its place in a man page."""

import pathlib
import re
import subprocess
import sys
import unittest

PAGES = pathlib.Path(__file__).resolve().parents[2] / "docs/man"
MRC = sys.argv.pop(1)


def help_of(*command):
    return subprocess.run([MRC, *command, "--help"], capture_output=True, text=True, timeout=30,
                          check=True).stdout


def subcommands(text):
    part = re.search(r"^Subcommands:\n((?:  .*\n)+)", text, re.MULTILINE)
    return re.findall(r"^  (\S+)", part.group(1), re.MULTILINE) if part else []


def options(text):
    part = re.search(r"^Options:\n((?: .*\n)+)", text, re.MULTILINE)
    return set(re.findall(r"^  (?:-\w,)?(--[\w-]+)", part.group(1), re.MULTILINE))


def page(name):
    return (PAGES / f"{name}.1").read_text().replace("\\-", "-")


class ManPages(unittest.TestCase):
    def test_each_command_has_a_page_with_all_its_options(self):
        commands = subcommands(help_of())
        self.assertGreaterEqual(len(commands), 3)
        for command in commands:
            self.assertIn(f"mrc-{command} (1)", page("mrc"))
            text = page(f"mrc-{command}")
            verbs = subcommands(help_of(command))
            for verb in [[]] + [[verb] for verb in verbs]:
                if verb:
                    self.assertIn(f"\n.B {verb[0]}\n", text)
                shown = options(help_of(command, *verb))
                self.assertIn("--help", shown)
                for option in shown:
                    with self.subTest(command=command, verb=verb, option=option):
                        self.assertRegex(text, re.escape(option) + r"(?![\w-])")


if __name__ == "__main__":
    unittest.main()
