#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""`mrc lab` builds networks that carry packets by exact paths, breaks them and removes them."""

import atexit
import ctypes
import itertools
import json
import os
import pathlib
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import unittest
import unittest.mock

MRC = sys.argv.pop(1)
LAB = f"t{os.getpid()}"  # others may have labs of their own
OTHER = LAB + "b"
CLONE_NEWNET = 0x40000000
UDP_NO_CHECK6_TX = 101
UDP_NO_CHECK6_RX = 102
UDP_SEGMENT = 103
MRC_PORT = 4791
PLANES, UPLINKS = 4, 2
libc = ctypes.CDLL(None, use_errno=True)

if os.geteuid() != 0:
    print("needs root for network namespaces: skipped")
    sys.exit(77)


def mrc(*arguments, code=0, timeout=60):
    done = subprocess.run([MRC, "lab", *arguments], capture_output=True, text=True, timeout=timeout)
    if done.returncode != code:
        raise AssertionError(f"mrc lab {' '.join(arguments)}: exit code {done.returncode}\n"
                             f"{done.stdout}{done.stderr}")
    return done.stdout if code == 0 else done.stderr


def remove_labs(*_):
    for lab in (LAB, OTHER):
        subprocess.run([MRC, "lab", "down", lab], capture_output=True, timeout=60)


def stop(*_):
    sys.exit(1)  # by way of atexit


atexit.register(remove_labs)
for caught in (signal.SIGINT, signal.SIGTERM):
    signal.signal(caught, stop)


def remains(lab):
    """All that is there of a lab."""
    found = []
    for folder, prefix in (("/run/netns", f"mrc-{lab}-"), ("/etc/netns", f"mrc-{lab}-"),
                           ("/run/openmrc/labs", lab)):
        path = pathlib.Path(folder)
        if path.is_dir():
            found += [str(entry) for entry in path.iterdir()
                      if entry.name.startswith(prefix) and
                      (prefix != lab or entry.name == lab)]
    return found


def inside(space, make):
    """What `make` opens in a namespace."""
    home = os.open("/proc/self/ns/net", os.O_RDONLY)
    there = os.open(f"/run/netns/{space}", os.O_RDONLY)
    try:
        if libc.setns(there, CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), f"setns {space}")
        return make()
    finally:
        libc.setns(home, CLONE_NEWNET)
        os.close(home)
        os.close(there)


# The addressing plan of docs/protocol/paths.md, written down a second time.
def carrier(plane, source_rack, uplink, rack, downlink):
    usids = [0x4000 + 16 * source_rack]
    if rack != source_rack:
        usids += [0x8000 + 16 * uplink, 0x4000 + 16 * rack]
    usids.append(0xC000 + 16 * downlink)
    return "fcbb:bb00:" + ":".join(f"{usid + plane:x}" for usid in usids) + "::"


def inner(plane, rack, downlink):
    return f"fd4d:5243:0:{plane:x}:0:0:{rack:x}:{downlink + 1:x}"


def packed(address):
    return socket.inet_pton(socket.AF_INET6, address)


def ipv6(source, destination, next_header, payload):
    return (struct.pack("!IHBB", 6 << 28, len(payload), next_header, 64) + packed(source) +
            packed(destination) + payload)


class Sender:
    """Host 0, which is in rack 0."""

    def __init__(self, lab):
        self.udp = [inside(f"mrc-{lab}-h0", lambda plane=plane: self.open(plane))
                    for plane in range(PLANES)]
        self.raw = inside(f"mrc-{lab}-h0", lambda: socket.socket(
            socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_RAW))

    @staticmethod
    def open(plane):
        sock = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
        sock.setsockopt(socket.IPPROTO_UDP, UDP_NO_CHECK6_TX, 1)
        sock.bind((inner(plane, 0, 0), 0))
        return sock

    def send_usid(self, plane, path, payload):
        self.udp[plane].sendto(payload, (path, MRC_PORT))

    def send_srv6(self, plane, path, payload, rack, downlink):
        udp = struct.pack("!HHHH", 50000, MRC_PORT, 8 + len(payload), 0) + payload
        packet = ipv6(inner(plane, 0, 0), inner(plane, rack, downlink), 17, udp)
        self.raw.sendto(ipv6(inner(plane, 0, 0), path, 41, packet), (path, 0))

    def close(self):
        for sock in [*self.udp, self.raw]:
            sock.close()


class Receiver:
    """One socket for each plane, bound to its interface."""

    def __init__(self, lab, host):
        self.planes = [inside(f"mrc-{lab}-{host}", lambda plane=plane: self.open(plane))
                       for plane in range(PLANES)]

    @staticmethod
    def open(plane):
        sock = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
        sock.setsockopt(socket.IPPROTO_UDP, UDP_NO_CHECK6_RX, 1)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, f"p{plane}".encode())
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
        sock.bind(("::", MRC_PORT))
        sock.setblocking(False)
        return sock

    def drain(self, plane, expected, patience=1.0):
        """What comes, until there is as much as expected or nothing for a while."""
        got = []
        while len(got) < expected:
            if not select.select([self.planes[plane]], [], [], patience)[0]:
                break
            got.append(self.planes[plane].recv(65536))
        return got

    def close(self):
        for sock in self.planes:
            sock.close()


