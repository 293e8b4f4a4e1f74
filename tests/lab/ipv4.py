#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A lab of two planes in which nothing has an IPv6 address: what a user does with it, without
privileges. Its faults are those of recovery.py --ip 4, its programs those of tests/libmrc; --long
runs both."""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

import machine
from lab import Lab, LabProcesses

HERE = pathlib.Path(__file__).resolve().parent
SENDER, RECEIVER = "h0", "h2"  # of different racks
UNPRIVILEGED = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups",
                "--bounding-set", "-all", "--inh-caps", "-all"]
RUN_MAX_S = 60


def spaces():
    names = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True, check=True).stdout
    return [line.split()[0] for line in names.splitlines() if line.startswith(f"mrc-{LAB.name}-")]


class Ipv4(LabProcesses, unittest.TestCase):
    def start(self, host, *command):
        return self.kept(LAB.start_program(host, *UNPRIVILEGED, MRC, *command))

    def transfer(self, *options):
        """Server and client of a verified transfer, both running."""
        server = self.start(RECEIVER, "perf", "write-bw", "--quiet")
        return server, self.start(SENDER, "perf", "write-bw", RECEIVER, "--quiet", "--verify",
                                  "-s", "65536", *options)

    def finish_transfer(self, server, client):
        client_text = self.finish(client)
        self.assertRegex(self.finish(server), rf"[1-9]\d* messages of {SENDER} verified")
        return client_text

    def test_no_interface_has_an_ipv6_address(self):
        self.assertEqual(len(spaces()), 4 + 2 * (2 + 2) + 1)
        for space in spaces():
            found = subprocess.run(["ip", "-6", "-n", space, "address"], capture_output=True,
                                   text=True, check=True).stdout
            self.assertEqual(found, "", space)

    def test_doctor_finds_nothing_wrong_and_every_route(self):
        text = self.finish(self.start(SENDER, "doctor", "--peer", RECEIVER))
        self.assertIn(", 0 failed", text)
        for plane in (0, 1):
            self.assertRegex(text, rf"ok +p{plane}: address: 10\.{plane}\.0\.1")
            self.assertRegex(text, rf"ok +p{plane}: route to {RECEIVER}: 10\.{plane}\.1\.1")
        self.assertRegex(text, "ok +DSCP and ECN: .*127.0.0.1")

    def test_doctor_names_the_command_for_a_missing_address(self):
        space = f"mrc-{LAB.name}-h1"
        subprocess.run(["ip", "-n", space, "address", "del", "10.1.0.2/32", "dev", "p1"], check=True)
        text = self.finish(self.start("h1", "doctor"), 1)
        self.assertRegex(text, r"fail +p1: address: 10\.1\.0\.2 is missing; fix: ip address add "
                               r"10\.1\.0\.2/24 dev p1")
        LAB.run("heal")

    @machine.repeated
    def test_every_path_responds(self):
        server = self.start(RECEIVER, "ping", "--serve")
        self.assertIn("answers", server.stdout.readline())
        answer = json.loads(self.finish(self.start(SENDER, "ping", "--json", RECEIVER)))
        self.assertEqual({path["plane"] for path in answer["paths"]}, {"p0", "p1"})
        for path in answer["paths"]:
            machine.expect(path["answered"] == path["sent"], path)

    def test_a_plane_may_be_cut_meanwhile(self):
        server, client = self.transfer("--duration", "4")
        time.sleep(1.5)
        LAB.run("cut", "p1")
        time.sleep(1)
        LAB.run("heal")
        self.finish_transfer(server, client)

    def test_paths_are_spread_over_all_uplinks(self):
        def sent():
            return [int(subprocess.run(
                ["ip", "netns", "exec", f"mrc-{LAB.name}-p{plane}.t0-0", "cat",
                 f"/sys/class/net/up{uplink}/statistics/tx_packets"],
                capture_output=True, text=True, check=True).stdout)
                for plane in (0, 1) for uplink in (0, 1)]
        before = sent()
        self.finish_transfer(*self.transfer("-n", "500"))
        moved = [now - then for now, then in zip(sent(), before)]
        # Eight EVs for each uplink, by a hash that differs from boot to boot.
        self.assertGreater(min(moved), sum(moved) / 40, moved)

    def test_what_is_on_the_wire_has_a_right_icrc(self):
        """Read by another program, from a cable: what the kernel put in front included."""
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "cable.pcapng")
            capture = subprocess.Popen(
                ["ip", "netns", "exec", f"mrc-{LAB.name}-p0.t0-0", "dumpcap", "-q", "-i", "down0",
                 "-c", "300", "-w", file], stderr=subprocess.PIPE, text=True)
            self.addCleanup(capture.stderr.close)
            self.addCleanup(capture.kill)
            capture.stderr.readline()  # it has begun
            self.finish_transfer(*self.transfer("-n", "200"))
            capture.wait(timeout=RUN_MAX_S)
            found = subprocess.run(
                ["tshark", "-n", "-r", file, "-X", f"lua_script:{HERE}/../../tools/wireshark/mrc.lua",
                 "-Y", "udp.dstport == 4791", "-T", "fields", "-e", "ip.id", "-e", "ip.flags.df",
                 "-e", "mrc.icrc.status"], capture_output=True, text=True, check=True).stdout
        rows = [line.split("\t") for line in found.splitlines()]
        self.assertGreater(len(rows), 250, found)
        self.assertEqual({tuple(row) for row in rows}, {("0x0000", "1", "1")})


def long_runs(options):
    """recovery.py with all its faults, and the programs of tests/libmrc."""
    common = ["--mrc", options.mrc, "--mode", "udp", "--ip", "4", "--planes", "2"]
    runs = [[sys.executable, str(HERE / "recovery.py"), *common, "--slack", "10"]]
    if options.libmrc:
        runs.append([sys.executable, *options.libmrc.split(), *common])
    return max(subprocess.run(run, check=False).returncode for run in runs)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mrc", required=True)
    parser.add_argument("--long", action="store_true", help="faults and programs as well")
    parser.add_argument("--libmrc", help="with --long: lab_libmrc.py and its options but --mrc")
    OPTIONS, rest = parser.parse_known_args()
    if os.geteuid() != 0:
        print("needs root, for network namespaces")
        sys.exit(77)
    code = 0
    with tempfile.TemporaryDirectory() as programs:
        os.chmod(programs, 0o755)
        MRC = shutil.copy(OPTIONS.mrc, os.path.join(programs, "mrc"))
        with Lab(OPTIONS.mrc, "udp", "200mbit", "--planes", "2", "--ip", "4") as LAB:
            program = unittest.main(argv=[sys.argv[0]] + rest, exit=False, verbosity=2)
            code = 0 if program.result.wasSuccessful() else 1
    if OPTIONS.long:
        code = max(code, long_runs(OPTIONS))
    sys.exit(code)
