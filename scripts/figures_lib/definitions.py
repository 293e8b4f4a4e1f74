# SPDX-License-Identifier: BSD-3-Clause
"""Reads docs/figures/*.toml: which experiments there are, what is measured in them and where it is shown."""

import math
import re
import tomllib
from dataclasses import dataclass, field, fields


class DefinitionError(Exception):
    """Something is wrong with a definition; the text names the file and the experiment."""


@dataclass
class Figure:
    """One number of an experiment."""
    id: str
    what: str                     # what is measured, for people
    measure: str                  # expression over a result; measures.py has its words
    pinned: list                  # [low, high]: the tests fail when the figure leaves it
    unit: str = ""
    digits: int = 0
    average: str = "median"       # of the seeds, or "mean"
    exact: bool = True            # the same on every machine; false for speed and memory
    published: str = ""           # as published, in words
    reference: float | None = None  # a number to give the distance to
    # Where the published statement holds here: [low, high], or "> EXPERIMENT.FIGURE"; [] if there is none.
    agrees: list | str | None = None
    goal: str = ""                # such as ">= 383"
    htsim: float | None = None    # htsim's figure with hashed EVs, and with exact ones
    htsim_exact: float | None = None  # nan: was not run, whatever `like` has
    note: str = ""                # footnote


@dataclass
class Experiment:
    """A scenario with settings, run with several seeds."""
    id: str
    title: str
    scenario: str                 # examples/scenarios/NAME.toml
    table: str                    # that it is shown in
    setup: str = ""               # the set-up here, for people
    set: list = field(default_factory=list)          # KEY=VALUE for mrc sim run --set
    undisturbed: list | None = None  # further settings of a second run, to compare with
    seeds: int | list = 3         # how many, from 1 on, or which ones
    large: bool = False           # minutes and gigabytes; on all processors
    figure: list = field(default_factory=list)

    def seed_list(self):
        return self.seeds if isinstance(self.seeds, list) else list(range(1, self.seeds + 1))

    def is_timed(self):
        """Speed is measured, so nothing else may run at the same time."""
        return not all(figure.exact for figure in self.figure)

    def path(self, root):
        return root / "examples/scenarios" / f"{self.scenario}.toml"


@dataclass
class Output:
    """What a program prints, as a document shows it."""
    id: str
    document: str
    program: str                  # in the build folder: "tools/mrc"
    arguments: list
    shown: str                    # the command as the document has it
    keep: list                    # regular expressions of the lines that are shown; others become "..."
    cost: int = 1                 # about as long as so many million hops
    replace: dict = field(default_factory=dict)  # what differs from run to run, and what stands for it


@dataclass
class Bench:
    """A number that the target bench_report prints."""
    id: str
    what: str
    pattern: str                  # regular expression; its group is the number
    pinned: list
    unit: str = ""
    digits: int = 0
    goal: str = ""                # in words


@dataclass
class Table:
    """A block of a document: between `figures:begin ID` and `figures:end`."""
    id: str
    document: str
    columns: str                  # a kind of tables.py


@dataclass
class Definitions:
    tables: dict
    experiments: dict
    outputs: dict
    benches: dict

    def of_table(self, table):
        return [e for e in self.experiments.values() if e.table == table]

    def figure(self, experiment, figure):
        """None if there is none."""
        figures = self.experiments[experiment].figure if experiment in self.experiments else []
        return next((f for f in figures if f.id == figure), None)

    def goals(self):
        return [(e, f) for e in self.experiments.values() for f in e.figure if f.goal]


GOAL = re.compile(r"(>=|<=) (-?[\d.]+)")
COMPARED = re.compile(r"([<>]) ([\w-]+)\.([\w-]+)")


def make(kind, values, where):
    known = {f.name for f in fields(kind)}
    if unknown := set(values) - known:
        raise DefinitionError(f"{where}: unknown key '{min(unknown)}'")
    try:
        return kind(**values)
    except TypeError as error:
        raise DefinitionError(f"{where}: {error}") from None


def make_figure(values, where):
    figure = make(Figure, values, where)
    figure.agrees = figure.agrees or None
    if figure.htsim_exact is not None and math.isnan(figure.htsim_exact):
        figure.htsim_exact = None
    for name, limits in (("pinned", figure.pinned), ("agrees", figure.agrees)):
        if isinstance(limits, list) and not (len(limits) == 2 and limits[0] <= limits[1]):
            raise DefinitionError(f"{where}: {name} is not [low, high]")
    if figure.goal and not GOAL.fullmatch(figure.goal):
        raise DefinitionError(f"{where}: goal is not like '>= 383'")
    try:
        compile(figure.measure, where, "eval")
    except SyntaxError as error:
        raise DefinitionError(f"{where}: measure: {error.msg}") from None
    return figure


def inherited(values, earlier, where):
    """The values of an experiment that is `like` an earlier one; so are its figures, by id."""
    if "like" not in values:
        return values
    if values["like"] not in earlier:
        raise DefinitionError(f"{where}: there is no '{values['like']}' before it")
    model = earlier[values["like"]]
    figures = {figure["id"]: figure for figure in model["figure"]}
    own = [{**figures.get(figure.get("id"), {}), **figure} for figure in values.get("figure", model["figure"])]
    return {**model, **{k: v for k, v in values.items() if k != "like"}, "figure": own}


def make_experiment(values, where):
    experiment = make(Experiment, values, where)
    if not experiment.figure:
        raise DefinitionError(f"{where}: has no figure")
    experiment.figure = [make_figure(f, f"{where}.{f.get('id')}") for f in experiment.figure]
    return experiment


def add(items, item, where):
    if item.id in items:
        raise DefinitionError(f"{where}: there are two '{item.id}'")
    items[item.id] = item


def load(root):
    """All definitions, in the order of the files and in them."""
    found, raw = Definitions({}, {}, {}, {}), {}
    for path in sorted((root / "docs/figures").glob("*.toml")):
        file = tomllib.loads(path.read_text(encoding="utf-8"))
        where = path.name
        for values in file.pop("table", ()):
            add(found.tables, make(Table, values, where), where)
        for values in file.pop("experiment", ()):
            inside = f"{where}: {values.get('id')}"
            raw[values.get("id")] = inherited(values, raw, inside)
            add(found.experiments, make_experiment(raw[values.get("id")], inside), where)
        for values in file.pop("output", ()):
            add(found.outputs, make(Output, values, where), where)
        for values in file.pop("bench", ()):
            add(found.benches, make(Bench, values, where), where)
        if file:
            raise DefinitionError(f"{where}: unknown key '{min(file)}'")
    check(found, root)
    return found


def check(found, root):
    for experiment in found.experiments.values():
        if experiment.table not in found.tables:
            raise DefinitionError(f"{experiment.id}: there is no table '{experiment.table}'")
        if not experiment.path(root).is_file():
            raise DefinitionError(f"{experiment.id}: there is no scenario '{experiment.scenario}'")
        for figure in experiment.figure:
            if isinstance(figure.agrees, str):
                compared = COMPARED.fullmatch(figure.agrees)
                if not (compared and found.figure(compared[2], compared[3])):
                    raise DefinitionError(f"{experiment.id}.{figure.id}: agrees is not like '> EXPERIMENT.FIGURE'")
