#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The same transfers in a lab and in the simulator, with the same openmrc.toml, side by side.

Undisturbed, while an uplink is cut, and with one key of [transport] more. Every byte is verified.
Fails where what is simulated is not what is run: docs/guide/simulated-and-run.md.
"""
import argparse
import json
import os
import signal
import statistics
import sys
import tempfile
from dataclasses import asdict, dataclass
from typing import Callable, Optional

import machine
import markdown
from lab import Lab
from transfers import PAIRS, REASONS, Outcome, Transfers

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
    """What one case gave. The lab's runs differ, the simulator's would not."""
    lab: list
    sim: object
    fixed_window: int

    def lab_median(self, figure):
        return statistics.median(map(figure, self.lab))

    def ratio(self):
        both = self.lab_median(Outcome.gbps), self.sim.gbps()
        return max(both) / min(both)


def queued_max(run):
    return run.details["queued_max"]


def share_same(run):
    return run.details["share_same"]


# Checks: (whether it holds, what is wrong if not). `base` is the undisturbed case.
def check_undisturbed(pair, _):
    queued = pair.lab_median(queued_max)
    return [(queued > 1.25 * pair.fixed_window,
             f"lab: NSCC let {queued} bytes wait, no more than a fixed window"),
            (pair.lab_median(share_same) > 0.1, "lab: paths came in turn with path_policy = spray")]


def check_cut(pair, _):
    # Both senders have an EV over the link: if one of all EVs is disabled in the end, it is for a
    # packet that a busy machine delivered late.
    bad = pair.lab_median(lambda run: run.bad_at_end)
    return [(all(run.disabled >= 1 for run in [*pair.lab, pair.sim]), "no EV was disabled"),
            (all(run.restored >= 1 for run in [*pair.lab, pair.sim]), "no EV was restored"),
            (bad < len(PAIRS), f"lab: {bad} EVs not restored"),
            (pair.sim.bad_at_end == 0, f"simulator: {pair.sim.bad_at_end} EVs not restored")]


def check_fixed_window(pair, base):
    queued = pair.lab_median(queued_max)
    return [(abs(queued - pair.fixed_window) <= PACKETS_IN_NETWORK * PACKET,
             f"lab: {queued} bytes wait at a host, its window is {pair.fixed_window}"),
            (pair.sim.gbps() < 0.95 * base.sim.gbps(), "simulator: the window limits nothing")]


def check_round_robin(pair, base):
    same = pair.lab_median(share_same)
    # Alternating senders never put two of their packets in a row on one uplink.
    return [(same < 0.02, f"lab: {same:.0%} of packets took the path of the one before"),
            (pair.sim.details["uplink_queue"] < base.sim.details["uplink_queue"],
             "simulator: queues at uplinks as long as with path_policy = spray")]


# Full links are full in both: there the factor is for the scheduling of the machine, which costs a
# tenth on two cores with two programs beside the lab that never sleep. While an uplink is cut the
# other is overloaded, and what is lost there decides. A fixed window just fills the simulated round
# trip; that of the lab is shorter, and it fills the links.
CASES = [Case("undisturbed", check_undisturbed, 1.15),
         Case("uplink cut", check_cut, 1.25, cut=CUT),
         Case("fixed window", check_fixed_window, 1.25, 'congestion = "fixed"'),
         Case("round-robin", check_round_robin, 1.15, 'path_policy = "round-robin"')]


def run_case(case, transfers, runs):
    transfers.write_configs(case.key)
    return Pair([transfers.run_in_lab(case.cut) for _ in range(runs)],
                transfers.run_in_simulator(case.cut), transfers.fixed_window)


def problems_of(case, pair, base):
    checks = [(pair.ratio() <= case.factor, f"goodput {pair.lab_median(Outcome.gbps):.3f} Gb/s in "
               f"the lab, {pair.sim.gbps():.3f} simulated; a factor of {case.factor} is explained"),
              *case.checks(pair, base)]
    return [f"{case.name}: {text}" for holds, text in checks if not holds]


def rows_of(case, pair, line_gbps):
    def both(what, figure, form="{:,.0f}"):
        return (what, markdown.spread(list(map(figure, pair.lab)), form), form.format(figure(pair.sim)))

    def only_lab(what, figure, form="{:,.0f}", simulator="not counted"):
        return (what, markdown.spread(list(map(figure, pair.lab)), form), simulator)

    def by_reason(reason):
        return lambda run: run.details["by_reason"][reason]

    reasons = [only_lab(f"retransmits: {reason}", by_reason(reason)) for reason in REASONS
               if any(map(by_reason(reason), pair.lab))]
    rows = [both("goodput, Gb/s", Outcome.gbps, "{:.3f}"),
            both("share of line rate", lambda run: run.gbps() / line_gbps, "{:.1%}"),
            both("completion time, s", lambda run: max(run.seconds.values()), "{:.3f}"),
            both("data packets sent", lambda run: run.packets),
            both("retransmits", lambda run: run.retransmits),
            *reasons,
            only_lab("spurious", lambda run: run.details["spurious"]),
            both("dropped by full queues", lambda run: run.queue_drops),
            both("EVs disabled", lambda run: run.disabled),
            both("EVs restored", lambda run: run.restored),
            only_lab("most bytes queued at h0", queued_max, simulator="ports have no queue"),
            only_lab("path as the packet before", share_same, "{:.0%}"),
            ("most bytes queued at a T0 uplink", "not sampled",
             f"{pair.sim.details['uplink_queue']:,}")]
    return [(case.name if i == 0 else "", *row) for i, row in enumerate(rows)]


def compare(transfers, runs):
    """Rows of the table, what is wrong, and all of it for programs."""
    transfers.write_configs("")
    rtts = transfers.idle_rtts_us()
    rows = [("case", "what", f"lab, median of {runs} (least to greatest)", "simulator"),
            ("idle", "round trip, us", f"{rtts[0]:.0f}", f"{rtts[1]:.0f}")]
    base, problems, outcomes = None, [], []
    for case in CASES:
        pair, found = machine.attempt(lambda case=case: run_case(case, transfers, runs),
                                      lambda pair, case=case: problems_of(case, pair, base or pair))
        base = base or pair
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
    parser.add_argument("--runs", type=int, default=5, help="of each case in the lab")
    parser.add_argument("--json", help="file for all figures")
    parser.add_argument("--write", help="document that gets the table, between its markers")
    options = parser.parse_args()
    if os.geteuid() != 0:
        print("needs root, for network namespaces")
        return 77
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("terminated"))  # the lab is taken down
    with tempfile.TemporaryDirectory() as folder, Lab(options.mrc, options.mode,
                                                      options.rate) as lab:
        rows, problems, outcomes = compare(Transfers(options.mrc, lab, folder, options.mib),
                                           options.runs)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(outcomes, file, indent=2)
    return markdown.publish(rows, problems, "against_sim", options.write)


if __name__ == "__main__":
    sys.exit(main())
