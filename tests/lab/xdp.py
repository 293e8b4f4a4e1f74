#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Mode "xdp" in labs: what switches say in the outer header and what kernel sockets miss of it,
several processes on a port, an owner that is killed, an interface that goes and comes back, and the
traffic of other programs beside it. Its faults are those of recovery.py --mode xdp."""
import argparse
import collections
import hashlib
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from lab import Lab, LabProcesses
from markdown import replace_between_markers, table

SENDER, NEIGHBOUR, RECEIVER, BYSTANDER = "h0", "h1", "h2", "h3"  # the last two are in another rack
HEARD = {}  # by mode: a row of the document's table
DOCUMENT = pathlib.Path(__file__).resolve().parents[2] / "docs/guide/real-networks.md"


class XdpTest(LabProcesses, unittest.TestCase):
    OPTIONS = ["--planes", "2"]
    RATE = "200mbit"
    MODE = "xdp"

    @classmethod
    def setUpClass(cls):
        cls.lab = Lab(MRC, cls.MODE, cls.RATE, *cls.OPTIONS, name="xdp")
        cls.addClassCleanup(cls.lab.__exit__)
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)

    def setUp(self):
        self.files = 0

    def start(self, host, *command):
        return self.kept(self.lab.start(host, *command))

    def inside(self, host, *command):
        return subprocess.run(["ip", "netns", "exec", f"mrc-{self.lab.name}-{host}", *command],
                              check=True, capture_output=True, text=True, timeout=self.RUN_MAX_S).stdout

    def address(self, host, plane):
        text = self.inside(host, "ip", "-j", "-6", "address", "show", "dev", f"p{plane}")
        return next(each["local"] for each in json.loads(text)[0]["addr_info"]
                    if each["scope"] == "global")

    def bytes_of(self, host, plane, direction):
        """That a port has received ("rx") or sent ("tx")."""
        text = self.inside(host, "ip", "-j", "-s", "link", "show", "dev", f"p{plane}")
        return json.loads(text)[0]["stats64"][direction]["bytes"]

    def config(self, host, mode, transport=""):
        """The host's own configuration, with another mode."""
        own = pathlib.Path(f"/run/openmrc/labs/{self.lab.name}/{host}/openmrc.toml").read_text()
        path = os.path.join(self.folder.name, f"{host}-{mode}.toml")
        text = re.sub(r'mode = "\w+"', f'mode = "{mode}"', own)
        for key, value in transport.items() if transport else ():
            text = re.sub(rf"(?m)^{key} = .*\n", "", text)
            text = text.replace("[transport]\n", f"[transport]\n{key} = {value}\n")
        pathlib.Path(path).write_text(text)
        return path

    def transfer(self, *options, sender=SENDER, port="18515", server=(), client=()):
        """Both sides of a verified transfer, and the file of each with its counters."""
        self.files += 1
        results = [os.path.join(self.folder.name, f"{self.files}-{side}.json")
                   for side in ("server", "client")]
        serving = self.start(RECEIVER, "perf", "write-bw", "--quiet", "-p", port, "--json",
                             results[0], *server)
        asking = self.start(sender, "perf", "write-bw", RECEIVER, "--quiet", "--verify", "-p", port,
                            "--json", results[1], *client, *options)
        return serving, asking, results

    def finish_transfer(self, serving, asking, results):
        self.finish(asking)
        self.assertRegex(self.finish(serving), r"[1-9]\d* messages of h\d verified")
        return [json.loads(pathlib.Path(path).read_text()) for path in results]


def trimmed_and_marked(lab):
    """By all switches together, since the lab was made."""
    file = pathlib.Path(f"/run/openmrc/labs/{lab.name}/switches.json")
    deadline = time.monotonic() + 5
    while not file.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    switches = json.loads(file.read_text())
    ports = [port for switch in switches for port in switch["ports"]]
    return sum(port["trimmed"] for port in ports), sum(port["marked"] for port in ports)