class LabTest(unittest.TestCase):
    """The usual lab, with a sender on h0 and a receiver on h3, in the other rack."""

    OPTIONS = []

    @classmethod
    def setUpClass(cls):
        mrc("up", LAB, *cls.OPTIONS)
        cls.sender = Sender(LAB)
        cls.receiver = Receiver(LAB, "h3")

    @classmethod
    def tearDownClass(cls):
        cls.sender.close()
        cls.receiver.close()
        mrc("down", LAB)

    def tearDown(self):
        mrc("heal", "--lab", LAB)

    def arrives(self, plane, uplink, count=1, patience=1.0):
        """How many of `count` packets come through, of each kind."""
        path = carrier(plane, 0, uplink, 1, 1)
        arrived = []
        for kind, send in (("usid", lambda payload: self.sender.send_usid(plane, path, payload)),
                           ("srv6", lambda payload: self.sender.send_srv6(plane, path, payload,
                                                                          1, 1))):
            texts = {f"{kind} {plane} {uplink} {i}".encode() for i in range(count)}
            for text in texts:
                send(text)
            got = self.receiver.drain(plane, count, patience)
            self.assertLessEqual(set(got), texts)
            arrived.append(len(got))
        return arrived

    def working_paths(self):
        """The (plane, uplink) by which both kinds of packets arrive."""
        working = set()
        for plane, uplink in itertools.product(range(PLANES), range(UPLINKS)):
            both = self.arrives(plane, uplink, patience=0.3)
            self.assertIn(both, ([1, 1], [0, 0]))
            if both == [1, 1]:
                working.add((plane, uplink))
        return working

    ALL = set(itertools.product(range(PLANES), range(UPLINKS)))

    def states(self):
        """Links that are not up."""
        links = json.loads(mrc("status", LAB, "--json"))["links"]
        return {link["name"]: link["state"] for link in links if link["state"] != "up"}


class Network(LabTest):
    def test_every_path_carries_both_kinds_of_packets(self):
        self.assertEqual(self.working_paths(), self.ALL)

    def test_a_path_within_a_rack_has_one_switch(self):
        neighbour = Receiver(LAB, "h1")
        try:
            for plane in range(PLANES):
                path = carrier(plane, 0, 0, 0, 1)
                self.sender.send_usid(plane, path, b"usid")
                self.sender.send_srv6(plane, path, b"srv6", 0, 1)
                self.assertEqual(neighbour.drain(plane, 2), [b"usid", b"srv6"])
        finally:
            neighbour.close()

    def test_plain_addresses_work_in_every_plane(self):
        for plane in range(PLANES):
            self.sender.udp[plane].sendto(b"plain", (inner(plane, 1, 1), MRC_PORT))
            self.assertEqual(self.receiver.drain(plane, 1), [b"plain"])

    def test_jumbo_packets_pass(self):
        path = carrier(0, 0, 0, 1, 1)
        self.sender.send_usid(0, path, bytes(9000 - 48))
        self.assertEqual(len(self.receiver.drain(0, 1)[0]), 9000 - 48)

    def test_hosts_have_names_and_a_management_network(self):
        program = ("import socket\n"
                   "for name in ('h3', 'h3.p2'):\n"
                   "    print(socket.getaddrinfo(name, 1, socket.AF_INET6)[0][4][0])\n")
        said = mrc("exec", "--lab", LAB, "h0", sys.executable, "-c", program)
        self.assertEqual(said.split(), ["fd4d:5243:ffff::4", "fd4d:5243:0:2::1:2"])

        server = inside(f"mrc-{LAB}-h3", lambda: socket.create_server(
            ("fd4d:5243:ffff::4", 5000), family=socket.AF_INET6))
        client = inside(f"mrc-{LAB}-h0", lambda: socket.create_connection(
            ("fd4d:5243:ffff::4", 5000), timeout=10))
        self.assertEqual(client.getpeername()[0], "fd4d:5243:ffff::4")
        client.close()
        server.close()

    def test_tcp_works_in_every_plane(self):
        for plane in range(PLANES):
            address = (inner(plane, 1, 1), 5001)
            server = inside(f"mrc-{LAB}-h3", lambda: socket.create_server(
                address, family=socket.AF_INET6))
            client = inside(f"mrc-{LAB}-h0", lambda: socket.create_connection(address, timeout=10))
            accepted, peer = server.accept()
            self.assertEqual(packed(peer[0]), packed(inner(plane, 0, 0)))
            client.sendall(bytes(200_000))
            client.shutdown(socket.SHUT_WR)
            accepted.settimeout(10)
            received = 0
            while piece := accepted.recv(65536):
                received += len(piece)
            self.assertEqual(received, 200_000)
            for sock in (client, accepted, server):
                sock.close()


