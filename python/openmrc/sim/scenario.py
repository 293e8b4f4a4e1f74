# SPDX-License-Identifier: BSD-3-Clause
"""Scenarios, and running them."""
import concurrent.futures
import os
import pathlib
import threading

from openmrc.sim import _sim, toml_text
from openmrc.sim.result import Result, frame


class Scenario:
    """A scenario: TOML text, or a dict with the same keys (docs/scenarios.md).

    Files that it names are looked for in 'folder'.
    """

    def __init__(self, content, name="scenario", folder="."):
        self.text = toml_text.document(content) if isinstance(content, dict) else str(content)
        self.name = name
        self.folder = pathlib.Path(folder)

    def run(self, *, set=None, seed=None, series=None, series_hosts=(), series_links=(),
            threads=0, goes_on=None):
        """Runs it and gives its Result.

        set           dict of settings in its place: {"transport.evs": 64, "fault.0.at": "10 us", "fault": []}
        seed          in place of the scenario's
        series        distance of the samples of a time series: "10 us"
        series_hosts  in it, with their connections: ["h0"]
        series_links  in it: ["p0.t0-1/up3"], or a number, of the busiest
        threads       0: as many as help. The result does not depend on it
        goes_on       is asked now and then; if it returns False, the run ends there

        A ValueError says all that is wrong with the scenario. Ctrl-C raises KeyboardInterrupt. Other
        threads of Python run meanwhile.
        """  # pylint: disable=redefined-builtin,too-many-arguments
        arguments = _sim.RunArguments()
        arguments.name = self.name
        arguments.text = self.text
        arguments.read_file = self._read_file
        arguments.settings = [f"{key}={toml_text.value(value)}" for key, value in (set or {}).items()]
        arguments.seed = seed
        arguments.threads = threads
        if series is not None:
            request = _sim.SeriesRequest()
            request.every = series
            request.hosts = ",".join(series_hosts)
            request.links = str(series_links) if isinstance(series_links, int) else ",".join(series_links)
            arguments.series = request
        elif series_hosts or series_links:
            raise ValueError("series_hosts and series_links say what is in a series; give series='10 us' too")
        return Result(*_sim.run(arguments, goes_on))

    def sweep(self, seeds, settings=({},), jobs=None):
        """Runs it with each of the settings (dicts as for run) and each seed, several at a time.

        Gives the pairs of what was set (with "seed") and the Result, in that order.
        """
        runs = [(dict(chosen), seed) for chosen in settings for seed in seeds]
        stop = threading.Event()
        with concurrent.futures.ThreadPoolExecutor(jobs or os.cpu_count()) as pool:
            try:
                started = [pool.submit(self.run, set=chosen, seed=seed, threads=1,
                                       goes_on=lambda: not stop.is_set()) for chosen, seed in runs]
                results = [run.result() for run in started]
            finally:
                stop.set()
                pool.shutdown(cancel_futures=True)
        return [({**chosen, "seed": seed}, result) for (chosen, seed), result in zip(runs, results)]

    def _read_file(self, name):
        return (self.folder / name).read_text(encoding="utf-8")


def load(path):
    """The scenario in a file."""
    path = pathlib.Path(path)
    return Scenario(path.read_text(encoding="utf-8"), path.stem, path.parent)


def figures(sweep):
    """The runs of a sweep as a frame: what was set, and the figures of each."""
    return frame([{**chosen, **result.figures} for chosen, result in sweep])
