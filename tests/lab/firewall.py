#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The shipped firewall rules: an unprivileged user can send nothing to the MRC port of a peer, what
comes in by the wrong plane is dropped, and MRC itself flows as before."""
import argparse
import pathlib
import re
import sys
import tomllib
import unittest

from lab import run_tests

RULES = pathlib.Path(__file__).resolve().parents[2] / "examples/firewall/openmrc.nft"
SENDER, RECEIVER = "h0", "h2"
NOBODY = "65534"
MRC_PORT = 4791
SEND = """import socket, sys
sender = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
try:
    for _ in range(16):
        sender.sendto(bytes(64), (sys.argv[1], int(sys.argv[2])))
    print("SENT")
except OSError as error:
    print("REFUSED:", error)
"""
SEND_BY = """import socket, sys
source, interface, target, port = sys.argv[1:]
sender = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
sender.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, interface.encode())
sender.bind((source, 0))
for _ in range(16):
    sender.sendto(bytes(64), (target, int(port)))
"""


def port_of(host, plane=0):
    path = f"/run/openmrc/labs/{LAB.name}/{host}/openmrc.toml"
    return tomllib.loads(pathlib.Path(path).read_text(encoding="utf-8"))["port"][plane]


def run(host, *command):
    process = LAB.start_program(host, *command)
    output = process.communicate(timeout=100)[0]
    return process.returncode, output


def send_as(user, port=MRC_PORT):
    return run(SENDER, "setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups",
               sys.executable, "-c", SEND, port_of(RECEIVER)["address"], str(port))[1]


def dropped(host):
    """Packets dropped by the rules: of users here, and by reverse path."""
    listing = run(host, "nft", "list", "table", "inet", "openmrc")[1]
    return [int(count) for count in re.findall(r"counter packets (\d+)", listing)]


class Firewall(unittest.TestCase):
    def setUp(self):
        for host in (SENDER, RECEIVER):
            run(host, "nft", "delete", "table", "inet", "openmrc")

    def load(self, *hosts):
        for host in hosts:
            code, output = run(host, "nft", "-f", str(RULES))
            self.assertEqual(code, 0, output)

    def test_the_file_is_one_that_nft_accepts(self):
        code, output = run(SENDER, "nft", "-c", "-f", str(RULES))
        self.assertEqual(code, 0, output)

    def test_an_unprivileged_user_cannot_send_to_the_port(self):
        self.assertIn("SENT", send_as(NOBODY), "without the rules everybody can")
        self.load(SENDER)
        self.load(SENDER)  # again, which must change nothing
        self.assertIn("REFUSED", send_as(NOBODY))
        self.assertIn("SENT", send_as(NOBODY, MRC_PORT + 1), "other ports are left alone")
        self.assertIn("SENT", send_as("0"))
        self.assertGreater(dropped(SENDER)[0], 0)

    def test_users_and_groups_are_let_through_by_name(self):
        self.load(SENDER)
        for name in ("users", "groups"):
            code, output = run(SENDER, "nft", "add", "element", "inet", "openmrc", name,
                               "{ %s }" % NOBODY)
            self.assertEqual(code, 0, output)
            self.assertIn("SENT", send_as(NOBODY))
            run(SENDER, "nft", "flush", "set", "inet", "openmrc", name)
            self.assertIn("REFUSED", send_as(NOBODY))

    def test_what_comes_in_by_the_wrong_plane_is_dropped(self):
        self.load(RECEIVER)
        own, other = port_of(SENDER, 1), port_of(SENDER, 0)
        for source, count in ((own["address"], 0), (other["address"], 16)):
            code, output = run(SENDER, sys.executable, "-c", SEND_BY, source, own["interface"],
                               port_of(RECEIVER, 1)["address"], str(MRC_PORT))
            self.assertEqual(code, 0, output)
            self.assertEqual(dropped(RECEIVER)[1], count)

    def test_mrc_flows(self):
        self.load(SENDER, RECEIVER)
        server = LAB.start(RECEIVER, "perf", "write-bw", "--quiet")
        client = LAB.start(SENDER, "perf", "write-bw", RECEIVER, "--quiet", "--verify", "-s", "64K",
                           "-n", "300", "-t", "16")
        for process in (client, server):
            output = process.communicate(timeout=100)[0]
            self.assertEqual(process.returncode, 0, output)
        self.assertIn("300 messages", output)
        self.assertEqual(dropped(SENDER), [0, 0])
        self.assertEqual(dropped(RECEIVER), [0, 0])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mrc", required=True)
    parser.add_argument("--mode", default="usid")
    options, rest = parser.parse_known_args()
    run_tests(lambda lab: globals().update(LAB=lab), options.mrc, options.mode, "500mbit", rest)
