#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""One queue pair over one cable (veth): goodput for each burst length, beside iperf3 TCP; latency
beside a bare UDP ping-pong. All in one run, in turns, so that ratios mean something on a machine
that others use. Needs root.

  one_hop.py --mrc build/release/tools/mrc [--pingpong build/bench/bench/udp_pingpong] [--svg FILE]
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

BURSTS = [1, 2, 4, 8, 16, 32]
EVS = 32
SECONDS = 2
ADDRESS = {1: "fd00:0:0:1::1", 2: "fd00:0:0:1::2"}


class Cable:
    """Two namespaces and a veth, gone at the end."""

    def __init__(self):
        self.names = {i: f"mrc-hop{os.getpid()}-{i}" for i in (1, 2)}

    def __enter__(self):
        for name in self.names.values():
            run("ip", "netns", "add", name)
        run("ip", "link", "add", "p0", "netns", self.names[1], "mtu", "9000", "type", "veth",
            "peer", "name", "p0", "netns", self.names[2], "mtu", "9000")
        for i, name in self.names.items():
            run("ip", "-n", name, "address", "add", ADDRESS[i] + "/64", "dev", "p0", "nodad")
            run("ip", "-n", name, "link", "set", "lo", "up")
            run("ip", "-n", name, "link", "set", "p0", "up")
        return self

    def __exit__(self, *_):
        for name in self.names.values():
            subprocess.run(["ip", "netns", "del", name], check=False)

    def command(self, i, *command):
        return ["ip", "netns", "exec", self.names[i], *command]


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout


def write_config(folder, i, burst, icrc):
    path = os.path.join(folder, f"{i}.toml")
    with open(path, "w", encoding="utf-8") as file:
        file.write(f'name = "host{i}"\nmode = "udp"\n'
                   f'[[port]]\ninterface = "p0"\naddress = "{ADDRESS[i]}"\n'
                   f'[offload]\nsegments_max = {max(1, min(burst, 15))}\n'
                   f'[wire]\nicrc = "{icrc}"\n'
                   f'[transport]\nevs = {EVS}\nburst = {burst}\n'
                   'congestion = "fixed"\nwindow = "1MiB"\nbase_rtt = "1ms"\n')
    return path


def mrc_test(cable, mrc, folder, test, burst, icrc, *options, prefix=None, server_options=()):
    """The result of one test, as its JSON says it. `prefix`: what each host's command is started by."""
    prefix = prefix or {1: (), 2: ()}
    configs = {i: write_config(folder, i, burst, icrc) for i in (1, 2)}
    result = os.path.join(folder, "result.json")
    server = subprocess.Popen(cable.command(2, *prefix[2], mrc, "perf", test, "--quiet", "--config",
                                            configs[2], *server_options), stdout=subprocess.DEVNULL)
    try:
        run(*cable.command(1, *prefix[1], mrc, "perf", test, ADDRESS[2], "--quiet", "--config",
                           configs[1], "--json", result, *options))
        server.wait(timeout=30)
    finally:
        server.kill()
        server.wait()
    with open(result, encoding="utf-8") as file:
        return json.load(file)


def goodput(cable, mrc, folder, burst, icrc):
    result = mrc_test(cable, mrc, folder, "write-bw", burst, icrc, "-D", str(SECONDS), "-s", "1M",
                      "-t", "16")["results"]
    return result["bytes"] * 8 / result["seconds"] / 1e9


def tcp_goodput(cable):
    server = subprocess.Popen(cable.command(2, "iperf3", "-s", "-1"), stdout=subprocess.DEVNULL)
    time.sleep(0.3)
    try:
        text = run(*cable.command(1, "iperf3", "-J", "-c", ADDRESS[2], "-t", str(SECONDS)))
        server.wait(timeout=30)
    finally:
        server.kill()
        server.wait()
    return json.loads(text)["end"]["sum_received"]["bits_per_second"] / 1e9