class OuterMarks(XdpTest):
    """Switches that trim and mark as hardware does: outer DSCP and ECN only, lengths as they were.
    The sender does not listen to congestion, so that queues are full."""

    OPTIONS = ["--planes", "2", "--switch", "soft-outer"]
    RATE = "50mbit"
    WINDOW = {"congestion": '"fixed"', "window": '"1MiB"'}

    def measured(self, mode):
        """What switches did, and the counters of both receivers and of both senders. The receivers
        are processes of one host: the one that has the sockets passes on what is the other's."""
        before = trimmed_and_marked(self.lab)
        configs = {host: self.config(host, mode, self.WINDOW)
                   for host in (SENDER, NEIGHBOUR, RECEIVER)}
        transfers = [self.transfer("-s", "65536", "-n", "150", "-t", "16", sender=sender, port=port,
                                   server=("--config", configs[RECEIVER]),
                                   client=("--config", configs[sender]))
                     for sender, port in ((SENDER, "18515"), (NEIGHBOUR, "18516"))]
        counters = [collections.Counter(), collections.Counter()]
        for transfer in transfers:
            for side, report in zip(counters, self.finish_transfer(*transfer)):
                side.update(report["counters"])
        time.sleep(1.2)  # the switches write once a second
        after = trimmed_and_marked(self.lab)
        trimmed, marked = (b - a for a, b in zip(before, after))
        HEARD[mode] = [f"`{mode}`"] + [f"{each:,}" for each in (
            trimmed, counters[0]["trimmed_received"], counters[0]["nacks_sent"], marked,
            counters[0]["ecn_marked_received"])]
        return (trimmed, marked), *counters

    def test_nothing_is_lost_of_what_switches_say(self):
        (trimmed, marked), receiver, sender = self.measured("xdp")
        print(f"\n  xdp: {trimmed} trimmed, {marked} marked by switches; receiver: "
              f"{receiver['trimmed_received']} trimmed, {receiver['ecn_marked_received']} marked, "
              f"{receiver['nacks_sent']} NACKs; sender: {sender['nacks_received']} NACKs, "
              f"{sender['evs_marked']} paths skipped, {sender['timeouts']} timeouts")
        self.assertGreater(trimmed, 100)
        self.assertGreater(marked, 100)
        # A trimmed packet may be trimmed once only, but dropped later.
        self.assertGreaterEqual(receiver["trimmed_received"], trimmed * 0.95)
        self.assertGreaterEqual(receiver["nacks_sent"], receiver["trimmed_received"] * 0.95)
        self.assertGreater(receiver["ecn_marked_received"], marked * 0.3)
        self.assertGreater(sender["evs_marked"], 0)

    def test_kernel_sockets_hear_nothing_of_it(self):
        dropped = self.truncated()
        (trimmed, marked), receiver, sender = self.measured("srv6")
        dropped = self.truncated() - dropped
        print(f"\n  srv6: {trimmed} trimmed, {marked} marked by switches; receiver: "
              f"{receiver['trimmed_received']} trimmed, {receiver['ecn_marked_received']} marked; "
              f"dropped by its kernel: {dropped}; sender: {sender['timeouts']} timeouts")
        self.assertGreater(trimmed, 20)
        self.assertEqual(receiver["trimmed_received"], 0)
        self.assertEqual(receiver["ecn_marked_received"], 0)
        self.assertGreaterEqual(dropped, trimmed * 0.95)

    def truncated(self):
        text = self.inside(RECEIVER, "cat", "/proc/net/snmp6")
        return int(re.search(r"Ip6InTruncatedPkts\s+(\d+)", text)[1])


class MarkedPlane(XdpTest):
    """One uplink for each plane, and one of them is nearly full of other traffic. That does not go to
    MRC's receiver: at the last hop nothing is marked."""

    OPTIONS = ["--planes", "2", "--t1", "1", "--switch", "soft-outer"]
    RATE = "50mbit"
    SINK = """
import socket
udp = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
udp.bind(("::", 7002))
print("ready", flush=True)
while True:
    udp.recv(9000)
"""
    FLOOD = """
import socket, sys, time
udp = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
due = time.monotonic()
while True:  # 42 Mb/s
    udp.sendto(bytes(3700), (sys.argv[1], 7002))
    due += 0.0007
    time.sleep(max(0, due - time.monotonic()))
"""

    def test_marks_move_traffic(self):
        sink = self.kept(self.lab.start_program(BYSTANDER, sys.executable, "-c", self.SINK))
        self.assertEqual(sink.stdout.readline(), "ready\n")
        self.kept(self.lab.start_program(NEIGHBOUR, sys.executable, "-c", self.FLOOD,
                                         self.address(BYSTANDER, 0)))
        time.sleep(0.5)
        before = [self.bytes_of(SENDER, plane, "tx") for plane in range(2)]
        serving, asking, results = self.transfer("-s", "65536", "-n", "400", "-t", "16")
        report = self.finish_transfer(serving, asking, results)[1]
        skipped = report["counters"].get("evs_marked", 0)
        sent = [self.bytes_of(SENDER, plane, "tx") - before[plane] for plane in range(2)]
        print(f"\n  {sent[0] >> 20} MiB by the plane with other traffic, {sent[1] >> 20} MiB by the "
              f"other; {skipped} paths skipped")
        self.assertGreater(skipped, 0)
        self.assertLess(sent[0], 0.7 * sent[1])


