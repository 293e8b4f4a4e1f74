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
import math
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
NEVER_MS = 2000
USED = 0.8  # least part of the links that must be in use before the fault, headers not counted

# name: what is done, planes that it takes, most ms to recovery; {0} to {3} are planes
FAULTS = {
    "link": ("cut p{1}.t0-0/up0", 0, 10),
    "far-link": ("cut p{1}.t0-1/up0", 0, 10),
    "plane": ("cut p{2}", 1, 50),
    "switch": ("cut p{0}.t1-1", 0, 10),
    "port": ("cut h0/p{3} --admin", 1, 10),
    "far-port": ("cut h2/p{3} --admin", 1, 10),
    "flap": ("flap p{1}.t0-0/up1 --hz 10 --for 3s", 0, None),
    "loss": ("cut p{3}.t0-1/up1 --silent --loss 20%", 0, None),
}


def undisturbed_ms(rows, fault_ns, goal):
    """The longest "recovery" at moments at which nothing has happened."""
    found = [recovery_ms(rows, fault_ns + at * 1_000_000, goal) for at in UNDISTURBED_AT_MS]
    return max(2000 if ms is None else ms for ms in found)


def run_fault(lab, name, gibibytes, folder, planes):
    command, taken, _ = FAULTS[name]
    command = command.format(*(plane % planes for plane in range(4))).split()
    left = 1 - taken / planes
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


def goals_missed(outcome, rate, slack, planes):
    if outcome["errors"]:
        return []  # is no matter of time
    missed = []
    if outcome["before_gbps"] < USED * planes * gbps(rate):
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


def print_summary(runs):
    """Of each fault: median, 95th percentile and worst of the recovery, in ms."""
    print(f"{'fault':10} {'runs':>5} {'median':>7} {'95 %':>7} {'worst':>7} {'no fault':>9} {'stall':>7} "
          f"{'not counted':>11}")
    for name in dict.fromkeys(one["fault"] for one in runs):
        of_fault = [one for one in runs if one["fault"] == name and "recovery_ms" in one]
        left_out = sum(one["not_counted"] for one in of_fault)
        good = [one for one in of_fault if one["quiet"]]
        if not good:
            print(f"{name:10} {0:5} the machine was never quiet, {left_out} runs are not counted")
            continue
        times = sorted(NEVER_MS if one["recovery_ms"] is None else one["recovery_ms"]
                       for one in good)
        at = lambda part, times=times: times[max(0, math.ceil(len(times) * part) - 1)]
        print(f"{name:10} {len(good):5} {at(0.5):4} ms {at(0.95):4} ms {times[-1]:4} ms "
              f"{max(one['undisturbed_ms'] for one in good):6} ms "
              f"{max(one['stall_ms'] for one in good):5} ms {left_out:11}")


def run_often(options, measure):
    """Each fault as often as was asked for; what the machine spoiled is repeated, whatever came out."""
    outcomes = []
    for name in options.faults.split(",") * options.runs:
        outcome, quiet, not_counted = machine.quiet_run(lambda name=name: measure(name),
                                                        options.attempts)
        outcome |= {"quiet": quiet, "not_counted": not_counted}
        outcomes.append(outcome)
        print_table(outcomes[-1:])
        sys.stdout.flush()
    print_summary(outcomes)
    return outcomes


def run_once(options, measure):
    outcomes = []
    for name in options.faults.split(","):
        outcome, missed = machine.attempt(
            lambda name=name: measure(name),
            lambda outcome: goals_missed(outcome, options.rate, options.slack, options.planes),
            options.attempts)
        outcome["errors"] += missed
        outcomes.append(outcome)
        print_table(outcomes[-1:])
        sys.stdout.flush()
    print_table(outcomes)
    return outcomes


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mrc", required=True)
    parser.add_argument("--mode", default="srv6", choices=["srv6", "usid", "udp", "xdp"])
    parser.add_argument("--planes", type=int, default=4, choices=range(2, 17), metavar="N")
    parser.add_argument("--ip", default="6", choices=["4", "6"], help="4 goes with --mode udp")
    parser.add_argument("--from", dest="source", default="lab", choices=["lab", "iproute2", "frr"],
                        help="what the lab is built from")
    parser.add_argument("--faults", default=",".join(FAULTS))
    parser.add_argument("--gib", type=float, default=1)
    parser.add_argument("--rate", default="200mbit")
    parser.add_argument("--json")
    parser.add_argument("--slack", type=float, default=1,
                        help="factor on the goals, for machines that are busy")
    parser.add_argument("--runs", type=int, default=1,
                        help="of all faults; more than one are summed up, and nothing is judged; a "
                             "run during which the machine was not quiet is repeated")
    parser.add_argument("--attempts", type=int, default=machine.ATTEMPTS,
                        help="of each fault, while a goal is missed or the machine is not quiet")
    options = parser.parse_args()
    if os.geteuid() != 0:
        print("needs root, for network namespaces")
        return 77
    with tempfile.TemporaryDirectory() as folder, Lab(options.mrc, options.mode,
                                                      options.rate, "--planes",
                                                      str(options.planes), "--ip",
                                                      options.ip, "--from",
                                                      options.source) as lab:
        run = run_often if options.runs > 1 else run_once
        outcomes = run(options,
                       lambda name: run_fault(lab, name, options.gib, folder, options.planes))
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(outcomes, file, indent=2)
    return 1 if options.runs == 1 and any(one["errors"] for one in outcomes) else 0


if __name__ == "__main__":
    sys.exit(main())
