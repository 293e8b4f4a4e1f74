#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""`mrc lab capture` writes every frame of a link, both ways, to a file that is whole however it ends."""

import atexit
import collections
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

MRC = sys.argv.pop(1)
LAB = f"cap{os.getpid()}"
PORT = 9  # discard: nobody listens
FOLDER = tempfile.TemporaryDirectory()
START_MAX_S = 30

if os.geteuid() != 0:
    print("needs root for network namespaces: skipped")
    sys.exit(77)

# Sends datagrams of 1,000 bytes to a port of the other host in plane 0: one by one, or by one call.
SEND = """
import socket, sys
address, count, burst = sys.argv[1], int(sys.argv[2]), sys.argv[3] == "burst"
sender = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
if burst:
    sender.setsockopt(socket.IPPROTO_UDP, 103, 1000)
for _ in range(1 if burst else count):
    sender.sendto(bytes(1000 * (count if burst else 1)), (address, 9))
"""


def mrc(*arguments, code=0):
    done = subprocess.run([MRC, "lab", *arguments], capture_output=True, text=True, timeout=60)
    if done.returncode != code:
        raise AssertionError(f"mrc lab {' '.join(arguments)}: exit code {done.returncode}\n"
                             f"{done.stdout}{done.stderr}")
    return done.stdout if code == 0 else done.stderr


def up():
    mrc("up", LAB, "--planes", "2", "--t0", "1", "--hosts", "2")


def remove_lab():
    subprocess.run([MRC, "lab", "down", LAB], capture_output=True, timeout=60)


atexit.register(remove_lab)
for caught in (signal.SIGINT, signal.SIGTERM):
    signal.signal(caught, lambda *_: sys.exit(1))


def send(sender, receiver, count, how="single"):
    address = f"fd4d:5243::{int(receiver[1:]) + 1}"
    mrc("exec", "--lab", LAB, sender, sys.executable, "-c", SEND, address, str(count), how)


