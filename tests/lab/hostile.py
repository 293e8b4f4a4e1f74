#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A peer that means harm, and what it costs the host that let it in and its other peers.

Each of its packets is right, and it sends no more of them than an honest peer could. So it is
compared with one: a peer in its place that writes as many small messages in a second. Beside the
hostile one the other peer keeps 90 % of the goodput that it has beside the honest one, a packet
takes the victim no more CPU time than CPU_FACTOR times as much, and its memory grows by no more
than MEMORY_MAX more. --long measures longer and at the rate of SECURITY.md.
"""
import argparse
import json
import os
import subprocess
import unittest

from lab import run_tests
from machine import attempt

HONEST, HOSTILE, VICTIM = "h0", "h1", "h3"
RUN_MAX_S = 60
MTU = 4096
KEPT = 0.9
CPU_FACTOR = 2
MEMORY_MAX = 16 << 20
EARLY_QUEUE_PAIRS = 16  # times 1,023 immediates that wait: more than there is room for


def end(process):
    if process.poll() is None:
        process.kill()
    process.wait()
    process.stdout.close()


class Victim:
    """A process that serves all peers; with statement."""

    def __enter__(self):
        self.process = subprocess.Popen(LAB.command("exec", VICTIM, "--", PROGRAM, "victim"),
                                        text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        line = self.process.stdout.readline()
        if not line.strip().isdigit():
            end(self.process)
            raise RuntimeError(f"the victim did not start: {line}")
        self.pid = int(line)
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.stdin = None
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            pass
        end(self.process)

    def cpu_s(self):
        with open(f"/proc/{self.pid}/stat", encoding="ascii") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def memory(self):
        with open(f"/proc/{self.pid}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def counters(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())


class Measured:
    """What an honest peer and the victim had for some seconds, with somebody beside them who sends
    RATE packets a second."""

    def __init__(self, *beside):
        with Victim() as victim:
            memory = victim.memory()
            other = LAB.start_program(HOSTILE, PROGRAM, *beside, "--seconds", str(SECONDS + 5))
            honest = LAB.start_program(HONEST, PROGRAM, "write", VICTIM, "--immediate", "1",
                                       "--seconds", str(SECONDS))
            try:
                line = honest.stdout.readline()
                if line != "measuring\n":
                    raise RuntimeError(f"the honest peer: {line}{honest.communicate()[0]}")
                cpu, counters = victim.cpu_s(), victim.counters()
                text = honest.communicate(timeout=RUN_MAX_S)[0]
                if honest.returncode != 0:
                    raise RuntimeError(f"the honest peer: {text}")
                self.cpu = (victim.cpu_s() - cpu) / SECONDS
                now = victim.counters()
                if other.poll() is not None:
                    raise RuntimeError(f"{beside}: {other.communicate()[0]}")
            finally:
                end(honest)
                end(other)
            self.goodput = float(text) * 8 / 1e6
            self.packet_us = self.cpu * 1e6 / (float(text) / MTU + RATE)
            self.memory = victim.memory() - memory
            self.counters = {name: now[name] - counters[name] for name in now}

    def caused(self, counter):
        """By whoever is beside the honest peer, in a second."""
        honest = self.goodput * 1e6 / 8 / MTU if counter == "data_received" else 0
        return self.counters[counter] / SECONDS - honest

    def text(self):
        return (f"{self.goodput:.0f} Mb/s, {self.packet_us:.1f} us of CPU time a packet, "
                f"{self.memory / (1 << 20):.1f} MiB")


def honest_in_its_place():
    return Measured("write", VICTIM, "--size", "4", "--depth", "1024", "--rate", str(RATE))


class Hostile(unittest.TestCase):
    def attack(self, kind, *options, effect):
        """effect: a counter of the victim that shows, by what the other peer does not cause of it,
        that the attack was one."""

        def measure():
            return honest_in_its_place(), Measured("attack", VICTIM, "--kind", kind, "--rate",
                                                   str(RATE), *options)

        def missed(result):
            honest, hostile = result
            print(f"{kind}: {hostile.text()}; beside an honest peer {honest.text()}; "
                  f"{effect} {hostile.caused(effect):.0f} a second", flush=True)
            goals = []
            if hostile.goodput < KEPT * honest.goodput:
                goals.append(f"goodput {hostile.goodput:.0f} of {honest.goodput:.0f} Mb/s")
            if hostile.packet_us > CPU_FACTOR * honest.packet_us:
                goals.append(f"{hostile.packet_us:.1f} us a packet, not {honest.packet_us:.1f}")
            if hostile.memory > honest.memory + MEMORY_MAX:
                goals.append(f"memory grew by {hostile.memory} bytes")
            if hostile.caused(effect) < RATE / 4:
                goals.append(f"the attack was none: {effect} {hostile.caused(effect):.0f}")
            return goals

        self.assertEqual(attempt(measure, missed)[1], [])

    def test_tiny_messages_that_all_want_a_sack(self):
        self.attack("tiny", effect="data_received")

    def test_immediates_without_end(self):
        self.attack("immediates", effect="data_received")

    def test_a_window_full_of_holes(self):
        self.attack("holes", effect="duplicates_received")

    def test_immediates_that_wait_for_ever(self):
        self.attack("early", "--queue-pairs", str(EARLY_QUEUE_PAIRS), effect="immediates_refused")

    def test_immediates_in_the_worst_order(self):
        self.attack("reordered", effect="data_received")

    def test_endless_reliability_probes(self):
        self.attack("probes", effect="probes_received")

    def test_endless_ev_probes(self):
        self.attack("ev-probes", effect="endpoint_responses_sent")

    def test_packets_that_claim_to_be_trimmed(self):
        self.attack("trims", effect="trimmed_received")

    def test_ports_that_go_up_and_down(self):
        self.attack("port-status", effect="port_status_received")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mrc", required=True)
    parser.add_argument("--hostile", required=True)
    parser.add_argument("--long", action="store_true", help="as long and as fast as documented")
    OPTIONS, rest = parser.parse_known_args()
    PROGRAM = os.path.abspath(OPTIONS.hostile)
    SECONDS = 10 if OPTIONS.long else 2
    RATE = 20000 if OPTIONS.long else 5000
    run_tests(lambda lab: globals().update(LAB=lab), OPTIONS.mrc, "udp", "100mbit", rest)
