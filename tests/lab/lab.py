# SPDX-License-Identifier: BSD-3-Clause
"""A lab for a test, and what can be read from how bytes arrived in it."""
import os
import signal
import subprocess
import sys
import unittest

WINDOW_MS = 10
LASTING_MS = 100
RECOVERED = 0.95


class Lab:
    """A lab that is gone when the test is, whatever happens."""

    def __init__(self, mrc, mode, rate, *options, name="rec"):
        self.mrc = mrc
        self.name = f"{name}{os.getpid()}"
        # Like SIGINT: unittest goes on after any other exception, and after this the lab is removed.
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        self.run("up", self.name, "--rate", rate, "--mode", mode, *options, lab=False)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        subprocess.run([self.mrc, "lab", "down", self.name], timeout=60, check=False,
                       stdout=subprocess.DEVNULL)

    def command(self, verb, *arguments, lab=True):
        return [self.mrc, "lab", verb] + (["--lab", self.name] if lab else []) + list(arguments)

    def run(self, verb, *arguments, lab=True):
        done = subprocess.run(self.command(verb, *arguments, lab=lab), timeout=60, text=True,
                              capture_output=True, check=False)
        if done.returncode != 0:
            sys.exit(f"mrc lab {verb}: {done.stderr}")
        return done.stdout

    def start(self, host, *command):
        return self.start_program(host, "mrc", *command)

    def start_program(self, host, *command):
        return subprocess.Popen(self.command("exec", host, "--", *command), text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


class LabProcesses:
    """For unit tests: processes that are gone when their test is."""

    RUN_MAX_S = 60

    def kept(self, process):
        self.addCleanup(self.end, process)
        return process

    @staticmethod
    def end(process):
        if process.poll() is None:
            process.kill()
            process.communicate()
        process.stdout.close()

    def finish(self, process, code=0):
        text = process.communicate(timeout=self.RUN_MAX_S)[0]
        self.assertEqual(process.returncode, code, text)
        return text


def run_tests(use, mrc, mode, rate, arguments):
    """Runs the unit tests of the program in a lab, which it is given by `use`, and exits."""
    if os.geteuid() != 0:
        print("needs root, for network namespaces")
        sys.exit(77)
    with Lab(mrc, mode, rate) as lab:
        use(lab)
        program = unittest.main(argv=[sys.argv[0]] + arguments, exit=False, verbosity=2)
    sys.exit(0 if program.result.wasSuccessful() else 1)


def read_timeline(path):
    """[(time in ns, bytes so far)], a sample each millisecond."""
    with open(path, encoding="utf-8") as file:
        return [tuple(map(int, line.split(","))) for line in file.readlines()[1:]]


def bytes_at(rows, when_ns):
    """How many bytes had arrived by then, between samples by proportion."""
    low, high = 0, len(rows) - 1
    if when_ns <= rows[0][0]:
        return rows[0][1]
    if when_ns >= rows[-1][0]:
        return rows[-1][1]
    while high - low > 1:
        middle = (low + high) // 2
        if rows[middle][0] <= when_ns:
            low = middle
        else:
            high = middle
    (t0, b0), (t1, b1) = rows[low], rows[high]
    return b0 + (b1 - b0) * (when_ns - t0) / (t1 - t0)


def rate(rows, begin_ns, end_ns):
    return (bytes_at(rows, end_ns) - bytes_at(rows, begin_ns)) * 8 / (end_ns - begin_ns)


def recovery_ms(rows, fault_ns, goal):
    """Milliseconds until the goal (Gb/s) is reached for good: over a short window, so that it is
    the moment, and over a long one, so that it lasts. None: never within two seconds."""
    for ms in range(2000):
        begin = fault_ns + ms * 1_000_000
        if (rate(rows, begin, begin + WINDOW_MS * 1_000_000) >= goal and
                rate(rows, begin, begin + LASTING_MS * 1_000_000) >= goal):
            return ms
    return None


def longest_stall(rows, fault_ns):
    """The longest time in ms, within three seconds of the fault, in which nothing arrived."""
    longest, last, previous = 0, fault_ns - 1_000_000, None
    for when, count in rows:
        if fault_ns - 1_000_000 <= when <= fault_ns + 3_000_000_000:
            longest = max(longest, when - last)
            if previous is None or count > previous:
                last, previous = when, count
    return round(longest / 1e6, 1)
