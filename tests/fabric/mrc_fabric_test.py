#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs `mrc fabric` as a user does, and holds docs/fabric.md to what it prints."""

import json
import pathlib
import re
import resource
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[2]
PUBLISHED = ROOT / "examples/fabrics/published.toml"
SMALL = ROOT / "examples/fabrics/small.toml"
DOCUMENT = ROOT / "docs/fabric.md"
MRC = pathlib.Path(sys.argv.pop(1)).resolve()
SVG = "{http://www.w3.org/2000/svg}"

TOPOLOGY = b"""Nodes 32
Tiers 2
Podsize 32
Tier 0
Downlink_speed_Gbps 100
Radix_Down 8
Radix_Up 2
Downlink_Latency_ns 1000
Tier 1
Downlink_speed_Gbps 100
Radix_Down 4
Downlink_Latency_ns 1000
"""


def mrc(*arguments, stdin=b""):
    return subprocess.run([MRC, "fabric", *map(str, arguments)], input=stdin, capture_output=True,
                          timeout=60, check=False, cwd=ROOT)


def without_times(text):
    return re.sub(r"\d+\.\d\d s\b", "N s", text)


class Document(unittest.TestCase):
    """The golden output is what the document shows."""

    maxDiff = None

    def test_every_command_prints_what_the_document_shows(self):
        blocks = re.findall(r"```console\n\$ mrc fabric (.*?)\n(.*?)```", DOCUMENT.read_text(), re.S)
        self.assertGreaterEqual(len(blocks), 4)
        for command, shown in blocks:
            with self.subTest(command):
                done = mrc(*command.split())
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(without_times(done.stdout.decode()), without_times(shown))

    def test_the_plan_of_the_published_fabric_is_shown(self):
        self.assertIn("$ mrc fabric plan examples/fabrics/published.toml\n", DOCUMENT.read_text())


class Plan(unittest.TestCase):
    def test_json_has_the_published_figures(self):
        plan = json.loads(mrc("plan", "--json", PUBLISHED).stdout)
        self.assertEqual(plan["fabric"]["hosts"], 131072)
        self.assertEqual(plan["fabric"]["switches_by_tier"], [4096, 2048])
        self.assertEqual(plan["three_tiers"]["hosts"], 65536)
        self.assertEqual(plan["same_hosts"]["tiers"], 4)
        self.assertEqual(plan["fabric"]["loss"]["nic_port"], 0.125)
        self.assertEqual(plan["shape"]["racks"], 512)

    def test_options_are_as_good_as_a_file(self):
        by_options = mrc("plan", "--planes", 8, "--switch-ports", 512)
        self.assertEqual(by_options.returncode, 0, by_options.stderr)
        self.assertEqual(by_options.stdout, mrc("plan", PUBLISHED).stdout)
        done = mrc("plan", "--planes", 2, "--racks", 4, "--hosts-per-rack", 4, "--uplinks", 4,
                   "--host-link-gbps", "12.5", "--uplink-gbps", 100, "--json")
        shape = json.loads(done.stdout)["shape"]
        self.assertEqual((shape["host_link_gbps"], shape["uplink_gbps"]), (12.5, 100))

    def test_wrong_options_are_named(self):
        for arguments, words in [
                (["--planes", 8, "--switch-ports", 511], b"switch_ports: must be even"),
                (["--planes", "many", "--switch-ports", 8], b"planes: must be a whole number"),
                (["--planes", 8], b"racks: is missing"),
                ([], b"give either a FILE or a fabric by options"),
                ([SMALL, "--planes", 8], b"give either a FILE or a fabric by options")]:
            done = mrc("plan", *arguments)
            self.assertEqual(done.returncode, 1, arguments)
            self.assertIn(words, done.stderr)

    def test_a_switch_that_is_smaller_than_a_nic_has_no_comparison(self):
        done = mrc("plan", "--planes", 8, "--racks", 2, "--hosts-per-rack", 2, "--uplinks", 1)
        self.assertIn(b"No comparison", done.stdout)
        self.assertNotIn(b"three tiers", done.stdout)
        done = mrc("plan", "--planes", 8, "--racks", 2, "--hosts-per-rack", 2, "--uplinks", 1, "--json")
        self.assertIsNone(json.loads(done.stdout)["three_tiers"])


