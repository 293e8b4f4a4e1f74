#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs `mrc sim` as a user does and looks at what it prints and writes, and at its exit code."""

import csv
import hashlib
import json
import os
import pathlib
import pty
import signal
import subprocess
import unittest

from sim_program import ENDLESS, MRC, SMALL, SimTest, mrc

ROOT = pathlib.Path(__file__).resolve().parents[2]
FIRST_RUN = ROOT / "examples/scenarios/first-run.toml"


class ProgramTest(SimTest):
    def endless(self):
        return self.write("endless.toml", ENDLESS)


class Run(ProgramTest):
    def test_settings_replace_what_the_scenario_says(self):
        written = self.folder / "out.json"
        done = mrc("run", self.small, "--set", "fabric.planes=4", "--set", "fault=[]", "--json", written)
        self.assertEqual(done.returncode, 0, done.stderr)
        result = json.loads(written.read_text())
        self.assertEqual((result["planes"], result["faults"]), (4, []))

    def test_a_wrong_setting_is_named(self):
        for setting, message in (
            ("fabric.plains=4", "fabric: unknown key 'plains': did you mean 'planes'?"),
            ("fault.1.at=0", "fault.1.at: the list has 1 elements, numbered from 0, and no '1'"),
            ("seed", "invalid setting 'seed': expected KEY=VALUE, e.g. transport.evs=64"),
        ):
            done = mrc("run", self.small, "--set", setting)
            self.assertEqual(done.returncode, 2)
            self.assertEqual(done.stderr, f"mrc sim: {self.small}: {message}\n")

    def test_a_report_shows_the_settings(self):
        page = self.folder / "out.html"
        mrc("run", self.small, "--set", "fabric.planes=4", "--report", page)
        self.assertIn("# --set fabric.planes=4", page.read_text())

    def test_prints_a_table_the_words_and_what_to_look_at(self):
        done = mrc("run", self.small)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(done.stdout.startswith("small: Small\nMRC, 4 hosts, 2 planes, 200 Gb/s"))
        self.assertIn("All 4 flows finished in", done.stdout)
        self.assertTrue(done.stdout.endswith("\nWhat to observe\nWhat to see.\n"))
        self.assertRegex(done.stderr, r"(^|\n)small \(mrc\): [\d.]+ s on 1 thread, [\d,]+ hops, "
                                      r"[\d,]+ hops/s, [\d.]+ .iB of memory at most\n$")

    def test_quiet_says_nothing_on_standard_error(self):
        self.assertEqual(mrc("run", "-q", self.small).stderr, "")

    def test_output_does_not_depend_on_the_threads(self):
        one, three = (mrc("run", self.small, "--threads", n, "--json", "-") for n in (1, 3))
        self.assertEqual(one.returncode, 0, one.stderr)
        self.assertEqual(one.stdout, three.stdout)

    def test_json_is_the_result(self):
        result = json.loads(mrc("run", self.small, "--json", "-").stdout)
        self.assertEqual((result["scenario"], result["seed"]), ("small", 5))
        self.assertEqual(len(result["flows"]), 4)
        path = self.folder / "out.json"
        done = mrc("run", self.small, "--json", path)
        self.assertIn("All 4 flows finished", done.stdout)
        self.assertEqual(json.loads(path.read_text()), result)

    def test_a_series_is_a_table_of_numbers(self):
        path = self.folder / "run.csv"
        done = mrc("run", "-q", self.small, "--series", path, "--series-every", "1 us", "--series-hosts", "h0,h1",
                   "--series-links", "p0.t0-0/up0")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        rows = list(csv.DictReader(path.read_text().splitlines()))
        self.assertEqual({(row["kind"], row["name"]) for row in rows if row["kind"] != "connection"},
                         {("fabric", "all"), ("host", "h0"), ("host", "h1"), ("link", "p0.t0-0/up0 up"),
                          ("link", "p0.t0-0/up0 down")})
        ends = [int(row["time_ns"]) for row in rows if row["kind"] == "fabric"]
        self.assertEqual(ends[:3], [1000, 2000, 3000])
        bits = sum(int(row["goodput_bps"]) * (end - begin) for row, begin, end in
                   zip((row for row in rows if row["kind"] == "fabric"), [0, *ends], ends)) / 1e9
        self.assertAlmostEqual(bits / 8, 4 * 64 * 1024, delta=4 * 4096, msg="four flows of 64 KiB")
        for row in rows:
            self.assertNotIn(None, row.values(), row)

    def test_what_a_series_cannot_show_is_said(self):
        for options, message in (
            (("--series", "x.csv", "--series-hosts", "h99"), "series, hosts: "),
            (("--series", "x.csv", "--series-links", "p0.t9-0/up0"), "series, links: "),
            (("--series", "x.csv", "--series-links", "0"), "series, links: give 1 to 1024, or names"),
            (("--series", "x.csv", "--series-every", "0 us"), "give a time above 0, such as \"10 us\""),
            (("--series", "x.csv", "--transport", "rc", "--series-hosts", "h0"), "and RC has none; leave the hosts out"),
            (("--series-hosts", "h0"), "give --series FILE.csv too"),
            (("--series", "x.csv", "--seeds", "3"), "--series is of one run, and --seeds makes many"),
            (("--series", self.folder), "is a directory; give a file name"),
        ):
            done = mrc("run", self.small, *options, cwd=self.folder)
            self.assertEqual(done.returncode, 2, options)
            self.assertIn(message, done.stderr)
            self.assertEqual(done.stdout, "")

    def test_a_seed_draws_the_faults_again(self):
        notes = {}
        for seed in range(8):
            result = json.loads(mrc("run", self.small, "--seed", seed, "--json", "-").stdout)
            self.assertEqual(result["seed"], seed)
            notes[seed] = result["faults"][0]
        self.assertGreater(len({str(note) for note in notes.values()}), 1)
        without = self.write("without.toml", SMALL.replace("seed = 5\n", ""))
        result = json.loads(mrc("run", without, "--seed", 3, "--json", "-").stdout)
        self.assertEqual((result["seed"], result["faults"][0]), (3, notes[3]))

    def test_report_is_a_page_with_the_scenario_in_it(self):
        page = self.folder / "out.html"
        self.assertEqual(mrc("run", self.small, "--report", page).returncode, 0)
        text = page.read_text()
        self.assertTrue(text.startswith("<!DOCTYPE html>"))
        self.assertIn("What to see.", text)
        self.assertIn("bytes = &quot;64 KiB&quot;", text)

    def test_baseline_runs_with_rc_over_one_plane_as_fast_as_all(self):
        out = self.folder / "out.json"
        page = self.folder / "out.html"
        done = mrc("run", self.small, "--baseline", "--json", out, "--report", page)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"\n +MRC +RC +RC / MRC\n")
        self.assertIn("one plane of 200 Gb/s instead of 2 of 100 Gb/s",
                      done.stdout.replace("\n", " "))
        self.assertIn("one plane of 200 Gb/s", page.read_text())
        baseline = json.loads((self.folder / "out.rc.json").read_text())
        self.assertEqual((baseline["transport"], baseline["planes"]), ("rc", 1))
        self.assertEqual(json.loads(out.read_text())["transport"], "mrc")
        alone = json.loads(mrc("run", self.small, "--transport", "rc", "--json", "-").stdout)
        for result in (alone, baseline):
            del result["origin"]
        self.assertEqual(alone, baseline)

    def test_what_did_not_finish_is_named(self):
        limited = self.write("limited.toml", 'time_limit = "3 us"\n' + SMALL)
        done = mrc("run", limited, "-q")
        self.assertEqual(done.returncode, 1)
        self.assertIn("mrc sim: the workload did not finish: the time limit was reached after", done.stderr)
        self.assertRegex(done.stderr, r"0 of 4 hosts were done; 4 of 4 flows .* were not:\n"
                                      r"(  h\d > h\d    64 KiB, started at 0 s: still open\n){4}$")
        self.assertIn("NOT FINISHED", done.stdout)

    def test_a_fault_that_is_never_reached_is_not_claimed(self):
        late = self.write("late.toml", SMALL.replace('at = "1 us"', 'at = "1 s"'))
        done = mrc("run", late, "-q")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"the\s+fault\s+at\s+1\s+s\s+\(.*\)\s+was\s+never\s+reached\.")
        self.assertNotIn("there was a fault", done.stdout)

    def test_an_interrupt_prints_what_there_is(self):
        out = self.folder / "out.json"
        process = self.start("run", self.endless(), "--json", out, stderr=subprocess.PIPE)
        with self.assertRaises(subprocess.TimeoutExpired):
            process.wait(timeout=1)
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 1, stderr)
        self.assertIn("it was interrupted after", stderr)
        self.assertIn("NOT FINISHED", stdout)
        self.assertIn("packet accounting", stdout)
        self.assertFalse(json.loads(out.read_text())["finished"])

    def test_a_terminal_sees_one_line_rewritten(self):
        leader, follower = pty.openpty()
        self.addCleanup(os.close, leader)
        process = self.start("run", self.endless(), stderr=follower)
        os.close(follower)
        seen = b""
        while seen.count(b"hops/s") < 3:
            seen += os.read(leader, 4096)
        process.send_signal(signal.SIGINT)
        process.wait(timeout=60)
        lines = seen.split(b"\r")
        self.assertTrue(lines[1].startswith(b"endless (mrc): setting up\x1b[K"), seen)
        self.assertRegex(lines[2], rb"^endless \(mrc\): [\d.]+ .s simulated, [\d.,]+( million)? hops/s, "
                                   rb"0 of 4 hosts done")
        self.assertNotIn(b"\n", b"".join(lines[1:4]))


