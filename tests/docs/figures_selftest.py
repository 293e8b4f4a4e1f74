#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests scripts/figures on a small project with a program of its own: what is wrong is found, what is right is not.

  figures_selftest.py PYTHON SCRIPT
"""

import json
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

COMMAND = sys.argv[1:3]

# A result in which the one flow takes 100 us and a us more for each seed; without faults 10 us less.
MRC = """#!/usr/bin/env python3
import json, sys
words = sys.argv
seed = int(words[words.index("--seed") + 1])
us = (BASE if "fault=[]" not in words else BASE - 10) + seed
bucket = {"payload_bytes": [12500], "retransmissions": 1, "ev_changes": {"assumed_bad": 0}}
result = {"totals": {"switch_hops": 10, "nic_hops": 5}, "hosts": 2, "end_ps": us * 1000000, "finished": True,
          "bucket_width_ps": 1000000, "buckets": [bucket] * us, "steps": [],
          "flows_columns": ["from", "to", "bytes", "start_ps", "end_ps", "failed"],
          "flows": [[0, 1, 1000, 0, us * 1000000, False]]}
with open(words[words.index("--json") + 1], "w") as file:
    json.dump(result, file)
"""
DEFINITIONS = """
[[table]]
id = "all"
document = "page.md"
columns = "published"

[[experiment]]
id = "one"
title = "one flow"
scenario = "small"
table = "all"
undisturbed = ["fault=[]"]
[[experiment.figure]]
id = "time"
what = "completion"
measure = "completion(50)"
unit = "us"
published = "100 us"
reference = 100
agrees = [95, 103]
pinned = [101, 103]
[[experiment.figure]]
id = "lost"
what = "longer than without faults"
measure = "end - undisturbed.end"
pinned = [5, 15]

[[experiment]]
id = "two"
like = "one"
set = ["transport.evs=4"]
figure = [{ id = "time", agrees = "> one.lost", pinned = [0, 200] }]

[[output]]
id = "printed"
document = "page.md"
program = "tools/hello"
arguments = []
shown = "hello"
keep = ["world"]
replace = { "in [0-9]+ s" = "soon" }
"""
HELLO = "#!/bin/sh\necho first; echo second; echo hello world in $(date +%N) s\n"
PAGE = "".join(f"<!-- figures:begin {name} (x) -->\n<!-- figures:end -->\n" for name in ("all", "printed"))


def write_file(path, text, mode=0o644):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(mode)


def run_script(root, verb):
    builds = ["--build", str(root / "build")] if verb in ("run", "repeat") else []
    options = ["--skip-bench"] if verb == "run" else []
    return subprocess.run([*COMMAND, "--root", str(root), verb, *builds, *options], capture_output=True, text=True,
                          timeout=50, check=False)


class Figures(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.measured = Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        write_file(cls.measured / "docs/figures/some.toml", DEFINITIONS)
        write_file(cls.measured / "examples/scenarios/small.toml", "title = 'small'\n")
        write_file(cls.measured / "tests/golden/many-faults.sha256", "abc\n")
        write_file(cls.measured / "page.md", PAGE)
        write_file(cls.measured / "build/tools/mrc", MRC.replace("BASE", "100"), mode=0o755)
        write_file(cls.measured / "build/tools/hello", HELLO, mode=0o755)
        done = run_script(cls.measured, "run")
        assert done.returncode == 0, done.stdout + done.stderr

    def setUp(self):
        self.root = Path(self.enterContext(tempfile.TemporaryDirectory())) / "project"
        shutil.copytree(self.measured, self.root)

    def write(self, name, text, mode=0o644):
        write_file(self.root / name, text, mode)

    def change(self, name, before, after):
        text = (self.root / name).read_text(encoding="utf-8")
        self.assertIn(before, text)
        (self.root / name).write_text(text.replace(before, after), encoding="utf-8")

    def assert_passes(self, verb):
        done = run_script(self.root, verb)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def assert_found(self, verb, *messages):
        done = run_script(self.root, verb)
        self.assertEqual(done.returncode, 1, done.stdout)
        for message in messages:
            self.assertIn(message, done.stderr)

    def assert_found_while_changed(self, name, before, after, message):
        self.change(name, before, after)
        self.assert_found("check", message)
        self.change(name, after, before)

    def test_what_was_run_is_right(self):
        self.assert_passes("check")
        self.assert_passes("repeat")
        page = (self.root / "page.md").read_text(encoding="utf-8")
        self.assertIn("| completion | 100 us | 102 us (101 to 103) | +2.0 %, agrees |", page)
        self.assertIn("|  |  | longer than without faults | - | 10 | - |", page)
        self.assertIn("$ hello\n...\nhello world soon\n", page)

    def test_a_number_changed_by_hand_is_found(self):
        self.change("page.md", "102 us", "99 us")
        self.assert_found("check", "page.md: differs from the results")
        self.assert_passes("write")
        self.assert_passes("check")

    def test_results_older_than_the_protocol_are_found(self):
        self.write("tests/golden/many-faults.sha256", "def\n")
        self.assert_found("check", "one was measured before the protocol changed", "printed was measured before")

    def test_a_changed_scenario_setting_or_measure_is_found(self):
        for name, before, after in (
            ("examples/scenarios/small.toml", "small", "smaller"),
            ("docs/figures/some.toml", "transport.evs=4", "transport.evs=8"),
            ("docs/figures/some.toml", "completion(50)", "completion(99)"),
        ):
            self.assert_found_while_changed(name, before, after, "two has another scenario, setting or measure")

    def test_a_figure_outside_its_range_is_found(self):
        self.change("docs/figures/some.toml", "pinned = [101, 103]", "pinned = [90, 101]")
        self.assert_found("check", "one.time: 102 us is outside its pinned range [90, 101]")

    def test_a_statement_that_no_longer_holds_is_marked(self):
        self.change("docs/figures/some.toml", "agrees = [95, 103]", "agrees = [95, 101]")
        self.assert_passes("write")
        self.assertIn("+2.0 %, **differs** |", (self.root / "page.md").read_text(encoding="utf-8"))

    def test_a_program_that_behaves_differently_is_found(self):
        self.write("build/tools/mrc", MRC.replace("BASE", "101"), mode=0o755)
        self.write("build/tools/hello", HELLO.replace("hello", "good morning"), mode=0o755)
        self.assert_passes("check")
        self.assert_found("repeat", "one.time: 102.0 now, recorded 101.0", "tools/hello prints something else")

    def test_what_is_missing_or_unknown_is_found(self):
        self.change("page.md", "begin printed", "begin painted")
        self.assert_found("check", "the block 'painted' is not defined", "the block 'printed' is missing")
        results = json.loads((self.root / "docs/figures/results.json").read_text(encoding="utf-8"))
        results["experiments"]["three"] = results["experiments"].pop("two")
        self.write("docs/figures/results.json", json.dumps(results))
        self.assert_found("check", "two was never run", "results of 'three', which nothing defines")

    def test_a_wrong_definition_is_named(self):
        for before, after, message in (
            ('unit = "us"', 'units = "us"', "one.time: unknown key 'units'"),
            ('scenario = "small"', 'scenario = "none"', "there is no scenario 'none'"),
            ('like = "one"', 'like = "none"', "two: there is no 'none' before it"),
            ("pinned = [5, 15]", "pinned = [15, 5]", "one.lost: pinned is not [low, high]"),
            ("end - undisturbed.end", "end -", "one.lost: measure: "),
            ("> one.lost", "> one.none", "two.time: agrees is not like"),
        ):
            self.assert_found_while_changed("docs/figures/some.toml", before, after, message)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
