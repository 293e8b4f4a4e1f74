#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""SIGINT and SIGTERM end every verb that runs for long, within a second, whatever it is doing, and
nothing is left behind."""

import argparse
import contextlib
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

parser = argparse.ArgumentParser()
parser.add_argument("mrc")
parser.add_argument("mrcd")
parser.add_argument("--limit", type=float, default=1.0, help="seconds from the signal to the end")
OPTIONS, REST = parser.parse_known_args()

LAB = f"sig{os.getpid()}"
BUILT = LAB + "b"  # the lab that is built and removed
SMALL_LAB = ["--planes", "2", "--t0", "1", "--hosts", "2"]
LARGE_LAB = ["--planes", "4", "--t0", "4", "--t1", "4", "--hosts", "16"]
START_MAX_S = 30
FOLDER = tempfile.TemporaryDirectory()  # removed at exit

SCENARIO = """[fabric]
planes = 4
racks = {racks}
hosts_per_rack = {hosts}
uplinks = 8
[workload]
kind = "permutation"
bytes = "64 MiB"
messages = 10000
"""

if os.geteuid() != 0:
    print("needs root for network namespaces: skipped")
    sys.exit(77)


def run(*arguments):
    return subprocess.run([OPTIONS.mrc, "lab", *arguments], capture_output=True, text=True,
                          timeout=60, check=True).stdout


class Program:
    """A program whose output is read while it runs."""

    def __init__(self, *command):
        self.output = tempfile.TemporaryFile("w+", dir=FOLDER.name)
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=self.output,
                                        stderr=subprocess.STDOUT)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.output.close()

    def said(self):
        return os.pread(self.output.fileno(), 1 << 20, 0).decode()

    def wait_for(self, text):
        wait_until(lambda: text in self.said() or self.process.poll() is not None)
        assert text in self.said(), f"ended without '{text}': {self.said()}"
        return self


def wait_until(condition):
    deadline = time.monotonic() + START_MAX_S
    while not condition():
        assert time.monotonic() < deadline, "it did not begin"
        time.sleep(0.005)


def on(host, *command):
    return Program(OPTIONS.mrc, "lab", "exec", "--lab", LAB, host, "--", *command)


def spaces(lab):
    folder = pathlib.Path("/run/netns")
    return [each.name for each in folder.iterdir() if each.name.startswith(f"mrc-{lab}-")]


def remains(lab):
    folder = pathlib.Path("/run/openmrc/labs", lab)
    return spaces(lab) + ([str(folder)] if folder.exists() else [])


def file(name, text):
    path = pathlib.Path(FOLDER.name, name)
    path.write_text(text, encoding="utf-8")
    return str(path)


# Each gives the program that is to be ended, in one of its phases.
@contextlib.contextmanager
def begun(program, ready):
    """One that has printed a text, or has run for so many seconds."""
    with program:
        if isinstance(ready, str):
            program.wait_for(ready)
        else:
            time.sleep(ready)
        yield program


def server_waits(verb, *options):
    return begun(on("h1", "mrc", "perf", verb, *options), "Waiting for client")


def client_without_server(*command):
    return begun(on("h0", *command), 0.3)


@contextlib.contextmanager
def both_run(verb, *options, server_options=()):
    with server_waits(verb, *server_options) as server:
        with on("h0", "mrc", "perf", verb, "h1", "-D", "30", *options) as client:
            server.wait_for("Peer")
            client.wait_for("Peer")
            time.sleep(0.2)  # into the test
            yield server, client


@contextlib.contextmanager
def server_in_a_test(verb, *options, server_options=()):
    with both_run(verb, *options, server_options=server_options) as (server, client):
        yield server
        # Who is on the other side is told.
        wait_until(lambda: client.process.poll() is not None)
        assert "h1 ended the test: interrupted" in client.said(), client.said()


@contextlib.contextmanager
def client_in_a_test(verb, *options):
    with both_run(verb, *options) as (server, client):
        yield client
        wait_until(lambda: server.process.poll() is not None)
        assert "exited" not in server.said(), server.said()


@contextlib.contextmanager
def client_cut_off(verb):
    with both_run(verb) as (_, client):
        run("cut", "--lab", LAB, "p0", "p1", "--silent")
        try:
            yield client
        finally:
            run("heal", "--lab", LAB)


def ping_serves():
    return begun(on("h1", "mrc", "ping", "--serve"), "answers")


@contextlib.contextmanager
def ping_probes():
    command = ["mrc", "ping", "h1", "-c", "1000", "-i", "60"]
    with ping_serves(), begun(on("h0", *command), 0.5) as client:
        yield client


def agent():
    folder = tempfile.mkdtemp(dir=FOLDER.name)
    return begun(on("h0", OPTIONS.mrcd, "--state", f"{folder}/state"), "mrcd: serves")


@contextlib.contextmanager
def agent_is_watched():
    with agent(), begun(on("h0", "mrc", "ctl", "watch"), 0.3) as program:
        yield program


@contextlib.contextmanager
def lab_verb(ready, *arguments):
    with Program(OPTIONS.mrc, "lab", *arguments) as program:
        wait_until(ready)
        yield program


def not_up():
    return "links: 4 of 4 up" not in run("status", LAB)


@contextlib.contextmanager
def lab_goes_up(spaces_min, options):
    try:
        with lab_verb(lambda: len(spaces(BUILT)) >= spaces_min, "up", BUILT, *options) as program:
            yield program
        assert not remains(BUILT), remains(BUILT)
    finally:
        run("down", BUILT)


@contextlib.contextmanager
def lab_goes_down():
    run("up", BUILT, *SMALL_LAB)
    complete = pathlib.Path("/run/openmrc/labs", BUILT, "complete")
    # What does not end when it is asked to keeps `down` busy for half a second.
    deaf = Program(OPTIONS.mrc, "lab", "exec", "--lab", BUILT, "h0", "sh", "-c",
                   "trap '' TERM; echo runs; while :; do sleep 60; done")
    try:
        with begun(deaf, "runs"), lab_verb(lambda: not complete.exists(), "down", BUILT) as program:
            yield program
        assert not remains(BUILT), remains(BUILT)
    finally:
        run("down", BUILT)


def simulation(seconds, racks=2, hosts=2):
    scenario = file("scenario.toml", SCENARIO.format(racks=racks, hosts=hosts))
    return begun(Program(OPTIONS.mrc, "sim", "run", scenario), seconds)


PHASES = {
    "perf write-bw: server waits": lambda: server_waits("write-bw"),
    "perf write-bw: server waits, --keep": lambda: server_waits("write-bw", "--keep"),
    "perf write-bw: server in a test": lambda: server_in_a_test("write-bw"),
    "perf write-bw: server in a test both ways": lambda: server_in_a_test("write-bw", "-b"),
    "perf write-bw: server in a test, --keep":
        lambda: server_in_a_test("write-bw", "--verify", server_options=("--keep",)),
    "perf write-bw: client connects": lambda: client_without_server("mrc", "perf", "write-bw", "h1"),
    "perf write-bw: client in a test": lambda: client_in_a_test("write-bw"),
    "perf write-bw: client in a verified test": lambda: client_in_a_test("write-bw", "--verify"),
    "perf write-bw: client is cut off": lambda: client_cut_off("write-bw"),
    "perf write-lat: server waits": lambda: server_waits("write-lat"),
    "perf write-lat: server in a test": lambda: server_in_a_test("write-lat"),
    "perf write-lat: client connects":
        lambda: client_without_server("mrc", "perf", "write-lat", "h1"),
    "perf write-lat: client in a test": lambda: client_in_a_test("write-lat"),
    "perf write-lat: client is cut off": lambda: client_cut_off("write-lat"),
    "ping: serves": ping_serves,
    "ping: connects": lambda: client_without_server("mrc", "ping", "h1"),
    "ping: probes": ping_probes,
    "ctl watch": agent_is_watched,
    "mrcd": agent,
    "lab up: first namespaces": lambda: lab_goes_up(1, LARGE_LAB),
    "lab up: last namespaces": lambda: lab_goes_up(49, LARGE_LAB),
    "lab up: soft switches": lambda: lab_goes_up(5, [*SMALL_LAB, "--switch", "soft"]),
    "lab down": lab_goes_down,
    "lab flap": lambda: lab_verb(not_up, "flap", "--lab", LAB, "h0/p0", "--for", "60s"),
    "lab flap: slowly": lambda: lab_verb(not_up, "flap", "--lab", LAB, "h0/p0", "--hz", "0.01",
                                         "--for", "600s"),
    "lab chaos": lambda: lab_verb(not_up, "chaos", "--lab", LAB, "--for", "600s"),
    "lab capture": lambda: begun(Program(OPTIONS.mrc, "lab", "capture", "--lab", LAB, "h0/p0",
                                         "/dev/null"), "Capturing"),
    "lab exec": lambda: begun(on("h0", "sh", "-c", "echo runs; exec sleep 60"), "runs"),
    "sim run: sets up": lambda: simulation(0.3, racks=1024, hosts=64),
    "sim run": lambda: simulation(1),
    # It becomes the program.
    "run": lambda: begun(on("h0", "mrc", "run", "--", "sh", "-c", "echo runs; exec sleep 60"),
                         "runs"),
    "decode: waits for input": lambda: begun(Program(OPTIONS.mrc, "decode", "-"), 0.2),
}


class Signals(unittest.TestCase):
    def end(self, program, caught):
        self.assertIsNone(program.process.poll(), program.said())
        begin = time.monotonic()
        program.process.send_signal(caught)
        try:
            program.process.wait(START_MAX_S)
        except subprocess.TimeoutExpired:
            self.fail(f"still runs after {START_MAX_S} s: {program.said()}")
        took = time.monotonic() - begin
        print(f"{took:6.3f} s, exit code {program.process.returncode}: {self.phase}", flush=True)
        self.assertLess(took, OPTIONS.limit, program.said())

    def nothing_is_left(self):
        status = run("status", LAB)
        self.assertIn("links: 4 of 4 up", status)
        for host in ("h0", "h1"):
            self.assertRegex(status, rf"{host} .* 2/2 +0\n")

    def test_end_every_verb_in_every_phase(self):
        for phase, start in PHASES.items():
            for caught in (signal.SIGINT, signal.SIGTERM):
                with self.subTest(phase=phase, signal=caught.name):
                    self.phase = f"{caught.name} {phase}"
                    with start() as program:
                        self.end(program, caught)
                    self.nothing_is_left()


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    run("up", LAB, *SMALL_LAB)
    try:
        finished = unittest.main(argv=[sys.argv[0], *REST], exit=False)
    finally:
        for lab in (LAB, BUILT):
            run("down", lab)
    sys.exit(0 if finished.result.wasSuccessful() else 1)
