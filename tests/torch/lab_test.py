#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""PyTorch's collective operations between four hosts of a lab, also while it is broken."""
import argparse
import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "lab"))
from lab import Lab, run_tests  # pylint: disable=wrong-import-position

RANKS = 4
RUN_MAX_S = 240
ERROR_MAX_S = 15


class Ranks(unittest.TestCase):
    ports = iter(range(29500, 29600))

    def start(self, *arguments, timeout_s=60, lab=None, ranks=RANKS, prefix=()):
        port = str(next(self.ports))
        processes = []
        for rank in range(ranks):
            environment = os.environ | {
                "RANK": str(rank), "WORLD_SIZE": str(ranks), "MASTER_ADDR": "h0",
                "MASTER_PORT": port, "PYTHONPATH": PYTHON_PATH, "TIMEOUT": str(timeout_s)}
            processes.append(subprocess.Popen(
                (lab or LAB).command("exec", f"h{rank}", "--", *prefix, sys.executable,
                                     str(HERE / "rank.py"), *arguments),
                env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT))
            self.addCleanup(end, processes[-1])
        return processes

    def results(self, processes):
        """What each has printed at its end, which must be a good one."""
        found = []
        for process in processes:
            text = finish(process)
            self.assertEqual(process.returncode, 0, text)
            found.append(json.loads(text.strip().splitlines()[-1]))
        return found

    def test_every_operation_gives_the_right_result(self):
        for result in self.results(self.start("collectives")):
            self.assertEqual(result["rounds"], 42)

    def test_groups_work_at_the_same_time(self):
        for result in self.results(self.start("groups")):
            self.assertEqual(result["works"], 100)

    def test_results_are_right_while_planes_are_cut_and_healed(self):
        processes = self.start("loop", "12")
        time.sleep(4)
        for plane in ("p3", "p0"):
            LAB.run("cut", plane)
            time.sleep(2)
            LAB.run("heal")
            time.sleep(1)
        for result in self.results(processes):
            self.assertGreater(result["rounds"], 3)

    def test_two_hosts_with_two_ports_and_ipv4_need_no_root(self):
        nobody = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
        with Lab(OPTIONS.mrc, "udp", OPTIONS.rate, "--ip", "4", "--planes", "2", "--t0", "1", "--t1", "1",
                 "--hosts", "2", name="two") as lab:
            processes = self.start("loop", "8", lab=lab, ranks=2, prefix=nobody)
            time.sleep(4)
            lab.run("cut", "h1/p0")
            for result in self.results(processes):
                self.assertGreater(result["rounds"], 3)

    def test_the_others_are_told_which_rank_was_killed(self):
        processes = self.start("wait")
        for process in processes:
            self.assertEqual(process.stdout.readline().strip(), "begun")
        time.sleep(1)
        kill(processes[2])
        killed_at = time.time()
        for result in self.results([one for i, one in enumerate(processes) if i != 2]):
            self.assertIn("rank 2 (h2)", result["error"])
            self.assertLess(result["at"] - killed_at, ERROR_MAX_S, result["error"])
            print(f"rank {result['rank']} after {result['at'] - killed_at:.1f} s: {result['error']}")

    def test_a_wait_that_takes_too_long_raises_everywhere_and_a_new_group_works(self):
        for result in self.results(self.start("late", timeout_s=3)):
            self.assertIn("timed out after 3000 ms", result["error"])
            self.assertTrue(result["again"])


def kill(process):
    """The program that the lab's command has started, too."""
    children = subprocess.run(["pgrep", "-P", str(process.pid)], capture_output=True, text=True,
                              check=False).stdout.split()
    for child in children:
        os.kill(int(child), signal.SIGKILL)
    process.kill()


def finish(process):
    try:
        return process.communicate(timeout=RUN_MAX_S)[0]
    except subprocess.TimeoutExpired:
        kill(process)
        return "TIMED OUT: " + process.communicate()[0]


def end(process):
    if process.poll() is None:
        kill(process)
    process.communicate()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mrc", required=True)
    parser.add_argument("--python-path", required=True, help="where the package openmrc is")
    parser.add_argument("--mode", default="srv6")
    parser.add_argument("--rate", default="500mbit")
    OPTIONS, rest = parser.parse_known_args()
    PYTHON_PATH = OPTIONS.python_path
    if importlib.util.find_spec("torch") is None:
        print("needs PyTorch (python3-torch)")
        sys.exit(77)
    run_tests(lambda lab: globals().update(LAB=lab), OPTIONS.mrc, OPTIONS.mode, OPTIONS.rate, rest)
