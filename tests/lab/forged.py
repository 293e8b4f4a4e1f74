#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Another host of the lab sends packets in the name of a peer while verified data is moved.

MRC has no authentication: what protects a connection is what others do not know of it, and that
what cannot be true has no effect. Each test is one attack of SECURITY.md. --long runs them as often
and as long as the figures there were measured.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import unittest

import machine
from lab import rate, read_timeline, run_tests

FOLDER = os.path.dirname(os.path.abspath(__file__))
RUN_MAX_S = 200
SENDER, RECEIVER, ATTACKER = "h0", "h2", "h1"
PLANES = 4
MESSAGE = 256 * 1024


class Transfer:
    """Verified data from SENDER to RECEIVER for some seconds."""

    def __init__(self, seconds):
        self.folder = tempfile.TemporaryDirectory()
        self.timeline = os.path.join(self.folder.name, "timeline.csv")
        self.result = os.path.join(self.folder.name, "client.json")
        messages = int(seconds * PLANES * RATE_GBPS * 1e9 / 8 * 0.9) // MESSAGE
        self.messages = messages
        self.server = LAB.start(RECEIVER, "perf", "write-bw", "--quiet", "--timeline",
                                self.timeline)
        self.client = LAB.start(SENDER, "perf", "write-bw", RECEIVER, "--quiet", "--verify", "-s",
                                str(MESSAGE), "-n", str(messages), "-t", "16", "--json",
                                self.result)

    def end(self):
        texts = []
        for process in (self.client, self.server):
            try:
                texts.append(process.communicate(timeout=RUN_MAX_S)[0])
            except subprocess.TimeoutExpired:
                process.kill()
                texts.append("TIMED OUT: " + process.communicate()[0])
        self.client_text, self.server_text = texts

    def counters(self):
        with open(self.result, encoding="utf-8") as file:
            return json.load(file)["counters"]

    def rows(self):
        return read_timeline(self.timeline)


def address(host, plane=0):
    listed = LAB.run("exec", host, "--", "ip", "-6", "-j", "address", "show", "dev", f"p{plane}")
    return next(entry["local"] for link in json.loads(listed) for entry in link["addr_info"]
                if entry["scope"] == "global")


def forge(kind, name_of, victim, *options):
    return LAB.start_program(ATTACKER, FORGER, kind, "--source", address(name_of),
                             "--destination", address(victim), *map(str, options))


def observed():
    """The queue pairs of both hosts, as somebody on the path sees them."""
    seen = json.loads(LAB.run("exec", SENDER, "--", sys.executable,
                              os.path.join(FOLDER, "observe.py"), "p0", address(SENDER),
                              address(RECEIVER)))
    return {host: seen[address(host)]["qpn"] for host in (SENDER, RECEIVER)}