class Exec(LabTest):
    def test_hands_on_the_exit_code_and_the_environment(self):
        mrc("exec", "--lab", LAB, "h2", "--", "sh", "-c", "exit 7", code=7)
        said = mrc("exec", "--lab", LAB, "h2", "sh", "-c",
                   "echo $OPENMRC_CONFIG; command -v mrc; ip -o link show p3; mrc lab --help")
        lines = said.splitlines()
        self.assertEqual(lines[0], f"/run/openmrc/labs/{LAB}/h2/openmrc.toml")
        self.assertEqual(lines[1], MRC)
        self.assertIn("p3@", lines[2])

    def test_options_of_the_program_are_its_own(self):
        said = mrc("exec", "--lab", LAB, "h0", "printf", "%s ", "--json", "--lab", "x", "--help")
        self.assertEqual(said, "--json --lab x --help ")

    def test_the_configuration_names_ports_and_place(self):
        text = pathlib.Path(f"/run/openmrc/labs/{LAB}/h3/openmrc.toml").read_text()
        for line in ('name = "h3"', 'mode = "srv6"', "planes = 4", "racks = 2", "hosts_per_rack = 2",
                     "uplinks = 2", 'block = "fcbb:bb00::"', 'interface = "p2"',
                     'address = "fd4d:5243:0:2::1:2"', "evs = 8", 'rate = "10gbit"'):
            self.assertIn(f"\n{line}\n", "\n" + text)


class Names(LabTest):
    """Which lab a verb is for."""

    def test_every_verb_takes_the_name_alone_and_by_option(self):
        for name in ([LAB], ["--lab", LAB]):
            with self.subTest(name=name):
                self.assertIn(f"lab '{LAB}'", mrc("status", *name))
                self.assertIn("plane p0", mrc("draw", *name))
                self.assertIn("cut: p2.t0-0/up0", mrc("cut", *name, "p2.t0-0/up0"))
                self.assertIn("healed: p2.t0-0/up0", mrc("heal", *name))
                self.assertIn("cut and healed", mrc("flap", *name, "h0/p1", "--for", "100ms"))
                self.assertIn("cut ", mrc("chaos", *name, "--for", "20s", "--dry-run"))
                self.assertEqual(mrc("exec", *name, "h1", "printenv", "OPENMRC_LAB"), LAB + "\n")
                self.assertIn("already exists", mrc("up", *name))
        self.assertIn("name what to cut", mrc("cut", LAB, code=1))
        self.assertIn("name a host", mrc("exec", LAB, code=1))
        self.assertIn("name one link", mrc("flap", LAB, code=1))

    def test_the_only_lab_needs_no_name(self):
        others = {line.split()[0] for line in mrc("list").splitlines()} - {LAB}
        if others:
            self.skipTest(f"there are other labs: {others}")
        self.assertIn(f"lab '{LAB}'", mrc("status"))
        mrc("up", OTHER, "--planes", "1", "--t0", "1", "--hosts", "2")
        try:
            self.assertIn(f"no lab 'lab'; there are {LAB}, {OTHER}: choose one with --lab NAME",
                          mrc("status", code=1))
            with unittest.mock.patch.dict(os.environ, {"SUDO_UID": "1000"}):
                self.assertIn("(sudo drops $OPENMRC_LAB)", mrc("heal", code=1))
            with unittest.mock.patch.dict(os.environ, {"OPENMRC_LAB": OTHER}):
                self.assertIn(f"lab '{OTHER}'", mrc("status"))
            self.assertIn("No lab 'lab'. Others are there", mrc("down"))
        finally:
            mrc("down", "--lab", OTHER)


