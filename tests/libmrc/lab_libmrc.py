#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Programs written for MRC NICs, between two hosts of a lab.

The benchmark makes the calls of public MRC programs through libmrc and the soft verbs device. With
--plugin, which no test of the project gives, a plugin of NCCL does the same: see README.md.
"""
import argparse
import os
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lab"))
from lab import Lab  # pylint: disable=wrong-import-position

SENDER, RECEIVER = "h0", "h2"  # of different racks
RECEIVER_IPV4 = "10.255.0.3"   # on the lab's management network
DEVICE = "openmrc0"
RUN_MAX_S = 180
FAULT_AFTER_S, FAULT_FOR_S = 1.0, 1.5


def finish(process, timeout=RUN_MAX_S):
    try:
        return process.communicate(timeout=timeout)[0]
    except subprocess.TimeoutExpired:
        process.kill()
        return "TIMED OUT: " + process.communicate()[0]


def end(process):
    if process.poll() is None:
        process.kill()
        process.communicate()
    process.stdout.close()


class PairTest(unittest.TestCase):
    """Two processes, one at each host, that both must end well."""

    def start(self, host, *command):
        process = LAB.start_program(host, *command)
        self.addCleanup(end, process)
        return process

    def start_pair(self, command):
        server = self.start(RECEIVER, *command)
        return server, self.start(SENDER, *command, RECEIVER_IPV4)

    def finish_pair(self, server, client):
        client_text, server_text = finish(client), finish(server)
        both = f"client: {client_text}\nserver: {server_text}"
        self.assertEqual(client.returncode, 0, both)
        self.assertEqual(server.returncode, 0, both)
        return client_text, server_text

    def cut_a_plane(self, process):
        """For a while, in the middle of what the process does."""
        time.sleep(FAULT_AFTER_S)
        LAB.run("cut", "p1")
        try:
            time.sleep(FAULT_FOR_S)
            self.assertIsNone(process.poll(), "it ended before the plane was back")
        finally:
            LAB.run("heal")


class Benchmark(PairTest):
    def command(self, *arguments):
        return ["env", f"LD_LIBRARY_PATH={OPTIONS.library_path}", OPTIONS.benchmark,
                "-d", DEVICE, *arguments]

    def check_table(self, texts, size_max, count):
        client_text, server_text = texts
        rows = [line.split() for line in client_text.splitlines()[1:]]
        sizes = [1 << power for power in range(size_max.bit_length())]
        self.assertEqual([int(row[0]) for row in rows], sizes, client_text)
        self.assertEqual({int(row[1]) for row in rows}, {count}, client_text)
        self.assertTrue(all(float(row[3]) > 0 for row in rows), client_text)
        self.assertIn(f"{len(sizes)} sizes, {sum(sizes)} bytes verified", server_text)

    def test_every_size_arrives_as_it_was_sent(self):
        pair = self.start_pair(self.command("-n", "50", "-s", str(1 << 20)))
        self.check_table(self.finish_pair(*pair), 1 << 20, 50)

    def test_another_port_mtu_and_depth(self):
        pair = self.start_pair(self.command("-i", "2", "-m", "1024", "-n", "200", "-s", "65536"))
        self.check_table(self.finish_pair(*pair), 65536, 200)

    def test_the_first_device_is_taken_if_none_is_named(self):
        command = [word for word in self.command("-n", "1", "-s", "4096")
                   if word not in ("-d", DEVICE)]
        self.check_table(self.finish_pair(*self.start_pair(command)), 4096, 1)

    def test_a_plane_may_be_cut_meanwhile(self):
        server, client = self.start_pair(self.command("-n", "3000", "-s", str(1 << 18)))
        self.cut_a_plane(client)
        self.check_table(self.finish_pair(server, client), 1 << 18, 3000)

    def test_a_device_that_is_not_there_is_named(self):
        command = self.command()
        command[command.index(DEVICE)] = "openmrc9"
        process = self.start(SENDER, *command)
        text = finish(process)
        self.assertEqual(process.returncode, 1, text)
        self.assertIn("no device 'openmrc9'", text)

    def test_a_gid_that_is_not_there_is_named(self):
        process = self.start(SENDER, *self.command("-g", "250"))
        text = finish(process)
        self.assertEqual(process.returncode, 1, text)
        self.assertIn("ibv_query_gid of port 1, index 250", text)


class Plugin(PairTest):
    def setUp(self):
        if not OPTIONS.plugin:
            self.skipTest("no --plugin given")

    def command(self, *arguments):
        words = ["env", f"LD_LIBRARY_PATH={OPTIONS.library_path}",
                 f"NCCL_IB_HCA=={DEVICE}:1", "NCCL_SOCKET_IFNAME==mgmt",
                 "NCCL_SOCKET_FAMILY=AF_INET"]
        if OPTIONS.preload:
            words.append(f"LD_PRELOAD={OPTIONS.preload}")
        return words + [OPTIONS.harness, "-l", OPTIONS.plugin, *arguments]

    def check_moved(self, texts, size):
        for text in texts:
            self.assertIn(f"sent {size} bytes", text)
            self.assertIn(f"received and verified {size} bytes", text)
            self.assertIn("closed", text)
            print(text, flush=True)

    def move(self, size, *arguments):
        pair = self.start_pair(self.command("-b", str(size), *arguments))
        self.check_moved(self.finish_pair(*pair), size)

    def test_one_direction_after_the_other(self):
        self.move(OPTIONS.bytes)

    def test_both_directions_at_once(self):
        self.move(OPTIONS.bytes // 4, "-x")

    def test_receives_of_several_buffers(self):
        self.move(OPTIONS.bytes // 8, "-r", "4", "-s", "100000")

    def test_the_interface_before(self):
        self.move(OPTIONS.bytes // 16, "-V", "10")

    def test_many_small_messages(self):
        self.move(1 << 20, "-s", "256")

    def test_a_plane_may_be_cut_meanwhile(self):
        server, client = self.start_pair(self.command("-b", str(OPTIONS.bytes)))
        self.cut_a_plane(client)
        self.check_moved(self.finish_pair(server, client), OPTIONS.bytes)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mrc", required=True)
    parser.add_argument("--benchmark", required=True, help="benchmark_like")
    parser.add_argument("--harness", required=True, help="nccl_harness")
    parser.add_argument("--library-path", required=True,
                        help="folders of the soft libibverbs.so.1 and of libmrc.so.1, with colons")
    parser.add_argument("--plugin", help="a network plugin of NCCL that uses libmrc")
    parser.add_argument("--preload", help="what LD_PRELOAD names for the plugin")
    parser.add_argument("--bytes", type=int, default=1 << 30, help="for the plugin to move")
    parser.add_argument("--mode", default="srv6")
    parser.add_argument("--rate", default="500mbit")
    parser.add_argument("--planes", default="4")
    parser.add_argument("--ip", default="6", choices=["4", "6"], help="4 goes with --mode udp")
    return parser.parse_known_args()


if __name__ == "__main__":
    OPTIONS, rest = parse_arguments()
    if os.geteuid() != 0:
        print("needs root, for network namespaces")
        sys.exit(77)
    with Lab(OPTIONS.mrc, OPTIONS.mode, OPTIONS.rate, "--planes", OPTIONS.planes, "--ip",
             OPTIONS.ip) as LAB:
        program = unittest.main(argv=[sys.argv[0]] + rest, exit=False, verbosity=2)
    sys.exit(0 if program.result.wasSuccessful() else 1)