class Files(unittest.TestCase):
    def test_a_mistake_is_named_with_its_line(self):
        done = mrc("check", "-", stdin=b"planes = 2\nracks = 4\nhosts = 4\n")
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"-:3: unknown key 'hosts'", done.stderr)
        self.assertIn(b"cannot read '/nowhere'", mrc("plan", "/nowhere").stderr)

    def test_topologies_of_htsim_are_read_by_their_name(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "tiny.topo"
            path.write_bytes(TOPOLOGY)
            done = mrc("check", path, "--paths", 1000)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(b"1 plane, 4 T0s and 2 T1s in each; 32 hosts", done.stdout)
            path.write_bytes(TOPOLOGY.replace(b"Tiers 2", b"Tiers 3"))
            done = mrc("check", path)
            self.assertEqual(done.returncode, 1)
            self.assertIn(b"tiny.topo:2: Tiers: only topologies of two tiers fit", done.stderr)


class Path(unittest.TestCase):
    def test_without_an_ev_all_that_the_host_draws_are_listed(self):
        lines = mrc("path", SMALL, "h0", "h5").stdout.decode().splitlines()
        self.assertEqual(len(lines), 1 + 8, "two planes of four uplinks, each once")
        choices = {line.split()[1] for line in lines[1:]}
        self.assertEqual(choices, {f"{plane}:{uplink}" for plane in (0, 1) for uplink in range(4)})
        own_rack = mrc("path", SMALL, "h0", "h1").stdout.decode().splitlines()
        self.assertEqual([line.split()[-1] for line in own_rack[1:]], ["p0.t0-0", "p1.t0-0"])
        nic = mrc("path", SMALL, "h0", "h5", "--preset", "nic").stdout.decode().splitlines()
        self.assertEqual(len(nic), 1 + 256)

    def test_an_ev_is_named_in_two_ways(self):
        by_choice = mrc("path", PUBLISHED, "h17", "h70000", "3:4")
        self.assertEqual(by_choice.returncode, 0, by_choice.stderr)
        self.assertEqual(by_choice.stdout, mrc("path", PUBLISHED, "h17", "h70000", "772").stdout)
        self.assertIn(b"p3.t1-4     8043", by_choice.stdout)

    def test_names_that_are_wrong_are_named(self):
        for arguments, words in [
                (["h16", "h0", "0:0"], b"'h16': no such host; hosts are h0 to h15"),
                (["h0", "t0", "0:0"], b"'t0': expected a host"),
                (["h0", "h1", "2:0"], b"'2:0': no such plane"),
                (["h0", "h1", "8"], b"'8': no such EV; their numbers are 0 to 7")]:
            done = mrc("path", SMALL, *arguments)
            self.assertEqual(done.returncode, 1, arguments)
            self.assertIn(words, done.stderr)


class Draw(unittest.TestCase):
    def titles(self, file):
        done = mrc("draw", file, "-o", "-")
        self.assertEqual(done.returncode, 0, done.stderr)
        picture = xml.etree.ElementTree.fromstring(done.stdout)
        return [title.text for title in picture.iter(SVG + "title")], done.stdout

    def test_a_small_fabric_is_drawn_whole(self):
        titles, picture = self.titles(SMALL)
        switches = {f"p{p}.t{t}-{i}" for p in range(2) for t in range(2) for i in range(4)}
        hosts = {f"h{i}" for i in range(16)}
        links = {f"p{p}.t0-{r}/{way}{i}" for p in range(2) for r in range(4)
                 for way in ("up", "down") for i in range(4)}
        self.assertEqual(set(titles), switches | hosts | links)
        self.assertNotIn(b"sample", picture)

    def test_a_large_fabric_is_drawn_as_a_sample(self):
        titles, picture = self.titles(PUBLISHED)
        self.assertIn(b"A sample: 4 of 8 planes, 6 of 256 T1s, 6 of 512 T0s, 4 of 256 hosts", picture)
        for name in ["p0.t0-0", "p7.t1-255", "p7.t0-511", "h131071", "p7.t0-511/up255"]:
            self.assertIn(name, titles)
        self.assertLess(len(picture), 100_000)

    def test_writes_a_file_or_says_why_not(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "out.svg"
            self.assertEqual(mrc("draw", SMALL, "-o", path).returncode, 0)
            self.assertTrue(path.read_text().startswith("<svg "))
            done = mrc("draw", SMALL, "-o", pathlib.Path(folder) / "no" / "out.svg")
            self.assertEqual(done.returncode, 1)
            self.assertIn(b"cannot write", done.stderr)


class Check(unittest.TestCase):
    def test_the_published_fabric_holds_in_little_memory(self):
        done = mrc("check", PUBLISHED, "--paths", 100_000, "--seed", 7)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b"100,000 random paths, seed 7:", done.stdout)
        self.assertIn(b"All checks passed;", done.stdout)
        # Of the largest of all runs so far, in KiB; sanitizers included.
        self.assertLess(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, 256 << 10)


class Usage(unittest.TestCase):
    def test_wrong_use_exits_with_2(self):
        done = mrc()
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"Usage: mrc fabric", done.stdout)
        self.assertEqual(mrc("fly").returncode, 2)
        self.assertEqual(mrc("path", SMALL, "h0").returncode, 2)
        self.assertEqual(mrc("draw", SMALL).returncode, 2)


if __name__ == "__main__":
    unittest.main()
