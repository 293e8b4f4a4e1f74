#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs experiments of many simulations (`mrc sim run --seeds`, `sweep`, `collect`) as a user does."""

import csv
import json
import pathlib
import signal
import subprocess
import unittest

from sim_program import ENDLESS, MRC, SMALL, SimTest, mrc


class ExperimentTest(SimTest):
    def ok(self, *arguments):
        done = mrc(*arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def interrupt_after(self, process, seconds):
        with self.assertRaises(subprocess.TimeoutExpired):
            process.wait(timeout=seconds)
        process.send_signal(signal.SIGINT)
        return process.communicate(timeout=60)


class Seeds(ExperimentTest):
    def test_prints_medians_and_says_which_interval(self):
        done = self.ok("run", self.small, "--seeds", 7, "-q")
        self.assertTrue(done.stdout.startswith("small: Small\nseeds 5 to 11\n\n"), done.stdout)
        self.assertRegex(done.stdout, r"\n +median +low +high\nended after +\S+ us +\S+ us +\S+ us\n")
        self.assertIn("95 % probability", done.stdout.replace("\n", " "))
        self.assertNotIn("not enough", done.stdout)
        self.assertEqual(done.stderr, "")

    def test_few_seeds_are_said_to_be_few(self):
        words = self.ok("run", self.small, "--seeds", 3).stdout.replace("\n", " ")
        self.assertIn("3 seeds are not enough for that", words)
        self.assertIn("holds it with 75 %", words)

    def test_figures_are_those_of_the_single_runs(self):
        experiment = json.loads(self.ok("run", self.small, "--seeds", 3, "--seed", 8, "--set",
                                        "fabric.planes=4", "--jobs", 2, "--json", "-").stdout)
        ends = []
        for run, seed in zip(experiment["runs"], (8, 9, 10), strict=True):
            alone = json.loads(self.ok("run", self.small, "--seed", seed, "--set",
                                       "fabric.planes=4", "--json", "-").stdout)
            self.assertEqual((run["seed"], run["figures"]["end_ps"]), (seed, alone["end_ps"]))
            ends.append(alone["end_ps"])
        self.assertEqual(experiment["groups"][0]["figures"]["end_ps"],
                         {"median": sorted(ends)[1], "low": min(ends), "high": max(ends), "n": 3,
                          "confidence": 0.75})

    def test_the_number_of_processes_changes_nothing(self):
        one, many = (self.ok("run", self.small, "--seeds", 5, "--jobs", n, "--json", "-").stdout
                     for n in (1, 4))
        self.assertEqual(one, many)

    def test_what_did_not_finish_is_counted(self):
        limited = self.write("limited.toml", 'time_limit = "3 us"\n' + SMALL)
        done = mrc("run", limited, "--seeds", 2)
        self.assertEqual(done.returncode, 1)
        self.assertIn("2 of 2 runs did not finish", done.stderr)

    def test_an_interrupt_ends_it_and_leaves_no_process(self):
        process = self.start("run", self.write("endless.toml", ENDLESS), "--seeds", 3, "--jobs", 2, stderr=subprocess.PIPE)
        stdout, stderr = self.interrupt_after(process, 1)
        self.assertEqual((process.returncode, stdout), (1, ""))
        self.assertIn("3 runs are missing: seed 5; seed 6; seed 7.", stderr)

    def test_wrong_use(self):
        for arguments in (["--seeds", 1], ["--seeds", 2, "--baseline"], ["--seeds", 2, "--jobs", 0],
                          ["--seeds", 2, "--seed", 2**63 - 1], ["--seeds", 2, "--set", "fabric.plains=1"]):
            done = mrc("run", self.small, *arguments)
            self.assertEqual((done.returncode, done.stdout), (2, ""), arguments)


SWEEP = """title = "Planes and bytes"
scenario = "small.toml"
seeds = 2
[[runs]]
name = "MRC"
[[runs]]
name = "RoCE"
transport = "rc"
[grid]
fabric.planes = [2, 4]
"""


class SweepTest(ExperimentTest):
    def setUp(self):
        super().setUp()
        self.sweep = self.write("sweep.toml", SWEEP)
        self.out = self.folder / "out"

    def results(self):
        return sorted(path for path in self.out.glob("*") if path.name != "plan.json")

    def run_sweep(self, *arguments):
        return self.ok("sweep", self.sweep, "--out", self.out, *arguments)


class Sweep(SweepTest):
    def test_every_combination_with_every_seed_is_a_result(self):
        done = self.run_sweep()
        self.assertEqual(done.stdout, f"{self.out}: 8 runs, 8 done now, 0 were there, 0 failed\n")
        found = set()
        for path in self.results():
            result = json.loads(path.read_text())
            found.add((result["transport"], tuple(result["origin"]["inputs"]["settings"]), result["seed"]))
            self.assertTrue(result["origin"]["sha256"].startswith(path.stem))
        self.assertEqual(found, {(transport, (f"fabric.planes={planes}",), seed)
                                 for transport in ("mrc", "rc") for planes in (2, 4) for seed in (5, 6)})

    def test_a_result_is_that_of_a_single_run_and_can_be_run_again(self):
        self.run_sweep()
        path = self.results()[0]
        again = self.folder / "again.json"
        self.ok("run", path, "--json", again)
        self.assertEqual(path.read_bytes(), again.read_bytes())

    def test_only_what_is_missing_or_does_not_fit_is_run(self):
        self.run_sweep()
        before = {path: path.stat().st_mtime_ns for path in self.results()}
        gone, broken, changed, *kept = self.results()
        whole = {path: path.read_bytes() for path in (gone, broken, changed)}
        gone.unlink()
        broken.write_text(broken.read_text()[:-100])
        changed.write_text(changed.read_text().replace("64 KiB", "65 KiB"))
        done = self.run_sweep()
        self.assertEqual(done.stdout, f"{self.out}: 8 runs, 3 done now, 5 were there, 0 failed\n")
        for path, content in whole.items():
            self.assertEqual(path.read_bytes(), content)
        self.assertEqual({path: path.stat().st_mtime_ns for path in kept},
                         {path: before[path] for path in kept})

    def test_a_larger_sweep_keeps_what_is_there(self):
        self.run_sweep()
        self.write("sweep.toml", SWEEP.replace("[2, 4]", "[1, 2, 4]"))
        self.assertIn("12 runs, 4 done now, 8 were there", self.run_sweep().stdout)
        self.assertIn("12 runs, 12 done now, 0 were there", self.run_sweep("--again").stdout)

    def test_shards_make_the_same_results_as_one(self):
        self.run_sweep()
        whole = {path.name: path.read_bytes() for path in self.out.iterdir()}
        for path in self.out.iterdir():
            path.unlink()
        for shard, runs in ((0, 3), (1, 3), (2, 2)):
            self.assertIn(f": {runs} runs, {runs} done now",
                          self.run_sweep("--shard", f"{shard}/3").stdout)
        self.assertEqual({path.name: path.read_bytes() for path in self.out.iterdir()}, whole)

    def test_a_dry_run_names_what_would_be_run(self):
        lines = self.run_sweep("-n").stdout.splitlines()
        self.assertEqual(len(lines), 8)
        self.assertRegex(lines[0], r"^[0-9a-f]{16}\.json  run=MRC, fabric\.planes=2, seed 5$")
        self.assertFalse(self.out.exists())

    def test_an_interrupt_stops_it_and_what_is_done_stays(self):
        self.write("small.toml", ENDLESS.replace('bytes = "64 MiB"', 'bytes = "64 KiB"'))
        self.write("sweep.toml", 'scenario = "small.toml"\n[grid]\nworkload.messages = [1, 10000000, 9999999]\n')
        process = self.start("sweep", self.sweep, "--out", self.out, "--jobs", 2, stderr=subprocess.PIPE)
        _, stderr = self.interrupt_after(process, 2)
        self.assertEqual(process.returncode, 130, stderr)
        self.assertIn("stopped: 1 of 3 results are there; the same command goes on", stderr)
        self.assertEqual([path.suffix for path in self.results()], [".json"])

    def test_what_is_wrong_is_named_before_anything_runs(self):
        for text, message in (
            (SWEEP.replace("fabric.planes", "fabric.plains"),
             f"{self.small}: fabric: unknown key 'plains': did you mean 'planes'?\n(with --set fabric.plains=2)"),
            (SWEEP.replace("[2, 4]", '[2, "four"]'), "fabric.planes: "),
            (SWEEP.replace("seeds = 2", "seeds = 0"), f"{self.sweep}:3: seeds: "),
            (SWEEP.replace("small.toml", "none.toml"), "none.toml': No such file or directory"),
        ):
            self.write("sweep.toml", text)
            done = mrc("sweep", self.sweep, "--out", self.out)
            self.assertEqual((done.returncode, done.stdout), (2, ""), text)
            self.assertIn(message, done.stderr)
            self.assertFalse(self.out.exists())

    def test_wrong_use(self):
        for shard in ("3/3", "x/3", "1", "/", "-1/3"):
            done = mrc("sweep", self.sweep, "--out", self.out, f"--shard={shard}")
            self.assertEqual(done.returncode, 2, shard)
            self.assertIn(f"--shard: '{shard}' is not I/N", done.stderr)
        done = mrc("sweep", self.sweep, "--out", self.small)
        self.assertEqual(done.returncode, 2)
        self.assertIn("cannot make the folder", done.stderr)


class Collect(SweepTest):
    def test_a_table_has_a_line_for_each_combination(self):
        self.run_sweep()
        done = self.ok("collect", self.out)
        lines = done.stdout.splitlines()
        self.assertEqual(lines[0], "Planes and bytes")
        self.assertRegex(lines[2], r"^run +fabric\.planes +runs +ended after")
        self.assertEqual([line.split()[:3] for line in lines[3:7]],
                         [["MRC", "2", "2"], ["MRC", "4", "2"], ["RoCE", "2", "2"], ["RoCE", "4", "2"]])
        self.assertIn("2 seeds are not enough", done.stdout.replace("\n", " "))
        self.assertEqual(done.stderr, "")

    def test_figures_are_those_of_the_results(self):
        self.run_sweep()
        experiment = json.loads(self.ok("collect", self.out, "--json", "-").stdout)
        self.assertEqual((experiment["axes"], len(experiment["runs"])), (["run", "fabric.planes"], 8))
        ends = {}
        for path in self.results():
            result = json.loads(path.read_text())
            key = ("RoCE" if result["transport"] == "rc" else "MRC",
                   result["origin"]["inputs"]["settings"][0].removeprefix("fabric.planes="))
            ends.setdefault(key, []).append(result["end_ps"])
        for group in experiment["groups"]:
            figure = group["figures"]["end_ps"]
            expected = ends[(group["axes"]["run"], group["axes"]["fabric.planes"])]
            self.assertEqual((figure["low"], figure["high"]), (min(expected), max(expected)))

    def test_csv_has_median_and_interval_of_every_figure(self):
        self.run_sweep()
        path = self.folder / "out.csv"
        self.ok("collect", self.out, "--csv", path)
        with path.open(newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual([(row["run"], row["fabric.planes"], row["runs"]) for row in rows],
                         [("MRC", "2", "2"), ("MRC", "4", "2"), ("RoCE", "2", "2"), ("RoCE", "4", "2")])
        for row in rows:
            self.assertLessEqual(int(row["end_ps_low"]), int(row["end_ps_median"]))
            self.assertLessEqual(int(row["end_ps_median"]), int(row["end_ps_high"]))

    def test_a_page_has_charts_and_loads_nothing(self):
        self.run_sweep()
        page = self.folder / "out.html"
        self.ok("collect", self.out, "--report", page, "--figures", "goodput_bps,packets_lost")
        text = page.read_text()
        self.assertTrue(text.startswith("<!DOCTYPE html>"))
        self.assertEqual(text.count("<svg "), 2)
        self.assertNotIn("http:", text.replace("http://www.w3.org/2000/svg", ""))

    def test_the_fabrics_are_priced(self):
        self.run_sweep()
        page = self.folder / "page.html"
        parts = pathlib.Path(__file__).parents[2] / "examples/fabrics/parts.toml"
        done = self.ok("collect", self.out, "--parts", parts, "--report", page)
        self.assertRegex(done.stdout, r"(?m)^fabric +hosts +planes +switches +cables +USD per host")
        self.assertIn("What the fabrics are made of", page.read_text(encoding="utf-8"))
        done = mrc("collect", self.out, "--parts", self.folder / "none.toml")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("none.toml", done.stderr)

    def test_seeds_have_the_page_too(self):
        page = self.folder / "out.html"
        self.ok("run", self.small, "--seeds", 2, "--report", page)
        self.assertIn("<h1>Small</h1>", page.read_text())

    def test_what_is_missing_is_named(self):
        self.run_sweep()
        gone, broken, foreign = self.results()[:3]
        gone.unlink()
        broken.write_text("{")
        foreign.write_bytes(self.results()[-1].read_bytes())
        done = mrc("collect", self.out)
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"'{broken}' is left out: this is not JSON", done.stderr)
        self.assertIn(f"'{foreign}' is left out: it is not the run of the plan", done.stderr)
        self.assertRegex(done.stderr, r"3 runs are missing: run=\w+, fabric\.planes=\d, seed \d; ")
        self.assertIn("Planes and bytes", done.stdout)

    def test_shards_in_folders_of_their_own_are_put_together(self):
        parts = [self.folder / f"part-{i}" for i in range(2)]
        for i, part in enumerate(parts):
            self.ok("sweep", self.sweep, "--out", part, "--shard", f"{i}/2")
        self.run_sweep()
        self.assertEqual(self.ok("collect", *parts, "--json", "-").stdout,
                         self.ok("collect", self.out, "--json", "-").stdout)
        self.assertIn("4 runs are missing", mrc("collect", parts[0]).stderr)

    def test_results_without_a_plan_are_told_apart_by_what_differs(self):
        self.out.mkdir()
        for planes in (2, 4):
            for seed in (1, 2):
                self.ok("run", self.small, "--set", "fabric.uplinks=3", "--set", f"fabric.planes={planes}",
                        "--seed", seed, "--json", self.out / f"{planes}-{seed}.json")
        experiment = json.loads(self.ok("collect", self.out, "--json", "-").stdout)
        self.assertEqual([(group["axes"], group["runs"]) for group in experiment["groups"]],
                         [({"fabric.planes": "2"}, 2), ({"fabric.planes": "4"}, 2)])

    def test_sweeps_with_other_axes_are_not_mixed(self):
        self.run_sweep()
        other = self.write("other.toml", 'scenario = "small.toml"\n')
        self.ok("sweep", other, "--out", self.folder / "other")
        done = mrc("collect", self.out, self.folder / "other")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("is of a sweep with other axes", done.stderr)

    def test_wrong_use(self):
        self.out.mkdir()
        for arguments, message in (
            ([self.out], "no results to collect"),
            ([self.folder / "none"], "cannot read the folder"),
            ([self.out, "--figures", "speed"], "--figures: there is no 'speed'; there are end_ps "),
            ([self.out, "--csv", "-", "--json", "-"], "cannot both go to standard output"),
            ([self.out, "--report", self.folder / "no/x.html"], "create the folder"),
        ):
            done = mrc("collect", *arguments)
            self.assertEqual((done.returncode, done.stdout), (2, ""), arguments)
            self.assertIn(message, done.stderr)
        (self.out / "plan.json").write_text("{}")
        self.assertIn("is not the plan of a sweep", mrc("collect", self.out).stderr)


if __name__ == "__main__":
    unittest.main()
