#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Plants mistakes in labs and expects `mrc fabric verify` to find each of them, to find nothing else
than what follows from it, and to name commands that fix it. On a healthy lab it finds nothing."""
import argparse
import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile
import time
import unittest

SETTLED_S = 5
T0, T1, HOST = "p0.t0-0", "p1.t1-1", "h0"
SWITCHES = [f"p{plane}.{tier}-{i}" for plane in range(2) for tier in ("t0", "t1") for i in range(2)]
OWN = "fcbb:bb00:4000::/48"
UN = f"route replace {OWN} encap seg6local"
SHIFT = "flavors next-csid lblen 32 nflen 16"
FAR_T1 = "fcbb:bb00:8010::/48"  # of T0, by up1
DECAP = "fcbb:bb00:c000::/48"

# name: (device, what is done as `ip -6` or, with !, as another program, what must be found)
MISTAKES = {
    "uN is missing": (T0, f"route delete {OWN}", "segment"),
    "uN without flavour": (T0, f"{UN} action End dev sr0", "segment-behaviour"),
    "uN of other lengths": (T0, f"{UN} action End flavors next-csid lblen 16 nflen 16 dev sr0",
                            "segment-behaviour"),
    "uN decapsulates": (T0, f"{UN} action End.DT6 table main dev sr0", "segment-behaviour"),
    "stale SID": (T0, f"route add fcbb:bb00:4ff0::/48 encap seg6local action End {SHIFT} dev sr0",
                  "stale-segment"),
    "route is missing": (T0, f"route delete {FAR_T1}", "route"),
    "wrong next hop": (T0, f"route replace {FAR_T1} via fe80::9 dev up1", "next-hop"),
    "wrong port": (T0, f"route replace {FAR_T1} via fe80::1 dev up0", "next-hop"),
    "blackhole for a uSID": (T0, f"!ip -6 route delete {FAR_T1} && ip -6 route add blackhole {FAR_T1}",
                             "next-hop"),
    "ECMP by accident": (T0, f"route replace {FAR_T1} nexthop via fe80::1 dev up0 "
                             "nexthop via fe80::1 dev up1", "ecmp"),
    "a second route of another metric": (T0, f"route add {FAR_T1} via fe80::1 dev up0 metric 5",
                                         "ecmp"),
    "stale route": (T1, "route add fcbb:bb00:7771::/48 via fe80::2 dev down0", "stale-route"),
    "a longer prefix leads elsewhere": (T0, "route add fcbb:bb00:8010:4010::/64 via fe80::1 dev up0",
                                        "stale-route"),
    "route to a rack is missing": (T1, "route delete fcbb:bb00:4011::/48", "route"),
    "inner route is missing": (T1, "route delete fd4d:5243:0:1::/112", "route"),
    "blackhole is missing": (T0, "route delete blackhole default", "blackhole"),
    "an uplink is left out": (T0, "route replace fd4d:5243::/64 via fe80::1 dev up0", "uplink"),
    "MTU of a switch": (T0, "!ip link set dev up1 mtu 1500", "mtu"),
    "MTU of a host": (HOST, "!ip link set dev p1 mtu 4000", "mtu"),
    "MAC address": (T0, "!ip link set dev up1 address 02:aa:aa:aa:aa:aa", "mac"),
    "port is down": (T1, "!ip link set dev down1 down", "port-down"),
    "address of a cable": (T0, "address delete fe80::2/64 dev up1", "address"),
    "address of a host": (HOST, "address delete fd4d:5243:0:1::1/128 dev p1", "address"),
    "address of another host": (HOST, "address add fd4d:5243::2/128 dev p0", "foreign-address"),
    "neighbour is missing": (T0, "neighbour delete fe80::1 dev up1", "neighbour"),
    "neighbour of another MAC": (T0, "neighbour replace fe80::1 lladdr 02:aa:aa:aa:aa:aa dev up1 nud "
                                     "permanent", "neighbour-mac"),
    "neighbour that is dead": (T0, "neighbour change fe80::1 dev up1 nud failed", "neighbour-dead"),
    "host does not decapsulate": (HOST, f"route delete {DECAP}", "segment"),
    "host decapsulates elsewhere": (HOST, f"route replace {DECAP} encap seg6local action End.DT6 table "
                                          "main dev p0", "segment-behaviour"),
    "host sends from another address": (HOST, "route replace fcbb:bb00:4000::/48 via fe80::1 dev p0 "
                                              "src fd4d:5243:0:1::1", "next-hop"),
    "rule is missing": (HOST, "rule delete pref 100", "rule"),
    "host's uSID is not local": (HOST, "route delete local fcbb:bb00:c000:: table 4791", "route"),
    "forwarding is off": (T1, "!sysctl -qw net.ipv6.conf.all.forwarding=0", "setting"),
    "SRv6 is off on a port": (T0, "!sysctl -qw net.ipv6.conf.down0.seg6_enabled=0", "setting"),
    "hashing by addresses": (T0, "!sysctl -qw net.ipv6.fib_multipath_hash_policy=0", "setting"),
}
# With FRR the routes are its own: it puts back what others delete, and others cannot replace it.
RACK = "fcbb:bb00:4011::/48"  # of T1, by down1
WITH_FRR = {
    "uN is missing": MISTAKES["uN is missing"],
    "stale SID": MISTAKES["stale SID"],
    "route is missing": (T1, f"vtysh no ipv6 route {RACK} fe80::2 down1", "route"),
    "wrong port": (T1, f"vtysh no ipv6 route {RACK} fe80::2 down1;ipv6 route {RACK} fe80::2 down0",
                   "next-hop"),
    "ECMP by accident": (T1, f"vtysh ipv6 route {RACK} fe80::2 down0", "ecmp"),
    "stale route": (T1, "vtysh ipv6 route fcbb:bb00:7771::/48 fe80::2 down0", "stale-route"),
    "blackhole is missing": (T1, "vtysh no ipv6 route ::/0 blackhole", "blackhole"),
}
# FRR 8.4 does not install routes that are added later on a T0, whose next hops have two addresses.
WITH_FRR_FOUND_ONLY = {
    "route of a T0 is missing": (T0, f"vtysh no ipv6 route {FAR_T1} fe80::1 up1", "route"),
    "an uplink is left out": (T0, "vtysh no ipv6 route fd4d:5243::/64 fe80::1 up1", "uplink"),
}
# What the kernel takes away with it.
FOLLOWS = {"MAC address": {"neighbour"}, "address of a host": {"next-hop"}}


class Lab:
    """A lab that is gone when the test is."""
    def __init__(self, mrc, source):
        self.mrc, self.source, self.name = mrc, source, f"ver{os.getpid()}"

    def __enter__(self):
        self.up()
        return self

    def __exit__(self, *_):
        self.call("lab", "down", self.name)

    def up(self):
        self.call("lab", "up", self.name, "--planes", "2", "--from", self.source)

    def call(self, *words):
        subprocess.run([self.mrc, *words], check=True, timeout=60, stdout=subprocess.DEVNULL)

    def shell(self, device, line):
        """A line of `ip -6`, of any program (!), or of FRR's configuration (vtysh)."""
        if line.startswith("vtysh "):
            words = [word for part in line[6:].split(";") for word in ("-c", part)]
            line = shlex.join(["vtysh", "-c", "configure", *words])
        elif line.startswith("!"):
            line = line[1:]
        else:
            line = "ip -6 " + line
        # Every switch has its own daemons.
        line = line.replace("vtysh ", f"vtysh --vty_socket /run/openmrc/labs/{self.name}/emit/"
                                      f"{device}/run ")
        return subprocess.run(["ip", "netns", "exec", f"mrc-{self.name}-{device}", "sh", "-ec", line],
                              capture_output=True, text=True, timeout=60, check=False)

    def verify(self, *options):
        done = subprocess.run([self.mrc, "fabric", "verify", "--lab", self.name, "--json", *options],
                              capture_output=True, text=True, timeout=60, check=False)
        if not done.stdout:
            raise AssertionError(done.stderr)
        return json.loads(done.stdout), done.returncode