class Mtu(unittest.TestCase):
    """A port whose MTU was changed by hand."""

    def setUp(self):
        mrc("up", LAB)
        self.addCleanup(mrc, "down", LAB)

    @staticmethod
    def mtu(interface="p1"):
        shown = subprocess.run(["ip", "-j", "-n", f"mrc-{LAB}-h0", "link", "show", interface],
                               capture_output=True, text=True, check=True).stdout
        return json.loads(shown)[0]["mtu"]

    @staticmethod
    def set_mtu(mtu):
        subprocess.run(["ip", "-n", f"mrc-{LAB}-h0", "link", "set", "p1", "mtu", str(mtu)],
                       check=True)

    @staticmethod
    def sent_bytes(interface="p1"):
        shown = subprocess.run(["ip", "-j", "-s", "-n", f"mrc-{LAB}-h0", "link", "show", interface],
                               capture_output=True, text=True, check=True).stdout
        return json.loads(shown)[0]["stats64"]["tx"]["bytes"]

    def measure(self):
        """What a client on h0 says of 64 MiB, and its report."""
        server = subprocess.Popen([MRC, "lab", "exec", "--lab", LAB, "h3", "mrc", "perf", "write-bw",
                                   "--quiet"], stdout=subprocess.DEVNULL)
        with tempfile.NamedTemporaryFile() as file:
            done = subprocess.run([MRC, "lab", "exec", "--lab", LAB, "h0", "--", "mrc", "perf",
                                   "write-bw", "h3", "--quiet", "-n", "1000", "--json", file.name],
                                  capture_output=True, text=True, timeout=120, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(server.wait(30), 0)
            return done.stderr, json.load(file)

    def test_is_left_out_with_a_note_and_restored_by_heal(self):
        self.set_mtu(1500)
        before = self.sent_bytes()
        said, report = self.measure()
        self.assertIn("mrc perf: note: p1 is not used: its MTU is 1500, and packets of mtu = 4096 "
                      "need 4228; ip link set dev p1 mtu 4228", said)
        self.assertGreater(report["counters"].get("port_status_sent", 0), 0)  # the peer is told
        self.assertEqual(report["datapath"].get("send_too_long", 0), 0)
        self.assertLess(self.sent_bytes() - before, 2**20)  # a quarter of 64 MiB, if it were used
        mrc("heal", "--lab", LAB)
        self.assertEqual(self.mtu(), 9000)
        before = self.sent_bytes()
        self.assertNotIn("note", self.measure()[0])
        self.assertGreater(self.sent_bytes() - before, 2**23)


class Faults(LabTest):
    def test_a_cut_link_stops_its_paths_and_no_other(self):
        before = time.monotonic_ns()
        cut = json.loads(mrc("cut", "--lab", LAB, "p2.t0-1/up0", "--json"))
        after = time.monotonic_ns()
        self.assertEqual(cut["links"], ["p2.t0-1/up0"])
        self.assertTrue(before < cut["began_ns"] < cut["done_ns"] < after)
        self.assertEqual(self.states(), {"p2.t0-1/up0": "cut"})
        self.assertEqual(self.working_paths(), self.ALL - {(2, 0)})
        mrc("heal", "--lab", LAB, "p2.t0-1/up0")
        self.assertEqual(self.states(), {})
        self.assertEqual(self.working_paths(), self.ALL)

    def test_several_at_once_switch_plane_and_port(self):
        mrc("cut", "--lab", LAB, "p0.t1-1", "p1", "h3/p3")
        gone = {(0, 1), (1, 0), (1, 1), (3, 0), (3, 1)}
        self.assertEqual(self.working_paths(), self.ALL - gone)
        drawn = mrc("draw", LAB)
        self.assertIn("x cut", drawn)
        self.assertEqual(drawn.count("x+") + drawn.count("+x"), 2 + 8 + 1)
        status = json.loads(mrc("status", LAB, "--json"))
        self.assertEqual({it["name"] for it in status["switches"] if it["isolated"]},
                         {"p0.t1-1", "p1.t0-0", "p1.t0-1", "p1.t1-0", "p1.t1-1"})
        mrc("heal", "--lab", LAB, "p1")
        self.assertEqual(self.working_paths(), self.ALL - {(0, 1), (3, 0), (3, 1)})
        mrc("heal", "--lab", LAB)
        self.assertEqual(self.working_paths(), self.ALL)

    def test_the_host_sees_a_pulled_cable_as_lost_carrier(self):
        def flags():
            said = mrc("exec", "--lab", LAB, "h0", "ip", "-j", "link", "show", "p1")
            return json.loads(said)[0]["flags"]
        self.assertIn("LOWER_UP", flags())
        mrc("cut", "--lab", LAB, "h0/p1")
        self.assertIn("NO-CARRIER", flags())
        self.assertIn("UP", flags())
        mrc("heal", "--lab", LAB)
        mrc("cut", "--lab", LAB, "h0/p1", "--admin")
        self.assertNotIn("UP", flags())
        self.assertEqual(self.states(), {"p1.t0-0/down0": "port down"})
        mrc("heal", "--lab", LAB)
        self.assertEqual(self.working_paths(), self.ALL)

    def test_silent_faults_keep_the_carrier(self):
        mrc("cut", "--lab", LAB, "p3.t0-0/up1", "--silent")
        self.assertEqual(self.states(), {"p3.t0-0/up1": "silent"})
        picture = mrc("draw", LAB)
        self.assertIn("!", picture)
        self.assertTrue(picture.endswith("  ! silent\n"), picture)
        self.assertEqual(self.working_paths(), self.ALL - {(3, 1)})
        mrc("heal", "--lab", LAB)
        self.assertEqual(self.working_paths(), self.ALL)

    def test_a_part_of_the_packets_can_be_lost(self):
        mrc("cut", "--lab", LAB, "h3/p0", "--loss", "0.2")
        self.assertIn("lossy, 20 %", mrc("status", LAB))
        mrc("cut", "--lab", LAB, "h3/p0", "--loss", "20%")
        self.assertIn("lossy, 20 %", mrc("status", LAB))
        arrived = [sum(self.arrives(0, 0, count=100, patience=0.3)) for _ in range(5)]
        self.assertTrue(650 < sum(arrived) < 920, arrived)  # of 1000; 800 expected, 12 off at most
        mrc("heal", "--lab", LAB)
        self.assertEqual(self.arrives(0, 0, count=100), [100, 100])

    def test_heal_names_what_was_broken(self):
        self.assertIn("healed: no link was broken; all were set up again in",
                      mrc("heal", "--lab", LAB))
        mrc("cut", "--lab", LAB, "p2.t0-0/up0")
        self.assertIn("healed: p2.t0-0/up0 in", mrc("heal", "--lab", LAB))
        mrc("cut", "--lab", LAB, "h0/p1", "--silent")
        mrc("cut", "--lab", LAB, "h3/p1", "--admin")
        self.assertEqual(json.loads(mrc("heal", "--lab", LAB, "p1", "--json"))["links"],
                         ["p1.t0-0/down0", "p1.t0-1/down1"])
        self.assertEqual(self.working_paths(), self.ALL)

    def test_a_flapping_link_ends_healed(self):
        said = mrc("flap", "--lab", LAB, "p0.t0-0/up0", "--hz", "20", "--for", "500ms")
        self.assertIn("p0.t0-0/up0 was cut and healed 10 times", said)
        self.assertEqual(self.states(), {})
        self.assertEqual(self.working_paths(), self.ALL)

    def test_a_flapping_link_ends_healed_also_when_interrupted(self):
        flapping = subprocess.Popen([MRC, "lab", "flap", "--lab", LAB, "p0.t0-0/up0", "--hz", "5",
                                     "--for", "60s"], stdout=subprocess.DEVNULL)
        seen = set()
        for _ in range(50):
            seen |= set(self.states().items())
            if seen:
                break
            time.sleep(0.02)
        flapping.send_signal(signal.SIGINT)
        self.assertEqual(flapping.wait(timeout=10), 0)
        self.assertEqual(seen, {("p0.t0-0/up0", "flapping")})
        self.assertEqual(self.states(), {})
        self.assertEqual(self.working_paths(), self.ALL)

    def test_wrong_names_are_refused_with_what_would_be_right(self):
        for verb, name, said in (("cut", "p2-1", "e.g. p3, h17, h17/p3, p3.t0-17"),
                                 ("cut", "p9", "planes are p0 to p3"),
                                 ("cut", "h4/p0", "hosts are h0 to h3"),
                                 ("heal", "p0.t3-1", "e.g. p3, h17"),
                                 ("flap", "p1", "e.g. p3.t0-17/up4")):
            with self.subTest(verb=verb, name=name):
                self.assertIn(said, mrc(verb, "--lab", LAB, name, code=1))
        self.assertIn("h0 to h3", mrc("exec", "--lab", LAB, "h7", "true", code=1))
        self.assertIn("name a host or a port", mrc("cut", "--lab", LAB, "p0.t0-0/up0", "--admin",
                                                   code=1))
        self.assertIn("--loss", mrc("cut", "--lab", LAB, "p0", "--loss", "much", code=1))
        self.assertEqual(self.states(), {})

    def test_chaos_is_fixed_by_its_seed_and_ends_healed(self):
        def faults(seed):
            return mrc("chaos", "--lab", LAB, "--seed", str(seed), "--for", "20s", "--dry-run")
        self.assertGreater(len(faults(7).splitlines()), 5)
        self.assertEqual(faults(7), faults(7))
        self.assertNotEqual(faults(7), faults(8))
        said = mrc("chaos", "--lab", LAB, "--seed", "7", "--for", "3s", "--json")
        happened = [json.loads(line) for line in said.splitlines()]
        self.assertGreater(len(happened), 0)
        self.assertEqual(sorted(it["fault"] for it in happened if it["did"] == "cut"),
                         sorted(it["fault"] for it in happened if it["did"] == "healed"))
        self.assertEqual(self.states(), {})
        self.assertEqual(self.working_paths(), self.ALL)


class SoftNetwork(Network):
    """The same with openmrc/softswitch in place of the kernel."""

    OPTIONS = ["--switch", "soft"]


class SoftFaults(LabTest):
    OPTIONS = ["--switch", "soft"]

    def test_cut_and_silent_links(self):
        mrc("cut", "--lab", LAB, "p2.t0-1/up0", "p1.t1-1")
        mrc("cut", "--lab", LAB, "h3/p0", "--silent")
        self.assertEqual(self.working_paths(), self.ALL - {(2, 0), (1, 1), (0, 0), (0, 1)})
        mrc("heal", "--lab", LAB)
        self.assertEqual(self.working_paths(), self.ALL)

    def test_counters_name_their_ports(self):
        file = pathlib.Path(f"/run/openmrc/labs/{LAB}/switches.json")
        deadline = time.monotonic() + 5
        while not file.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        switches = {each["name"]: each["ports"] for each in json.loads(file.read_text())}
        links = {link["name"]: link["ends"] for link in json.loads(mrc("status", LAB, "--json"))["links"]}
        named = [(f"mrc-{LAB}-{name}", port) for name, ports in switches.items() for port in ports]
        for space, port in named:
            self.assertIn({"namespace": space, "interface": port["interface"]}, links[port["link"]])
        switch_ends = [end for ends in links.values() for end in ends if ".t" in end["namespace"]]
        self.assertEqual(len(named), len(switch_ends))

    def test_a_part_of_the_packets_can_be_lost(self):
        mrc("cut", "--lab", LAB, "p0.t0-0/up0", "--loss", "20%")
        arrived = [sum(self.arrives(0, 0, count=100, patience=0.3)) for _ in range(5)]
        self.assertTrue(650 < sum(arrived) < 920, arrived)


class SoftQueues(LabTest):
    """Two hosts send more than one uplink carries: it marks, and then trims."""

    OPTIONS = ["--switch", "soft", "--rate", "20mbit"]
    TRIMMABLE, TRIMMED = 10 << 2, 14 << 2
    CAPABLE, CONGESTED = 2, 3

    def test_a_full_queue_marks_and_trims(self):
        senders = [inside(f"mrc-{LAB}-{host}", self.open_sender) for host in ("h0", "h1")]
        receiver = self.receiver.planes[0]
        receiver.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_RECVTCLASS, 1)
        path = carrier(0, 0, 0, 1, 1)
        marked = trimmed = 0
        end = time.monotonic() + 10
        while time.monotonic() < end and (marked < 10 or trimmed < 10):
            for sender in senders:
                for _ in range(4):
                    sender.sendto(bytes(1000), (path, MRC_PORT))
            time.sleep(0.001)
            while select.select([receiver], [], [], 0)[0]:
                payload, control, _, _ = receiver.recvmsg(2000, 64)
                traffic_class = struct.unpack("i", control[0][2])[0]
                if traffic_class & ~3 == self.TRIMMED:
                    self.assertEqual(len(payload), 64 - 8)
                    trimmed += 1
                elif traffic_class == self.TRIMMABLE | self.CONGESTED:
                    self.assertEqual(len(payload), 1000)
                    marked += 1
        for sender in senders:
            sender.close()
        self.assertGreaterEqual(marked, 10)
        self.assertGreaterEqual(trimmed, 10)

    def open_sender(self):
        sock = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
        sock.setsockopt(socket.IPPROTO_UDP, UDP_NO_CHECK6_TX, 1)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, b"p0")
        sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_TCLASS, self.TRIMMABLE | self.CAPABLE)
        return sock


