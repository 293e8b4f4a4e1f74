#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""`mrc sim` where things fail at random: faults that are printed, `availability` and `search`."""

import json
import pathlib
import re
import signal
import subprocess
import unittest

from sim_program import ENDLESS, SMALL, SimTest, mrc

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"
WHOLE = SMALL[:SMALL.index("[[fault]]")].replace("seed = 5", 'seed = 5\ntime_limit = "1 ms"')
FAILURES = WHOLE + """
[[failures]]
of = "uplinks"
mtbf = "10 us"
mttr = "5 us"
until = "40 us"
[[failures]]
of = "nic-transceivers"
links = 2
kind = "loss"
rate = "1 %"
worst_rate = "20 %"
mtbf = "30 us"
mttr = "10 us"
until = "40 us"
"""
AVAILABILITY = """title = "Poor links"
scenario = "whole.toml"
seeds = 3
mass = "99 %"
[[parts]]
of = "uplinks"
mtbf_hours = 90
mttr_hours = 10
"""
SEARCH = """scenario = "whole.toml"
figure = "end_ps"
unfinished = "skipped"
of = ["uplinks", "host-links"]
faults = 3
window = ["0 us", "40 us"]
longest = "20 us"
random = 40
runs = 200
"""


class FaultsTest(SimTest):
    def setUp(self):
        super().setUp()
        self.whole = self.write("whole.toml", WHOLE)

    def ok(self, *arguments, **options):
        done = mrc(*arguments, **options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def result(self, scenario):
        return json.loads(self.ok("run", scenario, "--json", "-").stdout)

    def refused(self, message, *arguments):
        done = mrc(*arguments, cwd=self.folder)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn(message, done.stderr)


class Examples(FaultsTest):
    def test_they_are_read(self):
        for verb, file, option in (("search", "searches/completion.toml", "--out"),
                                   ("availability", "availability/links-and-switches.toml", "--json")):
            self.refused("create the folder", verb, EXAMPLES / file, option, "none/x")


class FaultsOnly(FaultsTest):
    def test_the_list_gives_the_same_run(self):
        drawn = self.write("drawn.toml", FAILURES)
        faults = self.ok("run", drawn, "--faults-only").stdout
        self.assertGreater(faults.count("[[fault]]"), 10)
        self.assertIn('kind = "cut"', faults)
        listed = self.result(self.write("listed.toml", WHOLE + faults))
        self.assertGreater(listed["totals"]["retransmissions"], 0)
        drawn = self.result(drawn)
        for figure in ("end_ps", "totals", "flows", "buckets"):
            self.assertEqual(listed[figure], drawn[figure])

    def test_a_seed_draws_others(self):
        drawn = self.write("drawn.toml", FAILURES)
        one, same, other = (self.ok("run", drawn, "--faults-only", "--seed", seed).stdout for seed in (1, 1, 2))
        self.assertEqual(one, same)
        self.assertNotEqual(one, other)

    def test_nothing_is_run(self):
        self.refused("--faults-only runs nothing", "run", self.whole, "--faults-only", "--seeds", 2)


class Availability(FaultsTest):
    def setUp(self):
        super().setUp()
        self.file = self.write("poor.toml", AVAILABILITY)
        self.out = self.folder / "out"

    def expected(self):
        return json.loads(self.ok("availability", self.file, "--out", self.out, "--json", "-").stdout)

    # 8 uplinks, each down for a tenth of the time.
    def test_states_have_their_probability_and_the_mean_is_that_of_the_runs(self):
        json_ = self.expected()
        states = json_["states"]
        self.assertEqual([state["down"] for state in states], [[0], [1], [2], [3]])
        self.assertEqual({(state["runs"], state["unfinished"]) for state in states}, {(3, 0)})
        by_down = {state["down"][0]: state for state in states}
        for down, probability in enumerate((0.4305, 0.3826, 0.1488, 0.0331)):
            self.assertAlmostEqual(by_down[down]["probability"], probability, 3)
        self.assertAlmostEqual(json_["not_run"], 0.0050, 3)
        mass = sum(state["probability"] for state in states)
        mean = sum(state["probability"] * state["figures"]["goodput_bps"] for state in states) / mass
        goodput = json_["expected"]["goodput_bps"]
        self.assertAlmostEqual(goodput["mean"] / mean, 1, 9)
        self.assertLess(goodput["low"], mean)
        self.assertGreater(goodput["high"], mean)
        self.assertGreater(by_down[0]["figures"]["goodput_bps"], mean)

    def test_the_table_says_it_and_results_are_kept(self):
        table = self.ok("availability", self.file, "--out", self.out).stdout
        self.assertTrue(table.startswith("Poor links\n\npart "), table)
        self.assertRegex(table, r"(?m)^uplinks +8 +90 h +10 h +0\.8 +57\.6$")
        self.assertRegex(table, r"(?m)^goodput: [\d.]+ Gb/s \[[\d.]+ Gb/s, [\d.]+ Gb/s\]; whatever happens")
        times = {path: path.stat().st_mtime_ns for path in self.out.glob("*.json") if path.name != "plan.json"}
        self.assertEqual(len(times), 12)
        self.assertEqual(self.ok("availability", self.file, "--out", self.out).stdout, table)
        self.assertEqual({path: path.stat().st_mtime_ns for path in times}, times)
        self.assertIn("uplinks down", self.ok("collect", self.out).stdout)

    def test_wrong_use(self):
        self.write("whole.toml", SMALL)
        self.refused("has faults of its own", "availability", self.file)
        self.file.write_text(AVAILABILITY.replace("mttr_hours = 10", 'mttr_hours = "10 h"'))
        self.refused("mttr_hours: must be hours", "availability", self.file)


class Search(FaultsTest):
    def setUp(self):
        super().setUp()
        self.file = self.write("search.toml", SEARCH)
        self.out = self.folder / "worst.toml"

    def search(self, *options):
        return self.ok("search", self.file, "--out", self.out, *options)

    def test_what_is_found_is_a_scenario_that_does_as_it_says(self):
        done = self.search()
        self.assertIn(f"written: {self.out}\n", done.stdout)
        text = self.out.read_text()
        self.assertTrue(text.startswith(WHOLE))
        self.assertIn("# Found by 'mrc sim search search.toml --seed 1 --runs ", text)
        shrunk = re.search(r"# shrunk by \d+ runs: ([\d.]+) us with (\d) faults", text)
        self.assertIsNotNone(shrunk, text)
        self.assertEqual(text.count("[[fault]]"), int(shrunk[2]))
        self.assertAlmostEqual(self.result(self.out)["end_ps"] / 1e6, float(shrunk[1]), delta=0.6)
        self.assertGreater(self.result(self.out)["end_ps"], self.result(self.whole)["end_ps"])

    def test_it_follows_from_its_seed(self):
        self.search("--jobs", 1)
        first = self.out.read_text()
        self.search("--jobs", 3)
        self.assertEqual(self.out.read_text(), first)
        self.search("--seed", 2)
        self.assertNotEqual(self.out.read_text(), first)

    def test_an_interrupt_writes_the_worst_so_far(self):
        self.file.write_text(SEARCH.replace("runs = 200", "runs = 10000000"))
        process = self.start("search", self.file, "--out", self.out, stderr=subprocess.PIPE)
        self.assertIn("runs, worst", process.stderr.readline())
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, stderr)
        self.assertIn("[[fault]]", self.out.read_text())
        self.assertNotIn("shrunk", self.out.read_text())

    def test_wrong_use(self):
        for text, message in ((SMALL, "has faults of its own"),
                              (ENDLESS[:ENDLESS.index("[[fault]]")], "needs a time_limit")):
            self.write("whole.toml", text)
            self.refused(message, "search", self.file)
        self.write("whole.toml", WHOLE)
        self.file.write_text(SEARCH.replace("end_ps", "end"))
        self.refused("no figure is called 'end'", "search", self.file)
        self.refused("create the folder", "search", self.write("ok.toml", SEARCH), "--out", "none/x.toml")


if __name__ == "__main__":
    unittest.main()
