# SPDX-License-Identifier: BSD-3-Clause
"""Simulated MRC fabrics.

    import openmrc.sim as sim
    scenario = sim.load("first-run.toml")
    run = scenario.run(set={"transport.evs": 64}, series="10 us", series_links=8)
    run.series.query("kind == 'fabric'").plot(x="time_ns", y="goodput_bps")

The same simulator as `mrc sim run`, with the same results to the last bit. Frames need pandas.
"""
from openmrc.sim.result import Result
from openmrc.sim.scenario import Scenario, figures, load

__all__ = ["Result", "Scenario", "figures", "load"]