class RunAgain(ProgramTest):
    def ran(self, *arguments):
        done = mrc("run", *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def test_a_result_can_be_run_again_from_itself_with_the_same_bits(self):
        self.write("traffic.cm", "Nodes 4\nConnections 1\n0->3 id 1 start 0 size 500000\n")
        htsim = self.write("htsim.toml", SMALL.replace('kind = "permutation"\nbytes = "64 KiB"',
                                                       'kind = "htsim"\nfile = "traffic.cm"'))
        for scenario, options in ((self.small, ["--set", "fabric.planes=4", "--seed", 9]),
                                  (self.small, ["--transport", "rc"]), (htsim, [])):
            first, second = self.folder / "1.json", self.folder / "2.json"
            self.ran(scenario, *options, "--json", first)
            for source in ("small.toml", "traffic.cm"):
                (self.folder / source).rename(self.folder / "away")
                again = self.ran(first, "--json", second)
                (self.folder / "away").rename(self.folder / source)
            self.assertEqual(first.read_bytes(), second.read_bytes())
            self.assertIn(f"the same result as in {first}, to the last digit", again.stderr)

    def test_a_baseline_can_be_run_again_from_itself(self):
        self.ran(self.small, "--baseline", "--json", self.folder / "out.json")
        self.ran(self.folder / "out.rc.json", "--json", self.folder / "again.json")
        self.assertEqual((self.folder / "out.rc.json").read_bytes(),
                         (self.folder / "again.json").read_bytes())

    def test_a_result_says_where_it_comes_from(self):
        origin = json.loads(self.ran(self.small, "--seed", 3, "--set", "fault=[]", "--json", "-").stdout)["origin"]
        self.assertEqual(origin["command"], "mrc sim run small.toml --set fault=[] --seed 3")
        self.assertRegex(origin["program"], r"^mrc \d+\.\d+")
        self.assertEqual(origin["inputs"]["scenario"], SMALL)
        text = json.dumps(origin["inputs"], separators=(",", ":"), ensure_ascii=False)
        self.assertEqual(origin["sha256"], hashlib.sha256(text.encode()).hexdigest())

    def test_a_result_can_be_run_again_with_changes(self):
        out = self.folder / "out.json"
        self.ran(self.small, "--set", "fabric.planes=4", "--json", out)
        changed = self.ran(out, "--set", "fabric.uplinks=4", "--set", "seed=8", "--json", "-")
        self.assertNotIn("to the last digit", changed.stderr)
        result = json.loads(changed.stdout)
        self.assertEqual((result["planes"], result["seed"]), (4, 8))
        self.assertEqual(result["origin"]["inputs"]["settings"],
                         ["fabric.planes=4", "fabric.uplinks=4", "seed=8"])

    def test_a_result_that_cannot_be_run_again_is_refused(self):
        out = self.folder / "out.json"
        self.ran(self.small, "--json", out)
        text = out.read_text()
        for wrong, message in (
            ("{", "this is not JSON"),
            ("{}", 'it has no "origin"; give the scenario that it is of'),
            (text.replace("64 KiB", "65 KiB"), "the file was changed"),
        ):
            out.write_text(wrong)
            done = mrc("run", out)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn(f"mrc sim: '{out}' cannot be run again: ", done.stderr)
            self.assertIn(message, done.stderr)

    def test_a_result_that_comes_out_otherwise_is_told(self):
        out = self.folder / "out.json"
        self.ran(self.small, "--json", out)
        out.write_text(out.read_text().replace('"retransmissions": 0', '"retransmissions": 1')
                       .replace('"spurious_retransmits":0', '"spurious_retransmits":77'))
        done = mrc("run", out, "-q")
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"this is not the result in '{out}', which mrc ", done.stderr)


