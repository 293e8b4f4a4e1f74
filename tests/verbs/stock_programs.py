#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Programs of verbs, UCX and MPI as the distribution has them, between two hosts of a lab: alone, and
while planes are cut and links flap. In short by default; --long runs them with their own numbers,
and collectives for ten minutes."""
import argparse
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "lab"))

from lab import Lab  # noqa: E402

SERVER, CLIENT = "h0", "h3"
SERVER_ADDRESS = "10.255.0.1"
EXAMPLES = HERE.parent.parent / "examples"
LAB_RSH = EXAMPLES / "mpi" / "lab-rsh"
UCX = {"UCX_TLS": "rc_v,self", "UCX_NET_DEVICES": "openmrc0:1"}
WAIT_MAX_S = 90
GID = "3"

PERFTEST = (
    "ib_write_bw", "ib_write_lat", "ib_send_bw", "ib_send_lat", "ib_read_bw", "ib_read_lat",
    "ib_atomic_bw", "ib_atomic_lat",
    "ib_send_bw -e", "ib_send_lat -e", "ib_send_bw --use-srq -q 4", "ib_write_bw -q 8", "ib_send_bw -b",
    "ib_send_bw -c UD -s 1024", "ib_send_lat -c UD",
)
ALL_SIZES = ("ib_write_bw -a", "ib_send_lat -a", "ib_read_bw -a")
PINGPONG = ("ibv_rc_pingpong", "ibv_rc_pingpong -e", "ibv_rc_pingpong -t", "ibv_rc_pingpong -N",
            "ibv_srq_pingpong", "ibv_ud_pingpong")
UCX_TESTS = ("tag_lat", "tag_bw", "ucp_put_bw", "ucp_get", "ucp_fadd", "ucp_cswap")


def run_to_its_end(command, environment, seconds):
    """Exit status and output. Whatever ends it early, the command gets to remove its lab."""
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                               start_new_session=True)
    try:
        output, _ = process.communicate(timeout=seconds)
    except BaseException:
        os.killpg(process.pid, signal.SIGTERM)
        process.communicate(timeout=WAIT_MAX_S)
        raise
    return process.returncode, output


def unless_alone(test):
    def run(self):
        if OPTIONS.alone:
            self.skipTest("--alone")
        test(self)
    return run


class Pair:
    """A program that is a server on one host and a client on another."""

    def __init__(self, lab, program, extra, client_words, variables=None):
        self.name = " ".join(program)
        environment = ["env"] + [f"{name}={value}" for name, value in (variables or {}).items()]
        words = environment + [*program, *extra]
        self.server = lab.start(SERVER, "run", "--quiet", "--", *words)
        time.sleep(0.5)
        self.client = lab.start(CLIENT, "run", "--quiet", "--", *words, *client_words)

    def finish(self, seconds=WAIT_MAX_S):
        """The outputs of client and server, which both ended well."""
        texts = []
        try:
            for process in (self.client, self.server):
                texts.append(process.communicate(timeout=seconds)[0])
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"{self.name} does not end: {texts}") from None
        for process, text in zip((self.client, self.server), texts):
            if process.returncode != 0:
                raise AssertionError(f"{self.name}: exit code {process.returncode}\n{text}")
        return texts

    def kill(self):
        for process in (self.client, self.server):
            process.kill()
            process.wait()


class StockPrograms(unittest.TestCase):
    lab = None

    def need(self, *programs):
        for program in programs:
            if shutil.which(program) is None:
                self.skipTest(f"no {program}: scripts/install-deps test")

    def perftest(self, words, iterations):
        program = words.split()
        self.need(program[0])
        return Pair(self.lab, program, ["-d", "openmrc0", "-x", GID, "-F", "-n", str(iterations)],
                    [SERVER_ADDRESS])

    def assert_figures(self, text, rows=1):
        """perftest's table has that many rows, and no error beside it."""
        found = re.findall(r"^ *\d+ +\d+ +[\d.]+ +[\d.]+", text, re.MULTILINE)
        self.assertGreaterEqual(len(found), rows, text)
        self.assertNotIn("rror", text)

    def test_perftest(self):
        for words in PERFTEST:
            with self.subTest(words):
                client, _ = self.perftest(words, 5000 if OPTIONS.long else 200).finish()
                self.assert_figures(client)

    @unless_alone
    def test_perftest_of_all_sizes(self):
        for words in ALL_SIZES:
            with self.subTest(words):
                client, _ = self.perftest(words, 5).finish()
                self.assert_figures(client, 23)  # 2 bytes to 8 MiB

    def test_pingpong(self):
        for words in PINGPONG:
            program = words.split()
            self.need(program[0])
            with self.subTest(words):
                pair = Pair(self.lab, program, ["-d", "openmrc0", "-g", GID, "-n", "200"],
                            [SERVER_ADDRESS])
                for text in pair.finish():
                    self.assertRegex(text, r"200 iters in")

    def ucx(self, test, iterations):
        self.need("ucx_perftest")
        size = "8" if test in ("ucp_fadd", "ucp_cswap") else "16384"
        return Pair(self.lab, ["ucx_perftest"],
                    ["-t", test, "-s", size, "-n", str(iterations), "-w", "10"], [SERVER_ADDRESS], UCX)

    def test_ucx_perftest(self):
        for test in UCX_TESTS:
            with self.subTest(test):
                client, _ = self.ucx(test, 5000 if OPTIONS.long else 200).finish()
                self.assertRegex(client, r"Final: +\d+")

    def environment(self):
        folder = pathlib.Path(self.lab.mrc).parent
        return os.environ | {"LAB": self.lab.name, "PATH": f"{folder}:{os.environ['PATH']}"}

    def mpi(self, *launcher):
        """Starts ranks on two hosts, as docs/guide/mpi.md does."""
        environment = self.environment() | UCX
        return subprocess.run(self.lab.command("exec", SERVER, "--", *launcher), env=environment,
                              capture_output=True, text=True, timeout=WAIT_MAX_S, check=False)

    def assert_netpipe(self, done):
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stdout + done.stderr, r"\d+ bytes +\d+ times --> +[\d.]+ Mbps")

    @unless_alone
    def test_netpipe_over_open_mpi(self):
        self.need("mpirun.openmpi", "NPopenmpi")
        self.assert_netpipe(self.mpi(
            "mpirun.openmpi", "--allow-run-as-root", "--host", f"{SERVER},{CLIENT}", "-n", "2",
            "--mca", "plm_rsh_agent", str(LAB_RSH), "--mca", "oob_tcp_if_include", "mgmt",
            "--mca", "pml", "ucx", "--mca", "osc", "ucx", "--mca", "opal_common_ucx_devices", "any",
            "-x", "UCX_TLS", "-x", "UCX_NET_DEVICES",
            "mrc", "run", "--quiet", "--", "NPopenmpi", "-u", "16384", "-n", "10", "-o", "/dev/null"))

    @unless_alone
    def test_netpipe_over_mpich(self):
        self.need("mpirun.mpich", "NPmpich2")
        self.assert_netpipe(self.mpi(
            "mpirun.mpich", "-launcher", "ssh", "-launcher-exec", str(LAB_RSH), "-iface", "mgmt",
            "-genvlist", "UCX_TLS,UCX_NET_DEVICES", "-hosts", f"{SERVER},{CLIENT}", "-n", "2",
            "mrc", "run", "--quiet", "--", "NPmpich2", "-u", "16384", "-n", "10", "-o", "/dev/null"))

    def during_faults(self, pair):
        """Cuts a plane, heals it, and lets a link flap, while it runs; it ends without an error."""
        time.sleep(1)
        self.lab.run("cut", "p1")
        time.sleep(0.5)
        self.assertIsNone(pair.client.poll(), "it ended before the fault did")
        self.lab.run("heal")
        self.lab.run("flap", f"{CLIENT}/p2", "--hz", "5", "--for", "1s")
        return pair.finish()

    @unless_alone
    def test_faults_end_nothing(self):
        for words in ("ib_write_bw -s 65536", "ib_send_bw -s 65536", "ib_read_bw -s 65536",
                      "ib_atomic_lat"):
            with self.subTest(words):
                iterations = 120000 if words.startswith("ib_atomic") else 20000
                client, _ = self.during_faults(self.perftest(words, iterations))
                self.assert_figures(client)

    def test_programs_start_while_the_plane_of_their_port_is_down(self):
        self.lab.run("cut", "p0")
        try:
            client, _ = self.perftest("ib_write_bw", 200).finish()
            self.assert_figures(client)
            client, _ = self.ucx("tag_lat", 200).finish()
            self.assertRegex(client, r"Final: +\d+")
        finally:
            self.lab.run("heal")

    @unless_alone
    def test_collectives_under_faults(self):
        """As docs/guide/collectives.md has it, in a lab of its own."""
        self.need("mpirun.openmpi")
        seconds = 600 if OPTIONS.long else 10
        status, output = run_to_its_end(
            [EXAMPLES / "collectives" / "under-faults", "--seed", str(OPTIONS.seed), "--limit",
             str(seconds + WAIT_MAX_S), sys.executable, EXAMPLES / "collectives" / "collectives.py",
             "--seconds", str(seconds), "--seed", str(OPTIONS.seed)],
            self.environment(), seconds + 2 * WAIT_MAX_S)
        self.assertEqual(status, 0, output)
        found = re.search(r"(\d+) operations of 4 ranks, all right; the longest took .*", output)
        self.assertIsNotNone(found, output)
        print(found[0])
        self.assertGreater(int(found[1]), 5)

    @unless_alone
    def test_a_peer_that_is_killed_is_named(self):
        pair = self.perftest("ib_write_bw", 1000000)
        time.sleep(2)
        self.assertIsNone(pair.client.poll())
        pair.server.kill()
        try:
            text = pair.client.communicate(timeout=WAIT_MAX_S)[0]
        finally:
            pair.kill()
        self.assertNotEqual(pair.client.returncode, 0)
        self.assertRegex(text, rf"openmrc: queue pair .* to {SERVER} ")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mrc", required=True)
    parser.add_argument("--mode", default="srv6")
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--seed", type=int, default=1, help="of the faults under collectives")
    parser.add_argument("--alone", action="store_true", help="not during faults, nor all sizes, nor MPI")
    options, rest = parser.parse_known_args()
    globals()["OPTIONS"] = options
    if os.geteuid() != 0:
        print("needs root, for network namespaces")
        sys.exit(77)
    with Lab(options.mrc, options.mode, "1gbit") as lab:
        StockPrograms.lab = lab
        program = unittest.main(argv=[sys.argv[0]] + rest, exit=False, verbosity=2)
    sys.exit(0 if program.result.wasSuccessful() else 1)


if __name__ == "__main__":
    main()
