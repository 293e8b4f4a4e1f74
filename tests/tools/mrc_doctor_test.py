#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs `mrc doctor` in network namespaces with deliberate faults, and the commands that it names."""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

MRC = pathlib.Path(sys.argv.pop(1)).resolve()
ROOT = pathlib.Path(__file__).resolve().parents[2]

FABRIC = """
[fabric]
planes = 2
racks = 2
hosts_per_rack = 1
uplinks = 2
host = "h0"
[[port]]
interface = "p0"
[[port]]
interface = "p1"
"""

# Host h0 as its plan wants it, in both modes.
SET_UP = """
set -e
sysctl -q -w net.ipv6.conf.all.seg6_enabled=1 net.ipv6.conf.default.seg6_enabled=1
ip link set dev lo up
for i in 0 1; do
  ip link add p$i mtu 9000 type veth peer name q$i mtu 9000
  ip link set dev p$i addrgenmode none
  ip link set dev p$i up
  ip link set dev q$i up
  ip -6 address add fe80::2/64 dev p$i nodad
  ip -6 address add fd4d:5243:0:$i::1/128 dev p$i nodad
  ip -6 route add fd4d:5243:0:$i::/64 via fe80::1 dev p$i
  ip -6 route add fcbb:bb00:400$i::/48 via fe80::1 dev p$i
  ip -6 route add fcbb:bb00:c00$i::/48 encap seg6local action End.DT6 table local dev p$i
done
"""


