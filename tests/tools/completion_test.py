#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Shells complete `mrc`: the words that the program offers are those of its help, and bash, zsh and fish take them."""

import fcntl
import os
import pathlib
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unittest

MRC = str(pathlib.Path(sys.argv.pop(1)).resolve())
FILES = pathlib.Path(__file__).resolve().parents[2] / "completions"
FOLDER = tempfile.TemporaryDirectory()
HOME = pathlib.Path(FOLDER.name)
LAB = f"cmp{os.getpid()}"
ANSWER_MAX_S = 20
HAS_LABS = os.geteuid() == 0

ENVIRONMENT = {"PATH": f"{pathlib.Path(MRC).parent}:{os.environ['PATH']}", "HOME": FOLDER.name,
               "TERM": "xterm", "LC_ALL": "C.UTF-8"}


def run(*arguments):
    return subprocess.run([MRC, *arguments], capture_output=True, text=True, timeout=60,
                          check=True).stdout


def offered(*words):
    """What may follow, without descriptions."""
    return [line.split("\t")[0] for line in run("__complete", *words).splitlines()]


class Words(unittest.TestCase):
    def test_are_those_of_the_help_at_every_verb(self):
        def look(*verbs):
            text = run(*verbs, "--help")
            part = re.search(r"^Options:\n((?: .*\n)+)", text, re.MULTILINE).group(1)
            names = re.findall(r"^  (-\S+)", part, re.MULTILINE)
            options = {name for each in names for name in each.split(",") if name.startswith("--")}
            self.assertEqual(set(offered(*verbs, "--")), options, verbs)
            part = re.search(r"^Subcommands:\n((?:  .*\n)+)", text, re.MULTILINE)
            names = re.findall(r"^  (\S+)", part.group(1), re.MULTILINE) if part else []
            if names:
                self.assertEqual(offered(*verbs, ""), names)
            return 1 + sum(look(*verbs, name) for name in names)
        self.assertGreater(look(), 25)

    def test_begin_like_what_was_typed(self):
        self.assertEqual(offered("lab", "fl"), ["flap"])
        self.assertEqual(offered("lab", "up", "--mo"), ["--mode"])
        self.assertEqual(offered("nonsense"), [])
        self.assertEqual(offered("lab", "up", "--nonsense"), [])

    def test_of_an_option_with_fixed_values(self):
        for words in (["--mode", ""], ["--mode", "="], ["--mode", "=", ""]):
            self.assertEqual(offered("lab", "up", *words), ["srv6", "usid", "udp", "xdp"])
        self.assertEqual(offered("lab", "up", "--mode=us"), ["--mode=usid"])
        self.assertEqual(offered("lab", "up", "--planes", ""), [])

    def test_leave_out_what_was_given_and_what_is_hidden(self):
        self.assertNotIn("--mode", offered("lab", "up", "--mode", "udp", "--"))
        self.assertIn("--rate", offered("lab", "up", "--mode", "udp", "--"))
        self.assertNotIn("soft-switch", offered("lab", ""))
        self.assertNotIn("--ib-dev", offered("perf", "write-bw", "--"))

    def test_are_left_to_the_shell_where_it_knows_better(self):
        self.assertEqual(offered("decode", ""), [":files"])
        self.assertEqual(offered("perf", "write-bw", "--json", ""), [":files"])
        self.assertEqual(offered("perf", "write-bw", ""), [":hosts"])
        self.assertEqual(offered("fabric", "draw", "--", ""), [":files"])

    def test_of_a_program_behind_mrc_run(self):
        self.assertEqual(offered("run", ""), [":programs"])
        self.assertEqual(offered("run", "--quiet", "--", ""), [":programs"])
        self.assertEqual(offered("run", "--", "ib_write_bw", ""), [":files"])
        self.assertEqual(offered("run", "--conf"), ["--config"])
        self.assertEqual(offered("run", "--config", ""), [":files"])
        self.assertEqual(offered("run", "mrc", "lab", "up", "--mo"), ["--mode"])