class RunErrors(ProgramTest):
    def refused(self, *arguments):
        done = mrc("run", *arguments)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(done.stdout, "")
        return done.stderr

    def test_an_error_in_a_scenario_has_file_and_line(self):
        wrong = self.write("wrong.toml", SMALL.replace("planes = 2", "plaines = 2"))
        for more in ([], ["--seed", "7"]):
            self.assertIn(f"mrc sim: {wrong}:5: ", self.refused(wrong, *more))

    def test_a_scenario_that_is_not_there(self):
        error = self.refused("/nowhere.toml")
        self.assertIn("cannot read '/nowhere.toml': No such file or directory", error)
        self.assertIn("mrc sim list", error)
        self.assertIn("is a folder", self.refused(self.folder))

    def test_traffic_files_are_looked_for_beside_the_scenario(self):
        text = SMALL.replace('kind = "permutation"\nbytes = "64 KiB"',
                             'kind = "htsim"\nfile = "traffic.cm"')
        path = self.write("htsim.toml", text)
        self.assertIn(str(self.folder / "traffic.cm"), self.refused(path))
        self.write("traffic.cm", "Nodes 4\nConnections 1\n0->3 id 1 start 0 size 5000\n")
        done = mrc("run", path, "--json", "-")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)["totals"]["message_bytes_completed"], 5000)

    def test_files_that_cannot_be_written_are_refused_before_the_run(self):
        for option in ("--json", "--report"):
            error = self.refused(self.endless(), option, self.folder / "no/out")
            self.assertIn(f"create the folder '{self.folder}/no' first", error)
            self.assertIn("is a directory", self.refused(self.endless(), option, self.folder))

    def test_options_that_do_not_go_together(self):
        self.assertIn("leave one", self.refused(self.small, "--baseline", "--transport", "rc"))
        self.assertIn("two results", self.refused(self.small, "--baseline", "--json", "-"))
        rc = self.write("rc.toml", SMALL + '[transport]\nkind = "rc"\n')
        self.assertIn("is one already", self.refused(rc, "--baseline"))

    def test_wrong_use_exits_with_2(self):
        for arguments in (["run"], ["run", self.small, "--threads", 0],
                          ["run", self.small, "--transport", "tcp"],
                          ["run", self.small, "--seed", "-1"], ["walk"], []):
            self.assertEqual(mrc(*arguments).returncode, 2, arguments)


