#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Moves verified data across a lab of kernel SRv6 while parts of it fail, and measures how long
each failure is felt.

The time of recovery is that from the fault's taking effect to the first millisecond from which on
the goodput, over the next 10 ms and over the next 100 ms, is at least 95 % of what the remaining
network carries. A machine that is busy with other things falls below that without any fault: the
same is measured at moments before the fault, and what is found there is not the fault's. A missed
goal is measured again (machine.py); wrong data is an error at once.
"""
import argparse
import json
import os
import sys
import tempfile
import time

import machine
from lab import RECOVERED, Lab, longest_stall, rate, read_timeline, recovery_ms

RUN_MAX_S = 120
FAULT_AFTER_S = 2.0
FAULT_FOR_S = 3.0
UNDISTURBED_AT_MS = range(-1200, -300, 50)  # from the fault; each looks 100 ms ahead and more
MESSAGE = 256 * 1024
SENDER, RECEIVER = "h0", "h2"  # of different racks
PLANES = 4
USED = 0.8  # least part of the links that must be in use before the fault, headers not counted

# name: what is done, what undoes it, part of the capacity that is left, most ms to recovery
FAULTS = {
    "link": (["cut", "p1.t0-0/up0"], 1.0, 10),
    "far-link": (["cut", "p1.t0-1/up0"], 1.0, 10),
    "plane": (["cut", "p2"], 0.75, 50),
    "switch": (["cut", "p0.t1-1"], 1.0, 10),
    "port": (["cut", "h0/p3", "--admin"], 0.75, 10),
    "far-port": (["cut", "h2/p3", "--admin"], 0.75, 10),
    "flap": (["flap", "p1.t0-0/up1", "--hz", "10", "--for", "3s"], 1.0, None),
    "loss": (["cut", "p3.t0-1/up1", "--silent", "--loss", "20%"], 1.0, None),
}


def undisturbed_ms(rows, fault_ns, goal):
    """The longest "recovery" at moments at which nothing has happened."""
    found = [recovery_ms(rows, fault_ns + at * 1_000_000, goal) for at in UNDISTURBED_AT_MS]
    return max(2000 if ms is None else ms for ms in found)


def run_fault(lab, name, gibibytes, folder):
    command, left, _ = FAULTS[name]
    timeline = os.path.join(folder, f"{name}.csv")
    result = os.path.join(folder, f"{name}.json")
    messages = int(gibibytes * (1 << 30)) // MESSAGE
    server = lab.start(RECEIVER, "perf", "write-bw", "--quiet", "--timeline", timeline)
    client = lab.start(SENDER, "perf", "write-bw", RECEIVER, "--quiet", "--verify", "-s",
                       str(MESSAGE), "-n", str(messages), "-t", "16", "--json", result)
    try:
        time.sleep(FAULT_AFTER_S)
        if command[0] == "cut":
            fault_ns = json.loads(lab.run(*command, "--json"))["done_ns"]
            time.sleep(FAULT_FOR_S)
            lab.run("heal")
        else:
            fault_ns = time.monotonic_ns()
            lab.run(*command)
        client_text = client.communicate(timeout=RUN_MAX_S)[0]
        server_text = server.communicate(timeout=RUN_MAX_S)[0]
    finally:
        for process in (client, server):
            if process.poll() is None:
                process.kill()
                process.communicate()
        lab.run("heal")
    outcome = {"fault": name, "errors": [], "messages": messages, "disabled_at_end": 0}
    if client.returncode != 0 or server.returncode != 0:
        outcome["errors"].append(f"client: {client_text} server: {server_text}")
        return outcome
    if f"{messages} messages of {SENDER} verified" not in server_text:
        outcome["errors"].append(f"not all was verified: {server_text}")
    with open(result, encoding="utf-8") as file:
        report = json.load(file)
    rows = read_timeline(timeline)
    before = rate(rows, fault_ns - 1_000_000_000, fault_ns - 5_000_000)
    outcome.update(
        before_gbps=round(before, 3),
        recovery_ms=recovery_ms(rows, fault_ns, RECOVERED * left * before),
        undisturbed_ms=undisturbed_ms(rows, fault_ns, RECOVERED * before),
        during_gbps=round(rate(rows, fault_ns, fault_ns + int(FAULT_FOR_S * 0.9e9)), 3),
        stall_ms=longest_stall(rows, fault_ns),
        retransmits=sum(value for key, value in report["counters"].items()
                        if key.startswith("retransmits_")),
        spurious=report["counters"].get("spurious_retransmits", 0),
        evs_lost=report["counters"].get("evs_lost", 0),
        evs_readmitted=report["counters"].get("evs_readmitted", 0))
    outcome["disabled_at_end"] = sum(plane["ASSUMED_BAD"] + plane["DENIED"]
                                     for plane in report["paths"])
    return outcome


def gbps(rate):
    """Of 200mbit or 1gbit."""
    return float(rate[:-4]) * {"mbit": 1e-3, "gbit": 1}[rate[-4:]]


def goals_missed(outcome, rate, slack):
    if outcome["errors"]:
        return []  # is no matter of time
    missed = []
    if outcome["before_gbps"] < USED * PLANES * gbps(rate):
        missed.append(f"{outcome['fault']}: only {outcome['before_gbps']} Gb/s before the fault")
    goal, reached, noise = (FAULTS[outcome["fault"]][2], outcome["recovery_ms"],
                            outcome["undisturbed_ms"])
    if goal and (reached is None or reached > goal * slack + noise):
        missed.append(f"{outcome['fault']}: recovered after {reached} ms, the goal is {goal} ms x "
                      f"{slack}; without a fault {noise} ms")
    # One that is disabled in the last moment of the transfer has no time to come back.
    if outcome["disabled_at_end"]:
        missed.append(f"{outcome['fault']}: {outcome['disabled_at_end']} EVs are still disabled")
    return missed


def print_table(outcomes):
    print(f"{'fault':10} {'before':>8} {'during':>8} {'recovery':>9} {'no fault':>8} {'stall':>7} "
          f"{'retransmits':>11} {'spurious':>8} {'EVs lost':>8} {'back':>5}")
    for one in outcomes:
        if "before_gbps" in one:
            recovery = "never" if one["recovery_ms"] is None else f"{one['recovery_ms']} ms"
            print(f"{one['fault']:10} {one['before_gbps']:6.2f} G {one['during_gbps']:6.2f} G "
                  f"{recovery:>9} {one['undisturbed_ms']:5} ms {one['stall_ms']:5.1f}ms "
                  f"{one['retransmits']:11} {one['spurious']:8} {one['evs_lost']:8} "
                  f"{one['evs_readmitted']:5}")
        for error in one["errors"]:
            print(f"{one['fault']:10} ERROR: {error}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mrc", required=True)
    parser.add_argument("--mode", default="srv6", choices=["srv6", "usid", "udp"])
    parser.add_argument("--faults", default=",".join(FAULTS))
    parser.add_argument("--gib", type=float, default=1)
    parser.add_argument("--rate", default="200mbit")
    parser.add_argument("--json")
    parser.add_argument("--slack", type=float, default=1,
                        help="factor on the goals, for machines that are busy")
    parser.add_argument("--attempts", type=int, default=machine.ATTEMPTS,
                        help="of each fault, while a goal is missed")
    options = parser.parse_args()
    if os.geteuid() != 0:
        print("needs root, for network namespaces")
        return 77
    outcomes = []
    with tempfile.TemporaryDirectory() as folder, Lab(options.mrc, options.mode,
                                                      options.rate) as lab:
        for name in options.faults.split(","):
            outcome, missed = machine.attempt(
                lambda name=name: run_fault(lab, name, options.gib, folder),
                lambda outcome: goals_missed(outcome, options.rate, options.slack),
                options.attempts)
            outcome["errors"] += missed
            outcomes.append(outcome)
            print_table(outcomes[-1:])
            sys.stdout.flush()
    print_table(outcomes)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(outcomes, file, indent=2)
    return 1 if any(one["errors"] for one in outcomes) else 0


if __name__ == "__main__":
    sys.exit(main())
