#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Our own programs of RC queue pairs between hosts of a lab: data moved by NCCL's pattern, also while a
plane is cut and healed, and one word that processes of several hosts count on."""
import argparse
import re
import subprocess
import sys
import time
import unittest

from stock_programs import Pair, SERVER, SERVER_ADDRESS  # finds tests/lab, too
from lab import run_tests

MIB = 1 << 20
CLIENTS = ("h1", "h2", "h3", "h1")
ADDS = 10000
LONG_MAX_S = 400
SHORT_MAX_S = 90


class RcPrograms(unittest.TestCase):
    lab = None

    def pattern(self, size, message=65536, qps=4, more=()):
        # The receiver takes from the sender how much it is.
        return Pair(self.lab, [OPTIONS.pattern], [],
                    ["-b", str(size), "-m", str(message), "-q", str(qps), *more, SERVER_ADDRESS])

    def assert_moved(self, texts, size):
        sender, receiver = texts
        self.assertRegex(sender, r"sent \d+ bytes")
        found = re.search(r"received (\d+) bytes in (\d+) receives, .* every byte right", receiver)
        self.assertIsNotNone(found, receiver)
        self.assertGreaterEqual(int(found[1]), size)
        print(receiver.splitlines()[-1], file=sys.stderr)
        return int(found[2])

    def test_nccl_pattern(self):
        size, message = (1024 * MIB, 131072) if OPTIONS.long else (64 * MIB, 65536)
        pair = self.pattern(size, message)
        receives = self.assert_moved(pair.finish(LONG_MAX_S if OPTIONS.long else SHORT_MAX_S), size)
        self.assertGreater(receives, 1024)  # more FIFO writes than the send queue has places

    def test_nccl_pattern_on_one_and_on_eight_queue_pairs(self):
        for qps in (1, 8):
            with self.subTest(qps=qps):
                self.assert_moved(self.pattern(8 * MIB, qps=qps).finish(), 8 * MIB)

    def test_nccl_pattern_while_a_plane_is_cut_and_healed(self):
        size = 1024 * MIB if OPTIONS.long else 64 * MIB
        pair = self.pattern(size, 131072, more=["-s", "4"])
        try:
            self.assertIn("connected", pair.client.stdout.readline())
            time.sleep(0.5)
            self.lab.run("cut", "p1")
            time.sleep(0.5)
            self.assertIsNone(pair.client.poll(), "it ended before the fault did")
            self.lab.run("heal")
        except BaseException:
            pair.kill()
            raise
        self.assert_moved(pair.finish(LONG_MAX_S if OPTIONS.long else SHORT_MAX_S), size)

    def test_nccl_pattern_finds_a_wrong_byte(self):
        pair = self.pattern(MIB, more=["-X", "9"])
        try:
            text = pair.server.communicate(timeout=SHORT_MAX_S)[0]
        finally:
            pair.kill()
            pair.client.stdout.close()
        self.assertEqual(pair.server.returncode, 1, text)
        self.assertIn("error: receive 9, message 0: byte 0 is wrong", text)

    def test_fetch_add_by_four_processes_gives_the_exact_sum(self):
        command = ("run", "--quiet", "--", OPTIONS.fetch_add)
        processes = [self.lab.start(SERVER, *command, "-c", str(len(CLIENTS)), "-n", str(ADDS))]
        processes += [self.lab.start(host, *command, "-i", str(index), SERVER_ADDRESS)
                      for index, host in enumerate(CLIENTS)]
        try:
            texts = [process.communicate(timeout=SHORT_MAX_S)[0] for process in processes]
        except subprocess.TimeoutExpired:
            self.fail("fetch_add does not end")
        finally:
            for process in processes:
                process.kill()
                process.wait()
        for process, text in zip(processes, texts):
            self.assertEqual(process.returncode, 0, texts)
        self.assertIn(f"the word is {len(CLIENTS) * ADDS}, each old value once", texts[0])
        print(texts[0].strip(), file=sys.stderr)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mrc", required=True)
    parser.add_argument("--mode", default="srv6")
    parser.add_argument("--pattern", required=True, help="nccl_pattern")
    parser.add_argument("--fetch-add", required=True)
    parser.add_argument("--long", action="store_true")
    OPTIONS, rest = parser.parse_known_args()
    run_tests(lambda lab: setattr(RcPrograms, "lab", lab), OPTIONS.mrc, OPTIONS.mode, "1gbit", rest)
