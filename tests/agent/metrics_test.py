#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The metrics that mrcd serves: what they are, and that processes come and go without a trace of
them being left or lost."""

import os
import pathlib
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.request

from mrcd import CONFIG, Agent, free_port, parse_metrics

MRCD, PUBLISHER, PRELOAD = (pathlib.Path(each).resolve() for each in sys.argv[1:4])
sys.argv[1:4] = []

SOON_S = 20
PROCESSES = 1000
SEED = 17
# Measured: 30 MiB after 1,000 processes and one plane.
AGENT_MEMORY_MAX = 128 * 2**20
PORTS = "/sys/class/infiniband/openmrc0/ports"


def soon(condition):
    end = time.monotonic() + SOON_S
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.05)
    return False


class MetricsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.address = f"127.0.0.1:{free_port()}"
        self.agent = Agent(MRCD, self.folder, options=("--listen", self.address))
        self.addCleanup(self.agent.kill)

    def text(self):
        with urllib.request.urlopen(f"http://{self.address}/metrics", timeout=SOON_S) as page:
            return page.read().decode()

    def scrape(self):
        return parse_metrics(self.text())

    def publishers(self, count, *options):
        """Their ids; they end with the test."""
        process = subprocess.Popen([PUBLISHER, str(self.agent.socket), str(count), *options],
                                   stdout=subprocess.PIPE, text=True)

        def end():
            process.kill()
            process.communicate(timeout=SOON_S)
        self.addCleanup(end)
        return [int(each) for each in process.stdout.readline().split()]

    def published(self):
        """Ids of processes that have series."""
        found = re.findall(r'^openmrc_process_sent_bytes_total\{pid="(\d+)"', self.text(), re.M)
        return {int(each) for each in found}

    def wait_for(self, processes):
        self.assertTrue(soon(lambda: self.published() == set(processes)),
                        f"{self.published() ^ set(processes)} differ")

    def test_are_off_unless_asked_for(self):
        self.agent.options = ()
        self.agent.start()
        with self.assertRaises(OSError):
            self.text()

    def test_are_configured(self):
        self.agent.options = ()
        (self.folder / "openmrc.toml").write_text(
            CONFIG + f'[agent]\nlisten = "{self.address}"\n')
        self.agent.start()
        self.assertIn('openmrc_host_info{host="here"}', self.scrape())

    def test_without_an_address_are_for_this_host_alone(self):
        self.agent.options = ("--listen",)
        with socket.socket() as other:
            try:
                other.bind(("127.0.0.1", 9917))
            except OSError:
                self.skipTest("something else has port 9917")
        self.agent.start()
        self.assertIn("http://127.0.0.1:9917/metrics", self.agent.process.stdout.readline())

    def test_are_served_over_both_versions_of_ip(self):
        self.address = f"[::1]:{free_port()}"
        self.agent.options = ("--listen", self.address)
        self.agent.start()
        self.assertEqual(self.scrape()["openmrc_processes"], 0)
        self.agent.kill()
        port = free_port()
        self.agent.options = ("--listen", f"[::]:{port}")  # all of both
        self.agent.start()
        for self.address in (f"[::1]:{port}", f"127.0.0.1:{port}"):
            self.assertEqual(self.scrape()["openmrc_processes"], 0)

    def test_are_for_reading_only_and_other_pages_are_not_there(self):
        def status(path, method="GET"):
            request = urllib.request.Request(f"http://{self.address}{path}", method=method)
            try:
                with urllib.request.urlopen(request, timeout=SOON_S) as page:
                    return page.status
            except urllib.error.HTTPError as error:
                return error.code
        self.agent.start()
        self.assertEqual([status("/metrics"), status("/metrics", "POST"), status("/"),
                          status("/map"), status("/../etc/passwd")], [200, 405, 404, 404, 404],
                         "no mapper, so no /map")

    def test_say_why_they_cannot_be_served(self):
        with socket.socket() as other:
            other.bind(("127.0.0.1", 0))
            other.listen()
            self.agent.options = ("--listen", f"127.0.0.1:{other.getsockname()[1]}")
            taken = self.agent.run()
        self.assertEqual(taken.returncode, 1)
        self.assertIn("cannot serve HTTP at 127.0.0.1:", taken.stderr)
        self.assertIn("fix: ", taken.stderr)
        self.agent.options = ("--listen", "9917")
        self.assertIn("9917 is no address and port", self.agent.run().stderr)

    def test_pass_the_check_of_promtool(self):
        if shutil.which("promtool") is None:
            self.skipTest("no promtool: scripts/install-deps test")
        self.agent.start()
        self.wait_for(self.publishers(2))
        checked = subprocess.run(["promtool", "check", "metrics"], input=self.text(), text=True,
                                 capture_output=True, check=False)
        self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)

    def test_of_a_killed_process_only_its_counts_are_left(self):
        self.agent.start()
        processes = self.publishers(3)
        self.wait_for(processes)
        os.kill(processes[0], signal.SIGKILL)
        self.wait_for(processes[1:])
        samples = self.scrape()
        self.assertEqual(samples["openmrc_timeouts_total"], 3 * 7)
        self.assertEqual(samples['openmrc_plane_sent_bytes_total{plane="0"}'], 3 * 4096)
        self.assertEqual(samples["openmrc_peers"], 2 * 2)
        self.assertEqual(samples["openmrc_processes"], 2)

    def test_of_a_process_end_with_it_though_its_child_lives(self):
        self.agent.start()
        processes = self.publishers(1, "--with-child")
        self.wait_for(processes)
        time.sleep(1.5)
        children = subprocess.run(["pgrep", "-P", str(processes[0])], capture_output=True,
                                  text=True, check=False).stdout.split()
        self.assertEqual(len(children), 1)
        self.addCleanup(os.kill, int(children[0]), signal.SIGKILL)
        os.kill(processes[0], signal.SIGKILL)
        self.wait_for([])

    def test_begin_anew_with_the_agent(self):
        self.agent.start()
        processes = self.publishers(2)
        self.wait_for(processes)
        time.sleep(0.2)  # one that ends at once counts as a refusal, and is not asked again soon
        self.agent.kill()
        self.agent.start()
        self.wait_for(processes)
        samples = self.scrape()
        self.assertEqual(samples["openmrc_timeouts_total"], 0)
        self.assertEqual(samples["openmrc_peers"], 4)

    def test_have_the_names_of_rdma_below_the_soft_device(self):
        def read(path):
            done = subprocess.run(["cat", f"{PORTS}/{path}"], capture_output=True, text=True,
                                  check=False,
                                  env=os.environ | {"LD_PRELOAD": str(PRELOAD),
                                                    "OPENMRC_NETDEVS": "lo",
                                                    "OPENMRC_AGENT": str(self.agent.socket)})
            return done.stdout
        self.assertEqual(read("1/counters/port_xmit_data"), "", "no agent")
        self.agent.start()
        self.wait_for(self.publishers(2))
        self.assertEqual(read("1/counters/port_xmit_data"), f"{2 * 4096 // 4}\n")
        self.assertEqual(read("1/counters/port_rcv_packets"), "0\n")
        self.assertEqual(read("1/hw_counters/local_ack_timeout_err"), "14\n")
        self.assertEqual(read("2/counters/port_xmit_data"), "")

    def test_of_a_thousand_processes_killed_at_random_are_right(self):
        draw = random.Random(SEED)
        self.agent.start()
        processes = self.publishers(PROCESSES)
        self.wait_for(processes)
        draw.shuffle(processes)
        while processes:
            for _ in range(min(len(processes), draw.randint(1, 200))):
                os.kill(processes.pop(), signal.SIGKILL)
            series = self.published()  # while some are dying
            self.assertLessEqual(set(processes), series, "a process that lives has its series")
            self.wait_for(processes)
        samples = self.scrape()
        self.assertEqual(samples["openmrc_timeouts_total"], PROCESSES * 7)
        self.assertEqual(samples["openmrc_processes"], 0)
        self.assertEqual(samples["openmrc_peers"], 0)
        self.assertEqual(samples["openmrc_agent_clients"], 0)
        memory = samples["process_resident_memory_bytes"]
        print(f"{PROCESSES} processes: mrcd has {memory / 2**20:.0f} MiB")
        self.assertLess(memory, AGENT_MEMORY_MAX)


if __name__ == "__main__":
    unittest.main()