def soon(lab, is_so):
    """What verify says; FRR takes a moment to do as it is told."""
    end = time.monotonic() + SETTLED_S
    while True:
        answer, code = lab.verify()
        if is_so(answer["findings"]) or time.monotonic() > end:
            return answer["findings"], code
        time.sleep(0.1)


def run_mistakes(test, lab, mistakes):
    for name, (device, line, mistake) in mistakes.items():
        with test.subTest(name):
            planted = lab.shell(device, line)
            test.assertEqual(planted.returncode, 0, f"cannot be planted: {planted.stderr}")
            findings, code = soon(lab, lambda found, mistake=mistake: mistake in
                                  [one["mistake"] for one in found])
            test.assertEqual(code, 1, findings)
            test.assertIn((device, mistake), [(one["device"], one["mistake"]) for one in findings])
            if mistake != "port-down":  # which takes more with it
                follows = FOLLOWS.get(name, set())
                test.assertEqual({(one["device"], one["mistake"]) for one in findings},
                                 {(device, mistake)} | {(device, each) for each in follows})
            for finding in findings:
                if finding["fix"]:
                    done = lab.shell(finding["device"], "!" + finding["fix"])
                    test.assertEqual(done.returncode, 0, f"{finding}: {done.stderr}")
            test.assertEqual(soon(lab, lambda found: not found), ([], 0), "it is not fixed")


