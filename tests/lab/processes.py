#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Many on one port, and what is said when one side dies.

Two processes of a host and eight shards of a process share the UDP port of each plane. A process
that is killed leads to an error at the other side that names it, in time.
"""
import argparse
import os
import signal
import subprocess
import time
import unittest

from lab import run_tests

RUN_MAX_S = 200  # ten thousand queue pairs in a build with sanitizers, beside other tests
ERROR_MAX_S = 10
SENDER, RECEIVER = "h0", "h2"


def finish(process, timeout=RUN_MAX_S):
    try:
        return process.communicate(timeout=timeout)[0]
    except subprocess.TimeoutExpired:
        process.kill()
        return "TIMED OUT: " + process.communicate()[0]


class Processes(unittest.TestCase):
    def start_pair(self, *client_options, server_options=(), port="18515"):
        server = LAB.start(RECEIVER, "perf", "write-bw", "--quiet", "-p", port, *server_options)
        self.addCleanup(end, server)
        client = LAB.start(SENDER, "perf", "write-bw", RECEIVER, "--quiet", "-p", port,
                           *client_options)
        self.addCleanup(end, client)
        return server, client

    def check_good(self, server, client, messages):
        client_text, server_text = finish(client), finish(server)
        self.assertEqual(client.returncode, 0, client_text + server_text)
        self.assertEqual(server.returncode, 0, client_text + server_text)
        self.assertIn(f"{messages} messages of {SENDER} verified", server_text)

    def test_two_processes_of_a_host_share_the_port(self):
        pairs = [self.start_pair("--verify", "-s", "64K", "-n", "500", "-t", "16", port=port)
                 for port in ("18515", "18516")]
        for server, client in pairs:
            self.check_good(server, client, 500)

    def test_a_process_that_ends_leaves_the_other_one_alone(self):
        first = self.start_pair("--verify", "-s", "64K", "-n", "50", "-t", "16", port="18515")
        second = self.start_pair("--verify", "-s", "64K", "-n", "1000", "-t", "16", port="18516")
        self.check_good(*first, 50)
        third = self.start_pair("--verify", "-s", "64K", "-n", "50", "-t", "16", port="18517")
        self.check_good(*third, 50)
        self.check_good(*second, 1000)

    def test_eight_shards_of_a_process_share_the_port(self):
        server, client = self.start_pair("--verify", "-q", "64", "-s", "16K", "-n", "20", "-t", "8",
                                         "--shards", "8", server_options=("--shards", "8"))
        self.check_good(server, client, 64 * 20)

    def test_ten_thousand_queue_pairs_are_active_at_once(self):
        server, client = self.start_pair("--verify", "-q", "10000", "-s", "4096", "-n", "5", "-t",
                                         "3")
        self.check_good(server, client, 50000)

    def kill(self, victim):
        time.sleep(2)
        for child in subprocess.run(["pgrep", "-P", str(victim.pid)], capture_output=True,
                                    text=True, check=False).stdout.split():
            os.kill(int(child), signal.SIGKILL)
        victim.kill()
        return time.monotonic()

    def check_named_error(self, survivor, killed_at, peer):
        text = finish(survivor, 3 * ERROR_MAX_S)
        self.assertLess(time.monotonic() - killed_at, ERROR_MAX_S, text)
        self.assertEqual(survivor.returncode, 1, text)
        self.assertIn(f" {peer}", text)
        self.assertRegex(text, "has exited|retry counter exceeded")

    def test_the_sender_says_that_the_receiver_was_killed(self):
        server, client = self.start_pair("-D", "60")
        self.check_named_error(client, self.kill(server), RECEIVER)

    def test_the_receiver_says_that_the_sender_was_killed(self):
        server, client = self.start_pair("-D", "60")
        self.check_named_error(server, self.kill(client), SENDER)

    def test_a_queue_pair_says_itself_that_its_peer_does_not_answer(self):
        """All planes cut, the control connection alive: the transport has to find out."""
        server, client = self.start_pair("-D", "60")
        time.sleep(2)
        LAB.run("cut", f"{RECEIVER}/p0", f"{RECEIVER}/p1", f"{RECEIVER}/p2", f"{RECEIVER}/p3",
                "--silent")
        cut_at = time.monotonic()
        try:
            text = finish(client, 60)
        finally:
            LAB.run("heal")
        self.assertLess(time.monotonic() - cut_at, ERROR_MAX_S, text)
        self.assertIn("retry counter exceeded", text)
        self.assertIn(RECEIVER, text)
        self.assertRegex(text, r"p\d\.t0-0 > p\d\.t1-\d > p\d\.t0-1")
        finish(server, 30)


def end(process):
    if process.poll() is None:
        process.kill()
        process.communicate()
    for stream in (process.stdout, process.stderr):
        if stream:
            stream.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mrc", required=True)
    parser.add_argument("--mode", default="srv6")
    options, rest = parser.parse_known_args()
    run_tests(lambda lab: globals().update(LAB=lab), options.mrc, options.mode, "500mbit", rest)