class SharedPort(XdpTest):
    def test_two_processes_share_the_ports(self):
        first = self.transfer("-s", "65536", "-n", "1500", port="18515")
        time.sleep(1)  # it has both ports
        second = self.transfer("-s", "65536", "-n", "1500", port="18516", sender=NEIGHBOUR)
        both = [self.finish_transfer(*each)[0] for each in (first, second)]
        frames = [each["datapath"].get("frames_received", 0) for each in both]
        self.assertGreater(sum(frames), 10_000, "the first one has the sockets")
        packets = [each["datapath"]["packets_received"] for each in both]
        self.assertGreater(min(packets), 10_000, "the other one has its packets all the same")

    def test_who_has_the_sockets_may_be_killed(self):
        owner, owners_client, _ = self.transfer("-s", "65536", "-D", "20", port="18520",
                                                sender=NEIGHBOUR)
        time.sleep(1)
        # The other one gets its packets by UDP sockets until the first is gone.
        serving, asking, results = self.transfer("-s", "65536", "-D", "8")
        time.sleep(3)
        self.kill_inside(owner, signal.SIGKILL)
        self.kill_inside(owners_client, signal.SIGKILL)
        server = self.finish_transfer(serving, asking, results)[0]["datapath"]
        print(f"\n  {server['packets_received']} packets, {server['frames_received']} of them as "
              "frames after the other process was killed")
        self.assertGreater(server["frames_received"], 10_000)
        self.assertGreater(server["packets_received"], server["frames_received"] + 10_000)

    def kill_inside(self, process, number):
        """`mrc lab exec` becomes the program."""
        os.kill(process.pid, number)
        process.wait(timeout=10)

    def wait_for_program(self, host, wanted):
        """Until the kernel has one on the host's first port, or none."""
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline:
            text = self.inside(host, "ip", "-j", "link", "show", "dev", "p0")
            if ("xdp" in json.loads(text)[0]) == wanted:
                return
            time.sleep(0.02)
        self.fail(f"no program came to {host}/p0" if wanted else f"{host}/p0 keeps its program")

    def killed_transfer(self):
        serving, asking, _ = self.transfer("-s", "65536", "-D", "20")
        self.wait_for_program(RECEIVER, True)
        self.kill_inside(serving, signal.SIGKILL)
        self.kill_inside(asking, signal.SIGKILL)

    def test_a_killed_server_starts_again_at_once(self):
        for _ in range(3):
            self.killed_transfer()
        server = self.finish_transfer(*self.transfer("-s", "65536", "-n", "200"))[0]
        self.assertGreater(server["datapath"]["frames_received"], 1000)

    def test_a_killed_server_leaves_no_program_behind(self):
        self.killed_transfer()
        self.wait_for_program(RECEIVER, False)


