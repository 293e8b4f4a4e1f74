#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The same faults in the same lab for TCP, for MPTCP with a subflow in each plane, and for MRC.

All three are measured alike: bytes that come in at the receiver's ports, once a millisecond. TCP
and MPTCP are iperf3 over the kernel; their packets choose among the T1s by hash. Routes are static,
as in a fabric that leaves failures to the transport.
"""
import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

from lab import RECOVERED, Lab, longest_stall, rate, read_timeline, recovery_ms

RUN_S = 9
FAULT_AFTER_S = 3.0
FAULT_FOR_S = 4.0
PLANES = 4
SENDER, RECEIVER = "h0", "h2"
RACK = {"h0": (0, 1), "h2": (1, 1)}  # rack, place in it

# name: part of the capacity of all planes that is left
FAULTS = {"far-link": 1.0, "switch": 1.0, "plane": 0.75, "port": 0.75, "far-port": 0.75,
          "loss": 1.0}
TRANSPORTS = ["tcp", "mptcp", "mrc"]


def address(host, plane):
    rack, place = RACK[host]
    return f"fd4d:5243:0:{plane}::{rack:x}:{place:x}"


def sample(path, seconds):
    """Runs in the receiver's namespace."""
    end = time.monotonic_ns() + int(seconds * 1e9)
    following = time.monotonic_ns()
    rows = []
    with open("/proc/self/net/dev", "rb", buffering=0) as file:
        while following < end:
            file.seek(0)
            total = 0
            for line in file.read().splitlines():
                name, _, figures = line.partition(b":")
                if name.strip().startswith(b"p") and figures:
                    total += int(figures.split()[0])
            rows.append((time.monotonic_ns(), total))
            following += 1_000_000
            time.sleep(max(0, (following - time.monotonic_ns()) / 1e9))
    with open(path, "w", encoding="utf-8") as out:
        out.write("time_ns,bytes\n" + "".join(f"{when},{count}\n" for when, count in rows))


def busy_uplink(lab, plane):
    """The uplink of the sender's T0 that carries most, of those in the plane."""
    def sent():
        text = subprocess.run(["ip", "netns", "exec", f"mrc-{lab.name}-p{plane}.t0-0", "cat",
                               "/proc/net/dev"], capture_output=True, text=True,
                              check=True).stdout
        return {line.split(":")[0].strip(): int(line.split(":")[1].split()[8])
                for line in text.splitlines() if line.strip().startswith("up")}
    first = sent()
    time.sleep(0.2)
    second = sent()
    return max(second, key=lambda name: second[name] - first[name])[2:]


def fault_command(lab, fault):
    """Plane 0 is hit, in which every transport has traffic."""
    uplink = busy_uplink(lab, 0)
    return {"far-link": ["cut", f"p0.t0-1/up{uplink}"],
            "switch": ["cut", f"p0.t1-{uplink}"],
            "plane": ["cut", "p0"],
            "port": ["cut", f"{SENDER}/p0", "--admin"],
            "far-port": ["cut", f"{RECEIVER}/p0", "--admin"],
            "loss": ["cut", f"p0.t0-1/up{uplink}", "--silent", "--loss", "20%"]}[fault]


def start_transport(lab, transport):
    if transport == "mrc":
        server = lab.start(RECEIVER, "perf", "write-bw", "--quiet")
        client = lab.start(SENDER, "perf", "write-bw", RECEIVER, "--quiet", "-D", str(RUN_S),
                           "--report_gbits")
        return server, client
    prefix = ["mptcpize", "run"] if transport == "mptcp" else []
    server = lab.start_program(RECEIVER, *prefix, "iperf3", "-s", "-1")
    time.sleep(0.5)
    client = lab.start_program(SENDER, *prefix, "iperf3", "-J", "-t", str(RUN_S), "-c",
                               address(RECEIVER, 0))
    return server, client


def set_up_mptcp(lab):
    for host in (SENDER, RECEIVER):
        lab.run("exec", host, "--", "ip", "mptcp", "limits", "set", "subflow", "8",
                "add_addr_accepted", "8")
    for plane in range(1, PLANES):
        lab.run("exec", RECEIVER, "--", "ip", "mptcp", "endpoint", "add",
                address(RECEIVER, plane), "dev", f"p{plane}", "signal")


def stop(*processes):
    for process in processes:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
            try:
                process.communicate(timeout=5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()


def run_one(lab, transport, fault, folder):
    timeline = os.path.join(folder, f"{transport}-{fault}.csv")
    server, client = start_transport(lab, transport)
    sampler = lab.start_program(RECEIVER, sys.executable, os.path.abspath(__file__), "--sample",
                                timeline, str(RUN_S - 0.5))
    try:
        time.sleep(FAULT_AFTER_S)
        command = fault_command(lab, fault)
        moment = json.loads(lab.run(command[0], *command[1:], "--json"))
        time.sleep(FAULT_FOR_S)
        lab.run("heal")
        sampler.communicate(timeout=RUN_S + 10)
        try:
            client.communicate(timeout=RUN_S + 10)
        except subprocess.TimeoutExpired:
            pass
    finally:
        stop(client, server, sampler)
        lab.run("heal")
    rows = read_timeline(timeline)
    fault_ns = moment["done_ns"]
    before = rate(rows, fault_ns - 1_000_000_000, fault_ns - 5_000_000)
    left = FAULTS[fault] if transport != "tcp" else 1.0  # TCP has only the plane that is hit
    return {"transport": transport, "fault": fault, "command": " ".join(command),
            "before_gbps": round(before, 3),
            "recovery_ms": recovery_ms(rows, fault_ns, RECOVERED * left * before),
            "stall_ms": longest_stall(rows, fault_ns),
            "during_gbps": round(rate(rows, fault_ns, fault_ns + int(FAULT_FOR_S * 0.9e9)), 3)}


def print_table(outcomes):
    print("| fault | transport | before | while it lasts | nothing arrives for | "
          "95 % of what is left after |")
    print("|---|---|---|---|---|---|")
    for one in outcomes:
        recovery = ("not within 2 s" if one["recovery_ms"] is None
                    else f"{one['recovery_ms']} ms")
        print(f"| {one['fault']} | {one['transport']} | {one['before_gbps']:.2f} Gb/s | "
              f"{one['during_gbps']:.2f} Gb/s | {one['stall_ms']:.0f} ms | {recovery} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mrc")
    parser.add_argument("--rate", default="200mbit")
    parser.add_argument("--mode", default="srv6")
    parser.add_argument("--faults", default=",".join(FAULTS))
    parser.add_argument("--transports", default=",".join(TRANSPORTS))
    parser.add_argument("--json")
    parser.add_argument("--sample", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.sample:
        sample(options.sample[0], float(options.sample[1]))
        return 0
    outcomes = []
    with tempfile.TemporaryDirectory() as folder, Lab(options.mrc, options.mode,
                                                      options.rate) as lab:
        set_up_mptcp(lab)
        for fault in options.faults.split(","):
            for transport in options.transports.split(","):
                outcomes.append(run_one(lab, transport, fault, folder))
                print_table(outcomes[-1:])
                sys.stdout.flush()
    print_table(outcomes)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(outcomes, file, indent=2)
    return 0


if __name__ == "__main__":
    sys.exit(main())
