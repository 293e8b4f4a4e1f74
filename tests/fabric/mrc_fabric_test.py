#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs `mrc fabric` as a user does, and holds docs/fabric.md to what it prints."""

import csv
import json
import pathlib
import re
import resource
import subprocess
import sys
import tempfile
import tomllib
import unittest
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[2]
PUBLISHED = ROOT / "examples/fabrics/published.toml"
SMALL = ROOT / "examples/fabrics/small.toml"
PARTS = ROOT / "examples/fabrics/parts.toml"
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


    def test_power_and_cost_are_the_end_of_the_plan(self):
        block = re.search(r"```text\n\$ mrc fabric (plan \S+ --parts \S+)\n\.\.\.\n(.*?)```",
                          DOCUMENT.read_text(), re.S)
        printed = mrc(*block[1].split()).stdout.decode()
        self.assertEqual(printed[-len(block[2]):], block[2])

    def test_cables_begin_as_shown(self):
        block = re.search(r"```text\n\$ mrc fabric (plan \S+ --parts \S+ --cables -)\n(.*?)\.\.\.\n```",
                          DOCUMENT.read_text(), re.S)
        self.assertTrue(mrc(*block[1].split()).stdout.decode().startswith(block[2]))


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


class Purchase(unittest.TestCase):
    """Of the small fabric: 16 switches; 32 links within cabinets, 32 of 7.4 to 9.2 m, of 100 Gb/s each."""

    def test_figures_of_the_small_fabric(self):
        bill = json.loads(mrc("plan", SMALL, "--parts", PARTS, "--json").stdout)["bill"]
        optical = bill["fabric"]
        self.assertEqual(optical["switch_watts"], 16 * 913)
        self.assertEqual(optical["cable_watts"], 16 * 17)
        self.assertEqual(optical["switch_price"], 16 * 200_000)
        self.assertEqual(optical["cable_price"], 8 * (2 * 1250 + 100))
        copper, optics, far = bill["cables"]
        self.assertEqual((copper["cables"], copper["host_links"], copper["switch_links"]), (4, 32, 0))
        self.assertEqual((optics["cables"], optics["host_links"], optics["switch_links"]), (4, 0, 32))
        self.assertEqual(far["cables"], 0)
        self.assertEqual((copper["longest_m"], round(optics["longest_m"], 6)), (2, 9.2))
        self.assertAlmostEqual(bill["with_cables"]["watts"], 16 * 913 + 8 * 0.1 + 8 * 17)
        self.assertEqual(bill["with_cables"]["price"], 16 * 200_000 + 4 * 200 + 4 * 2600)

    def test_text_says_it_and_where_prices_are_from(self):
        text = mrc("plan", SMALL, "--parts", PARTS).stdout.decode()
        self.assertIn("With these it draws 14.7 kW (922 W per host) and costs 3.21 M USD (201 k per "
                      "host).\n", text)
        self.assertIn("not quotes", text)
        self.assertIn("The switches need 0.8 of the 51.2 Tb/s", text)
        self.assertTrue(text.startswith(mrc("plan", SMALL).stdout.decode()))

    def test_cables_as_csv(self):
        done = mrc("plan", SMALL, "--parts", PARTS, "--cables", "-")
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = list(csv.DictReader(done.stdout.decode().splitlines()))
        self.assertEqual(len(rows), 64)
        self.assertEqual(rows[0], {
            "line": "1", "cabinet": "0", "device": "h0", "port": "p0", "to_line": "1",
            "to_cabinet": "0", "to_device": "p0.t0-0", "to_port": "down0", "gbps": "100",
            "metres": "2.0", "cable": "copper"})
        by_ends = {(row["device"], row["port"]): row for row in rows}
        self.assertEqual(len(by_ends), 64, "a port has one cable")
        self.assertEqual(len({(row["to_device"], row["to_port"]) for row in rows}), 64)
        far = by_ends["p1.t0-3", "up2"]
        self.assertEqual((far["to_device"], far["to_port"], far["to_line"], far["to_cabinet"]),
                         ("p1.t1-2", "down3", "0", "0"))
        self.assertEqual((far["metres"], far["cable"]), ("9.2", "optics 100 m"))

    def test_files(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "cables.csv"
            self.assertEqual(mrc("plan", SMALL, "--parts", PARTS, "--cables", path).returncode, 0)
            self.assertEqual(len(path.read_text().splitlines()), 65)
            parts = pathlib.Path(folder) / "parts.toml"
            parts.write_text(PARTS.read_text().replace("tbps = 51.2", "tbps = -1"))
            done = mrc("plan", SMALL, "--parts", parts)
            self.assertEqual(done.returncode, 1)
            self.assertIn(b"parts.toml:10: switch.tbps: is -1; it must be a number above 0", done.stderr)
            parts.write_text(PARTS.read_text().replace("reach_m = 500", "reach_m = 101"))
            text = mrc("plan", PUBLISHED, "--parts", parts).stdout.decode()
            self.assertRegex(text, r"links, of up to 1\d\d\.\d m, are longer than any cable of the parts")
        self.assertEqual(mrc("plan", SMALL, "--cables", "x.csv").returncode, 2, "needs --parts")

    def test_an_oversubscribed_fabric_is_not_compared_as_if_it_were_full(self):
        # Half of the uplinks of a full fabric: 2 : 1.
        half = ["--planes", 4, "--racks", 64, "--hosts-per-rack", 32, "--uplinks", 16]
        text = mrc("plan", *half).stdout.decode()
        self.assertIn("But this fabric is oversubscribed 2 : 1", text)
        once = re.search(r"takes ([\d.]+) of the switches and ([\d.]+) of the optics of one plane", text)
        again = re.search(r"halves it takes ([\d.]+) of the\nswitches and ([\d.]+) of the", text)
        for figure in (1, 2):
            self.assertAlmostEqual(float(again[figure]), 2 * float(once[figure]), delta=0.011)
        self.assertNotIn("oversubscribed", mrc("plan", PUBLISHED).stdout.decode())


class Files(unittest.TestCase):
    def test_a_mistake_is_named_with_its_line(self):
        done = mrc("check", "-", stdin=b"planes = 2\nracks = 4\nhosts = 4\n")
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"-:3: unknown key 'hosts'", done.stderr)
        self.assertIn(b"cannot read '/nowhere'", mrc("plan", "/nowhere").stderr)

    def test_a_file_without_end_is_refused(self):
        done = mrc("check", "/dev/zero")
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"'/dev/zero' is larger than 4MiB, the most that is read", done.stderr)

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