@unittest.skipUnless(HAS_LABS, "labs need root")
class NamesOfALab(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        run("lab", "up", LAB, "--planes", "2", "--t0", "2", "--t1", "1", "--hosts", "2")

    @classmethod
    def tearDownClass(cls):
        run("lab", "down", LAB)

    def test_labs(self):
        for verb in ("down", "status", "cut", "exec"):
            self.assertIn(LAB, offered("lab", verb, ""))
        self.assertEqual(offered("lab", "heal", "--lab", LAB), [LAB])

    def test_links(self):
        links = ["p0.t0-0/up0", "p0.t0-1/up0", "p1.t0-0/up0", "p1.t0-1/up0", "h0/p0", "h1/p0",
                 "h0/p1", "h1/p1"]
        for words in ([LAB, ""], ["--lab", LAB, ""]):
            self.assertEqual(set(offered("lab", "flap", *words)), set(links))
        self.assertEqual(offered("lab", "capture", "--lab", LAB, "h1/"), ["h1/p0", "h1/p1"])
        self.assertEqual(offered("lab", "capture", LAB, "h1/p0", ""), [":files"])

    def test_targets(self):
        targets = offered("lab", "cut", "--lab", LAB, "p0", "")
        self.assertEqual(len(targets), len(set(targets)))
        for target in ("p1", "h1", "p0.t1-0", "h0/p1", "p1.t0-1/up0"):
            self.assertIn(target, targets)

    def test_hosts_and_the_program_on_one(self):
        self.assertEqual(offered("lab", "exec", LAB, ""), ["h0", "h1"])
        on_host = ["lab", "exec", "--lab", LAB, "h0"]
        self.assertEqual(offered(*on_host, ""), [":programs"])
        self.assertEqual(offered(*on_host, "mrc", "perf", "write-l"), ["write-lat"])
        self.assertEqual(offered(*on_host, "--", "mrc", "perf", "write-l"), ["write-lat"])
        self.assertEqual(offered(*on_host, "mrc", "perf", "write-bw", ""), ["h0", "h1"])
        self.assertEqual(offered(*on_host, "ls", "-"), [":files"])

    def test_in_every_shell(self):
        for shell in SHELLS:
            if shutil.which(shell) is None:
                continue
            with self.subTest(shell=shell), Shell(shell) as terminal:
                self.assertEqual(terminal.complete(f"mrc lab cut --lab {LAB} p1.t1"),
                                 f"mrc lab cut --lab {LAB} p1.t1-0")
                self.assertEqual(terminal.complete(f"mrc lab status {LAB}"[:-2]),
                                 f"mrc lab status {LAB}")


BEGIN_OF_LINE = "\x01"
CONTROL = re.compile(r"\x1b\[[0-9;?>=]*[A-Za-z]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\\\)|\x1b[=>(][A-Z0-9]?")
SHELLS = {
    "bash": (["bash", "--norc", "--noprofile", "-i"], "source {files}/mrc.bash"),
    "zsh": (["zsh", "-f", "-i"],
            "fpath=({files} $fpath); autoload -Uz compinit; compinit -u -D; bindkey -e; unsetopt zle_bracketed_paste"),
    "fish": (["fish", "--no-config", "-i"], "source {files}/mrc.fish"),
}


class Shell:
    """A shell at a terminal."""

    def __init__(self, name):
        command, setup = SHELLS[name]
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.chdir(FOLDER.name)
            os.execvpe(command[0], command, ENVIRONMENT)
        self.output = ""
        self.count = 0
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 500, 0, 0))
        self.type(setup.format(files=FILES) + "; echo is-\"\"ready\r")
        self.read_until("is-ready")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.terminal)

    def type(self, text):
        os.write(self.terminal, text.encode())

    def read_until(self, pattern):
        deadline = time.monotonic() + ANSWER_MAX_S
        while not (found := re.search(pattern, CONTROL.sub("", self.output))):
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.terminal], [], [], left)[0]:
                raise AssertionError(f"no '{pattern}' in {self.output!r}")
            self.output += os.read(self.terminal, 1 << 16).decode(errors="replace")
        return found

    def complete(self, typed):
        """The line after a tab: it is printed by putting `echo` in front of it."""
        self.count += 1
        self.type(f'{typed}\t{BEGIN_OF_LINE}echo line-""{self.count} \r')
        return self.read_until(rf"line-{self.count} +([^\r\n]*?) *\r?\n").group(1)


class InAShell(unittest.TestCase):
    def check(self, name):
        if shutil.which(name) is None:
            self.skipTest(f"no {name}")
        (HOME / "a-fabric.toml").write_text("", encoding="utf-8")
        with Shell(name) as shell:
            self.assertEqual(shell.complete("mrc lab fl"), "mrc lab flap")
            self.assertEqual(shell.complete("mrc lab up --mode us"), "mrc lab up --mode usid")
            self.assertEqual(shell.complete("mrc lab up --mode=us"), "mrc lab up --mode=usid")
            self.assertEqual(shell.complete("mrc perf write-bw --prog"),
                             "mrc perf write-bw --progress")
            self.assertEqual(shell.complete("mrc fabric plan a-f"), "mrc fabric plan a-fabric.toml")
            self.assertEqual(shell.complete("mrc perf write-bw --config=a-f"),
                             "mrc perf write-bw --config=a-fabric.toml")
            self.assertEqual(shell.complete(f"{MRC} lab cha"), f"{MRC} lab chaos")

    def test_bash(self):
        self.check("bash")

    def test_zsh(self):
        self.check("zsh")

    def test_fish(self):
        self.check("fish")


if __name__ == "__main__":
    unittest.main()
