# SPDX-License-Identifier: BSD-3-Clause
"""Whether the machine held still during a measurement, seen without the programs under test.

A virtual machine can be stopped by its host for many milliseconds, and both cores can be needed by
something else. What is measured then is the machine. A measurement that misses its goal is
therefore repeated, and counts only if the machine was quiet in one of the attempts.
"""
import functools
import os
import threading
import time
from dataclasses import dataclass

PERIOD_S = 0.002
QUIET_STALL_MS = 20
QUIET_STOLEN = 0.02  # of all cores
ATTEMPTS = 3


@dataclass
class Report:
    stall_ms: float  # the longest time by which a sleeping thread woke too late
    stolen: float  # the part of all cores' time that the host of a virtual machine kept

    def quiet(self):
        return self.stall_ms < QUIET_STALL_MS and self.stolen < QUIET_STOLEN

    def text(self):
        return f"the machine stalled for {self.stall_ms:.0f} ms, {self.stolen:.1%} of it stolen"


def stolen_s():
    with open("/proc/stat", encoding="ascii") as file:
        fields = file.readline().split()
    return int(fields[8]) / os.sysconf("SC_CLK_TCK")


class Watch:
    """with Watch() as watch: ...; watch.report() afterwards."""

    def __enter__(self):
        self.stall_s, self.ended = 0.0, threading.Event()
        self.began, self.stolen_before = time.monotonic(), stolen_s()
        self.thread = threading.Thread(target=self.sample, daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()
        self.seconds = time.monotonic() - self.began
        self.stolen = (stolen_s() - self.stolen_before) / (self.seconds * os.cpu_count())

    def sample(self):
        while not self.ended.is_set():
            before = time.monotonic()
            time.sleep(PERIOD_S)
            self.stall_s = max(self.stall_s, time.monotonic() - before - PERIOD_S)

    def report(self):
        return Report(self.stall_s * 1000, self.stolen)


def quiet_run(measure, attempts=ATTEMPTS):
    """Measures until the machine was quiet meanwhile, whatever came out: (the last result, whether it
    was, how often it was not before)."""
    for number in range(attempts):
        with Watch() as watch:
            result = measure()
        if watch.report().quiet():
            return result, True, number
        print(f"not counted: {watch.report().text()}", flush=True)
    return result, False, attempts


def attempt(measure, goals_missed, attempts=ATTEMPTS):
    """Measures until no goal is missed: (the last result, why the measurement failed, or []).

    goals_missed(result) lists what is wrong. A miss counts if the machine was quiet in at least one
    of the attempts, all of which missed.
    """
    was_quiet = False
    for number in range(1, attempts + 1):
        with Watch() as watch:
            result = measure()
        missed = goals_missed(result)
        if not missed:
            return result, []
        was_quiet = was_quiet or watch.report().quiet()
        print(f"attempt {number} of {attempts} ({watch.report().text()}): " + "; ".join(missed),
              flush=True)
    if was_quiet:
        return result, missed
    print(f"NOT JUDGED: the machine held still in none of {attempts} attempts", flush=True)
    return result, []


class GoalMissed(AssertionError):
    """A figure that a busy machine may be the cause of."""


def expect(reached, text):
    if not reached:
        raise GoalMissed(text)


def repeated(test):
    """For a test that calls expect(): it is attempt()ed. Any other failure counts at once."""
    @functools.wraps(test)
    def run(*arguments):
        def measure():
            try:
                test(*arguments)
            except GoalMissed as missed:
                return [str(missed)]
            return []
        _, missed = attempt(measure, lambda missed: missed)
        if missed:
            raise GoalMissed(missed[0])
    return run