class SeveralLinksToAT1(unittest.TestCase):
    FABRIC = b"planes = 2\nracks = 4\nhosts_per_rack = 4\nuplinks = 4\nlinks_per_t1 = 2\n"

    def test_it_is_planned_and_its_cables_have_both_ends(self):
        plan = json.loads(mrc("plan", "-", "--json", stdin=self.FABRIC).stdout)
        self.assertEqual(plan["fabric"]["switches_by_tier"], [8, 4])
        done = mrc("plan", "-", "--parts", PARTS, "--cables", "-", stdin=self.FABRIC)
        self.assertEqual(done.returncode, 0, done.stderr)
        cables = list(csv.DictReader(done.stdout.decode().splitlines()))
        uppers = {(each["to_device"], each["to_port"]) for each in cables if ".t1-" in each["to_device"]}
        self.assertEqual(len(uppers), 2 * 4 * 4, "each port of each T1 once")
        self.assertIn(("p1.t1-1", "down7"), uppers)

    def test_it_has_no_addresses_and_that_is_said(self):
        for command in (["path", "-", "h0", "h5"], ["check", "-"], ["emit", "iproute2", "-", "-o", "nowhere"]):
            with self.subTest(command):
                done = mrc(*command, stdin=self.FABRIC)
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertIn(b"-: links_per_t1 = 2: such a fabric can be planned and simulated", done.stderr)


