# SPDX-License-Identifier: BSD-3-Clause
"""One transfer between the racks of a lab, run in the lab and in the simulator.

Each of two hosts writes messages to one of the other rack. Both sides have the configuration that
the lab wrote for its hosts, with the same further key or none.
"""
import json
import os
import re
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass, field

from simulated import message_times, scenario_of, simulate, uplink_queue_max, wire_ns

RUN_MAX_S = 120
PAIRS = {"h0": "h2", "h1": "h3"}
MESSAGE = 256 * 1024
DEPTH = 16  # messages in flight
REASONS = ["loss", "probe", "timeout", "trim", "trim_last_hop", "refused", "for_ack"]


@dataclass
class Outcome:
    seconds: dict  # by sender
    bytes_each: int
    packets: int
    retransmits: int
    disabled: int
    restored: int
    bad_at_end: int  # EVs
    queue_drops: int
    details: dict = field(default_factory=dict)  # that only one of the two sides has

    def gbps(self):
        return sum(self.bytes_each * 8 / 1e9 / seconds for seconds in self.seconds.values())


class Transfers:
    def __init__(self, mrc, lab, folder, mebibytes):
        self.mrc, self.lab, self.folder = mrc, lab, folder
        self.messages = mebibytes * (1 << 20) // MESSAGE // DEPTH * DEPTH
        files = os.path.join("/run/openmrc/labs", lab.name)
        self.fabric = read(os.path.join(files, "fabric.toml"))
        self.configs = {host: read(os.path.join(files, host, "openmrc.toml"))
                        for host in [*PAIRS.keys(), *PAIRS.values()]}
        planes = int(re.search(r"planes = (\d+)", self.fabric)[1])
        self.link_gbps = float(re.search(r"host_link_gbps = (\S+)", self.fabric)[1])
        self.line_gbps = self.link_gbps * planes * len(PAIRS)
        self.base_rtt_s = int(re.search(r'base_rtt = "(\d+)us"', self.configs["h0"])[1]) / 1e6
        self.fixed_window = int(self.link_gbps * planes * 1e9 / 8 * self.base_rtt_s)

    def write_configs(self, key):
        """The lab's own files, with one key more at the end of [transport], or none."""
        transports = {text.split("[transport]\n")[1] for text in self.configs.values()}
        if len(transports) != 1 or "\n[" in next(iter(transports)):
            raise RuntimeError(f"[transport] differs, or is not the last section: {transports}")
        for host, text in self.configs.items():
            with open(self.config(host), "w", encoding="utf-8") as file:
                file.write(text + (key + "\n" if key else ""))

    def config(self, host):
        return os.path.join(self.folder, f"{host}.toml")

    def result(self, host):
        return os.path.join(self.folder, f"{host}.json")

    def run_in_lab(self, cut=None):
        drops = self.switch_drops()
        seen = self.move_bytes(cut)
        drops = self.switch_drops() - drops
        reports = {host: json.loads(read(self.result(host))) for host in PAIRS}
        counters = [report["counters"] for report in reports.values()]

        def total(name):
            return sum(one.get(name, 0) for one in counters)
        by_reason = {reason: total(f"retransmits_{reason}") for reason in REASONS}
        return Outcome(seconds={host: report["results"]["seconds"]
                                for host, report in reports.items()},
                       bytes_each=self.messages * MESSAGE, packets=total("data_sent"),
                       retransmits=sum(by_reason.values()), disabled=total("evs_lost"),
                       restored=total("evs_readmitted"), queue_drops=drops,
                       bad_at_end=sum(plane["ASSUMED_BAD"] for report in reports.values()
                                      for plane in report["paths"]),
                       details={**seen, "by_reason": by_reason,
                                "spurious": total("spurious_retransmits")})

    def move_bytes(self, cut):
        """Returns what was seen at the ports of the first sender."""
        watch = self.watch_ports(next(iter(PAIRS)))
        processes = [watch]
        try:
            pairs = [self.start_pair(host, processes) for host in PAIRS]
            if cut:
                self.cut_and_heal(*cut)
            for host, (server, client) in zip(PAIRS, pairs):
                self.finish(host, server, client)
            return json.loads(watch.communicate(timeout=10)[0])
        finally:
            end(*processes)

    def watch_ports(self, host):
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "watch_ports.py")
        watch = subprocess.Popen(self.lab.command("exec", host, "--", sys.executable, script, "p0"),
                                 stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        watch.stdout.readline()
        return watch

    def start_pair(self, host, processes):
        target = PAIRS[host]
        server = self.lab.start(target, "perf", "write-bw", "--quiet", "--config",
                                self.config(target))
        processes.append(server)
        client = self.lab.start(host, "perf", "write-bw", target, "--quiet", "--verify", "--config",
                                self.config(host), "-s", str(MESSAGE), "-n", str(self.messages),
                                "-t", str(DEPTH), "--json", self.result(host))
        processes.append(client)
        return server, client

    def cut_and_heal(self, link, at_s, for_s):
        time.sleep(at_s)
        self.lab.run("cut", link)
        time.sleep(for_s)
        self.lab.run("heal")

    def finish(self, host, server, client):
        texts = [process.communicate(timeout=RUN_MAX_S)[0] for process in (client, server)]
        if (client.returncode or server.returncode or
                f"{self.messages} messages of {host} verified" not in texts[1]):
            raise RuntimeError(f"{host}: not all bytes verified: {texts}")

    def switch_drops(self):
        """Packets that found the queue of a switch full, since the lab was built."""
        spaces = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True, check=True,
                                timeout=10).stdout.split()
        drops = 0
        for space in spaces:
            if space.startswith(f"mrc-{self.lab.name}-p"):
                text = subprocess.run(["tc", "-n", space, "-s", "-j", "qdisc", "show"], check=True,
                                      capture_output=True, timeout=10).stdout
                drops += sum(qdisc["drops"] for qdisc in json.loads(text))
        return drops

    def run_in_simulator(self, cut=None):
        hosts = [(int(source[1:]), int(target[1:])) for source, target in PAIRS.items()]
        flows = [(source, target, MESSAGE, self.messages // DEPTH)
                 for source, target in hosts for _ in range(DEPTH)]
        result = self.simulate(flows, cut)
        totals = result["totals"]
        if totals["message_bytes_completed"] != self.messages * MESSAGE * len(PAIRS):
            raise RuntimeError(f"simulator: not all bytes arrived: {totals}")
        return Outcome(seconds={f"h{host}": end_s for host, end_s in message_times(result).items()},
                       bytes_each=self.messages * MESSAGE, packets=totals["data_packets_sent"],
                       retransmits=totals["retransmissions"], disabled=totals["evs_lost"],
                       restored=totals["evs_readmitted"],
                       bad_at_end=totals["evs_lost"] - totals["evs_readmitted"],
                       queue_drops=totals["packets_lost"]["data_full"],
                       details={"uplink_queue": uplink_queue_max(result)})

    def simulate(self, flows, cut=None):
        scenario = scenario_of(self.fabric, wire_ns(self.base_rtt_s, self.link_gbps),
                               switch_queue_bytes(self.link_gbps), flows, cut)
        return simulate(self.mrc, scenario, self.config("h0"), self.folder)

    def idle_rtts_us(self):
        """Of a probe in the lab, the median, and of a WRITE of 64 bytes in the simulator."""
        server = self.lab.start(PAIRS["h0"], "ping", "--serve")
        try:
            time.sleep(0.5)
            report = json.loads(self.lab.run("exec", "h0", "--", "mrc", "ping", PAIRS["h0"], "-c",
                                             "10", "-i", "0.05", "--json"))
        finally:
            end(server)
        samples = [rtt for path in report["paths"] for rtt in path["rtt_ns"]]
        return (statistics.median(samples) / 1e3,
                message_times(self.simulate([(0, 2, 64, 1)]))[0] * 1e6)


def switch_queue_bytes(link_gbps):
    """As openmrc/lab/plan.cc gives it to a switch."""
    return max(128 * 1024, int(link_gbps * 1e9 / 8 * 3 / 1000))


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def end(*processes):
    for process in processes:
        if process.poll() is None:
            process.kill()
        if not process.stdout.closed:
            process.communicate()