class Forged(unittest.TestCase):
    def attack(self, seconds, *attacks):
        """Runs a transfer, and in its second second the attacks, one after the other."""
        transfer = Transfer(seconds)
        self.addCleanup(transfer.folder.cleanup)
        try:
            time.sleep(1)
            self.began_ns = time.monotonic_ns()
            for attack in attacks:
                forger = attack()
                text = forger.communicate(timeout=RUN_MAX_S)[0]
                self.assertEqual(forger.returncode, 0, text)
            self.ended_ns = time.monotonic_ns()
        finally:
            transfer.end()
        self.assertEqual(transfer.client.returncode, 0, transfer.client_text)
        self.assertEqual(transfer.server.returncode, 0, transfer.server_text)
        self.assertIn(f"{transfer.messages} messages of {SENDER} verified", transfer.server_text)
        return transfer

    def kept(self, transfer, begin_s, end_s):
        """Part of the goodput that is left in a time, from the attack on."""
        rows = transfer.rows()
        before = rate(rows, self.began_ns - 600_000_000, self.began_ns - 10_000_000)
        during = rate(rows, self.began_ns + int(begin_s * 1e9), self.began_ns + int(end_s * 1e9))
        return during / before

    @staticmethod
    def expect_kept(kept, goal):
        machine.expect(kept > goal, f"{kept:.1%} of the goodput is left, the goal is {goal:.0%}")

    @staticmethod
    def expect_more(count, least, what):
        machine.expect(count > least, f"{count} {what}, the goal is {least:.0f}")

    def writes(self, kind, *known):
        """Attacks 1, 2 and 4: all PSNs in steps of a window, and then at random."""
        count = 1_000_000 if OPTIONS.long else 100_000
        for run in range(20 if OPTIONS.long else 2):
            self.attack(20 if OPTIONS.long else 5,
                        lambda: forge(kind, SENDER, RECEIVER, "--count", 4096, "--psn-step", 0x1000,
                                      "--qpn", 3, *known),
                        lambda: forge(kind, SENDER, RECEIVER, "--count", count, "--seed", run,
                                      *known))

    def test_1_empty_writes_corrupt_nothing(self):  # SEC-8
        self.writes("empty-write")

    def test_2_writes_with_a_wrong_key_end_nothing(self):
        self.writes("write")

    def test_4_writes_to_a_known_address_need_the_key(self):
        self.writes("write", "--address", 0x7f0000001000, "--msn", 0)

    @machine.repeated
    def test_3_one_port_status_costs_little(self):  # SEC-21, SEC-22
        transfer = self.attack(5, lambda: forge("port-status", SENDER, RECEIVER, "--ports", 2,
                                                "--count", 1),
                               lambda: forge("port-status", RECEIVER, SENDER, "--ports", 2,
                                             "--count", 1))
        counters = transfer.counters()
        kept = self.kept(transfer, 0, 1)
        print(f"one forged port status: {kept:.1%} of the goodput in the first second")
        machine.expect(counters.get("port_status_refuted") == PLANES - 1, counters)
        self.expect_kept(kept, 0.95)

    @machine.repeated
    def test_15_sacks_that_mark_paths_are_dropped(self):  # SEC-9, SEC-10, SEC-11
        seconds = 10 if OPTIONS.long else 3

        def known_queue_pairs():
            qpn = observed()
            return forge("sack", RECEIVER, SENDER, "--seconds", seconds, "--rate", 8000,
                         "--qpn", qpn[SENDER], "--remote-qpn", qpn[RECEIVER])

        transfer = self.attack(seconds + 3, known_queue_pairs)
        counters = transfer.counters()
        dropped = sum(counters.get(f"drop_sack_{why}", 0) for why in ("unsent", "old", "ev"))
        kept = self.kept(transfer, 0, seconds)
        print(f"8,000 forged SACKs a second, with known queue pairs: {kept:.1%} of the goodput, "
              f"{dropped} dropped, {counters.get('evs_lost', 0)} paths disabled")
        self.expect_more(dropped, seconds * 8000 * 0.9, "dropped")
        self.expect_kept(kept, 0.97)

    @machine.repeated
    def test_positive_acknowledgements_of_a_known_queue_pair_have_no_effect(self):  # SEC-16
        seconds = 60 if OPTIONS.long else 3
        transfer = self.attack(seconds + 3, lambda: forge(
            "acknowledge", RECEIVER, SENDER, "--seconds", seconds, "--rate", 20000, "--qpn",
            observed()[SENDER]))
        counters = transfer.counters()
        dropped = counters.get("drop_ack_unsent", 0) + counters.get("drop_ack_old", 0)
        print(f"20,000 forged acknowledgements a second, with a known queue pair: "
              f"{dropped / seconds:.0f} dropped a second")
        self.expect_more(dropped, seconds * 20000 * 0.9, "dropped")

    @machine.repeated
    def test_17_refusals_of_an_unknown_queue_pair_end_nothing_and_are_noticed(self):  # SEC-1, SEC-26
        seconds = 60 if OPTIONS.long else 4
        transfer = self.attack(seconds + 3, lambda: forge(
            "refusal", RECEIVER, SENDER, "--seconds", seconds, "--rate", 60000))
        self.expect_more(transfer.counters().get("drop_no_queue_pair", 0), seconds * 20000,
                         "dropped")
        self.assertIn("drop_no_queue_pair", transfer.client_text)

    def test_18_probes_of_unknown_hosts_are_answered_in_part(self):  # SEC-19
        count, rate_goal, burst, answered_max = 120_000, 40_000, 4096, 10_000
        transfer = self.attack(6, lambda: forge("ev-probe", ATTACKER, SENDER, "--count", count,
                                                "--rate", rate_goal))
        seconds = (self.ended_ns - self.began_ns) / 1e9
        counters = transfer.counters()
        answered = counters["endpoint_responses_sent"]
        print(f"{count / seconds:.0f} probes a second from an unknown host: "
              f"{answered / seconds:.0f} answered a second")
        # A busy machine still takes from its sockets for a while what has been sent.
        self.assertLess(answered, burst + (seconds + 1) * answered_max)
        dropped = counters.get("drop_endpoint_flood", 0)
        print(f"{dropped} of {count} dropped; a busy machine loses others in full sockets before")
        if count / seconds > 2 * answered_max:
            self.assertLess(answered, count * 0.75)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mrc", required=True)
    parser.add_argument("--forger", required=True)
    parser.add_argument("--rate", default="100mbit")
    parser.add_argument("--long", action="store_true", help="as often and as long as documented")
    OPTIONS, rest = parser.parse_known_args()
    FORGER = os.path.abspath(OPTIONS.forger)
    RATE_GBPS = float(OPTIONS.rate[:-4]) / 1000
    run_tests(lambda lab: globals().update(LAB=lab), OPTIONS.mrc, "udp", OPTIONS.rate, rest)