class Compare(ProgramTest):
    def test_two_results_side_by_side(self):
        for seed in (1, 2):
            mrc("run", self.small, "--seed", seed, "--json", self.folder / f"{seed}.json")
        done = mrc("compare", "1.json", "2.json", cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(done.stdout.startswith("first   1.json  small, mrc, 4 hosts, seed 1\n"
                                               "second  2.json  small, mrc, 4 hosts, seed 2\n\n"))
        self.assertRegex(done.stdout, r"\n +seed 1 +seed 2 +seed 2 / seed 1\n")
        figures = json.loads(mrc("compare", "--json", "1.json", "2.json", cwd=self.folder).stdout)
        self.assertEqual(figures["figures"]["flows_done"], {"first": 4, "second": 4, "ratio": 1.0})

    def test_what_is_no_result_is_refused_by_name(self):
        done = mrc("compare", self.small, self.small)
        self.assertEqual(done.returncode, 2)
        self.assertIn(f"mrc sim: '{self.small}' is not a result of 'mrc sim run --json': ", done.stderr)
        self.assertIn("cannot read '/nowhere'", mrc("compare", "/nowhere", "/nowhere").stderr)


class List(ProgramTest):
    def test_scenarios_of_a_folder_with_their_titles(self):
        self.write("a-longer-name.toml", SMALL.replace("Small", "Second").replace("= 2", "= 16", 2))
        self.write("notes.txt", "no scenario")
        done = mrc("list", self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout, f"{self.folder}/a-longer-name.toml  32 hosts  Second\n"
                                      f"{self.folder}/small.toml           4 hosts  Small\n")

    def test_a_broken_scenario_is_named_and_the_others_are_listed(self):
        broken = self.write("broken.toml", "seed = 'five'\n")
        done = mrc("list", self.folder)
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"{broken}:1: ", done.stderr)
        self.assertIn("small.toml", done.stdout)

    def test_without_a_folder_lists_those_that_come_along(self):
        done = mrc("list", cwd=ROOT)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("examples/scenarios/first-run.toml", done.stdout)
        self.assertEqual(mrc("list", "/nowhere").returncode, 2)


class FirstRun(ProgramTest):
    def test_the_first_run_shows_what_its_text_says(self):
        result = json.loads(mrc("run", FIRST_RUN, "--json", "-").stdout)
        self.assertTrue(result["finished"])
        self.assertEqual(len(result["flows"]), 64)
        self.assertGreater(result["totals"]["retransmissions"], 0)
        start, end = (result["flows_columns"].index(name) for name in ("start_ps", "end_ps"))
        times = sorted(flow[end] - flow[start] for flow in result["flows"])
        self.assertLess(times[-1], 1.2 * times[len(times) // 2])

        width = result["bucket_width_ps"]

        def payload(plane, from_us, to_us):
            buckets = result["buckets"][from_us * 10**6 // width:to_us * 10**6 // width]
            return sum(bucket["payload_bytes"][plane] for bucket in buckets)

        for plane in range(8):
            left = payload(plane, 120, 180) / payload(plane, 40, 100)
            low, high = (0.8, 0.95) if plane == 3 else (0.95, 1.05)
            self.assertTrue(low < left < high, f"plane {plane}: {left}")


if __name__ == "__main__":
    unittest.main()
