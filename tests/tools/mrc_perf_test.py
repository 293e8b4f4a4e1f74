#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A server of `mrc perf` that anybody can reach: it is not ended, hung or filled by what they send."""

import collections
import json
import os
import pathlib
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

MRC = sys.argv.pop(1)
PORT = 20000 + os.getpid() % 5000  # of the exchange, and of MRC
FUZZED_LINES = 2000
START_MAX_S = 1.0
MEMORY_MAX_MIB = 1000  # with the quarantine of the address sanitizer
FOLDER = tempfile.TemporaryDirectory()  # removed at exit
SLACK = 5  # of a build with sanitizers on a busy machine

CONFIG = f"""name = "here"
mode = "udp"
[[port]]
interface = "lo"
address = "::1"
[transport]
udp_port = {PORT}
evs = 4
[exchange]
port = {PORT}
timeout = "5s"
"""


class Server:
    """`mrc perf write-bw`, waiting."""

    def __init__(self, *options):
        self.process = subprocess.Popen([MRC, "perf", "write-bw", "--quiet", *options],
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        deadline = time.monotonic() + 20
        while True:
            try:
                connect().close()
                return
            except OSError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.02)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()

    def is_alive(self):
        return self.process.poll() is None

    def resident_mib(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text(encoding="utf-8")
        return int(re.search(r"VmHWM:\s+(\d+) kB", status).group(1)) / 1024

    def end(self, caught):
        begin = time.monotonic()
        self.process.send_signal(caught)
        output = self.process.communicate(timeout=20)[0]
        return time.monotonic() - begin, output


def connect():
    return socket.create_connection(("::1", PORT), timeout=5)


def say(line):
    """What the server answers to one line, until it closes or is silent."""
    with connect() as client:
        client.settimeout(2)
        answer = b""
        try:
            client.sendall(line + b"\n")
            while not answer.endswith(b"\n"):
                got = client.recv(65536)
                if not got:
                    break
                answer += got
        except (socket.timeout, ConnectionError):
            pass
        return answer.decode(errors="replace")


def run_client(*options):
    return subprocess.run([MRC, "perf", "write-bw", "::1", "--quiet", "-n", "20", *options],
                          capture_output=True, text=True, timeout=60, check=False)


class Robustness(unittest.TestCase):
    def test_no_line_ends_the_server(self):
        with Server() as server:
            self.assertIn("must be a whole number", say(b'{"openmrc_perf":"x"}'))
            for line in (b'{"error":5}', b"", b"[" * 4000, b"\xff\xfe", b"GET / HTTP/1.0\r"):
                self.assertIn('{"error":', say(line))
            self.assertTrue(server.is_alive())
            done = run_client()
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(server.process.wait(20), 0)

    def test_nor_do_mutated_ones(self):
        good = (b'{"openmrc_perf":2,"test":"write-bw","size":65536,"iterations":5000,"seconds":0.0,'
                b'"queue_pairs":1,"depth":128,"verify":false,"both_ways":false,"sleeps":false,"all_sizes":false}')
        values = [b'"x"', b"5", b"-1", b"1e99", b"null", b"{}", b"[]", b"[[[[", b'"', b"\xff"]
        pick = random.Random(13)
        with Server("--keep") as server:
            clients = collections.deque()
            for _ in range(FUZZED_LINES):
                line = bytearray(good)
                at = pick.randrange(len(line))
                line[at:at + pick.randrange(8)] = pick.choice(values)
                clients.append(connect())
                clients[-1].sendall(bytes(line) + b"\n")
                if len(clients) > 20:
                    clients.popleft().close()
            while clients:
                clients.popleft().close()
            self.assertTrue(server.is_alive())
            self.assertEqual(run_client().returncode, 0)
            self.assertLess(server.resident_mib(), MEMORY_MAX_MIB)

    def test_a_request_for_much_memory_is_refused_on_both_sides(self):
        with Server("--keep") as server:
            answer = say(b'{"openmrc_perf":2,"test":"write-bw","size":33554432,"iterations":1,'
                         b'"seconds":0,"queue_pairs":1,"depth":120,"verify":true,'
                         b'"both_ways":false,"sleeps":false,"all_sizes":false}')
            self.assertIn("more than --memory-max allows (1GiB)", answer)
            self.assertLess(server.resident_mib(), MEMORY_MAX_MIB)
        with Server("--keep", "--memory-max", "1M") as server:
            done = run_client("-s", "1M", "-t", "4", "--verify")
            self.assertEqual(done.returncode, 1)
            self.assertIn("rejected by the server: 1 queue pairs with 4 messages of 1MiB each way "
                          "need ", done.stderr)
            _, output = server.end(signal.SIGTERM)
            self.assertIn("refused client", output)
            self.assertIn("more than --memory-max allows (1MiB)", output)
        done = run_client("-s", "1M", "-t", "4", "--verify", "--memory-max", "1M")
        self.assertIn("more than --memory-max allows (1MiB)", done.stderr)

    def test_silent_clients_and_a_port_scan_hinder_nobody(self):
        with Server() as server:
            silent = [connect() for _ in range(200)]
            for _ in range(100):
                connect().close()
            time.sleep(0.5)
            self.assertTrue(server.is_alive())
            begin = time.monotonic()
            done = run_client()
            took = time.monotonic() - begin
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertLess(took, START_MAX_S * SLACK)
            self.assertEqual(server.process.wait(20), 0)
            for client in silent:
                client.close()

    def test_signals_end_a_server_that_waits(self):
        for caught in (signal.SIGINT, signal.SIGTERM):
            with Server() as server:
                took, output = server.end(caught)
                self.assertEqual(server.process.returncode, 128 + caught, output)
                self.assertLess(took, START_MAX_S * SLACK)
                self.assertIn("interrupted while waiting for a client", output)


class Duration(unittest.TestCase):
    def test_deep_queues_do_not_prolong_it(self):
        with Server() as server:
            begin = time.monotonic()
            # 4 GiB may be in flight.
            done = subprocess.run([MRC, "perf", "write-bw", "::1", "-D", "2", "-q", "64", "-s", "512K",
                                   "--report_gbits"], capture_output=True, text=True, timeout=60,
                                  check=False)
            took = time.monotonic() - begin
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertLess(took, 2 + 2 * START_MAX_S)
            self.assertEqual(server.process.wait(20), 0)
        self.assertEqual(re.findall(r"^ +(\d+) s ", done.stdout, re.MULTILINE), ["1", "2"])
        row = re.search(r"^ 524288 +(\d+) +(\S+) +(\S+) +(\S+)$", done.stdout, re.MULTILINE)
        self.assertIsNotNone(row, done.stdout)
        messages, peak, average, _ = map(float, row.groups())
        self.assertGreaterEqual(peak, average)
        seconds = messages * 524288 * 8 / average / 1e9
        self.assertTrue(1.8 < seconds < 2.5, f"{messages} messages at {average} Gb/s")

    def test_shorter_than_a_message(self):
        with Server() as server:
            done = run_client("-s", "256M", "-D", "0.1", "-t", "1")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertRegex(done.stdout, r"(?m)^ 268435456 +1 ")
            self.assertEqual(server.process.wait(20), 0)


class Output(unittest.TestCase):
    def test_json_has_standard_output_for_itself(self):
        for options in (["--quiet"], [], ["-D", "1.2"]):
            with self.subTest(options=options), Server():
                done = subprocess.run([MRC, "perf", "write-bw", "::1", "-n", "20", "--json", "-",
                                       *options], capture_output=True, text=True, timeout=60,
                                      check=False)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertGreater(json.loads(done.stdout)["results"]["n_iterations"], 0)
                self.assertIn("BW average", done.stderr)
        with subprocess.Popen([MRC, "perf", "write-lat", "--json", "-"], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL) as server:
            done = subprocess.run([MRC, "perf", "write-lat", "::1", "-n", "20", "-H", "-U", "--json",
                                   "-"], capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertGreater(json.loads(done.stdout)["results"]["t_avg"], 0)
            self.assertEqual(server.communicate(timeout=20)[0], b"")


    def test_both_sides_say_what_was_verified(self):
        sent = " 20 messages verified by here, byte by byte\n"
        received = " 20 messages of here verified, byte by byte\n"
        for options, client_says, server_says in (([], [sent], [received]),
                                                  (["-b"], [sent, received], [sent, received])):
            with self.subTest(options=options), Server() as server:
                done = run_client("--verify", *options)
                self.assertEqual(done.returncode, 0, done.stderr)
                output = server.process.communicate(timeout=20)[0]
                for said, expected in ((done.stdout, client_says), (output, server_says)):
                    lines = [line for line in said.splitlines(True) if "verified" in line]
                    self.assertEqual(lines, expected)


class Secret(unittest.TestCase):
    def setUp(self):
        self.good = self.write("good", "correct horse battery staple", 0o600)

    def write(self, name, text, mode):
        path = pathlib.Path(FOLDER.name, name)
        path.write_text(text + "\n", encoding="utf-8")
        path.chmod(mode)
        return str(path)

    def test_lets_in_who_has_it(self):
        with Server("--secret-file", self.good) as server:
            done = run_client("--secret-file", self.good)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(server.process.wait(20), 0)

    def test_keeps_others_out_and_says_so_on_both_sides(self):
        wrong = self.write("wrong", "incorrect horse battery staple", 0o600)
        with Server("--secret-file", self.good) as server:
            done = run_client()
            self.assertEqual(done.returncode, 1)
            self.assertIn("rejected by the server: this server requires a shared secret",
                          done.stderr)
            done = run_client("--secret-file", wrong)
            self.assertEqual(done.returncode, 1)
            self.assertIn("the client's secret is not that of this server", done.stderr)
            self.assertTrue(server.is_alive())
            _, output = server.end(signal.SIGTERM)
            self.assertIn("requires a shared secret", output)
            self.assertIn("the client's secret is not that of this server", output)

    def test_is_not_ignored_by_a_server_without_one(self):
        with Server():
            done = run_client("--secret-file", self.good)
            self.assertEqual(done.returncode, 1)
            self.assertIn("the client has a secret, this server has none", done.stderr)

    def test_is_not_taken_from_a_file_that_others_can_read(self):
        open_file = self.write("open", "correct horse battery staple", 0o644)
        for options in (("::1",), ()):
            done = subprocess.run([MRC, "perf", "write-bw", *options, "--secret-file", open_file],
                                  capture_output=True, text=True, timeout=30, check=False)
            self.assertEqual(done.returncode, 1)
            self.assertIn("is open to other users (mode 0644)", done.stderr)


if __name__ == "__main__":
    config = pathlib.Path(FOLDER.name, "openmrc.toml")
    config.write_text(CONFIG, encoding="utf-8")
    os.environ["OPENMRC_CONFIG"] = str(config)
    unittest.main(verbosity=2)
