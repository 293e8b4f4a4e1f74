#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Faults of a host while verified data is moved: a process that is stopped, a kernel that does not
take packets, memory that runs out.

Whatever happens, both sides end: with all data verified, or with an error that says what happened.
Nobody waits busily. --long stops processes for 120 s, as SECURITY.md says.
"""
import argparse
import json
import os
import pathlib
import signal
import subprocess
import tempfile
import time
import unittest

from lab import run_tests

SENDER, RECEIVER = "h0", "h2"
PLANES = 4
RUN_MAX_S = 100
END_MAX_S = 15  # after the fault
BUSY_MAX = 0.5  # of a processor, for a process that has nothing to do
ERRORS = "has exited|retry counter exceeded|out of memory|bad_alloc"
MESSAGE = 64 * 1024
# A connection whose peer is silent fails after 0.3 s instead of 9 s.
IMPATIENT = "retry_linear = 3\nretry_exponential = 3\n"


def run(host, *command):
    return LAB.run("exec", host, "--", *command)


def cpu_s(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rsplit(")")[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def address_space(pid):
    status = pathlib.Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return int(status.split("VmSize:")[1].split()[0]) * 1024


class MemoryGroup:
    """A control group for the memory of one process, of either version."""
    ROOTS = (("/sys/fs/cgroup", "memory.max", "memory.current"),
             ("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes"))

    def __init__(self, pid):
        self.pid, self.folder = pid, None
        for root, limit, used in self.ROOTS:
            folder = pathlib.Path(root, f"openmrc-{pid}")
            try:
                folder.mkdir()
            except OSError:
                continue
            if (folder / limit).exists():
                self.folder, self.limit_file, self.used_file = folder, folder / limit, folder / used
                return
            folder.rmdir()

    def enter(self):
        (self.folder / "cgroup.procs").write_text(str(self.pid), encoding="ascii")

    def remove(self):
        for _ in range(50 if self.folder else 0):  # until the process has left
            try:
                return self.folder.rmdir()
            except OSError:
                time.sleep(0.1)

    def set_limit(self, size):
        """False: the kernel cannot reclaim so much, and has not set it."""
        try:
            self.limit_file.write_text(str(size), encoding="ascii")
            return True
        except OSError:
            return False

    def used(self):
        return int(self.used_file.read_text(encoding="ascii"))


class Transfer:
    """Verified data from SENDER to RECEIVER. `transport` is added to both configurations."""

    def __init__(self, seconds, transport=""):
        self.folder = tempfile.TemporaryDirectory()
        self.result = os.path.join(self.folder.name, "client.json")
        self.messages = int(seconds * PLANES * RATE_GBPS * 1e9 / 8 * 0.9) // MESSAGE
        for host in (SENDER, RECEIVER):
            text = pathlib.Path(f"/run/openmrc/labs/{LAB.name}/{host}/openmrc.toml").read_text(
                encoding="utf-8")
            pathlib.Path(self.config(host)).write_text(text + transport, encoding="utf-8")
        self.server = LAB.start(RECEIVER, "perf", "write-bw", "--quiet", "--config",
                                self.config(RECEIVER))
        self.client = LAB.start(SENDER, "perf", "write-bw", RECEIVER, "--quiet", "--verify", "-s",
                                str(MESSAGE), "-n", str(self.messages), "-t", "16", "--json",
                                self.result, "--config", self.config(SENDER))

    def config(self, host):
        return os.path.join(self.folder.name, f"{host}.toml")

    def counters(self):
        """What the kernel did with the packets."""
        with open(self.result, encoding="utf-8") as file:
            return json.load(file)["datapath"]

    def finish(self, limit_s):
        """Returns what both said, or fails when one of them does not end in time."""
        texts = []
        for process in (self.client, self.server):
            try:
                texts.append(process.communicate(timeout=limit_s)[0])
            except subprocess.TimeoutExpired:
                texts.append("TIMED OUT: " + self.kill(process))
        return texts

    @staticmethod
    def kill(process):
        process.kill()
        process.send_signal(signal.SIGCONT)
        return process.communicate()[0]

    def end(self):
        for process in (self.client, self.server):
            if process.poll() is None:
                self.kill(process)
        self.folder.cleanup()


class HostFaults(unittest.TestCase):
    def setUp(self):
        self.changed_ports = {}  # what undoes it
        self.addCleanup(self.restore_ports)

    def start(self, seconds, transport=""):
        transfer = Transfer(seconds, transport)
        self.addCleanup(transfer.end)
        time.sleep(1)
        self.assertIsNone(transfer.client.poll())
        return transfer

    def expect_verified(self, transfer, limit_s=RUN_MAX_S):
        client_text, server_text = transfer.finish(limit_s)
        self.assertEqual(transfer.client.returncode, 0, client_text + server_text)
        self.assertEqual(transfer.server.returncode, 0, client_text + server_text)
        self.assertIn(f"{transfer.messages} messages of {SENDER} verified", server_text)

    def expect_named_errors(self, transfer):
        for process, text in zip((transfer.client, transfer.server), transfer.finish(END_MAX_S)):
            self.assertNotIn("TIMED OUT", text)
            self.assertNotIn("mismatch", text)
            self.assertNotEqual(process.returncode, 0, text)
            self.assertRegex(text, ERRORS)

    def limit_port(self, port, rate, queue_bytes):
        """Another rate and queue than the lab's, until the test ends or restore_ports()."""
        change = ["tc", "qdisc", "replace", "dev", port, "root", "tbf", "burst", "18100"]
        self.changed_ports[port] = [*change, "rate", OPTIONS.rate, "limit", LAB_QUEUE_BYTES]
        run(SENDER, *change, "rate", rate, "limit", queue_bytes)

    def restore_ports(self):
        while self.changed_ports:
            run(SENDER, *self.changed_ports.popitem()[1])

    def stop(self, transfer, victim, seconds):
        """Stops one process; the other one must not be busy meanwhile, as long as it is there."""
        other = transfer.server if victim is transfer.client else transfer.client
        victim.send_signal(signal.SIGSTOP)
        time.sleep(0.2)
        before, began = cpu_s(other.pid), time.monotonic()
        end = began + seconds
        while time.monotonic() < end and other.poll() is None:
            busy = cpu_s(other.pid) - before
            passed = time.monotonic() - began
            time.sleep(0.1)
        time.sleep(max(0, end - time.monotonic()))
        victim.send_signal(signal.SIGCONT)
        print(f"while its peer was stopped: {busy / passed:.1%} of a processor in {passed:.1f} s")
        self.assertLess(busy / passed, BUSY_MAX)

    def test_a_sender_that_is_stopped_shortly_goes_on(self):
        transfer = self.start(3)
        self.stop(transfer, transfer.client, 2)
        self.expect_verified(transfer)

    def test_a_receiver_that_is_stopped_shortly_goes_on(self):
        transfer = self.start(3)
        self.stop(transfer, transfer.server, 2)
        self.expect_verified(transfer)

    def test_a_sender_that_is_stopped_for_long_is_an_error_of_both(self):
        transfer = self.start(5, "" if OPTIONS.long else IMPATIENT)
        self.stop(transfer, transfer.client, 120 if OPTIONS.long else 3)
        self.expect_named_errors(transfer)

    def test_a_receiver_that_is_stopped_for_long_is_an_error_of_both(self):
        transfer = self.start(5, "" if OPTIONS.long else IMPATIENT)
        self.stop(transfer, transfer.server, 120 if OPTIONS.long else 3)
        self.expect_named_errors(transfer)

    def test_a_plane_that_a_firewall_closes_is_left(self):
        transfer = self.start(4)
        run(SENDER, "nft", "add", "table", "inet", "closed")
        self.addCleanup(run, SENDER, "nft", "delete", "table", "inet", "closed")
        run(SENDER, "nft", "add chain inet closed out { type filter hook output priority 0; }")
        run(SENDER, "nft", "add rule inet closed out oifname p0 udp dport 4791 drop")
        self.expect_verified(transfer)
        counters = transfer.counters()
        self.assertGreater(counters.get("send_refused", 0), 0, counters)
        print(f"a firewall on one plane: {counters['send_refused']} packets refused by the kernel")

    def test_a_plane_without_a_route_is_left(self):
        transfer = self.start(4)
        routes = run(SENDER, "ip", "-6", "route", "show", "dev", "p0").splitlines()
        run(SENDER, "ip", "-6", "route", "flush", "dev", "p0")
        try:
            self.expect_verified(transfer)
        finally:
            for route in routes:
                LAB.start_program(SENDER, "ip", "-6", "route", "replace",
                                  *route.replace("pref medium", "").split(), "dev",
                                  "p0").communicate()
        counters = transfer.counters()
        self.assertGreater(counters.get("send_no_route", 0), 0, counters)

    def test_a_queue_of_two_packets_loses_packets_and_no_data(self):
        """The kernel says ENOBUFS to nobody who has not asked for the errors of a socket: what the
        queue of a port drops is lost, as on a link."""
        transfer = self.start(4)
        self.limit_port("p0", OPTIONS.rate, "9000")
        self.expect_verified(transfer)
        dropped = run(SENDER, "tc", "-s", "qdisc", "show", "dev", "p0").split("dropped ")[1]
        dropped = int(dropped.split(",")[0])
        print(f"a queue of two packets on one plane: {dropped} packets dropped")
        self.assertGreater(dropped, 0)

    def test_ports_that_hardly_send_are_not_waited_for_busily(self):
        transfer = self.start(4)
        for plane in range(PLANES):
            self.limit_port(f"p{plane}", "8kbit", "10000000")
        before = cpu_s(transfer.client.pid)
        time.sleep(2)
        busy = (cpu_s(transfer.client.pid) - before) / 2
        self.restore_ports()
        print(f"while ports hardly send: {busy:.1%} of a processor")
        self.assertLess(busy, BUSY_MAX)
        self.expect_verified(transfer)

    def test_memory_that_is_limited_in_mid_run(self):
        """What is connected needs no more; what needs more ends with an error that says so."""
        transfer = self.start(4)
        for process in (transfer.client, transfer.server):
            subprocess.run(["prlimit", "--pid", str(process.pid),
                            f"--as={address_space(process.pid)}"], check=True, timeout=10)
        self.expect_verified(transfer)

    def start_in_group(self, seconds):
        """A transfer whose receiver has all its memory from a control group."""
        transfer = Transfer(seconds)
        # `mrc lab exec` becomes the program in its host: its process is the program's.
        group = MemoryGroup(transfer.server.pid)
        self.addCleanup(group.remove)
        self.addCleanup(transfer.end)
        if group.folder is None:
            self.skipTest("no control group for memory can be made here")
        group.enter()
        time.sleep(1)
        self.assertIsNone(transfer.client.poll())
        return transfer, group

    def test_a_control_group_that_is_made_narrow_is_noticed_by_nobody(self):
        """What is connected allocates no more, so all that it has is enough."""
        transfer, group = self.start_in_group(4)
        self.assertTrue(group.set_limit(group.used() + (1 << 20)))
        self.expect_verified(transfer)

    def test_a_control_group_that_is_made_too_narrow_is_a_named_error(self):
        """Version 2 kills. Version 1 refuses such a limit, or finds pages of files to take back, and
        nothing happens."""
        transfer, group = self.start_in_group(5)
        killed = group.set_limit(1 << 20) and group.used_file.name == "memory.current"
        if not killed:
            return self.expect_verified(transfer)
        client_text, server_text = transfer.finish(END_MAX_S)
        self.assertEqual(transfer.server.returncode, -signal.SIGKILL, server_text)
        self.assertNotIn("TIMED OUT", client_text)
        self.assertRegex(client_text, ERRORS)

    def test_queue_pairs_beyond_the_memory_are_a_named_error(self):
        server = LAB.start(RECEIVER, "perf", "write-bw", "--quiet", "--keep")
        self.addCleanup(Transfer.kill, server)
        outcomes = {}
        for mebibytes in (24, 36, 48, 60, 1000):
            client = LAB.start_program(SENDER, "prlimit", f"--as={mebibytes << 20}", "mrc", "perf",
                                       "write-bw", RECEIVER, "--quiet", "-q", "4096", "-s", "64",
                                       "-n", "1")
            text = client.communicate(timeout=RUN_MAX_S)[0]
            outcomes[mebibytes] = client.returncode
            if client.returncode != 0:
                # Before main() and in threads of the runtime nobody can catch it.
                self.assertIn(client.returncode, (1, -signal.SIGABRT), text)
                self.assertRegex(text, "memory|bad_alloc|cannot open|shared librar|unavailable")
        print(f"exit status of 4096 queue pairs by MiB of address space: {outcomes}")
        self.assertIn(0, outcomes.values())
        self.assertNotEqual(set(outcomes.values()), {0})


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mrc", required=True)
    parser.add_argument("--rate", default="100mbit")
    parser.add_argument("--long", action="store_true", help="stops of 120 s")
    OPTIONS, rest = parser.parse_known_args()
    RATE_GBPS = float(OPTIONS.rate[:-4]) / 1000
    LAB_QUEUE_BYTES = str(int(RATE_GBPS * 1e9 / 8 * 0.05))
    run_tests(lambda lab: globals().update(LAB=lab), OPTIONS.mrc, "udp", OPTIONS.rate, rest)