class Capture:
    """A capture that runs."""

    def __init__(self, link, *options, file=None):
        self.file = file or str(pathlib.Path(FOLDER.name, "capture.pcapng"))
        self.process = subprocess.Popen(
            [MRC, "lab", "capture", "--lab", LAB, link, self.file, *options],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def __enter__(self):
        line = self.process.stderr.readline()
        assert b"Capturing" in line, line
        # It listens when its namespace is that of the switch.
        home = os.stat("/proc/self/ns/net").st_ino
        deadline = time.monotonic() + START_MAX_S
        while os.stat(f"/proc/{self.process.pid}/ns/net").st_ino == home:
            assert time.monotonic() < deadline, "it did not begin"
            time.sleep(0.005)
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()

    def wait(self):
        _, said = self.process.communicate(timeout=START_MAX_S)
        assert self.process.returncode == 0, said
        return said.decode()

    def stop(self, caught=signal.SIGINT):
        begin = time.monotonic()
        self.process.send_signal(caught)
        said = self.wait()
        return said, time.monotonic() - begin


def frames(file, *options):
    """What tshark says of the frames of a whole file."""
    return subprocess.run(["tshark", "-n", "-r", file, *options], capture_output=True, text=True,
                          timeout=60, check=True).stdout.splitlines()


def datagrams(file):
    """How many datagrams of which size were captured in which direction."""
    found = collections.Counter()
    for line in frames(file, "-o", "udp.check_checksum:TRUE", "-Y", f"udp.dstport == {PORT} and not icmpv6",
                       "-T", "fields", "-e", "frame.interface_name", "-e", "frame.len",
                       "-e", "ipv6.plen", "-e", "udp.length", "-e", "udp.checksum.status"):
        direction, length, ip_length, udp_length, checksum = line.split("\t")
        assert ip_length == udp_length == str(int(length) - 54), line
        assert checksum == "1", f"checksum: {line}"
        found[direction, int(udp_length) - 8] += 1
    return found


class LabCapture(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        up()

    def test_both_directions_until_ctrl_c(self):
        for link in ("h0/p0", "p0.t0-0/down0"):
            with self.subTest(link=link), Capture(link) as capture:
                send("h0", "h1", 20)
                send("h1", "h0", 5)
                said, _ = capture.stop()
                self.assertRegex(said, r"\d+ frames captured\n$")
                self.assertEqual(datagrams(capture.file), {("h0 > p0.t0-0", 1000): 20,
                                                           ("p0.t0-0 > h0", 1000): 5})

    def test_a_burst_of_one_call_is_captured_as_its_datagrams(self):
        with Capture("h1/p0") as capture:
            send("h0", "h1", 40, "burst")
            capture.stop()
            self.assertEqual(datagrams(capture.file), {("p0.t0-0 > h1", 1000): 40})

    def test_other_links_are_not_in_it(self):
        with Capture("h0/p1") as capture:
            send("h0", "h1", 3)
            capture.stop()
            self.assertEqual(datagrams(capture.file), {})

    def test_count_ends_it(self):
        with Capture("h0/p0", "--count", "7") as capture:
            send("h0", "h1", 20)
            self.assertIn("7 frames captured\n", capture.wait())
        self.assertEqual(len(frames(capture.file)), 7)

    def test_seconds_end_it(self):
        begin = time.monotonic()
        with Capture("h0/p0", "--seconds", "0.5") as capture:
            capture.wait()
        self.assertGreaterEqual(time.monotonic() - begin, 0.5)
        self.assertEqual(datagrams(capture.file), {})

    def test_standard_output(self):
        with Capture("h0/p0", "--count", "1", file="-") as capture:
            send("h0", "h1", 1)
            captured, _ = capture.process.communicate(timeout=START_MAX_S)
        self.assertEqual(captured[:4], b"\x0a\x0d\x0d\x0a")

    def test_goes_on_after_a_cut(self):
        with Capture("h0/p0") as capture:
            send("h0", "h1", 2)
            mrc("cut", "--lab", LAB, "h0/p0")
            mrc("heal", "--lab", LAB)
            send("h0", "h1", 3)
            capture.stop()
            self.assertEqual(datagrams(capture.file), {("h0 > p0.t0-0", 1000): 5})

    def test_mrc_can_be_read_from_it(self):
        with Capture("h1/p1") as capture:
            server = subprocess.Popen(
                [MRC, "lab", "exec", "--lab", LAB, "h1", "mrc", "perf", "write-bw", "--quiet"],
                stdout=subprocess.DEVNULL)
            try:
                mrc("exec", "--lab", LAB, "h0", "mrc", "perf", "write-bw", "h1", "--quiet", "-n",
                    "50")
                self.assertEqual(server.wait(START_MAX_S), 0)
            finally:
                server.kill()
                server.wait()
            capture.stop()
        lines = subprocess.run([MRC, "decode", "--json", capture.file], capture_output=True,
                               text=True, timeout=60, check=True).stdout.splitlines()
        kinds = [json.loads(line).get("kind") or "" for line in lines]
        writes = [kind for kind in kinds if kind.startswith("WRITE")]
        self.assertGreater(len(writes), 50)  # of 64 KiB each, in several packets
        self.assertIn("SACK", kinds)

    def test_the_end_of_the_lab_is_its_end(self):
        try:
            with Capture("h0/p0") as capture:
                send("h0", "h1", 4)
                begin = time.monotonic()
                mrc("down", LAB)
                self.assertLess(time.monotonic() - begin, 5)
                capture.wait()
                self.assertEqual(datagrams(capture.file), {("h0 > p0.t0-0", 1000): 4})
        finally:
            up()

    def test_what_is_wrong_is_said(self):
        def fails(*arguments):
            return mrc("capture", "--lab", LAB, *arguments, code=1)
        self.assertIn("h7", fails("h7/p0", "x.pcapng"))
        self.assertIn("cannot write '/nowhere/x'", fails("h0/p0", "/nowhere/x"))
        self.assertIn("name a link and a file", fails(LAB, "h0/p0", "x.pcapng"))


if __name__ == "__main__":
    unittest.main()
