#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Five incidents of a lab, and each replayed in the simulator from the lab's journal.

h0 writes to h2 while a link is cut, flaps, loses packets silently, a host's port or a switch is down;
`mrc lab incident` makes a scenario of it, which runs with the configuration of the hosts. Side by
side: goodput before, at the beginning, during and after the incident, retransmits, paths disabled.
Fails where the two differ by more than is explained in docs/guide/simulated-and-run.md.
"""
import argparse
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass

import machine
import markdown
from lab import Lab, rate, read_timeline

SENDER, RECEIVER = "h0", "h2"
MESSAGE, DEPTH = 256 * 1024, 16  # as mrc lab incident has them
MIB = 128
AFTER_S, FOR_S = 0.8, 0.8
MOMENT_S = 0.2  # what "at the beginning" is
RUN_MAX_S = 120
FACTOR = 1.25  # of goodput, at most
LITTLE = 30  # retransmits, that chance may make or spare

# Of four planes, those of which this takes all that h0 has there.
INCIDENTS = {
    "cut": ["cut", "p1.t0-0/up0"],
    "flap": ["flap", "p1.t0-0/up1", "--hz", "5", "--for", f"{FOR_S}s"],
    "silent loss": ["cut", "p2.t0-1/up1", "--silent", "--loss", "20%"],
    "port": ["cut", "h0/p3"],
    "switch": ["cut", "p0.t1-1"],
}


@dataclass
class Outcome:
    before: float  # Gb/s
    beginning: float
    during: float
    after: float
    retransmits: int
    disabled: int
    restored: int


def outcome(rate_between, begin_s, end_s, counts):
    """`rate_between` takes seconds since the traffic began."""
    return Outcome(rate_between(begin_s - 0.4, begin_s - 0.02),
                   rate_between(begin_s, begin_s + MOMENT_S),
                   rate_between(begin_s + MOMENT_S, end_s),
                   rate_between(end_s + MOMENT_S, end_s + MOMENT_S + 0.4), *counts)


class Incident:
    def __init__(self, lab, folder, command):
        self.lab, self.command = lab, command
        self.timeline = os.path.join(folder, "timeline.csv")
        self.result = os.path.join(folder, "client.json")
        self.scenario = os.path.join(folder, "incident.toml")
        self.begin_s = self.end_s = 0.0

    def run_in_lab(self):
        server = self.lab.start(RECEIVER, "perf", "write-bw", "--quiet", "--timeline", self.timeline)
        client = self.lab.start(SENDER, "perf", "write-bw", RECEIVER, "--quiet", "--verify", "-s",
                                str(MESSAGE), "-n", str(MIB * (1 << 20) // MESSAGE), "-t",
                                str(DEPTH), "--json", self.result)
        try:
            time.sleep(AFTER_S)
            began, ended = self.break_and_heal()
            texts = [process.communicate(timeout=RUN_MAX_S)[0] for process in (client, server)]
        finally:
            for process in (client, server):
                if process.poll() is None:
                    process.kill()
                    process.communicate()
            self.lab.run("heal")
        if client.returncode or server.returncode or "verified" not in texts[1]:
            raise RuntimeError(f"not all bytes verified: {texts}")
        rows = read_timeline(self.timeline)
        start = next(when for when, count in rows if count > rows[0][1])
        self.begin_s, self.end_s = (began - start) / 1e9, (ended - start) / 1e9
        self.write_scenario(start)
        with open(self.result, encoding="utf-8") as file:
            counters = json.load(file)["counters"]
        return outcome(lambda begin, end: rate(rows, start + int(begin * 1e9), start + int(end * 1e9)),
                       self.begin_s, self.end_s,
                       (sum(value for key, value in counters.items()
                            if key.startswith("retransmits_")),
                        counters.get("evs_lost", 0), counters.get("evs_readmitted", 0)))

    def break_and_heal(self):
        """When it began and when it had ended, by CLOCK_MONOTONIC."""
        if self.command[0] == "flap":
            began = time.monotonic_ns()
            self.lab.run(*self.command)
            return began, time.monotonic_ns()
        began = json.loads(self.lab.run(*self.command, "--json"))["done_ns"]
        time.sleep(FOR_S)
        self.lab.run("heal")
        return began, time.monotonic_ns()

    def write_scenario(self, start):
        text = self.lab.run("incident", "--begin", str(start), "--flow",
                            f"{SENDER}:{RECEIVER}:{MIB}MiB")
        with open(self.scenario, "w", encoding="utf-8") as file:
            file.write(text)

    def run_in_simulator(self):
        config = f"/run/openmrc/labs/{self.lab.name}/{SENDER}/openmrc.toml"
        done = subprocess.run([self.lab.mrc, "sim", "run", self.scenario, "--quiet", "--host-config",
                               config, "--json", "-"], timeout=RUN_MAX_S, text=True,
                              capture_output=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"mrc sim run: {done.stderr}")
        result = json.loads(done.stdout)
        totals, width = result["totals"], result["bucket_width_ps"] / 1e12
        payload = [sum(bucket["payload_bytes"]) for bucket in result["buckets"]]

        def rate_between(begin, end):
            part = payload[int(begin / width):int(end / width)]
            return sum(part) * 8 / 1e9 / (len(part) * width)
        return outcome(rate_between, self.begin_s, self.end_s,
                       (totals["retransmissions"], totals["evs_lost"], totals["evs_readmitted"]))


def median_of(outcomes):
    return Outcome(*(statistics.median(column)
                     for column in zip(*(vars(each).values() for each in outcomes))))


def problems_of(name, lab, sim):
    problems = []
    for what in ("before", "during", "after"):
        both = sorted((getattr(lab, what), getattr(sim, what)))
        if both[1] > FACTOR * both[0]:
            problems.append(f"{name}: goodput {what}: {getattr(lab, what):.3f} Gb/s in the lab, "
                            f"{getattr(sim, what):.3f} simulated")
    if name != "port":  # whose NIC knows: a few packets are lost on their way, and hardly a path is blamed
        for side, found in (("lab", lab), ("simulator", sim)):
            if found.disabled < 1 or found.restored < 1:
                problems.append(f"{name}: {side}: {found.disabled} paths disabled, {found.restored} restored")
        few, many = sorted((lab.retransmits, sim.retransmits))
        if many > 4 * few + LITTLE:
            problems.append(f"{name}: {lab.retransmits:.0f} retransmits in the lab, "
                            f"{sim.retransmits} simulated")
    return problems


def rows_of(name, labs, sim):
    figures = [("goodput before, Gb/s", "before", "{:.3f}"),
               (f"in its first {MOMENT_S * 1e3:.0f} ms", "beginning", "{:.3f}"),
               ("while it lasts", "during", "{:.3f}"), ("afterwards", "after", "{:.3f}"),
               ("retransmits", "retransmits", "{:,.0f}"), ("paths disabled", "disabled", "{:,.0f}"),
               ("paths restored", "restored", "{:,.0f}")]
    return [(name if i == 0 else "", what,
             markdown.spread([getattr(each, figure) for each in labs], form),
             form.format(getattr(sim, figure)))
            for i, (what, figure, form) in enumerate(figures)]


def replay(lab, folder, name, runs):
    incident = Incident(lab, folder, INCIDENTS[name])
    labs = [incident.run_in_lab() for _ in range(runs)]
    return labs, incident.run_in_simulator()  # of the last one


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mrc", required=True)
    parser.add_argument("--runs", type=int, default=1, help="of each incident in the lab")
    parser.add_argument("--incidents", default=",".join(INCIDENTS), help="which, with commas")
    parser.add_argument("--write", help="document that gets the table, between its markers")
    options = parser.parse_args()
    if os.geteuid() != 0:
        print("needs root, for network namespaces")
        return 77
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("terminated"))  # the lab is taken down
    rows = [("incident", "what", "lab" + (f", median of {options.runs}" if options.runs > 1 else ""),
             "simulator")]
    problems = []
    with tempfile.TemporaryDirectory() as folder, Lab(options.mrc, "srv6", "100mbit",
                                                      name="replay") as lab:
        for name in options.incidents.split(","):
            (labs, sim), found = machine.attempt(
                lambda name=name: replay(lab, folder, name, options.runs),
                lambda both, name=name: problems_of(name, median_of(both[0]), both[1]))
            rows += rows_of(name, labs, sim)
            problems += found
    return markdown.publish(rows, problems, "replay", options.write)


if __name__ == "__main__":
    sys.exit(main())
