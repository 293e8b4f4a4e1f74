#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The same transfers in a lab and in the simulator, with the same openmrc.toml, side by side.

Undisturbed, while an uplink is cut, and with one key of [transport] more. Every byte is verified.
Fails where what is simulated is not what is run: docs/guide/simulated-and-run.md.
"""
import argparse
import json
import os
import sys
import tempfile
from dataclasses import asdict, dataclass
from typing import Callable, Optional

import markdown
from lab import Lab
from transfers import PAIRS, Transfers

CUT = ("p1.t0-0/up0", 0.8, 0.4)  # link, seconds from the start, seconds
PACKET = 4096
PACKETS_IN_NETWORK = 8  # two in each plane: what a window has elsewhere than at the sender's ports


@dataclass
class Case:
    name: str
    checks: Callable
    factor: float  # of goodput between the two, at most
    key: str = ""
    cut: Optional[tuple] = None


@dataclass
class Pair:
    """What one case gave."""
    lab: object
    sim: object
    fixed_window: int

    def ratio(self):
        both = self.lab.gbps(), self.sim.gbps()
        return max(both) / min(both)


# Checks: (whether it holds, what is wrong if not). `base` is the undisturbed case.
def check_undisturbed(pair, _):
    seen = pair.lab.details
    return [(seen["queued_max"] > 1.25 * pair.fixed_window,
             f"lab: NSCC let {seen['queued_max']} bytes wait, no more than a fixed window"),
            (seen["share_same"] > 0.1, "lab: paths came in turn with path_policy = spray")]


def check_cut(pair, _):
    # Both senders have an EV over the link: if one of all EVs is disabled in the end, it is for a
    # packet that a busy machine delivered late.
    return [(pair.lab.disabled >= 1 and pair.sim.disabled >= 1, "no EV was disabled"),
            (pair.lab.bad_at_end < len(PAIRS), f"lab: {pair.lab.bad_at_end} EVs not restored"),
            (pair.sim.bad_at_end == 0, f"simulator: {pair.sim.bad_at_end} EVs not restored")]


def check_fixed_window(pair, base):
    queued = pair.lab.details["queued_max"]
    return [(abs(queued - pair.fixed_window) <= PACKETS_IN_NETWORK * PACKET,
             f"lab: {queued} bytes wait at a host, its window is {pair.fixed_window}"),
            (pair.sim.gbps() < 0.95 * base.sim.gbps(), "simulator: the window limits nothing")]


def check_round_robin(pair, base):
    same = pair.lab.details["share_same"]
    # Alternating senders never put two of their packets in a row on one uplink.
    return [(same < 0.02, f"lab: {same:.0%} of packets took the path of the one before"),
            (pair.sim.details["uplink_queue"] < base.sim.details["uplink_queue"],
             "simulator: queues at uplinks as long as with path_policy = spray")]


# Full links are full in both: there the factor is for the scheduling of the machine. While an
# uplink is cut the other is overloaded, and what is lost there decides. A fixed window just fills
# the simulated round trip; that of the lab is shorter, and it fills the links.
CASES = [Case("undisturbed", check_undisturbed, 1.1),
         Case("uplink cut", check_cut, 1.25, cut=CUT),
         Case("fixed window", check_fixed_window, 1.25, 'congestion = "fixed"'),
         Case("round-robin", check_round_robin, 1.1, 'path_policy = "round-robin"')]


def run_case(case, transfers):
    transfers.write_configs(case.key)
    return Pair(transfers.run_in_lab(case.cut), transfers.run_in_simulator(case.cut),
                transfers.fixed_window)


def problems_of(case, pair, base):
    checks = [(pair.ratio() <= case.factor, f"goodput {pair.lab.gbps():.3f} Gb/s in the lab, "
               f"{pair.sim.gbps():.3f} simulated; a factor of {case.factor} is explained"),
              *case.checks(pair, base)]
    return [f"{case.name}: {text}" for holds, text in checks if not holds]


def rows_of(case, pair, line_gbps):
    def both(what, text):
        return (what, text(pair.lab), text(pair.sim))

    seen = pair.lab.details
    reasons = ", ".join(f"{name} {count}" for name, count in seen["by_reason"].items() if count)
    rows = [both("goodput", lambda side: f"{side.gbps():.3f} Gb/s"),
            both("share of line rate", lambda side: f"{side.gbps() / line_gbps:.1%}"),
            both("completion time", lambda side: f"{max(side.seconds.values()):.3f} s"),
            both("data packets sent", lambda side: f"{side.packets:,}"),
            both("retransmits", lambda side: f"{side.retransmits:,}"),
            ("by reason", reasons or "-", "not counted"),
            ("spurious", str(seen["spurious"]), "not counted"),
            both("dropped by full queues", lambda side: f"{side.queue_drops:,}"),
            both("EVs disabled", lambda side: str(side.disabled)),
            both("EVs restored", lambda side: str(side.restored)),
            ("most bytes queued at h0", f"{seen['queued_max']:,}", "ports have no queue"),
            ("path as the packet before", f"{seen['share_same']:.0%}", "not counted"),
            ("most bytes queued at a T0 uplink", "not sampled",
             f"{pair.sim.details['uplink_queue']:,}")]
    return [(case.name if i == 0 else "", *row) for i, row in enumerate(rows)]


def compare(transfers):
    """Rows of the table, what is wrong, and all of it for programs."""
    transfers.write_configs("")
    rtts = transfers.idle_rtts_us()
    rows = [("case", "what", "lab", "simulator"),
            ("idle", "round trip", f"{rtts[0]:.0f} us", f"{rtts[1]:.0f} us")]
    base, problems, outcomes = None, [], []
    for case in CASES:
        pair = run_case(case, transfers)
        base = base or pair
        found = problems_of(case, pair, base)
        problems += found
        rows += rows_of(case, pair, transfers.line_gbps)
        outcomes.append({"case": case.name, "key": case.key, **asdict(pair), "problems": found})
    return rows, problems, outcomes


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mrc", required=True)
    parser.add_argument("--mode", default="srv6", choices=["srv6", "usid"])
    parser.add_argument("--rate", default="100mbit")
    parser.add_argument("--mib", type=int, default=112, help="that each sender writes")
    parser.add_argument("--json", help="file for all figures")
    parser.add_argument("--write", help="document that gets the table, between its markers")
    options = parser.parse_args()
    if os.geteuid() != 0:
        print("needs root, for network namespaces")
        return 77
    with tempfile.TemporaryDirectory() as folder, Lab(options.mrc, options.mode,
                                                      options.rate) as lab:
        rows, problems, outcomes = compare(Transfers(options.mrc, lab, folder, options.mib))
    table = markdown.table(rows)
    print(table)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(outcomes, file, indent=2)
    if options.write:
        markdown.replace_between_markers(options.write, "against_sim", table)
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
