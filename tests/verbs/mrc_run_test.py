#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Programs of the distribution under `mrc run`, with and without the machine's own libibverbs."""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

CONFIG = 'name = "here"\n[[port]]\ninterface = "lo"\naddress = "::1"\n'
RUN_MAX_S = 60
OURS = "openmrc/libibverbs.so.1"


def run(*command, **variables):
    environment = {name: value for name, value in os.environ.items()
                   if name not in ("OPENMRC_CONFIG", "LD_LIBRARY_PATH", "LD_PRELOAD")}
    return subprocess.run(command, capture_output=True, text=True, timeout=RUN_MAX_S, check=False,
                          env=environment | variables)


class RunTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.config = self.folder / "openmrc.toml"
        self.config.write_text(CONFIG, encoding="utf-8")

    def need(self, program):
        if shutil.which(program) is None:
            self.skipTest(f"no {program}: scripts/install-deps test")

    def mrc_run(self, *words, **variables):
        return run(OPTIONS.mrc, "run", "--config", str(self.config), *words, **variables)


class Launcher(RunTest):
    def test_says_what_it_sets(self):
        done = self.mrc_run("--", "env")
        line = re.fullmatch(r"mrc run: (.*)\n", done.stderr)
        self.assertIsNotNone(line, done.stderr)
        for variable in line[1].split():
            self.assertIn(variable, done.stdout.splitlines())
        self.assertIn("OPENMRC_NETDEVS=lo", line[1])
        self.assertIn(f"OPENMRC_CONFIG={self.config}", line[1])
        self.assertEqual(self.mrc_run("-q", "--", "true").stderr, "")

    def test_options_behind_the_program_are_its_own(self):
        for words in (["echo", "--quiet", "-v", "--", "x"], ["--", "echo", "--quiet", "-v", "--", "x"]):
            self.assertEqual(self.mrc_run(*words).stdout, "--quiet -v -- x\n")

    def test_keeps_what_there_was_and_does_not_repeat_itself(self):
        done = self.mrc_run("-q", OPTIONS.mrc, "run", "-q", "sh", "-c", "echo $LD_LIBRARY_PATH",
                            LD_LIBRARY_PATH="/some/where")
        folders = done.stdout.strip().split(":")
        self.assertEqual(folders[-1], "/some/where")
        self.assertEqual(len(set(folders)), len(folders))

    def test_ends_as_the_program_does(self):
        self.assertEqual(self.mrc_run("--", "sh", "-c", "exit 7").returncode, 7)

    def assert_refused(self, done, code, what):
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertIn(what, done.stderr)
        self.assertIn("  fix: ", done.stderr)

    def test_errors_have_a_fix(self):
        self.assert_refused(self.mrc_run(), 2, "nothing to run")
        self.assert_refused(self.mrc_run("no-such-program"), 127, "cannot run 'no-such-program'")
        self.assert_refused(run(OPTIONS.mrc, "run", "--config", "/no/file", "true"), 1,
                            "/no/file: cannot be read")
        alone = self.folder / "mrc"
        shutil.copy(OPTIONS.mrc, alone)
        self.assert_refused(run(str(alone), "run", "true"), 1, "is not installed")


