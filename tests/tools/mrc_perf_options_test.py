#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every option of ib_write_bw and ib_write_lat does what the table in docs/guide/perf.md says."""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

MRC = str(pathlib.Path(sys.argv.pop(1)).resolve())
GUIDE = pathlib.Path(__file__).resolve().parents[2] / "docs/guide/perf.md"
PORT = 25000 + os.getpid() % 5000  # of the exchange, and of MRC
TESTS = ("write-bw", "write-lat")
KINDS = ("yes", "ignored", "refused")

# The getopt table of perftest 6.29 without what belongs to other verbs and raw Ethernet.
PERFTEST = """
-a --all -b --bidirectional -c --connection -C --report-cycles -d --ib-dev -D --duration -e --events -f --margin
-F --CPU-freq -h --help -H --report-histogrm -i --ib-port -I --inline_size -l --post_list -L --hop_limit -m --mtu
-n --iters -N --noPeak -O --dualport -p --port -q --qp -Q --cq-mod -r --rx-depth -R --rdma_cm -s --size -S --sl
-t --tx-depth -T --tos -u --qp-timeout -U --report-unsorted -V --version -w --limit_bw -W --report-counters
-x --gid-index -X --vector -y --limit_msgrate -z --comm_rdma_cm
--aes_block_size --aes_xts --bind_source_ip --burst_size --congest_type --connectionless --cpu_id --cpu_util --cqe_poll
--credentials_path --cuda_mem_type --data_enc_key_app_path --data_enc_keys_number --data_validation
--data_validation_debug --disable_dynamic_polling --disable_numa --disable_pcie_relaxed --dlid --dont_xchg_versions
--encrypt_on_tx --flow_label --force-link --gpu_touch --ipv6 --ipv6-addr --kek_path --latency_gap
--log_active_dci_streams --log_dci_streams --mmap --mmap-offset --mr_per_qp --no_enhanced_reorder --no_lock --numa_node
--odp --opencl_platform_id --out_json --out_json_file --output --payload_file_path --perform_warm_up --ph --pin_cores
--pkey_index --rate_limit --rate_limit_type --rate_units --recv_post_list --report-both --report-per-port --report_gbits
--retry_count --reversed --run_infinitely --sig_before --sig_offload --tclass --tph_mem --typical_pkt_size
--unsolicited_write --use-null-mr --use_cuda --use_cuda_bus_id --use_cuda_dmabuf --use_cuda_pcie_mapping
--use_data_direct --use_hl --use_hugepages --use_ib_dm_dmabuf --use_mlu --use_mlu_dmabuf --use_musa --use_musa_bus_id
--use_musa_dmabuf --use_musa_pcie_mapping --use_neuron --use_neuron_dmabuf --use_old_post_send --use_ooo --use_opencl
--use_rocm --use_rocm_dmabuf --wait_destroy --write_with_imm
""".split()


class Row:
    """One line of the table: options that are alike."""

    def __init__(self, line):
        options, values, *kinds, _ = [cell.strip() for cell in line.strip().strip("|").split("|")]
        self.names = re.findall(r"`([^`]+)`", options)
        values = re.findall(r"`([^`]+)`", values)
        self.values = dict(zip(TESTS, values * 2 if len(values) == 1 else values or [None, None]))
        self.kinds = dict(zip(TESTS, kinds))

    def arguments(self, name, test):
        return [name] if self.values[test] is None else [name, self.values[test]]


def read_table():
    text = GUIDE.read_text(encoding="utf-8").split("## Options of perftest")[1]
    return [Row(line) for line in text.splitlines() if line.startswith("| `")]


ROWS = read_table()


def run(test, *arguments, server=("::1",)):
    return subprocess.run([MRC, "perf", test, *server, *arguments], capture_output=True, text=True,
                          timeout=60, check=False)


class Table(unittest.TestCase):
    def test_has_every_option_once(self):
        names = [name for row in ROWS for name in row.names]
        self.assertEqual(sorted(names), sorted({*PERFTEST, "--report-histogram"}))
        for row in ROWS:
            self.assertTrue(set(row.kinds.values()) <= set(KINDS), row.names)

    def test_is_what_the_program_does_with_a_command_line(self):
        for test in TESTS:
            for row in ROWS:
                for name in row.names:
                    with self.subTest(test=test, option=name):
                        self.check(test, row, name)

    def check(self, test, row, name):
        arguments = row.arguments(name, test)
        if name in ("-y", "--limit_msgrate") and row.kinds[test] == "yes":
            arguments += ["-w", "1"]
        # A command line that is understood comes as far as the configuration, which is not there.
        done = run(test, *arguments, "--config", "/nonexistent/openmrc.toml")
        noted = re.findall(r"note: without effect here: (.*)", done.stderr)
        if row.kinds[test] == "refused":
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(f"'{name}'" if name.startswith("--") else name, done.stderr)
            return
        if name in ("-h", "--help", "-V", "--version"):
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            return
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("/nonexistent/openmrc.toml", done.stderr)
        self.assertEqual(noted, [row.names[0] if len(row.names[0]) == 2 else name]
                         if row.kinds[test] == "ignored" else [])

    def test_one_note_names_all_that_is_ignored(self):
        done = run("write-bw", *"-d mlx5_0 -x 3 -i 1 -R -c RC -l 1 -Q 1 -T 0".split(), "--config",
                   "/nonexistent/openmrc.toml")
        self.assertEqual(done.stderr.count("note:"), 1)
        noted = re.search(r"here: (.*)", done.stderr).group(1)
        self.assertEqual(set(noted.split(", ")), set("-d -x -i -R -c -l -Q -T".split()))

    def test_other_connection_types_are_refused(self):
        for kind in ("UC", "XRC", "DC", "SRD"):
            self.assertEqual(run("write-bw", "-c", kind).returncode, 2)