class OtherTraffic(XdpTest):
    """TCP and UDP over the same ports while programs come and go."""

    RATE = "1gbit"
    MEBIBYTES = 64
    DATAGRAMS = 600
    SERVER = """
import hashlib, select, socket
tcp = socket.create_server(("::", 7000), family=socket.AF_INET6)
udp = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
udp.bind(("::", 7001))
print("ready", flush=True)
stream, digest = None, hashlib.sha256()
while True:
    for ready in select.select([tcp, udp] + ([stream] if stream else []), [], [])[0]:
        if ready is tcp:
            stream = tcp.accept()[0]
        elif ready is udp:
            udp.sendto(*udp.recvfrom(9000))
        elif data := stream.recv(1 << 16):
            digest.update(data)
        else:
            print(digest.hexdigest(), flush=True)
            stream = None
"""
    STREAM = """
import socket, sys, time
stream = socket.create_connection((sys.argv[1], 7000))
for _ in range(int(sys.argv[2])):
    stream.sendall(bytes(range(256)) * 4096)
    time.sleep(0.1)
"""
    ECHO = """
import socket, sys, time
udp = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
udp.settimeout(1)
lost = 0
for i in range(int(sys.argv[2])):
    udp.sendto(i.to_bytes(4, "big") * 300, (sys.argv[1], 7001))
    try:
        lost += udp.recv(9000)[:4] != i.to_bytes(4, "big")
    except TimeoutError:
        lost += 1
    time.sleep(0.01)
print("lost", lost)
"""

    def start_python(self, host, *words):
        return self.kept(self.lab.start_program(host, sys.executable, "-c", *words))

    def start_server(self):
        server = self.start_python(RECEIVER, self.SERVER)
        self.assertEqual(server.stdout.readline(), "ready\n")
        return server

    def test_no_datagram_of_another_program_is_lost(self):
        self.start_server()
        transfer = self.transfer("-s", "65536", "-D", "15")
        time.sleep(1)
        echo = self.start_python(SENDER, self.ECHO, self.address(RECEIVER, 0), str(self.DATAGRAMS))
        self.assertEqual(self.finish(echo), "lost 0\n")
        self.finish_transfer(*transfer)

    # A driver may lose what it holds when a program is attached or detached: veth a few microseconds'
    # worth.
    def test_a_stream_goes_on_while_programs_come_and_go(self):
        server = self.start_server()
        stream = self.start_python(SENDER, self.STREAM, self.address(RECEIVER, 0), str(self.MEBIBYTES))
        echo = self.start_python(SENDER, self.ECHO, self.address(RECEIVER, 0), str(self.DATAGRAMS))
        transfers = 0
        while stream.poll() is None or echo.poll() is None:
            self.finish_transfer(*self.transfer("-s", "65536", "-n", "300"))
            transfers += 1
        lost = int(self.finish(echo).split()[1])
        print(f"\n  {transfers} transfers came and went, {lost} of {self.DATAGRAMS} datagrams lost")
        self.assertGreaterEqual(transfers, 3)
        self.assertLessEqual(lost, transfers)
        self.finish(stream)
        digest = hashlib.sha256(bytes(range(256)) * 4096 * self.MEBIBYTES).hexdigest()
        self.assertEqual(server.stdout.readline().strip(), digest)


class LostInterface(XdpTest):
    """One that goes to another namespace is gone; when it is back, it has nothing of what it had."""

    OPTIONS = ["--planes", "2", "--from", "iproute2"]

    def test_an_interface_goes_and_comes_back(self):
        script = f"/run/openmrc/labs/{self.lab.name}/emit/{RECEIVER}/setup.sh"
        away = f"mrc-{self.lab.name}-away"
        subprocess.run(["ip", "netns", "add", away], check=True)
        self.addCleanup(subprocess.run, ["ip", "netns", "delete", away], check=False)
        serving, asking, results = self.transfer("-s", "65536", "-D", "9")
        time.sleep(2)
        home = f"mrc-{self.lab.name}-{RECEIVER}"
        subprocess.run(["ip", "-n", home, "link", "set", "p1", "netns", away], check=True)
        time.sleep(2)
        subprocess.run(["ip", "-n", away, "link", "set", "p1", "netns", home], check=True)
        self.inside(RECEIVER, "sh", script)
        back_at = self.bytes_of(RECEIVER, 1, "rx")
        server, client = self.finish_transfer(serving, asking, results)
        self.assertGreater(self.bytes_of(RECEIVER, 1, "rx") - back_at, 20 << 20)
        programs = server["datapath"]
        self.assertGreater(programs["frames_received"], 0.9 * programs["packets_received"])
        self.assertEqual([plane["ASSUMED_BAD"] + plane["DENIED"] for plane in client["paths"]],
                         [0, 0])


def main():
    global MRC
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mrc", required=True)
    parser.add_argument("--write", action="store_true",
                        help=f"the table of what is heard into {DOCUMENT.name}")
    options, others = parser.parse_known_args()
    MRC = os.path.abspath(options.mrc)
    if os.geteuid() != 0:
        print("needs root, for network namespaces")
        return 77
    program = unittest.main(argv=[sys.argv[0]] + others, exit=False, verbosity=2)
    if options.write and program.result.wasSuccessful():
        titles = ["mode", "trimmed by switches", "trimmed packets received", "NACKs sent",
                  "marked by switches", "with CE received"]
        replace_between_markers(DOCUMENT, "heard",
                                table([titles] + [HEARD[mode] for mode in ("xdp", "srv6")]))
    return 0 if program.result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