class StockPrograms(RunTest):
    def assert_lists(self, program, *words):
        self.need(program)
        done = self.mrc_run("-q", program, *words)
        self.assertIn("openmrc0", done.stdout, done.stderr)
        return done

    def test_ibv_devices(self):
        self.assertEqual(self.assert_lists("ibv_devices").returncode, 0)

    def test_ibv_devinfo(self):
        done = self.assert_lists("ibv_devinfo", "-v")
        self.assertEqual(done.returncode, 0)
        self.assertIn("PORT_ACTIVE", done.stdout)
        self.assertIn("RoCE v2", done.stdout)

    def test_ucx_finds_the_memory_domain(self):
        self.assertIn("Memory domain: openmrc0", self.assert_lists("ucx_info", "-d").stdout)

    def test_ib_write_bw_runs_between_two_processes(self):
        self.need("ib_write_bw")
        words = ["ib_write_bw", "-d", "openmrc0", "-n", "100"]
        server = subprocess.Popen([OPTIONS.mrc, "run", "-q", "--config", str(self.config), *words],
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.addCleanup(server.communicate)
        self.addCleanup(server.kill)
        for _ in range(20):  # until it listens
            done = self.mrc_run("-q", "timeout", "20", *words, "127.0.0.1")
            if "Couldn't connect" not in done.stdout + done.stderr:
                break
            time.sleep(0.5)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"65536 +100 ")
        other = self.mrc_run("-q", "ib_write_bw", "-d", "other")
        self.assertIn("IB device other not found", other.stdout + other.stderr)

    def test_without_a_configuration_nothing_changes(self):
        if pathlib.Path("/etc/openmrc/openmrc.toml").exists():
            self.skipTest("this machine is configured")
        libraries = OPTIONS.libraries
        for program in ("ibv_devices", "ibv_devinfo", "ib_write_bw", "ucx_info -d"):
            self.need(program.split()[0])
            before = run("timeout", "10", *program.split())
            after = run("timeout", "10", *program.split(), LD_LIBRARY_PATH=libraries,
                        LD_PRELOAD=f"{libraries}/libopenmrc-sysfs.so.0")
            if program.startswith("ucx"):  # it prints what it measures
                before, after = ((done.returncode, re.findall("Transport: .*", done.stdout))
                                 for done in (before, after))
                self.assertEqual(before, after)
                continue
            self.assertEqual((before.returncode, before.stdout, before.stderr),
                             (after.returncode, after.stdout, after.stderr))


class Loader(RunTest):
    def test_as_nccl_looks_it_up(self):
        done = self.mrc_run("-q", OPTIONS.lookup)
        self.assertEqual((done.returncode, done.stdout), (0, "device openmrc0\n"), done.stderr)

    def test_private_names_are_the_real_ones(self):
        self.need("ib_write_bw")
        done = self.mrc_run("-q", "timeout", "5", "ib_write_bw", "-d", "openmrc0",
                            LD_DEBUG="bindings", LD_BIND_NOW="1")
        binding = re.compile(r"binding file (\S+) \[0\] to (\S+) \[0\]: \S+ symbol `(\w+)'")
        # What ends in /libibverbs.so.1 and is not ours is not loaded; the real one goes by the link.
        to = {(pathlib.Path(source).name, name): target
              for source, target, name in binding.findall(done.stderr)}
        private = to[("libmlx5.so.1", "ibv_cmd_alloc_pd")]
        self.assertTrue(private.endswith("/libibverbs-system.so.1"), private)
        for program, name in (("ib_write_bw", "ibv_get_device_list"),
                              ("librdmacm.so.1", "ibv_open_device")):
            self.assertTrue(to[(program, name)].endswith(OURS), to[(program, name)])

    def test_without_rdma_core(self):
        """The link leads nowhere: the stub is found. In a copy of the folder."""
        copy = self.folder / "openmrc"
        shutil.copytree(OPTIONS.libraries, copy, symlinks=True)
        (copy / "libibverbs-system.so.1").unlink()
        (copy / "libibverbs-system.so.1").symlink_to("/no/such/libibverbs.so.1")
        above = pathlib.Path(OPTIONS.libraries).parent
        done = run(OPTIONS.lookup, LD_LIBRARY_PATH=f"{copy}:{above}",
                   OPENMRC_CONFIG=str(self.config))
        self.assertIn("device openmrc0\n", done.stdout, done.stderr)
        debug = run(OPTIONS.lookup, LD_LIBRARY_PATH=f"{copy}:{above}", LD_DEBUG="files",
                    OPENMRC_CONFIG=str(self.config)).stderr
        self.assertIn(f"{copy}/stub/libibverbs-system.so.1", debug)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mrc", required=True)
    parser.add_argument("--lookup", required=True, help="nccl_lookup")
    parser.add_argument("--libraries", required=True, help="folder of the soft libibverbs.so.1")
    OPTIONS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0]] + rest, verbosity=2)
