#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""openmrc.sim as programs use it.
  sim_test.py --python-path FOLDER [--mrc PROGRAM]
Without --mrc nothing is compared with `mrc sim run`. What needs pandas or matplotlib is skipped without them."""
import argparse
import importlib.util
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCENARIOS = ROOT / "examples/scenarios"
HAS_PANDAS = importlib.util.find_spec("pandas") is not None
HAS_MATPLOTLIB = importlib.util.find_spec("matplotlib") is not None

SMALL = {
    "seed": 5,
    "fabric": {"planes": 2, "racks": 2, "hosts_per_rack": 2, "uplinks": 2},
    "workload": {"kind": "permutation", "bytes": "64 KiB"},
    "fault": [{"kind": "cut", "random": 1, "of": "uplinks", "at": "1 us"}],
}
ENDLESS = {**SMALL, "workload": {"kind": "permutation", "bytes": "64 MiB", "messages": 10000}}

# Filled in by main: the module is found by its path.
sim = None  # pylint: disable=invalid-name
OPTIONS = argparse.Namespace(python_path=None, mrc=None)


def without_origin(text):
    return [line for line in text.splitlines() if not line.startswith('"origin"')]


class Scenarios(unittest.TestCase):
    def test_a_dict_and_its_text_are_the_same_scenario(self):
        scenario = sim.Scenario(SMALL)
        again = sim.Scenario(scenario.text)
        self.assertEqual(scenario.run().text, again.run().text)

    def test_all_that_is_wrong_is_said(self):
        wrong = {**SMALL, "fabric": {**SMALL["fabric"], "plains": 4}, "sede": 1}
        with self.assertRaises(ValueError) as raised:
            sim.Scenario(wrong, name="mine").run()
        self.assertIn("unknown key 'plains': did you mean 'planes'?", str(raised.exception))
        self.assertIn("unknown key 'sede': did you mean 'seed'?", str(raised.exception))
        self.assertIn("mine", str(raised.exception))

    def test_text_with_quotes_and_other_letters_stays_as_it_is(self):
        title = 'a "title" \\ with ünusual\nletters\t\x7f'
        self.assertEqual(sim.Scenario({**SMALL, "title": title}).run().data["title"], title)

    def test_what_toml_does_not_have_is_refused(self):
        with self.assertRaisesRegex(TypeError, "None is none of them"):
            sim.Scenario({"seed": None})

    def test_files_that_a_scenario_names_are_found_beside_it(self):
        scenario = sim.Scenario({**SMALL, "workload": {"kind": "htsim", "file": "traffic.cm"}})
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "traffic.cm").write_text("Nodes 4\nConnections 1\n0->3 id 1 start 0 size 9000\n")
            scenario.folder = pathlib.Path(folder)
            run = scenario.run()
        self.assertEqual([flow[:2] for flow in run.data["flows"]], [[0, 3]])
        self.assertIn("traffic.cm", json.loads(origin_of(run.text))["inputs"]["files"])
        with self.assertRaises(FileNotFoundError):  # it is gone
            scenario.run()


def origin_of(text):
    line = next(line for line in text.splitlines() if line.startswith('"origin"'))
    return line.removeprefix('"origin": ').rstrip(",")


class Runs(unittest.TestCase):
    def test_the_result_is_that_of_the_program(self):
        if OPTIONS.mrc is None:
            self.skipTest("no --mrc")
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "run.csv"
            done = subprocess.run(
                [OPTIONS.mrc, "sim", "run", SCENARIOS / "many-faults.toml", "-q", "--json", "-", "--seed", "3",
                 "--set", "transport.evs=32", "--series", out, "--series-hosts", "h0", "--series-links", "4"],
                capture_output=True, text=True, timeout=100, check=True)
            csv = out.read_text()
        run = sim.load(SCENARIOS / "many-faults.toml").run(
            seed=3, set={"transport.evs": 32}, series="10 us", series_hosts=["h0"], series_links=4)
        self.assertEqual(without_origin(run.text), without_origin(done.stdout))
        self.assertEqual(run.series_csv, csv)

    def test_the_program_runs_it_again_from_its_file(self):
        if OPTIONS.mrc is None:
            self.skipTest("no --mrc")
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "run.json"
            sim.Scenario(SMALL).run(set={"fault.0.at": "2 us"}, seed=9).save(file)
            done = subprocess.run([OPTIONS.mrc, "sim", "run", file], capture_output=True, text=True,
                                  timeout=100, check=False)
        self.assertIn("the same result as in", done.stderr)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_settings_seed_and_figures(self):
        run = sim.Scenario(SMALL).run(set={"fabric.planes": 4, "fault": []}, seed=8)
        self.assertTrue(run.finished)
        self.assertEqual((run.data["planes"], run.data["faults"], run.data["seed"]), (4, [], 8))
        self.assertGreater(run.figures["goodput_bps"], 0)
        self.assertEqual(run.figures["packets_lost"], 0)
        self.assertIn("seed 8, finished after", repr(run))

    def test_a_series_only_if_asked_for(self):
        self.assertIsNone(sim.Scenario(SMALL).run().series_csv)
        with self.assertRaisesRegex(ValueError, "give series='10 us' too"):
            sim.Scenario(SMALL).run(series_links=3)
        with self.assertRaisesRegex(ValueError, "series, hosts: "):
            sim.Scenario(SMALL).run(series="1 us", series_hosts=["h99"])

    def test_other_threads_of_python_run_meanwhile(self):
        turns = 0
        asked = 0

        def goes_on():
            nonlocal asked
            asked += 1
            return asked < 4

        with sim_in_thread(lambda: sim.Scenario(ENDLESS).run(goes_on=goes_on)) as run:
            while run["thread"].is_alive():
                turns += 1
                time.sleep(0.01)
        self.assertFalse(run["result"].finished)
        self.assertEqual(asked, 4)
        self.assertGreater(turns, 5)

    def test_an_exception_of_who_is_asked_ends_the_run(self):
        def goes_on():
            raise RuntimeError("enough")

        with self.assertRaisesRegex(RuntimeError, "enough"):
            sim.Scenario(ENDLESS).run(goes_on=goes_on)

    def test_ctrl_c_ends_a_run_and_a_sweep(self):
        for call in ("run()", "sweep(range(4), jobs=2)"):
            program = (f"from openmrc import sim\ntry:\n    print('begin', flush=True)\n"
                       f"    sim.Scenario({ENDLESS!r}).{call}\n"
                       f"except KeyboardInterrupt:\n    print('interrupted')\n")
            process = subprocess.Popen([sys.executable, "-c", program], text=True, stdout=subprocess.PIPE,
                                       env={**os.environ, "PYTHONPATH": OPTIONS.python_path})
            self.addCleanup(process.stdout.close)
            self.addCleanup(process.kill)
            self.assertEqual(process.stdout.readline(), "begin\n")
            time.sleep(0.3)
            process.send_signal(signal.SIGINT)
            self.assertEqual(process.communicate(timeout=60)[0], "interrupted\n", call)

    def test_a_sweep_gives_each_run_in_order(self):
        sweep = sim.Scenario(SMALL).sweep(seeds=(1, 2), settings=({"fabric.planes": 2}, {"fabric.planes": 4}), jobs=2)
        self.assertEqual([chosen for chosen, _ in sweep],
                         [{"fabric.planes": planes, "seed": seed} for planes in (2, 4) for seed in (1, 2)])
        alone = sim.Scenario(SMALL).run(set={"fabric.planes": 4}, seed=2)
        self.assertEqual(sweep[3][1].text, alone.text, "several in one process do not disturb each other")


class sim_in_thread:  # pylint: disable=invalid-name
    """Runs something in a thread of its own, and ends with it."""

    def __init__(self, work):
        self.run = {"result": None}
        self.run["thread"] = threading.Thread(target=lambda: self.run.update(result=work()))

    def __enter__(self):
        self.run["thread"].start()
        return self.run

    def __exit__(self, *_):
        self.run["thread"].join()


class Frames(unittest.TestCase):
    def test_without_pandas_it_says_how_to_get_it(self):
        program = (f"import sys\nsys.modules['pandas'] = None\nfrom openmrc import sim\n"
                   f"run = sim.Scenario({SMALL!r}).run()\n"
                   f"try:\n    run.flows\nexcept ImportError as error:\n    print(error)\n")
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=100,
                              check=False, env={**os.environ, "PYTHONPATH": OPTIONS.python_path})
        self.assertIn("frames need pandas (Debian: apt install python3-pandas)", done.stdout, done.stderr)

    @unittest.skipUnless(HAS_PANDAS, "needs python3-pandas")
    def test_flows_buckets_and_series(self):
        run = sim.Scenario(SMALL).run(series="1 us", series_hosts=["h0"], series_links=4)
        self.assertEqual(len(run.flows), 4)
        self.assertTrue((run.flows["completion_us"] > 0).all())
        self.assertGreater(run.buckets["goodput_gbps_p0"].sum(), 0)
        fabric = run.series.query("kind == 'fabric'")
        seconds = fabric["time_ns"].diff().fillna(fabric["time_ns"].iloc[0]) / 1e9
        arrived = (fabric["goodput_bps"] * seconds).sum() / 8
        self.assertAlmostEqual(arrived, run.data["totals"]["payload_bytes_arrived"], delta=100)
        self.assertEqual(set(run.series["kind"]), {"fabric", "host", "connection", "link"})
        wide = run.series.query("kind == 'link'").pivot(index="time_ns", columns="name", values="utilisation")
        self.assertEqual(wide.shape[1], 4)
        self.assertLess(wide.max().max(), 1 + 4300 * 8 / 100_000, "of 100 Gb/s for 1 us, and one packet at most")
        self.assertGreater(wide.max().max(), 0.5)

    @unittest.skipUnless(HAS_PANDAS, "needs python3-pandas")
    def test_a_flow_that_did_not_end_has_no_completion_time(self):
        run = sim.Scenario(SMALL).run(set={"time_limit": "2 us"})
        self.assertTrue(run.flows["completion_us"].isna().all())

    @unittest.skipUnless(HAS_PANDAS, "needs python3-pandas")
    def test_figures_of_a_sweep(self):
        frame = sim.figures(sim.Scenario(SMALL).sweep(seeds=range(3)))
        self.assertEqual(list(frame["seed"]), [0, 1, 2])
        self.assertTrue((frame["goodput_bps"] > 0).all())


@unittest.skipUnless(HAS_PANDAS and HAS_MATPLOTLIB, "needs python3-pandas and python3-matplotlib")
class Examples(unittest.TestCase):
    def draw(self, script, scenarios):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "plot.svg"
            subprocess.run([sys.executable, ROOT / "examples/python" / script, scenarios, out], check=True, timeout=200,
                           env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path[1:])})
            return out.read_text()

    def test_ten_lines_from_a_scenario_to_a_plot(self):
        self.assertIn("<svg", self.draw("first_plot.py", SCENARIOS / "first-run.toml"))
        text = (ROOT / "examples/python/first_plot.py").read_text()
        lines = [line for line in text.split('"""')[2].splitlines() if line and "import" not in line]
        self.assertLessEqual(len(lines), 10)

    def test_figures_of_the_reproductions(self):
        drawn = self.draw("published_figures.py", SCENARIOS)
        self.assertEqual(drawn.count('<g id="axes_'), 4)


def main():
    global sim  # pylint: disable=global-statement
    parser = argparse.ArgumentParser()
    parser.add_argument("--python-path", required=True)
    parser.add_argument("--mrc")
    _, rest = parser.parse_known_args(namespace=OPTIONS)
    sys.path.insert(1, OPTIONS.python_path)
    OPTIONS.python_path = os.pathsep.join([OPTIONS.python_path, os.environ.get("PYTHONPATH", "")])
    from openmrc import sim as module  # pylint: disable=import-outside-toplevel
    sim = module
    unittest.main(argv=[sys.argv[0], *rest])


main()