class Namespace:
    """Lives as long as the process in it."""

    def __init__(self):
        self.process = subprocess.Popen(["unshare", "-n", "sh", "-c", "echo ready; read line"],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.process.stdout.readline()

    def close(self):
        self.process.kill()
        self.process.communicate(timeout=30)

    def run(self, *command):
        return subprocess.run(["nsenter", "-t", str(self.process.pid), "-n", *map(str, command)],
                              capture_output=True, text=True, timeout=60, check=False)

    def shell(self, script):
        done = self.run("sh", "-c", script)
        if done.returncode != 0:
            raise AssertionError(f"{script}\n{done.stderr}")


class Doctor(unittest.TestCase):
    def setUp(self):
        if os.geteuid() != 0:
            self.skipTest("needs root, to make network namespaces")
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.namespace = Namespace()
        self.addCleanup(self.namespace.close)
        self.config = pathlib.Path(self.folder.name) / "openmrc.toml"
        self.write('mode = "srv6"\n' + FABRIC)

    def write(self, text):
        self.config.write_text(text)

    def doctor(self, *arguments):
        done = self.namespace.run(MRC, "doctor", "--config", self.config, "--json", *arguments)
        report = json.loads(done.stdout)
        grades = [finding["grade"] for finding in report["findings"]]
        for grade in ("ok", "warn", "fail"):
            self.assertEqual(report[grade], grades.count(grade))
        self.assertEqual(done.returncode, 1 if report["fail"] else 0, done.stderr)
        for finding in report["findings"]:
            self.assertEqual(finding["remedy"] == "", finding["grade"] == "ok", finding)
        return report["findings"]

    def assert_well(self, *arguments):
        wrong = [finding for finding in self.doctor(*arguments) if finding["grade"] != "ok"]
        # Not of the namespace: a slow clock, an old kernel.
        wrong = [each for each in wrong if each["check"] not in ("clock", "kernel")]
        self.assertEqual(wrong, [])

    def found(self, check, *arguments):
        matching = [each for each in self.doctor(*arguments) if each["check"] == check]
        self.assertEqual(len(matching), 1, check)
        return matching[0]

    def assert_fixes(self, fault, check, grade, said, remedy, *arguments):
        """The fault is named with a command, and the command fixes it."""
        self.namespace.shell(SET_UP)
        self.assertEqual(self.found(check, *arguments)["grade"], "ok")
        self.namespace.shell(fault)
        finding = self.found(check, *arguments)
        self.assertEqual(finding["grade"], grade, finding)
        self.assertRegex(finding["found"], said)
        self.assertRegex(finding["remedy"], remedy)
        self.namespace.shell(finding["remedy"])
        self.assertEqual(self.found(check, *arguments)["grade"], "ok")


class Healthy(Doctor):
    def test_nothing_is_wrong_in_any_mode(self):
        self.namespace.shell(SET_UP)
        self.assert_well()
        self.assert_well("--peer", "h1")
        self.namespace.shell("for i in 0 1; do ip -6 route del fcbb:bb00:c00$i::/48; "
                             "ip -6 address add fcbb:bb00:c00$i::/128 dev lo nodad; done")
        self.write('mode = "usid"\n' + FABRIC)
        self.assert_well("--peer", "h1")
        self.write(FABRIC)
        self.assert_well("--peer", "h1")

    def test_text_is_a_line_for_each_and_a_summary(self):
        self.namespace.shell(SET_UP)
        done = self.namespace.run(MRC, "doctor", "--config", self.config)
        lines = done.stdout.splitlines()
        for line in lines[:-1]:
            self.assertRegex(line, r"^(ok  |warn|fail)  [^:]+.*: .+")
        self.assertRegex(lines[-1], r"^\d+ passed, \d+ warnings?, 0 failed$")
        self.assertEqual(done.returncode, 0)
        self.assertIn("ok    p0: MTU: is 9000; packets need 4228\n", done.stdout)


class Faults(Doctor):
    def test_interface_is_missing(self):
        self.namespace.shell(SET_UP + "ip link del p1")
        finding = self.found("p1: interface")
        self.assertEqual(finding["grade"], "fail")
        self.assertIn("ip link", finding["remedy"])
        self.assertIn(str(self.config), finding["remedy"])

    def test_interface_is_set_down(self):
        # Setting it down takes its routes with it, so only the link is looked at.
        self.assert_fixes("ip link set dev p0 down", "p0: link", "fail", "is administratively down",
                          "^ip link set dev p0 up$")

    def test_no_carrier(self):
        self.namespace.shell(SET_UP + "ip link set dev q0 down")
        finding = self.found("p0: link")
        self.assertEqual((finding["grade"], finding["found"]), ("fail", "has no carrier"))
        self.assertIn("cable", finding["remedy"])

    def test_mtu_is_too_small(self):
        self.assert_fixes("ip link set dev p0 mtu 4227", "p0: MTU", "fail",
                          "is 4227, but packets of mtu = 4096 need 4228",
                          r"^ip link set dev p0 mtu 4228 # or, .*: mtu = 2048 in \[transport\]$")

    def test_mtu_that_cannot_be_raised(self):
        self.namespace.shell(SET_UP + "ip link set dev p0 mtu 1400")
        remedy = self.found("p0: MTU")["remedy"]
        mtu = re.search(r"# or, if the network does not allow it: (mtu = 1024) in \[transport\]$",
                        remedy)
        self.assertIsNotNone(mtu, remedy)
        self.write('mode = "srv6"\n' + FABRIC + f"[transport]\n{mtu.group(1)}\n")
        self.assertEqual(self.found("p0: MTU")["grade"], "ok")

    def test_no_payload_fits(self):
        self.namespace.shell(SET_UP + "ip link set dev lo mtu 300")
        self.write('[[port]]\ninterface = "lo"\naddress = "::1"\n')
        self.assertEqual(self.found("lo: MTU")["remedy"], "ip link set dev lo mtu 4188")

    def test_mtu_for_udp_needs_no_outer_header(self):
        self.namespace.shell(SET_UP + "ip link set dev p0 mtu 4188")
        self.write(FABRIC)
        self.assertEqual(self.found("p0: MTU")["grade"], "ok")

    def test_address_is_missing(self):
        self.assert_fixes("ip -6 address del fd4d:5243:0:1::1/128 dev p1", "p1: address", "fail",
                          "fd4d:5243:0:1::1 is missing",
                          r"^ip -6 address add fd4d:5243:0:1::1/128 dev p1 nodad$")

    def test_address_is_elsewhere(self):
        self.assert_fixes("ip -6 address del fd4d:5243::1/128 dev p0; "
                          "ip -6 address add fd4d:5243::1/128 dev p1 nodad", "p0: address", "fail",
                          "belongs to p1", "^ip -6 address del .* && ip -6 address add")

    def test_segment_routing_is_off(self):
        self.assert_fixes("sysctl -q -w net.ipv6.conf.all.seg6_enabled=0 "
                          "net.ipv6.conf.p1.seg6_enabled=0", "p1: seg6", "warn", "is off",
                          r"^sysctl -w net.ipv6.conf.all.seg6_enabled=1 "
                          r"net.ipv6.conf.p1.seg6_enabled=1$")

    def test_own_segment_is_not_decapsulated(self):
        self.assert_fixes("ip -6 route del fcbb:bb00:c001::/48", "p1: own segment", "fail",
                          "fcbb:bb00:c001:: is not decapsulated", "action End.DT6 table local dev p1$")

    def test_own_segment_is_no_address(self):
        self.namespace.shell(SET_UP)
        self.write('mode = "usid"\n' + FABRIC)
        self.namespace.shell("ip -6 route del fcbb:bb00:c000::/48")
        finding = self.found("p0: own segment")
        self.assertEqual(finding["grade"], "fail")
        self.namespace.shell(finding["remedy"])
        self.assertEqual(self.found("p0: own segment")["grade"], "ok")

    def test_no_route_to_the_first_switch(self):
        self.namespace.shell(SET_UP + "ip -6 route del fcbb:bb00:4001::/48")
        finding = self.found("p1: route")
        self.assertEqual(finding["grade"], "fail")
        self.assertIn("to p1.t0-0 (fcbb:bb00:4001::/48): no route", finding["found"])
        self.assertRegex(finding["remedy"], r"^ip -6 route replace fcbb:bb00:4001::/48 via .* dev p1$")
        self.assertIn("no route", self.found("p1: paths to h1", "--peer", "h1")["found"])

    def test_route_leaves_by_the_wrong_port(self):
        self.namespace.shell(SET_UP + "ip -6 route replace fcbb:bb00:4001::/48 via fe80::1 dev p0")
        self.assertIn("it leaves by p0", self.found("p1: route")["found"])

    def test_route_is_a_black_hole(self):
        self.namespace.shell(SET_UP + "ip -6 route replace blackhole fcbb:bb00:4000::/48")
        self.assertIn("the route rejects it", self.found("p0: route")["found"])

    def test_traffic_class_is_rewritten(self):
        self.namespace.shell(SET_UP)
        if self.namespace.run("nft", "--version").returncode != 0:
            self.skipTest("no nft")
        self.namespace.shell("nft add table inet t; nft add chain inet t c "
                             "'{ type filter hook output priority 0 ; }'; "
                             "nft add rule inet t c ip6 dscp set 0")
        finding = self.found("DSCP and ECN")
        self.assertEqual(finding["grade"], "fail")
        self.assertRegex(finding["found"], r"^0xba was sent to ::1 and arrived as 0x02$")
        self.assertIn("nft list ruleset", finding["remedy"])

    def test_loopback_is_down(self):
        self.namespace.shell(SET_UP + "ip link set dev lo down")
        self.assertIn("ip link set dev lo up", self.found("loopback")["remedy"])

    def test_peer_is_not_of_the_fabric(self):
        self.namespace.shell(SET_UP)
        finding = self.found("peer", "--peer", "h2")
        self.assertEqual(finding["grade"], "fail")
        self.assertEqual(finding["remedy"], "name one of h0 to h1")

    def test_too_few_open_files(self):
        self.namespace.shell(SET_UP)
        self.write("shards = 8\n" + FABRIC)
        done = self.namespace.run("sh", "-c", f"ulimit -n 256; {MRC} doctor --config {self.config}")
        self.assertRegex(done.stdout, r"fail  open files: 256 allowed, and about \d+ are needed; "
                                      r"fix: ulimit -Hn \d+")

    def test_without_privileges(self):
        self.namespace.shell(SET_UP)
        drop = ["setpriv", "--bounding-set", "-all", "--inh-caps", "-all", "--reuid", "65534",
                "--clear-groups"]
        if self.namespace.run(*drop, "true").returncode != 0:
            self.skipTest("no setpriv")
        program = pathlib.Path(self.folder.name)
        program.chmod(0o755)
        done = self.namespace.run(*drop, MRC, "doctor", "--config", self.config)
        if not done.stdout:
            self.skipTest("an unprivileged user may not run it from here: " + done.stderr)
        self.assertRegex(done.stdout, "fail  CAP_NET_RAW: .*fix: sudo, or: setcap cap_net_raw")
        self.assertEqual(done.returncode, 1)


class Fix(Doctor):
    FAULTS = """
        ip link set dev p0 mtu 1400
        ip -6 address del fd4d:5243:0:1::1/128 dev p1
        sysctl -q -w net.ipv6.conf.p1.seg6_enabled=0
        ip -6 route del fcbb:bb00:c001::/48
        ip link set dev lo down
    """
    COMMANDS = [
        "ip link set dev p0 mtu 4228",
        "ip -6 address add fd4d:5243:0:1::1/128 dev p1 nodad",
        "sysctl -w net.ipv6.conf.p1.seg6_enabled=1",
        "ip -6 route replace fcbb:bb00:c001::/48 encap seg6local action End.DT6 table local dev p1",
        "ip link set dev lo up",
    ]

    def fix(self, *before):
        return self.namespace.run(*before, MRC, "doctor", "--config", self.config, "--fix")

    @staticmethod
    def part(text, mark):
        return [line.removeprefix(mark) for line in text.splitlines() if line.startswith(mark)]

    def test_what_is_listed_is_done_and_fixes_it(self):
        self.namespace.shell(SET_UP + self.FAULTS)
        self.assertGreater(len([each for each in self.doctor() if each["grade"] == "fail"]), 3)
        done = self.fix()
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertLess(done.stdout.index("To be done:"), done.stdout.index("done  "))
        listed = self.part(done.stdout, "  ")
        self.assertEqual([each for each in listed if "net.core" not in each], self.COMMANDS)
        self.assertEqual(self.part(done.stdout, "done  "), listed)
        self.assertIn("lasts until the next boot", done.stdout)
        self.assertRegex(done.stdout, r" 0 failed\n$")
        self.assert_well()

    def test_a_second_time_there_is_nothing_to_do(self):
        self.namespace.shell(SET_UP + self.FAULTS)
        self.fix()
        again = self.fix()
        self.assertEqual(again.returncode, 0)
        self.assertIn("Nothing that a command could fix was found.\n", again.stdout)
        self.assertEqual(self.part(again.stdout, "done  "), [])

    def test_what_only_a_fix_makes_visible_is_fixed_too(self):
        # The kernel forgets addresses and routes of an interface that is set down.
        self.namespace.shell(SET_UP + "ip link set dev p0 down")
        done = self.fix()
        self.assertIn("ip link set dev p0 up", self.part(done.stdout, "done  "))
        checks = {each["check"]: each["grade"] for each in self.doctor()}
        self.assertEqual(checks["p0: link"], "ok")
        self.assertEqual(checks["p0: address"], "ok")
        self.assertEqual(checks["p0: own segment"], "ok")
        # Nobody here knows the address of the switch.
        self.assertEqual(checks["p0: route"], "fail")
        self.assertEqual(done.returncode, 1)

    def test_a_command_that_fails_is_said(self):
        self.namespace.shell(SET_UP + "ip link set dev lo mtu 300")
        self.write('[[port]]\ninterface = "p0"\naddress = "fd4d:5243::1"\n')
        self.namespace.shell("ip link set dev p0 mtu 1400")
        tools = pathlib.Path(self.folder.name, "tools")
        tools.mkdir()
        ip = tools / "ip"
        ip.write_text("#!/bin/sh\necho 'Error: mtu greater than device maximum.' >&2\nexit 2\n")
        ip.chmod(0o755)
        done = self.fix("env", f"PATH={tools}:{os.environ['PATH']}")
        self.assertEqual(done.returncode, 1)
        self.assertIn("fail  'ip link set dev p0 mtu 4188' failed: Error: mtu greater than device "
                      "maximum.\n", done.stdout)

    def test_needs_root_and_changes_nothing_without(self):
        self.namespace.shell(SET_UP + "ip link set dev p0 mtu 1400")
        pathlib.Path(self.folder.name).chmod(0o755)
        drop = ["setpriv", "--bounding-set", "-all", "--inh-caps", "-all", "--reuid", "65534",
                "--clear-groups"]
        done = self.fix(*drop)
        if "To be done" not in done.stdout:
            self.skipTest("an unprivileged user may not run it from here: " + done.stderr)
        self.assertEqual(done.returncode, 1)
        self.assertIn("  ip link set dev p0 mtu 4228\n", done.stdout)
        self.assertIn("only root may do so\n  fix: sudo mrc doctor --fix\n", done.stderr)
        self.assertEqual(self.found("p0: MTU")["grade"], "fail")


class Configuration(Doctor):
    def test_the_least_that_works_does_so_on_ordinary_networks(self):
        guide = (ROOT / "docs/guide/configuration.md").read_text(encoding="utf-8")
        least = guide.split("The least that works")[1].split("```toml\n")[1].split("```")[0]
        self.assertEqual(least.count("[[port]]"), 2)
        self.write(least)
        self.namespace.shell("""
            ip link set dev lo up
            for plane in 0:a 1:b; do
              ip link add eth${plane%:*} mtu 1500 type veth peer name sw${plane%:*}
              ip link set dev eth${plane%:*} up
              ip link set dev sw${plane%:*} up
              ip -6 address add fd00:0:0:${plane#*:}::1/64 dev eth${plane%:*} nodad
            done""")
        self.assert_well()

    def test_mistakes_are_all_said_and_the_rest_is_still_looked_at(self):
        self.write('mode = "srv7"\nshards = 0\n' + FABRIC)
        findings = self.doctor()
        said = [each["found"] for each in findings if each["check"] == "configuration"]
        self.assertEqual(len(said), 2)
        self.assertTrue(all(re.match(re.escape(str(self.config)) + ":[12]: (mode|shards): ", each)
                            for each in said), said)
        self.assertIn("clock", [each["check"] for each in findings])

    def test_file_is_missing(self):
        self.config.unlink()
        finding = self.found("configuration")
        self.assertEqual(finding["grade"], "fail")
        self.assertIn("No such file", finding["found"])


if __name__ == "__main__":
    unittest.main()
