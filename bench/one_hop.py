#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""One queue pair over one cable (veth): goodput and processor time for each burst length, beside
iperf3 TCP; latency beside a bare UDP ping-pong; threads that post to one shard; the data path beside
bare loops; passes over the data. All in one run, in turns, so that ratios mean something on a machine that others use.
Needs root.

  one_hop.py --build build/bench [--only goodput|latency|threads|datapath|passes] [--rounds 5]
             [--write docs/guide/throughput.md]
"""
import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import page_block

BURSTS = [1, 2, 4, 8, 16, 32]
DEFAULT_BURST = 8
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
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=300).stdout


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
    """Bytes, seconds."""
    result = mrc_test(cable, mrc, folder, "write-bw", burst, icrc, "-D", str(SECONDS), "-s", "1M",
                      "-t", "16")["results"]
    return result["bytes"], result["seconds"]


def tcp_goodput(cable):
    if shutil.which("iperf3") is None:
        sys.exit("TCP is measured by iperf3, which is not here: apt install iperf3")
    server = subprocess.Popen(cable.command(2, "iperf3", "-s", "-1"), stdout=subprocess.DEVNULL)
    time.sleep(0.3)
    try:
        text = run(*cable.command(1, "iperf3", "-J", "-c", ADDRESS[2], "-t", str(SECONDS)))
        server.wait(timeout=30)
    finally:
        server.kill()
        server.wait()
    result = json.loads(text)["end"]["sum_received"]
    return result["bytes"], result["seconds"]


def processor_seconds():
    """Of all programs that have ended: both hosts, and the kernel for them."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def sample(transfer):
    """(Gb/s, processor seconds for a gigabyte) of a transfer."""
    before = processor_seconds()
    count, seconds = transfer()
    return count * 8 / seconds / 1e9, (processor_seconds() - before) / (count / 1e9)


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


def medians(samples):
    """Of each column, and of the ratio to TCP in the same round."""
    tcp = samples["tcp"]
    return {key: {"rate": statistics.median(rate for rate, _ in of_key),
                  "cpu": statistics.median(cpu for _, cpu in of_key),
                  "of_tcp": statistics.median(rate / bare for (rate, _), (bare, _) in zip(of_key, tcp)),
                  "spread": spread_of([rate / bare for (rate, _), (bare, _) in zip(of_key, tcp)])}
            for key, of_key in samples.items()}


def spread_of(ratios):
    return f"{min(ratios):.2f} to {max(ratios):.2f}"


def measure_goodput(cable, options, folder):
    samples = {}
    for _ in range(options.rounds):
        samples.setdefault("tcp", []).append(sample(lambda: tcp_goodput(cable)))
        for burst in BURSTS:
            for icrc in ("off", "verify"):
                samples.setdefault((burst, icrc), []).append(
                    sample(lambda b=burst, i=icrc: goodput(cable, options.mrc, folder, b, i)))
    found = medians(samples)
    rows = []
    for burst in BURSTS:
        both = [found[(burst, "off")], found[(burst, "verify")]]
        rows.append([str(burst), str(spread(burst)), *(f"{one['rate']:.1f} Gb/s" for one in both),
                     *(f"{one['of_tcp']:.2f} ({one['spread']})" for one in both),
                     *(f"{one['cpu']:.2f} s" for one in both)])
    rows.append(["TCP", "1", f"{found['tcp']['rate']:.1f} Gb/s", "", "1", "", f"{found['tcp']['cpu']:.2f} s", ""])
    if options.svg:
        draw([{"burst": burst, "spread": spread(burst), "off": found[(burst, "off")]["rate"],
               "verify": found[(burst, "verify")]["rate"]} for burst in BURSTS], found["tcp"]["rate"], options.svg)
    return page_block.table(["burst", "paths among 64 packets", "without ICRC", "with it", "of TCP without",
                             "with it", "processor per GB without", "with it"], rows)


def measure_latency(cable, options, folder):
    """Both sides are event-driven, or both busy-poll."""
    rows = []
    for name, waiting, flags in (("event-driven (`--events`)", "sleep", ["--events"]), ("busy-poll", "poll", [])):
        ours, bare = [], []
        for _ in range(options.rounds):
            ours.append(mrc_test(cable, options.mrc, folder, "write-lat", DEFAULT_BURST, "verify", "-n", "20000",
                                 *flags, server_options=flags)["results"])
            server = subprocess.Popen(cable.command(2, options.pingpong, waiting))
            time.sleep(0.2)
            bare.append(float(run(*cable.command(1, options.pingpong, waiting, ADDRESS[2]))))
            server.wait(timeout=10)
        ratios = [one["t_typical"] / other for one, other in zip(ours, bare)]
        rows.append([name, *(f"{statistics.median(one[key] for one in ours):.1f} us"
                             for key in ("t_typical", "percentile_99", "percentile_99.9")),
                     f"{statistics.median(bare):.1f} us", f"{statistics.median(ratios):.1f} ({spread_of(ratios)})"])
    return page_block.table(["both", "2-byte write", "99 %", "99.9 %", "bare ping-pong", "ratio"], rows)


def measure_threads(_cable, options, _folder):
    rows = []
    for size in ("64", "4096"):
        text = run(os.path.join(options.programs, "post_threads"), "--bytes", size, "--rounds", str(options.rounds),
                   "--json")
        result = json.loads(text)
        rows.append([f"{int(size):,}", f"{result['one_thread']:,.0f}/s", f"{result['ratio']:.2f}",
                     f"{result['slowest']:.2f}"])
    return page_block.table(["bytes of a write", "one thread", "eight threads, of one", "slowest of the eight, of their mean"],
                            rows)


def measure_datapath(_cable, options, _folder):
    text = run(os.path.join(options.programs, "datapath_rate"), "--rounds", str(options.rounds))
    rows = []
    for line in text.splitlines()[1:]:
        name, (rate, gbps, sent, received, *part) = line[:42].strip(), line[42:].split()
        rows.append([name, f"{int(rate):,}", gbps, sent, received, *(part or [""])])
    return page_block.table(["4 KiB packets over one veth", "packets/s", "Gb/s", "ns sent", "ns received",
                             "of the bare loop"], rows)


def measure_passes(_cable, options, _folder):
    rows = [line.split() for line in run(os.path.join(options.programs, "data_passes")).splitlines()[1:]]
    return page_block.table(["packets of a batch", "ns for the CRC-32 of 4 KiB", "copy", "one pass of the batch after the other",
                             "both for a packet, then the next"], rows)


MEASUREMENTS = {"goodput": measure_goodput, "latency": measure_latency, "threads": measure_threads,
                "datapath": measure_datapath, "passes": measure_passes}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, help="the folder of a release build")
    parser.add_argument("--only", choices=MEASUREMENTS, action="append")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--svg", help="a picture of the goodput")
    parser.add_argument("--write", metavar="DOCUMENT", help="put the tables between their markers there")
    options = parser.parse_args()
    options.mrc = os.path.abspath(os.path.join(options.build, "tools/mrc"))
    options.programs = os.path.abspath(os.path.join(options.build, "bench"))
    options.pingpong = os.path.join(options.programs, "udp_pingpong")
    with Cable() as cable, tempfile.TemporaryDirectory() as folder:
        for name in options.only or MEASUREMENTS:
            text = MEASUREMENTS[name](cable, options, folder)
            print(f"{name}\n{text}", flush=True)
            if options.write:
                page_block.write(options.write, name, text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