class Verify(unittest.TestCase):
    mrc = None

    def test_mistakes_of_a_lab_from_scripts(self):
        with Lab(self.mrc, "iproute2") as lab:
            self.assertEqual(lab.verify(), ({"devices": 12, "findings": [], "silent": []}, 0))
            run_mistakes(self, lab, MISTAKES)

    def test_what_hands_must_fix(self):
        with Lab(self.mrc, "iproute2") as lab:
            swap = ("for name in up0 up1; do ip link set dev $name down; done; "
                    "ip link set dev up0 name up9; ip link set dev up1 name up0; "
                    "ip link set dev up9 name up1; "
                    f"sh /run/openmrc/labs/{lab.name}/emit/{T0}/setup.sh")
            self.assertEqual(lab.shell(T0, "!" + swap).returncode, 0)
            findings = lab.verify()[0]["findings"]
            self.assertEqual({(one["device"], one["mistake"], one["fix"]) for one in findings},
                             {(T0, "cable", "")})
            self.assertEqual([one["planned"] for one in findings],
                             ["up0 connected to p0.t1-0 down0", "up1 connected to p0.t1-1 down0"])
            self.assertEqual(lab.shell(T0, "!" + swap).returncode, 0)
            self.assertEqual(lab.verify()[0]["findings"], [], "swapped again, all is well")

            self.assertEqual(lab.shell(HOST, "!ip link set dev p1 down").returncode, 0)
            found = {(one["device"], one["mistake"]) for one in lab.verify()[0]["findings"]}
            self.assertIn(("p1.t0-0", "carrier"), found)
            self.assertIn((HOST, "port-down"), found)
            self.assertEqual(lab.shell(HOST, "!ip link delete p1").returncode, 0)
            found = {(one["device"], one["mistake"]) for one in lab.verify()[0]["findings"]}
            self.assertIn((HOST, "port"), found)
            self.assertIn(("p1.t0-0", "port"), found)

            subprocess.run(["ip", "netns", "delete", f"mrc-{lab.name}-h3"], check=True)
            answer, code = lab.verify("--device", "h3", "--device", "h2")
            self.assertEqual(([one["device"] for one in answer["silent"]], code), (["h3"], 1))
            self.assertIn("Cannot open network namespace", answer["silent"][0]["error"])

    @unittest.skipUnless(os.access("/usr/lib/frr/staticd", os.X_OK), "no FRR: install frr")
    def test_mistakes_of_a_lab_from_frr(self):
        with Lab(self.mrc, "frr") as lab:
            self.assertEqual(lab.verify(), ({"devices": 12, "findings": [], "silent": []}, 0))
            self.check_dumps(lab)
            run_mistakes(self, lab, WITH_FRR)
            for name, (device, line, mistake) in WITH_FRR_FOUND_ONLY.items():
                with self.subTest(name):
                    self.assertEqual(lab.shell(device, line).returncode, 0)
                    found = [one["mistake"] for one in soon(lab, lambda found, mistake=mistake: mistake
                                                            in [one["mistake"] for one in found])[0]]
                    self.assertIn(mistake, found)

    def check_dumps(self, lab):
        """FRR's own tables, from files, tell the same."""
        def found():
            with tempfile.TemporaryDirectory() as folder:
                for switch in SWITCHES:
                    path = pathlib.Path(folder) / switch / "routes.json"
                    path.parent.mkdir()
                    path.write_text(lab.shell(switch, "!vtysh -c 'show ipv6 route json'").stdout)
                done = subprocess.run([self.mrc, "fabric", "verify",
                                       f"/run/openmrc/labs/{lab.name}/fabric.toml", "--kind", "frr-8.4",
                                       "--dump", folder, "--json"],
                                      capture_output=True, text=True, timeout=60, check=False)
            return json.loads(done.stdout)
        self.assertEqual(found(), {"devices": len(SWITCHES), "findings": [], "silent": []})
        device, line, mistake = WITH_FRR["route is missing"]
        self.assertEqual(lab.shell(device, line).returncode, 0)
        soon(lab, bool)
        findings = found()["findings"]
        self.assertEqual([(one["device"], one["mistake"]) for one in findings], [(device, mistake)])
        self.assertEqual(findings[0]["layer"], "zebra does not have it: staticd")
        self.assertEqual(lab.shell(device, "!" + findings[0]["fix"]).returncode, 0)
        self.assertEqual(soon(lab, lambda found: not found), ([], 0))

    def test_a_fabric_file_and_a_prefix_are_as_good_as_a_lab(self):
        with Lab(self.mrc, "lab") as lab:
            fabric = f"/run/openmrc/labs/{lab.name}/fabric.toml"
            done = subprocess.run([self.mrc, "fabric", "verify", fabric, "--run",
                                   f"ip netns exec mrc-{lab.name}-{{device}}"], timeout=60,
                                  capture_output=True, text=True, check=False)
            self.assertEqual((done.stdout, done.returncode), ("12 devices as planned.\n", 0))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mrc", required=True)
    options, rest = parser.parse_known_args()
    if os.geteuid() != 0:
        print("needs root, for network namespaces")
        sys.exit(77)
    Verify.mrc = options.mrc
    unittest.main(argv=[sys.argv[0]] + rest, verbosity=2)