class UpAndDown(unittest.TestCase):
    def tearDown(self):
        remove_labs()

    def all_up(self, lab):
        return all(it["state"] == "up" for it in json.loads(mrc("status", lab, "--json"))["links"])

    def test_up_again_repairs_and_refuses_another_shape(self):
        first = mrc("up", LAB)
        self.assertIn("mrc lab exec", first)
        spaces = remains(LAB)
        mrc("cut", "--lab", LAB, "p1")
        self.assertIn("already exists", mrc("up", LAB))
        self.assertTrue(self.all_up(LAB))
        self.assertEqual(remains(LAB), spaces)
        refused = mrc("up", LAB, "--planes", "2", code=1)
        self.assertIn("--planes 4 --t0 2 --t1 2 --hosts 4", refused)
        self.assertIn(f"mrc lab down {LAB}", refused)
        subprocess.run(["ip", "-n", f"mrc-{LAB}-h1", "link", "delete", "p2"], check=True)
        self.assertIn("missing", mrc("status", LAB))
        self.assertIn("rebuilt", mrc("up", LAB))
        self.assertTrue(self.all_up(LAB))

    def test_down_leaves_nothing_behind(self):
        mrc("up", LAB)
        # One that ends when asked, and one that does not.
        asked = subprocess.Popen([MRC, "lab", "exec", "--lab", LAB, "h0", "sh", "-c",
                                  "echo; exec sleep 600"], stdout=subprocess.PIPE)
        deaf = subprocess.Popen([MRC, "lab", "exec", "--lab", LAB, "h1", "sh", "-c",
                                 "trap '' TERM; echo; while :; do sleep 600; done"],
                                stdout=subprocess.PIPE)
        for process in (asked, deaf):
            process.stdout.readline()  # it runs
            self.addCleanup(process.stdout.close)
        self.assertGreater(len(remains(LAB)), 20)
        mrc("down", LAB)
        self.assertEqual(remains(LAB), [])
        self.assertEqual(asked.wait(timeout=10), -signal.SIGTERM)
        self.assertEqual(deaf.wait(timeout=10), -signal.SIGKILL)
        self.assertIn("No lab", mrc("down", LAB))
        self.assertIn("mrc lab up", mrc("status", LAB, code=1))
        self.assertEqual(remains(LAB), [])

    def test_a_lost_soft_switch_is_noticed_and_ended_by_down(self):
        mrc("up", LAB, "--planes", "1", "--switch", "soft")
        space = f"mrc-{LAB}-mgmt"
        pids = subprocess.run(["ip", "netns", "pids", space], capture_output=True, text=True,
                              check=True).stdout.split()
        self.assertEqual(len(pids), 1)
        os.kill(int(pids[0]), signal.SIGKILL)
        while pathlib.Path(f"/proc/{pids[0]}/ns/net").exists():
            time.sleep(0.01)
        self.assertIn("rebuilt", mrc("up", LAB, "--planes", "1", "--switch", "soft"))
        pid = subprocess.run(["ip", "netns", "pids", space], capture_output=True, text=True,
                             check=True).stdout.strip()
        mrc("down", LAB)
        self.assertFalse(pathlib.Path(f"/proc/{pid}/ns/net").exists())
        self.assertEqual(remains(LAB), [])

    def test_remains_of_a_lab_are_removed(self):
        subprocess.run(["ip", "netns", "add", f"mrc-{LAB}-p0.t0-0"], check=True)
        self.assertIn(LAB, mrc("list"))
        mrc("down", LAB)
        self.assertEqual(remains(LAB), [])

    def test_an_interrupted_up_leaves_nothing_behind(self):
        building = subprocess.Popen([MRC, "lab", "up", LAB, "--planes", "8", "--t0", "4", "--t1",
                                     "4", "--hosts", "16"], stdout=subprocess.DEVNULL,
                                    stderr=subprocess.PIPE, text=True)
        while not remains(LAB) and building.poll() is None:
            time.sleep(0.005)
        building.send_signal(signal.SIGINT)
        _, said = building.communicate(timeout=60)
        self.assertEqual((building.returncode, said), (1, "mrc lab: interrupted\n"))
        self.assertEqual(remains(LAB), [])

    def test_a_killed_up_is_noticed_and_built_again(self):
        options = ["--planes", "2", "--rate", "200mbit"]
        nodes = 13  # namespaces of such a lab
        for spaces_min, pause in ((1, 0), (nodes, 0), (nodes, 0.05), (nodes, 0.1), (nodes, 0.2)):
            with self.subTest(spaces=spaces_min, pause=pause):
                building = subprocess.Popen([MRC, "lab", "up", LAB, *options],
                                            stdout=subprocess.DEVNULL)
                while building.poll() is None and len(
                        [name for name in remains(LAB) if "/run/netns" in name]) < spaces_min:
                    time.sleep(0.002)
                time.sleep(pause)
                building.kill()
                building.wait()
                is_whole = subprocess.run([MRC, "lab", "status", LAB], capture_output=True,
                                          timeout=60, check=False).returncode == 0
                if is_whole:
                    self.assertGreater(pause, 0)  # it was quicker
                else:
                    self.assertIn(f"the lab '{LAB}' is incomplete", mrc("status", LAB, code=1))
                    self.assertIn("incomplete", mrc("exec", "--lab", LAB, "h0", "true", code=1))
                    doctor = subprocess.run(
                        [MRC, "doctor", "--config", f"/run/openmrc/labs/{LAB}/h0/openmrc.toml"],
                        capture_output=True, text=True, timeout=60, check=False)
                    self.assertIn(f"fail  lab: '{LAB}' is incomplete", doctor.stdout)
                    self.assertIn("rebuilt", mrc("up", LAB, *options))
                self.assertTrue(self.all_up(LAB))
                self.assertEqual(self.unlimited_ports(LAB), [])
                management = subprocess.run(["ip", "-n", f"mrc-{LAB}-mgmt", "-o", "link"], text=True,
                                            capture_output=True, check=True).stdout
                self.assertEqual(management.count("master br0 state UP"), 4)
                mrc("down", LAB)
                self.assertEqual(remains(LAB), [])

    @staticmethod
    def unlimited_ports(lab):
        """Ends of cables without a token bucket."""
        ports = [(end["namespace"], end["interface"])
                 for link in json.loads(mrc("status", lab, "--json"))["links"]
                 for end in link["ends"]]
        return [(space, port) for space, port in ports
                if "tbf" not in subprocess.run(
                    ["tc", "-n", space, "qdisc", "show", "dev", port, "root"],
                    capture_output=True, text=True, check=True).stdout]

    def test_two_labs_do_not_touch_each_other(self):
        mrc("up", LAB)
        mrc("up", OTHER, "--planes", "1", "--t0", "1", "--hosts", "2")
        self.assertLessEqual({LAB, OTHER}, {line.split()[0] for line in mrc("list").splitlines()})
        mrc("cut", "--lab", LAB, "h0")
        self.assertTrue(self.all_up(OTHER))
        sender = inside(f"mrc-{OTHER}-h0", lambda: Sender.open(0))
        receiver = inside(f"mrc-{OTHER}-h1", lambda: Receiver.open(0))
        sender.sendto(b"one tier", (carrier(0, 0, 0, 0, 1), MRC_PORT))
        self.assertTrue(select.select([receiver], [], [], 1)[0])
        self.assertEqual(receiver.recv(100), b"one tier")
        sender.close()
        receiver.close()
        mrc("down", LAB)
        self.assertTrue(self.all_up(OTHER))

    def test_a_dry_run_is_a_script_that_does_the_same(self):
        script = mrc("up", LAB, "--planes", "2", "--dry-run")
        self.assertEqual(remains(LAB), [])
        subprocess.run(["sh", "-e"], input=script, text=True, check=True, timeout=60)
        self.assertTrue(self.all_up(LAB))
        self.assertIn("already exists", mrc("up", LAB, "--planes", "2"))

    def test_a_rate_bounds_every_link(self):
        mrc("up", LAB, "--rate", "20mbit")
        sender, receiver = Sender(LAB), Receiver(LAB, "h3")
        try:
            path = carrier(0, 0, 0, 1, 1)
            begin = time.monotonic()
            for _ in range(100):
                sender.send_usid(0, path, bytes(1000))
            self.assertEqual(len(receiver.drain(0, 100)), 100)
            # 106 KB take 42 ms, less a burst of 18 KB that needs not wait.
            self.assertGreater(time.monotonic() - begin, 0.030)
        finally:
            sender.close()
            receiver.close()
        text = pathlib.Path(f"/run/openmrc/labs/{LAB}/h0/openmrc.toml").read_text()
        self.assertIn('rate = "80mbit"', text)

    def test_with_a_rate_every_packet_is_a_frame(self):
        def frames():
            said = subprocess.run(["ip", "-s", "-j", "-n", f"mrc-{LAB}-p0.t0-0", "link", "show",
                                   "down0"], capture_output=True, check=True).stdout
            return json.loads(said)[0]["stats64"]["rx"]["packets"]
        for options, at_least, at_most in (([], 1, 9), (["--rate", "1gbit"], 10, 20)):
            mrc("up", LAB, "--planes", "1", *options)
            sender = inside(f"mrc-{LAB}-h0", lambda: socket.socket(
                socket.AF_INET6, socket.SOCK_DGRAM))
            receiver = inside(f"mrc-{LAB}-h3", lambda: Receiver.open(0))
            sender.setsockopt(socket.IPPROTO_UDP, UDP_SEGMENT, 1000)
            before = frames()
            sender.sendto(bytes(10_000), (inner(0, 1, 1), MRC_PORT))
            for _ in range(10):
                self.assertTrue(select.select([receiver], [], [], 1)[0])
                self.assertEqual(len(receiver.recv(65536)), 1000)
            self.assertTrue(at_least <= frames() - before <= at_most, options)
            sender.close()
            receiver.close()
            mrc("down", LAB)

    def test_what_cannot_be_built_is_refused(self):
        for options, said in ((["--hosts", "5"], "5 hosts cannot be divided evenly"),
                              (["--planes", "17"], "1 to 16 planes"),
                              (["--t1", "0"], "need uplinks"),
                              (["--mtu", "100"], "MTU must be"),
                              (["--rate", "fast"], "expected e.g. 10gbit"),
                              (["--hosts", "400"], "more than a lab can have")):
            with self.subTest(options=options):
                self.assertIn(said, mrc("up", LAB, *options, code=1))
        self.assertIn("invalid lab name", mrc("up", "my-lab", code=1))
        mrc("up", LAB, "--mode", "tcp", code=2)
        self.assertEqual(remains(LAB), [])

    def test_without_root_it_says_what_to_type(self):
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o755)
            copy = shutil.copy(MRC, folder)
            for arguments in (["up", LAB], ["cut", "p1"], ["down"]):
                done = subprocess.run([copy, "lab", *arguments], user=65534, group=65534,
                                      extra_groups=[], capture_output=True, text=True, timeout=30)
                self.assertEqual(done.returncode, 1)
                self.assertIn("only root", done.stderr)
                self.assertIn(f"sudo {copy} lab {' '.join(arguments)}\n", done.stderr)
            dry = subprocess.run([copy, "lab", "up", LAB, "--dry-run"], user=65534, group=65534,
                                 extra_groups=[], capture_output=True, text=True, timeout=30)
            self.assertEqual(dry.returncode, 0)
        self.assertEqual(remains(LAB), [])


if __name__ == "__main__":
    unittest.main()
