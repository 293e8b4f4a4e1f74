# SPDX-License-Identifier: BSD-3-Clause
"""Runs a program in a pseudo-terminal and keeps the screens that it showed."""

import fcntl
import os
import pty
import select
import signal
import struct
import termios
import time
from dataclasses import dataclass, field
from itertools import groupby

import pyte

FRAME_SECONDS = 0.2  # what changes more often is drawn once
READ_MAX = 65536


@dataclass(frozen=True)
class Run:
    """Characters of a row that look alike."""
    column: int
    text: str
    colour: str = "default"
    bold: bool = False


@dataclass
class Frame:
    seconds: float  # when it was first shown
    rows: list  # of lists of Run

    def text(self):
        return "\n".join("".join(run.text for run in row) for row in self.rows)


@dataclass
class Film:
    exit_code: int = 0
    frames: list = field(default_factory=list)

    def add(self, seconds, screen):
        rows = rows_of(screen)
        if self.frames and seconds - self.frames[-1].seconds < FRAME_SECONDS:
            self.frames[-1].rows = rows
        elif not self.frames or self.frames[-1].rows != rows:
            self.frames.append(Frame(seconds, rows))


def rows_of(screen):
    """What a screen shows, without the blanks at the ends of rows."""
    rows = []
    for number in range(screen.lines):
        cells = [(column, screen.buffer[number][column]) for column in range(screen.columns)]
        runs = []
        for look, group in groupby(cells, key=lambda cell: (cell[1].fg, cell[1].bold)):
            group = list(group)
            runs.append(Run(group[0][0], "".join(char.data for _, char in group), *look))
        while runs and not runs[-1].text.rstrip():
            runs.pop()
        rows.append(runs)
    return rows


def start(command, columns, rows):
    """The process, and the other end of its terminal."""
    process, leader = pty.fork()
    if process == 0:
        os.environ["TERM"] = "xterm-256color"
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        try:
            os.execvp(command[0], command)
        except OSError as error:
            os.write(2, f"{command[0]}: {error.strerror}\n".encode())
            os._exit(127)
    return process, leader


def read(leader, seconds):
    """What the program wrote; None at its end."""
    if not select.select([leader], [], [], seconds)[0]:
        return b""
    try:
        return os.read(leader, READ_MAX) or None
    except OSError:  # the program has closed its end
        return None


def record(command, columns, rows, first, timeout):
    screen = pyte.Screen(columns, rows)
    stream = pyte.ByteStream(screen)
    stream.feed(first.encode())
    film = Film()
    film.add(0, screen)
    process, leader = start(command, columns, rows)
    began = time.monotonic()
    try:
        while (data := read(leader, FRAME_SECONDS)) is not None:
            if time.monotonic() - began > timeout:
                raise SystemExit(f"record-terminal: {command[0]} did not end within {timeout:g} s")
            stream.feed(data)
            film.add(time.monotonic() - began, screen)
    except BaseException:
        os.kill(process, signal.SIGTERM)
        raise
    finally:
        os.close(leader)
        film.exit_code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    return film
