#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws failures of docs/reproductions.md over time, from the scenarios themselves.

    published_figures.py SCENARIOS OUT.svg     SCENARIOS is examples/scenarios, or where it was installed
"""
import pathlib
import sys

import matplotlib
from matplotlib import pyplot

from openmrc import sim

# Scenario, what is above the plot, and what is drawn: a column of the series and how to count it.
FIGURES = (
    ("nic-links-down-one-by-one", "fig 9a: NIC links down one by one", "goodput_bps", 1e9, "Gb/s"),
    ("nic-links-half-down", "fig 9b: half of the NIC links down", "goodput_bps", 1e9, "Gb/s"),
    ("t1-dies-and-returns", "fig 11: a T1 dies and returns", "evs_assumed_bad", 1, "EVs disabled"),
    ("lossy-path-with-backups", "fig 12: a path drops 20 %", "retransmits", 1, "packets retransmitted"),
)


def draw(axes, scenario, title, column, unit, label):
    run = scenario.run(series="10 us")
    fabric = run.series.query("kind == 'fabric'")
    axes.plot(fabric["time_ns"] / 1000, fabric[column] / unit)
    for fault in run.data["faults"]:
        axes.axvline(fault["from_ps"] / 1e6, color="tab:red", linewidth=0.5)
    axes.set(title=title, xlabel="us", ylabel=label, ylim=(0, None))


def main():
    scenarios, out = pathlib.Path(sys.argv[1]), sys.argv[2]
    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "openmrc"  # the same file each time
    figure, plots = pyplot.subplots(2, 2, figsize=(11, 7), layout="constrained")
    for axes, (name, title, column, unit, label) in zip(plots.flat, FIGURES):
        draw(axes, sim.load(scenarios / f"{name}.toml"), title, column, unit, label)
    figure.savefig(out, metadata={"Date": None})


main()
