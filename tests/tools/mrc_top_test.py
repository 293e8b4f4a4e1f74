#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""mrc top: of this host's mrcd and of one that is reached over HTTP, for people and for programs;
and that the terminal is as it was when it ends."""

import json
import os
import pathlib
import pty
import select
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "agent"))
from mrcd import Agent, free_port  # noqa: E402

MRC, MRCD, PUBLISHER = (pathlib.Path(each).resolve() for each in sys.argv[1:4])
sys.argv[1:4] = []

SOON_S = 20
SECOND_SCREEN, FIRST_SCREEN = b"\x1b[?1049h", b"\x1b[?1049l"
HIDE_CURSOR, SHOW_CURSOR = b"\x1b[?25l", b"\x1b[?25h"


class TopTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.address = f"127.0.0.1:{free_port()}"
        self.agent = Agent(MRCD, folder.name, options=("--listen", self.address))
        self.agent.start()
        self.addCleanup(self.agent.kill)
        publishers = subprocess.Popen([PUBLISHER, str(self.agent.socket), "3"],
                                      stdout=subprocess.PIPE, text=True)
        self.addCleanup(lambda: (publishers.kill(), publishers.communicate()))
        self.processes = publishers.stdout.readline().split()
        end = time.monotonic() + SOON_S
        while self.view()["processes"] != 3 and time.monotonic() < end:
            pass

    def run_top(self, *arguments, check=True):
        return subprocess.run([MRC, "top", *arguments], capture_output=True, text=True, check=check,
                              timeout=SOON_S)

    def local(self, *arguments):
        return self.run_top("--socket", str(self.agent.socket), "--interval", "100ms", *arguments)

    def view(self):
        return json.loads(self.local("--once", "--json").stdout)

    def test_is_the_same_by_the_socket_and_over_http(self):
        local = self.view()
        remote = json.loads(self.run_top(self.address, "--once", "--json", "--interval",
                                         "100ms").stdout)
        for view in (local, remote):
            self.assertEqual(view["host"], "here")
            self.assertEqual(view["peers"], 6)
            self.assertEqual([plane["interface"] for plane in view["planes"]], ["lo"])
            self.assertEqual({each["pid"] for each in view["busiest"]}, set(self.processes))
        self.assertEqual(local["planes"], remote["planes"])

    def test_once_is_plain_text(self):
        text = self.local("--once").stdout
        self.assertIn("here: 1 planes, 3 processes, 6 peers", text)
        self.assertIn("test-publisher", text)
        self.assertNotIn("\x1b", text)

    def test_without_an_agent_says_so(self):
        self.agent.kill()
        for arguments in (("--socket", str(self.agent.socket)), (self.address,)):
            done = self.run_top("--once", *arguments, check=False)
            self.assertEqual(done.returncode, 1, done.stdout)
            self.assertIn("fix: ", done.stderr)
        self.assertIn("is no address", self.run_top("h3:x", check=False).stderr)
        self.assertIn("--interval", self.run_top("--interval", "1ns", check=False).stderr)

    def on_terminal(self):
        process, terminal = pty.fork()
        if process == 0:
            os.execv(MRC, ["mrc", "top", "--socket", str(self.agent.socket), "--interval", "100ms"])
        self.addCleanup(os.close, terminal)
        return process, terminal

    def read_until(self, terminal, wanted, count=1):
        seen, end = b"", time.monotonic() + SOON_S
        while seen.count(wanted) < count and time.monotonic() < end:
            if select.select([terminal], [], [], 0.1)[0]:
                try:
                    seen += os.read(terminal, 65536)
                except OSError:  # the other end is closed
                    break
        self.assertGreaterEqual(seen.count(wanted), count, seen[-400:])
        return seen

    def test_redraws_and_restores_the_terminal_at_ctrl_c(self):
        process, terminal = self.on_terminal()
        seen = self.read_until(terminal, b"3 processes", 3)
        self.assertEqual(seen.count(SECOND_SCREEN), 1)
        self.assertIn(HIDE_CURSOR, seen)
        os.write(terminal, b"\x03")
        seen = self.read_until(terminal, FIRST_SCREEN)
        self.assertIn(SHOW_CURSOR, seen)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), 0)

    def test_gives_the_terminal_back_while_it_is_stopped(self):
        process, terminal = self.on_terminal()
        self.read_until(terminal, b"3 processes", 1)
        # Nobody could continue it here, so the kernel does not stop it: it goes on at once.
        os.kill(process, signal.SIGTSTP)
        seen = self.read_until(terminal, SECOND_SCREEN)
        self.assertIn(FIRST_SCREEN, seen[:seen.find(SECOND_SCREEN)])
        os.kill(process, signal.SIGTERM)
        self.read_until(terminal, FIRST_SCREEN)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), 0)

    def test_ends_with_a_message_when_the_agent_does(self):
        process, terminal = self.on_terminal()
        self.read_until(terminal, b"3 processes", 1)
        self.agent.kill()
        seen = self.read_until(terminal, b"mrc top: ")
        self.assertLess(seen.find(FIRST_SCREEN), seen.find(b"mrc top: "))
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), 1)


if __name__ == "__main__":
    unittest.main()
