#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Trains on four hosts of a lab while it is broken: over MRC, TCP and MPTCP, with the same seed.

    sudo examples/training/run.py --output results

writes the CSV of each run, summary.json and summary.md; plot.py draws them. TCP is gloo's own, in plane 0; MPTCP the
same with a subflow in each plane. Each fault hits plane 0, and is healed after some seconds. Exits with 1 if training
over MRC did not end with the loss of the run without a fault, to the last bit.
"""
import argparse
import csv
import itertools
import json
import os
import signal
import statistics
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
RANKS, PLANES = 4, 4
MPTCP_PORT = 40000
FAULTS = {"none": None,
          "plane": ["cut", "p0"],
          "flap": ["flap", "p0.t0-0/up0", "--hz", "5", "--for"],
          "switch": ["cut", "p0.t0-1"],
          "silent-switch": ["cut", "p0.t1-0", "--silent"]}
TRANSPORTS = ("openmrc", "tcp", "mptcp")


class Lab:
    """Four hosts, four planes; gone at the end."""

    def __init__(self, mrc, rate, mode):
        self.mrc, self.name = mrc, f"train{os.getpid()}"
        self.run("up", self.name, "--rate", rate, "--mode", mode)

    def run(self, *arguments):
        return subprocess.run([self.mrc, "lab", *arguments], check=True, capture_output=True,
                              text=True, timeout=60).stdout

    def command(self, host, *command):
        return [self.mrc, "lab", "exec", "--lab", self.name, host, "--", *command]

    def on(self, host, *command):
        return subprocess.run(self.command(host, *command), check=True, capture_output=True,
                              text=True, timeout=60).stdout

    def down(self):
        subprocess.run([self.mrc, "lab", "down", self.name], check=False, capture_output=True)


def set_up_mptcp(lab):
    """Each host tells others of its address in each plane. gloo listens only in plane 0, so that the kernel needs a
    port of its own there."""
    for rank in range(RANKS):
        host = f"h{rank}"
        lab.on(host, "ip", "mptcp", "limits", "set", "subflow", "8", "add_addr_accepted", "8")
        for plane in range(1, PLANES):
            address = lab.on(host, "getent", "ahostsv6", f"{host}.p{plane}").split()[0]
            lab.on(host, "ip", "mptcp", "endpoint", "add", address, "dev", f"p{plane}", "signal",
                   "port", str(MPTCP_PORT + plane))


def set_timestamps(lab, enabled):
    """An address of IPv6 with a port does not fit into the options beside them."""
    for rank in range(RANKS):
        lab.on(f"h{rank}", "sysctl", "-qw", f"net.ipv4.tcp_timestamps={int(enabled)}")


def joins(lab):
    """Subflows of MPTCP that were accepted so far."""
    text = "".join(lab.on(f"h{rank}", "cat", "/proc/net/netstat") for rank in range(RANKS))
    lines = [line.split() for line in text.splitlines() if line.startswith("MPTcpExt:")]
    return sum(int(dict(zip(names, values))["MPJoinAckRx"])
               for names, values in zip(lines[::2], lines[1::2]))


def start(lab, transport, options, port, output):
    """A process for each rank."""
    script = [sys.executable, str(HERE / "train.py"), "--backend", "openmrc"]
    if transport != "openmrc":
        script = [sys.executable, str(HERE / "over_tcp.py"), "--backend", "plain"]
    if transport == "mptcp":
        script = ["mptcpize", "run", *script]
    processes = []
    for rank in range(RANKS):
        environment = os.environ | {
            "RANK": str(rank), "WORLD_SIZE": str(RANKS), "MASTER_ADDR": "h0",
            "MASTER_PORT": str(port), "TCP_ADDRESS": f"h{rank}.p0", "OPENBLAS_NUM_THREADS": "1"}
        if options.python_path:
            environment["PYTHONPATH"] = options.python_path
        processes.append(subprocess.Popen(
            lab.command(f"h{rank}", *script, "--steps", str(options.steps),
                        *(["--output", str(output)] if rank == 0 else [])),
            env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True))
    return processes


def read(path):
    with open(path, encoding="utf-8") as file:
        return [(int(step), float(when), float(took), loss)
                for step, when, took, loss in csv.reader(file)]


def wait_for_step(processes, path, step):
    while processes[0].poll() is None:
        if path.exists() and len(path.read_text(encoding="utf-8").splitlines()) > step:
            return
        time.sleep(0.02)


def break_it(lab, fault, seconds):
    """Returns when it began and ended, on the clock of the ranks."""
    command = FAULTS[fault]
    begin = time.monotonic()
    if command[0] == "flap":
        lab.run(*command, f"{seconds}s", "--lab", lab.name)
    else:
        lab.run(*command, "--lab", lab.name)
        time.sleep(seconds)
        lab.run("heal", "--lab", lab.name)
    return begin, time.monotonic()


def run_one(lab, transport, fault, number, options, port):
    output = options.output / f"{transport}-{fault}-{number}.csv"
    output.unlink(missing_ok=True)
    set_timestamps(lab, transport != "mptcp")
    joined = joins(lab)
    processes = start(lab, transport, options, port, output)
    moments, errors = None, []
    try:
        wait_for_step(processes, output, options.steps // 4)
        if FAULTS[fault]:
            moments = break_it(lab, fault, options.seconds)
        for process in processes:
            errors.append(process.communicate(timeout=options.timeout)[1].strip())
    except subprocess.TimeoutExpired:
        errors.append(f"not at its end {options.timeout} s later")
    finally:
        for process in processes:
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
                process.communicate()
        lab.run("heal", "--lab", lab.name)
    failed = [one for process, one in zip(processes, errors) if process.returncode != 0]
    result = summary(transport, fault, read(output) if output.exists() else [], moments, failed)
    result["run"] = number
    return result | ({"subflows": joins(lab) - joined} if transport == "mptcp" else {})


def in_ms(function, times):
    return round(1000 * function(times), 1) if times else None


def summary(transport, fault, rows, moments, errors):
    times = [took for _, _, took, _ in rows[5:]]  # the first ones allocate
    result = {"transport": transport, "fault": fault, "steps": len(rows),
              "loss": rows[-1][3] if rows else None, "errors": [one[-300:] for one in errors],
              "median_ms": in_ms(statistics.median, times), "worst_ms": in_ms(max, times)}
    if moments:
        during = [took for _, when, took, _ in rows
                  if moments[0] <= when and when - took <= moments[1]]
        result |= {"fault_begin": moments[0], "fault_end": moments[1],
                   "steps_during": sum(moments[0] <= when <= moments[1] for _, when, _, _ in rows),
                   "median_during_ms": in_ms(statistics.median, during),
                   "worst_during_ms": in_ms(max, during)}
    return result


def span(values):
    """One figure, or the least and the greatest of several runs."""
    found = sorted(value for value in values if value is not None)
    return "" if not found else f"{found[0]}" if found[0] == found[-1] else f"{found[0]} to {found[-1]}"


def table(results, steps):
    """A line for each fault and transport, of all runs."""
    lines = ["| fault | over | runs | steps while it lasted | median of those, ms | worst, ms | loss at the end |",
             "|---|---|---|---|---|---|---|"]
    for fault, transport in dict.fromkeys((one["fault"], one["transport"]) for one in results):
        runs = [one for one in results if (one["fault"], one["transport"]) == (fault, transport)]
        suffix = "" if fault == "none" else "_during"
        losses = {one["loss"] if one["steps"] == steps else f"stopped at step {one['steps']}"
                  for one in runs}
        lines.append(f"| {fault} | {transport} | {len(runs)} | "
                     f"{span(one.get('steps_during') for one in runs)} | "
                     f"{span(one[f'median{suffix}_ms'] for one in runs)} | "
                     f"{span(one[f'worst{suffix}_ms'] for one in runs)} | {', '.join(sorted(losses))} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mrc", default="mrc")
    parser.add_argument("--python-path", help="where the package openmrc is, if not installed")
    parser.add_argument("--output", type=Path, default=Path("training-results"))
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--seconds", type=int, default=5, help="how long a fault lasts")
    parser.add_argument("--timeout", type=int, default=120, help="for the rest of a run, in s")
    parser.add_argument("--runs", type=int, default=3, help="of each; one says little")
    parser.add_argument("--rate", default="1gbit")
    parser.add_argument("--mode", default="srv6")
    parser.add_argument("--transports", nargs="+", choices=TRANSPORTS, default=TRANSPORTS)
    parser.add_argument("--faults", nargs="+", choices=FAULTS, default=list(FAULTS))
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # the lab is removed then, too
    lab = Lab(options.mrc, options.rate, options.mode)
    results = []
    try:
        if "mptcp" in options.transports:
            set_up_mptcp(lab)
        for number, fault, transport in itertools.product(range(options.runs), options.faults,
                                                          options.transports):
            results.append(run_one(lab, transport, fault, number, options, 29500 + len(results)))
            print(json.dumps(results[-1]), flush=True)
    finally:
        lab.down()
    (options.output / "summary.json").write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    (options.output / "summary.md").write_text(table(results, options.steps), encoding="utf-8")
    ours = [one for one in results if one["transport"] == "openmrc"]
    good = all(one["steps"] == options.steps and one["loss"] == ours[0]["loss"] and not one["errors"]
               for one in ours)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
