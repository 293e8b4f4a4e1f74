#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What `mrc` prints is coloured on a terminal, unless NO_COLOR is set, and nowhere else."""

import os
import pathlib
import pty
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
MRC = sys.argv.pop(1)
CODE = re.compile(r"\x1b\[\d+m")
COMMANDS = {
    "doctor": ["doctor", "--config", "/nowhere"],  # fails, and looks at the rest
    "sim": ["sim", "run", "-q", str(ROOT / "examples/scenarios/ping-pong-same-t0.toml")],
}


def environment(**more):
    plain = {key: value for key, value in os.environ.items() if key != "NO_COLOR"}
    return plain | {"TERM": "xterm"} | more


def on_a_terminal(arguments, **more):
    """What a program prints to a terminal."""
    reader, writer = pty.openpty()
    process = subprocess.Popen([MRC, *arguments], stdout=writer, stderr=subprocess.DEVNULL,
                               env=environment(**more))
    os.close(writer)
    printed = b""
    try:
        while piece := os.read(reader, 1 << 16):
            printed += piece
    except OSError:
        pass  # the program has ended
    process.wait(60)
    os.close(reader)
    return printed.decode().replace("\r\n", "\n")


class Colour(unittest.TestCase):
    def test_is_on_terminals_only(self):
        for name, arguments in COMMANDS.items():
            with self.subTest(name):
                seen = on_a_terminal(arguments)
                self.assertRegex(seen, CODE)
                with tempfile.TemporaryFile("w+") as file:
                    subprocess.run([MRC, *arguments], stdout=file, stderr=subprocess.DEVNULL,
                                   env=environment(), timeout=60)
                    file.seek(0)
                    self.assertNotRegex(file.read(), CODE)

    def test_is_not_there_with_no_color_or_on_a_dumb_terminal(self):
        for name, arguments in COMMANDS.items():
            for more in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
                with self.subTest(name, **more):
                    self.assertNotRegex(on_a_terminal(arguments, **more), CODE)

    def test_changes_nothing_but_colours(self):
        arguments = COMMANDS["sim"]
        self.assertEqual(CODE.sub("", on_a_terminal(arguments)),
                         on_a_terminal(arguments, NO_COLOR="1"))

    def test_tells_grades_apart(self):
        seen = on_a_terminal(COMMANDS["doctor"])
        self.assertIn("\x1b[31mfail\x1b[0m  configuration", seen)
        self.assertIn("\x1b[32mok  \x1b[0m  UDP_SEGMENT", seen)

    @unittest.skipUnless(os.geteuid() == 0, "needs root for network namespaces")
    def test_shows_what_is_broken_in_a_lab(self):
        lab = f"colour{os.getpid()}"

        def run(*arguments):
            subprocess.run([MRC, "lab", *arguments], check=True, capture_output=True, timeout=60)

        self.addCleanup(run, "down", lab)
        run("up", lab, "--planes", "2", "--t0", "1", "--t1", "1", "--hosts", "2")
        run("cut", "--lab", lab, "h0/p1")
        seen = on_a_terminal(["lab", "status", lab])
        self.assertIn("\x1b[33m1/2      \x1b[0m", seen)
        self.assertIn("\x1b[32m2/2      \x1b[0m", seen)
        self.assertIn("\x1b[31mcut         \x1b[0m", seen)
        self.assertEqual(CODE.sub("", seen), on_a_terminal(["lab", "status", lab], NO_COLOR="1"))


if __name__ == "__main__":
    unittest.main()
