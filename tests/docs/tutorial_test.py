#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Follows tutorials word for word: every command succeeds and prints what the page shows.

    tutorial_test.py --mrc MRC [--libraries FOLDER] [--write] PAGE...

Commands are the lines with `$ ` in blocks of ```console, output is what follows them; `...` is any number of lines.
Below <!-- measured --> numbers may differ; --write writes those of this run into the page. A page runs in one shell, in
an empty folder with links to the examples and the dissector; MRC is in its PATH, and FOLDER has libmrc. Pages that use
sudo need root.
"""

import argparse
import contextlib
import os
import re
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SECONDS_MAX = 60
BLOCK = re.compile(r"^(?P<measured><!-- measured -->\n)?```console\n(?P<commands>.*?)^```$", re.MULTILINE | re.DOTALL)
# A line, lines that end with a backslash, or a here-document.
STEP = re.compile(r"^\$ (?P<command>[^\n]*<<'END'\n.*?^END|(?:[^\n]*\\\n)*[^\n]*)\n(?P<output>(?:(?!\$ )[^\n]*\n)*)",
                  re.MULTILINE | re.DOTALL)
NUMBER = re.compile(r"0x[0-9a-f]+|(?<![\w-])[+-]?\d[\d,.]*")
ANY_NUMBER = r"(?:0x[0-9a-f]+|[+-]?[\d,.]+)"
NOT_TO_BE_FOLLOWED = 77  # CTest's word for a test that cannot be run here


@dataclass
class Step:
    """A command of a page, and what it prints."""
    command: str
    expected: str
    measured: bool
    begin: int  # where the output begins in the page


def steps_of(text):
    for block in BLOCK.finditer(text):
        for found in STEP.finditer(text, block.start("commands"), block.end("commands")):
            yield Step(found["command"], found["output"], bool(block["measured"]), found.start("output"))


def as_pattern(line, measured):
    words = line.split()
    words = [ANY_NUMBER.join(map(re.escape, NUMBER.split(word))) if measured else re.escape(word) for word in words]
    return r"([ ]*" + r"\s+".join(words) + r"[ ]*\n)"


def as_shown(step, shown):
    """The expected output with the numbers that were shown; None if it was another."""
    lines = step.expected.splitlines(keepends=True)
    pattern = "".join(r"()(?:.*\n)*?" if line.strip() == "..." else as_pattern(line, step.measured) for line in lines)
    match = re.fullmatch(pattern, shown)
    return match and "".join(new or old for old, new in zip(lines, match.groups()))


class Shell:
    """One bash for all commands of a page, so that it has jobs and variables as a terminal has."""

    def __init__(self, folder, environment):
        self.process = subprocess.Popen(["bash", "--norc"], cwd=folder, env=environment, text=True,
                                        start_new_session=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT)
        self.run('sudo() { "$@"; }')

    def run(self, command):
        """The exit code and the output of a command."""
        end = "__end_of_command"
        self.process.stdin.write(f"{command}\necho {end} $?\n")
        self.process.stdin.flush()
        output = ""
        for line in self.process.stdout:
            before, found, code = line.partition(end)
            output += before
            if found:
                return int(code), output
        return 1, output

    def stop(self, *_):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGTERM)


def follow(text, folder, environment):
    """What is wrong with the text of a page, and the text with the numbers of this run."""
    shell = Shell(folder, environment)
    signal.signal(signal.SIGALRM, shell.stop)
    signal.alarm(SECONDS_MAX)
    updated, end = "", 0
    try:
        for step in steps_of(text):
            code, shown = shell.run(step.command)
            new = as_shown(step, shown) if step.expected else ""
            if code != 0:
                return f"{step.command}\nended with {code}:\n{shown}", text
            if new is None:
                return f"{step.command}\nprinted\n{shown}and not\n{step.expected}", text
            updated += text[end:step.begin] + new
            end = step.begin + len(step.expected)
    finally:
        signal.alarm(0)
        shell.stop()
        subprocess.run([environment["OPENMRC_MRC"], "lab", "down", "lab"], capture_output=True, timeout=SECONDS_MAX,
                       check=False)
    return None, updated + text[end:]


def prepare(folder, options):
    """The environment, as it is after an installation."""
    programs = folder / "bin"
    programs.mkdir()
    (programs / "mrc").symlink_to(options.mrc)
    here = folder / "here"
    here.mkdir()
    for name in ("examples", "tools"):
        (here / name).symlink_to(ROOT / name)
    environment = dict(os.environ, PATH=f"{programs}:{os.environ['PATH']}", OPENMRC_MRC=str(options.mrc))
    if options.libraries:
        environment.update(LIB=str(options.libraries), LIBRARY_PATH=str(options.libraries), CPATH=str(ROOT / "include"))
    return here, environment


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mrc", type=lambda name: Path(name).resolve(), required=True)
    parser.add_argument("--libraries", type=lambda name: Path(name).resolve())
    parser.add_argument("--write", action="store_true")
    parser.add_argument("pages", type=Path, nargs="+")
    options = parser.parse_args()
    for page in options.pages:
        text = page.read_text(encoding="utf-8")
        steps = list(steps_of(text))
        uses_lab = any("mrc lab " in step.command for step in steps)
        if uses_lab and Path("/run/openmrc/labs/lab").exists():
            print(f"{page.name}: there is a lab 'lab' already; remove it by mrc lab down")
            return 1
        if any("sudo " in step.command for step in steps) and os.geteuid() != 0:
            print(f"{page.name}: needs root")
            return NOT_TO_BE_FOLLOWED
        with tempfile.TemporaryDirectory() as folder:
            wrong, updated = follow(text, *prepare(Path(folder), options))
        if wrong or not steps:
            print(f"{page.name}: {wrong or 'has no commands'}")
            return 1
        if options.write:
            page.write_text(updated, encoding="utf-8")
        print(f"{page.name}: {len(steps)} commands, as shown")
    return 0


if __name__ == "__main__":
    sys.exit(main())