class ThreeTiers(unittest.TestCase):
    FABRIC = b"planes = 1\nswitch_ports = 8\npods = 4\nhost_link_gbps = 800\n"

    def test_it_is_planned_and_its_cables_have_both_ends(self):
        plan = json.loads(mrc("plan", "-", "--json", stdin=self.FABRIC).stdout)
        self.assertEqual(plan["fabric"]["hosts"], 64)
        self.assertEqual(plan["fabric"]["switches_by_tier"], [16, 16, 16])
        self.assertEqual(plan["fabric"]["longest_path"], 5)
        done = mrc("plan", "-", "--parts", PARTS, "--cables", "-", stdin=self.FABRIC)
        self.assertEqual(done.returncode, 0, done.stderr)
        cables = list(csv.DictReader(done.stdout.decode().splitlines()))
        self.assertEqual(len(cables), plan["fabric"]["host_links"] + plan["fabric"]["switch_links"])
        for side in ("", "to_"):
            ends = {(each[side + "device"], each[side + "port"]) for each in cables}
            self.assertEqual(len(ends), len(cables), "each port of each device once")
        self.assertIn(("p0.t2-15", "down3"), ends)

    def test_by_options_and_in_words(self):
        done = mrc("plan", "--planes", 1, "--switch-ports", 8, "--pods", 4, "--host-link-gbps", 800)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b"1 plane, 16 T0s, 16 T1s and 16 T2s in each; 64 hosts, 800 Gb/s per host", done.stdout)
        self.assertRegex(done.stdout, rb"  T2 +6.25 %")

    def test_its_drawing_has_a_row_more(self):
        done = mrc("draw", "-", "-o", "-", stdin=b"planes = 1\nracks = 4\nhosts_per_rack = 2\nuplinks = 2\n"
                                                b"pods = 2\nt1_uplinks = 2\n")
        self.assertEqual(done.returncode, 0, done.stderr)
        names = re.findall(rb"<title>([^<,]*)", done.stdout)
        self.assertEqual(sum(b".t2-" in name for name in names), 4)
        self.assertEqual(sum(re.fullmatch(rb"p0.t1-\d/up\d", name) is not None for name in names), 4 * 2)
        self.assertEqual(sum(re.fullmatch(rb"p0.t0-\d/up\d", name) is not None for name in names), 4 * 2)

    def test_it_has_no_addresses_and_that_is_said(self):
        for command in (["path", "-", "h0", "h5"], ["check", "-"], ["emit", "iproute2", "-", "-o", "nowhere"]):
            with self.subTest(command):
                done = mrc(*command, stdin=self.FABRIC)
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertIn(b"-: pods = 4: such a fabric can be planned and simulated", done.stderr)


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
        links = {f"{link}, 100 Gb/s" for link in links}
        self.assertEqual(set(titles), switches | hosts | links)
        self.assertNotIn(b"sample", picture)

    def test_a_large_fabric_is_drawn_as_a_sample(self):
        titles, picture = self.titles(PUBLISHED)
        self.assertIn(b"A sample: 4 of 8 planes, 6 of 256 T1s, 6 of 512 T0s, 4 of 256 hosts", picture)
        for name in ["p0.t0-0", "p7.t1-255", "p7.t0-511", "h131071",
                     "p7.t0-511/up255, 100 Gb/s"]:
            self.assertIn(name, titles)
        self.assertLess(len(picture), 100_000)

    def test_speeds_are_on_the_drawing(self):
        text = b"planes = 1\nracks = 2\nhosts_per_rack = 2\nuplinks = 1\nuplink_gbps = 400\n"
        picture = mrc("draw", "-", "-o", "-", stdin=text).stdout
        words = [each.text for each in xml.etree.ElementTree.fromstring(picture).iter(SVG + "text")]
        self.assertIn("400 Gb/s", words)
        self.assertIn("100 Gb/s", words)

    def test_scenarios_are_drawn_and_planned(self):
        for scenario in sorted((ROOT / "examples/scenarios").glob("*.toml")):
            done = mrc("plan", scenario, "--json")
            self.assertEqual(done.returncode, 0, done.stderr)
        first = ROOT / "examples/scenarios/first-run.toml"
        shape = json.loads(mrc("plan", first, "--json").stdout)["shape"]
        fabric = tomllib.loads(first.read_text())["fabric"]
        self.assertEqual({key: shape[key] for key in fabric}, fabric)
        self.assertIn(b"<svg ", mrc("draw", first, "-o", "-").stdout)

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