def spread(burst, packets=64):
    """Paths that 64 packets in a row take, of the EVs there are."""
    return min(EVS, max(1, packets // burst))


def draw(rows, tcp, path):
    """Goodput against burst length, as a picture of its own."""
    width, height, left, bottom = 640, 360, 60, 50
    top = max([tcp] + [row["verify"] for row in rows] + [row["off"] for row in rows]) * 1.1
    x = {row["burst"]: left + 20 + i * (width - left - 60) / (len(rows) - 1)
         for i, row in enumerate(rows)}

    def y(value):
        return height - bottom - value / top * (height - bottom - 30)

    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
             'font-family="sans-serif" font-size="12">',
             f'<rect width="{width}" height="{height}" fill="white"/>',
             f'<text x="{left}" y="18">Goodput of one queue pair over one veth, Gb/s</text>']
    for value in range(0, int(top) + 1, 5):
        parts.append(f'<line x1="{left}" y1="{y(value):.0f}" x2="{width - 20}" '
                     f'y2="{y(value):.0f}" stroke="#ddd"/>'
                     f'<text x="{left - 8}" y="{y(value) + 4:.0f}" text-anchor="end">{value}</text>')
    for key, colour, name in (("off", "#1f77b4", "without ICRC"), ("verify", "#d62728", "with ICRC")):
        points = " ".join(f"{x[row['burst']]:.0f},{y(row[key]):.0f}" for row in rows)
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" '
                     'stroke-width="2"/>')
        last = rows[-1]
        parts.append(f'<text x="{x[last["burst"]] - 70:.0f}" y="{y(last[key]) - 8:.0f}" '
                     f'fill="{colour}">{name}</text>')
    parts.append(f'<line x1="{left}" y1="{y(tcp):.0f}" x2="{width - 20}" y2="{y(tcp):.0f}" '
                 'stroke="#2ca02c" stroke-dasharray="6 4"/>'
                 f'<text x="{left + 6}" y="{y(tcp) - 6:.0f}" fill="#2ca02c">iperf3 TCP</text>')
    for row in rows:
        parts.append(f'<text x="{x[row["burst"]]:.0f}" y="{height - bottom + 18}" '
                     f'text-anchor="middle">{row["burst"]}</text>'
                     f'<text x="{x[row["burst"]]:.0f}" y="{height - bottom + 34}" '
                     f'text-anchor="middle" fill="#777">{row["spread"]}</text>')
    parts.append(f'<text x="{width - 20}" y="{height - 4}" text-anchor="end" fill="#777">packets in '
                 'a row on one path; below: paths among 64 packets in a row</text></svg>')
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(parts) + "\n")


def measure_bursts(cable, options, folder):
    samples = {("tcp",): []}
    for _ in range(options.rounds):
        samples[("tcp",)].append(tcp_goodput(cable))
        for burst in BURSTS:
            for icrc in ("verify", "off"):
                samples.setdefault((burst, icrc), []).append(
                    goodput(cable, options.mrc, folder, burst, icrc))
    tcp = statistics.median(samples[("tcp",)])
    rows = [{"burst": burst, "spread": spread(burst),
             "verify": statistics.median(samples[(burst, "verify")]),
             "off": statistics.median(samples[(burst, "off")])} for burst in BURSTS]
    print(f"iperf3 TCP: {tcp:.1f} Gb/s\n")
    print("| burst | paths among 64 packets | with ICRC | without ICRC | of TCP |")
    print("|---|---|---|---|---|")
    for row in rows:
        print(f"| {row['burst']} | {row['spread']} | {row['verify']:.1f} Gb/s | "
              f"{row['off']:.1f} Gb/s | {row['verify'] / tcp:.2f} / {row['off'] / tcp:.2f} |")
    if options.svg:
        draw(rows, tcp, options.svg)


def measure_latency(cable, options, folder):
    """Both sides are event-driven, or both busy-poll."""
    for waiting, flags in (("sleep", ["--events"]), ("poll", [])):
        ours, bare = [], []
        for _ in range(options.rounds):
            ours.append(mrc_test(cable, options.mrc, folder, "write-lat", 1, "verify", "-n",
                                 "20000", *flags)["results"]["t_typical"])
            server = subprocess.Popen(cable.command(2, options.pingpong, waiting))
            time.sleep(0.2)
            bare.append(float(run(*cable.command(1, options.pingpong, waiting, ADDRESS[2]))))
            server.wait(timeout=10)
        print(f"\n{waiting}: 2-byte write {statistics.median(ours):.1f} us, bare UDP ping-pong "
              f"{statistics.median(bare):.1f} us, ratio "
              f"{statistics.median(ours) / statistics.median(bare):.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mrc", required=True)
    parser.add_argument("--pingpong", help="the program udp_pingpong; without it no latency")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--svg")
    parser.add_argument("--latency-only", action="store_true")
    options = parser.parse_args()
    options.mrc = os.path.abspath(options.mrc)
    with Cable() as cable, tempfile.TemporaryDirectory() as folder:
        if not options.latency_only:
            measure_bursts(cable, options, folder)
        if options.pingpong:
            measure_latency(cable, options, folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