class Behaviour(unittest.TestCase):
    """Over the loopback interface."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        config = pathlib.Path(cls.folder.name, "openmrc.toml")
        config.write_text(f'name = "here"\n[[port]]\ninterface = "lo"\naddress = "::1"\n[transport]\n'
                          f"udp_port = {PORT}\nevs = 4\n[exchange]\nport = {PORT}\ntimeout = \"10s\"\n",
                          encoding="utf-8")
        os.environ["OPENMRC_CONFIG"] = str(config)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def measure(self, test, *arguments, exit_code=0):
        server = subprocess.Popen([MRC, "perf", test], stdout=subprocess.PIPE, text=True)
        try:
            while "Waiting for client" not in server.stdout.readline():
                self.assertIsNone(server.poll())
            done = run(test, *arguments)
            self.assertEqual(done.returncode, exit_code, done.stderr)
            server.communicate(timeout=20)
            self.assertEqual(server.returncode, 0)
            return done
        finally:
            server.kill()
            server.communicate()

    def rows(self, done):
        """What a script reads: the columns of the lines behind the head of the table."""
        lines = done.stdout.split("#bytes", 1)[1].splitlines()[1:]
        self.assertRegex(lines[-1], "^-{87}$")
        return [line.split() for line in lines[:-1]]

    def test_all_sizes(self):
        sizes = [str(2**i) for i in range(1, 24)]
        done = self.measure("write-bw", "-a", "-n", "5")
        self.assertEqual([row[:2] for row in self.rows(done)], [[size, "5"] for size in sizes])
        done = self.measure("write-lat", "-a", "-n", "5")
        rows = self.rows(done)
        self.assertEqual([row[:2] for row in rows], [[size, "5"] for size in sizes])
        self.assertGreater(float(rows[-1][5]), float(rows[0][5]), "8 MiB take longer than 2 bytes")
        self.assertEqual(run("write-bw", "-a", "-D", "1").returncode, 2)

    def test_size_count_queue_pairs_and_units(self):
        done = self.measure("write-bw", "-s", "4K", "-n", "50", "-q", "3", "-t", "7", "--report_gbits",
                            "-m", "1024", "-F")
        size, count, peak, average, rate = self.rows(done)[0]
        self.assertEqual((size, count), ("4096", "150"))
        self.assertIn("BW average[Gb/sec]", done.stdout)
        self.assertRegex(done.stdout, r"Mtu +: 1024\[B\]")
        self.assertRegex(done.stdout, r"TX depth +: 7\n")
        self.assertGreaterEqual(float(peak), float(average))
        self.assertAlmostEqual(float(average), float(rate) * 1e6 * 4096 * 8 / 1e9, delta=0.02)

    def test_no_peak(self):
        self.assertEqual(self.rows(self.measure("write-bw", "-n", "50", "-N"))[0][2], "0.00")

    def test_both_ways(self):
        done = self.measure("write-bw", "-b", "-n", "50")
        self.assertIn("RDMA_Write Bidirectional BW Test", done.stdout)

    def test_limits(self):
        self.measure("write-bw", "-n", "50", "-w", "0.001", "-y", "0.0000001")
        done = self.measure("write-bw", "-n", "50", "-w", "100000000", exit_code=1)
        self.assertIn("is below the limit of 100000000.00 (-w)", done.stderr)
        done = self.measure("write-bw", "-n", "50", "-w", "0.001", "-y", "1000", exit_code=1)
        self.assertIn("is below the limit of 1000.000000 (-y)", done.stderr)

    def test_one_number(self):
        for test, what in (("write-bw", "bandwidth"), ("write-bw", "message_rate"),
                           ("write-lat", "latency")):
            done = self.measure(test, "-n", "50", f"--output={what}")
            self.assertRegex(done.stdout, r"^\d+\.\d{6}\n$")
            self.assertGreater(float(done.stdout), 0)

    def test_latency_reports(self):
        done = self.measure("write-lat", "-n", "20", "-U", "-H", "-e")
        self.assertEqual(len(re.findall(r"(?m)^\d+\.\d\d$", done.stdout)), 20)
        self.assertRegex(done.stdout, r"latency \[usec\] +samples")

    def test_json(self):
        file = pathlib.Path(self.folder.name, "out.json")
        self.measure("write-bw", "-n", "50", "--out_json_file", str(file))
        self.assertEqual(json.loads(file.read_text())["results"]["n_iterations"], 50)
        before = os.getcwd()
        os.chdir(self.folder.name)
        self.addCleanup(os.chdir, before)
        self.measure("write-lat", "-n", "50", "--out_json")
        result = json.loads(pathlib.Path("perftest_out.json").read_text())
        self.assertEqual(result["test_info"]["test"], "RDMA_Write_Latency_Test")


if __name__ == "__main__":
    unittest.main()
