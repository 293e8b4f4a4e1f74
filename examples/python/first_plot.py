#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""From a scenario to a plot: goodput of a fabric while a switch dies, with as many EVs as in the scenario and with 8."""
import sys

import matplotlib

from openmrc import sim

matplotlib.use("svg")
scenario = sim.load(sys.argv[1])  # examples/scenarios/first-run.toml
runs = {f"{evs} EVs": scenario.run(set={"transport.evs": evs}, series="5 us") for evs in (64, 8)}
axes = None
for label, run in runs.items():
    fabric = run.series.query("kind == 'fabric'")
    axes = fabric.plot(x="time_ns", y="goodput_bps", label=label, ax=axes)
axes.figure.savefig(sys.argv[2])  # plot.svg
