#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Faults at random, drawn from a seed, under traffic that is verified byte by byte.

  chaos.py --mrc build/release/tools/mrc --seed 1 --minutes 30

Three pairs of hosts exchange messages all the time, between racks and within one. At the end there
must be no error, no corruption, and paths in use again; a report says what happened.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

import machine
from lab import Lab

# From, to, options. Hosts h0 and h1 are in one rack, h2 and h3 in the other. No two of them share a
# link in one direction: switches of Linux do not mark, so a full queue would look like a fault.
PAIRS = [("h0", "h2", ["-s", "256K"]), ("h3", "h1", ["-s", "20000", "-q", "8"]),
         ("h2", "h3", ["-s", "64K"])]
SETTLE_S = 8  # after the last fault, for all paths to come back
# On a busy machine a path may be taken for lost at any moment, also at the last; one that never comes
# back is a path of every sample.
OUT_AT_THE_END_MAX = 2
# Without a fault hardly anything is retransmitted, however slow the links are.
CALM_S = 3
RETRANSMITS_WHEN_CALM_MAX = 0.01


def start_pairs(lab, seconds, folder):
    processes = []
    for place, (source, sink, extra) in enumerate(PAIRS):
        port = str(18515 + place)
        result = os.path.join(folder, f"{place}.json")
        processes.append((f"{source} > {sink}", result, [
            lab.start(sink, "perf", "write-bw", "--quiet", "-p", port),
            lab.start(source, "perf", "write-bw", sink, "--quiet", "--verify", "-t", "8",
                      *extra, "-p", port, "-D", str(seconds), "--json", result)]))
    return processes


def collect(processes):
    rows, errors = [], []
    for name, result, (server, client) in processes:
        texts = [client.communicate(timeout=120)[0]]
        if client.returncode:
            server.kill()
        texts.append(server.communicate(timeout=60)[0])
        if client.returncode or server.returncode:
            errors.append(f"{name}: client {texts[0]} server {texts[1]}")
            continue
        with open(result, encoding="utf-8") as file:
            report = json.load(file)
        counters = report["counters"]
        rows.append({"pair": name, "gib": report["results"]["bytes"] / (1 << 30),
                     "gbps": report["results"]["bytes"] * 8 / report["results"]["seconds"] / 1e9,
                     "messages": report["results"]["n_iterations"],
                     "sent": counters["data_sent"],
                     "retransmits": sum(value for key, value in counters.items()
                                        if key.startswith("retransmits_")),
                     "evs_lost": counters.get("evs_lost", 0),
                     "evs_readmitted": counters.get("evs_readmitted", 0)})
        if "verified, byte by byte" not in texts[1]:
            errors.append(f"{name}: nothing was verified: {texts[1]}")
        rows[-1]["bad"] = sum(plane["ASSUMED_BAD"] + plane["DENIED"] for plane in report["paths"])
    return rows, errors


def traffic(lab, seconds, folder, meanwhile):
    """Returns what came of `meanwhile`, a row for each pair, and errors."""
    processes = start_pairs(lab, seconds, folder)
    try:
        result = meanwhile()
        return result, *collect(processes)
    finally:
        for _, _, pair in processes:
            for process in pair:
                if process.poll() is None:
                    process.kill()
                    process.communicate()


def retransmits_when_calm(outcome):
    _, rows, _ = outcome
    return [f"{row['pair']}: {row['retransmits']} of {row['sent']} packets retransmitted without a "
            "fault" for row in rows if row["retransmits"] > RETRANSMITS_WHEN_CALM_MAX * row["sent"]]


def paths_out_at_the_end(outcome):
    _, rows, _ = outcome
    return [f"{row['pair']}: {row['bad']} paths are not back in use" for row in rows
            if row["bad"] > OUT_AT_THE_END_MAX]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mrc", required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=2)
    parser.add_argument("--rate", default="100mbit")
    parser.add_argument("--mode", default="srv6")
    options = parser.parse_args()
    if os.geteuid() != 0:
        print("needs root, for network namespaces")
        return 77
    seconds = int(options.minutes * 60)
    with tempfile.TemporaryDirectory() as folder, Lab(options.mrc, options.mode,
                                                      options.rate) as lab:
        (_, _, errors), retransmitting = machine.attempt(
            lambda: traffic(lab, CALM_S, folder, lambda: None), retransmits_when_calm)
        errors += retransmitting

        def cause_faults():
            time.sleep(2)
            return subprocess.run(lab.command("chaos", "--seed", str(options.seed), "--for",
                                              f"{seconds - 2}s", "--json"), text=True,
                                  capture_output=True, timeout=seconds + 60, check=False)
        (chaos, rows, more), out = machine.attempt(
            lambda: traffic(lab, seconds + SETTLE_S, folder, cause_faults), paths_out_at_the_end)
        errors += more + out
    if chaos.returncode:
        errors.append(f"mrc lab chaos: {chaos.stderr}")
    faults = [json.loads(line) for line in chaos.stdout.splitlines() if line.startswith("{")]
    print(f"seed {options.seed}, mode {options.mode}, {options.minutes:g} minutes, "
          f"{len(faults) // 2} faults")
    print(f"{'pair':10} {'verified':>10} {'goodput':>9} {'messages':>9} {'retransmits':>11} "
          f"{'EVs lost':>9} {'back':>6}")
    for row in rows:
        print(f"{row['pair']:10} {row['gib']:6.2f} GiB {row['gbps']:4.2f} Gb/s "
              f"{row['messages']:9} {row['retransmits']:11} {row['evs_lost']:9} "
              f"{row['evs_readmitted']:6}")
    for error in errors:
        print(f"ERROR: {error}")
    print("no error, no corruption, paths back in use" if not errors
          else f"{len(errors)} errors")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
