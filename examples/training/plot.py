#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws what run.py has written: step times with each fault, and the loss. Needs matplotlib.

    examples/training/plot.py training-results training.svg
"""
import csv
import json
import sys
from pathlib import Path

import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt  # pylint: disable=wrong-import-position

COLORS = {"openmrc": "#0b6e4f", "tcp": "#c1440e", "mptcp": "#5b6abf"}
NAMES = {"openmrc": "MRC", "tcp": "TCP", "mptcp": "MPTCP"}
FAULTS = {"none": "no fault", "plane": "a plane is cut", "flap": "a link flaps",
          "switch": "a T0 dies", "silent-switch": "a T1 drops all, silently"}


def read(folder, run):
    path = folder / f"{run['transport']}-{run['fault']}-{run['run']}.csv"
    with open(path, encoding="utf-8") as file:
        return [(float(when), float(took), float(loss)) for _, when, took, loss in csv.reader(file)]


def draw_steps(axes, folder, runs, fault):
    shaded = False
    for run in runs:
        rows = read(folder, run)
        # Time 0 is the fault; without one, the first step.
        zero = run.get("fault_begin", rows[0][0])
        axes.step([when - zero for when, _, _ in rows], [1000 * took for _, took, _ in rows],
                  where="pre", color=COLORS[run["transport"]], linewidth=1, alpha=0.8,
                  label=NAMES[run["transport"]] if run["run"] == 0 else None)
        if "fault_begin" in run and not shaded:
            axes.axvspan(0, run["fault_end"] - zero, color="#00000014", linewidth=0)
            shaded = True
    axes.set_title(FAULTS[fault], fontsize=10, loc="left")
    axes.set_yscale("log")
    axes.set_ylim(20, 20_000)
    axes.set_xlabel("seconds since the fault" if shaded else "seconds", fontsize=8)
    axes.set_ylabel("step, ms", fontsize=8)


def draw_loss(axes, folder, runs):
    """Those over MRC, one upon the other if they are equal."""
    ours = [run for run in runs if run["transport"] == "openmrc"]
    for index, run in enumerate(run for run in ours if run["run"] == 0):
        axes.plot([loss for _, _, loss in read(folder, run)], label=FAULTS[run["fault"]],
                  linewidth=6 - 1.3 * index, alpha=0.7)
    equal = len({run["loss"] for run in ours}) == 1
    axes.set_title("loss over MRC" + (": equal to the last bit" if equal else ""), fontsize=10,
                   loc="left")
    axes.set_xlabel("step", fontsize=8)
    axes.legend(fontsize=7, frameon=False)


def main():
    folder, output = Path(sys.argv[1]), sys.argv[2]
    runs = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    faults = list(dict.fromkeys(run["fault"] for run in runs))
    figure, grid = plt.subplots(len(faults) + 1, 1, figsize=(8, 2.1 * (len(faults) + 1)))
    for axes, fault in zip(grid, faults):
        draw_steps(axes, folder, [run for run in runs if run["fault"] == fault], fault)
    grid[0].legend(fontsize=8, frameon=False, ncol=3, loc="upper right")
    draw_loss(grid[-1], folder, runs)
    for axes in grid:
        axes.tick_params(labelsize=8)
        axes.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    matplotlib.rcParams["svg.hashsalt"] = "openmrc"  # the same picture for the same figures
    figure.savefig(output, metadata={"Date": None} if output.endswith(".svg") else None, dpi=110)


if __name__ == "__main__":
    main()
