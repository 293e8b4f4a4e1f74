# SPDX-License-Identifier: BSD-3-Clause
"""Results as blocks of Markdown, and the documents that have them."""

import re
from dataclasses import dataclass

from . import definitions, results

BLOCK = re.compile(r"(<!-- figures:begin (\S+) [^\n]*-->\n)(.*?)(<!-- figures:end -->)", re.DOTALL)


@dataclass
class Row:
    """A figure, what was measured of it, and all that it may be compared with."""
    experiment: object
    figure: object
    is_first: bool                # of its experiment
    defined: object
    found: dict

    @property
    def entry(self):
        return self.found["experiments"][self.experiment.id]

    @property
    def values(self):
        return self.entry["values"][self.figure.id]

    @property
    def here(self):
        return results.average(self.figure, self.values)


def number(figure, amount):
    # What is rounded to nothing has no sign.
    return f"{round(amount, figure.digits) + 0.0:,.{figure.digits}f}"


def unit(figure):
    return f" {figure.unit}" if figure.unit else ""


def value(figure, values):
    """384 Gb/s (381 to 385)."""
    lowest, highest = number(figure, min(values)), number(figure, max(values))
    spread = f" ({lowest} to {highest})" if lowest != highest else ""
    return number(figure, results.average(figure, values)) + unit(figure) + spread


def here(row):
    return value(row.figure, row.values) + (f" ({row.figure.note})" if row.figure.note else "")


def off(reference, measured):
    return "-" if reference is None else f"{(measured / reference - 1) * 100:+.1f} %"


def in_range(limits, measured):
    return limits[0] <= measured <= limits[1]


def agrees(row):
    """Whether the published statement holds: in a range, or above or below another figure."""
    if isinstance(row.figure.agrees, list):
        return in_range(row.figure.agrees, row.here)
    sign, experiment, figure = definitions.COMPARED.fullmatch(row.figure.agrees).groups()
    other = row.defined.figure(experiment, figure)
    there = results.average(other, row.found["experiments"][experiment]["values"][figure])
    return row.here > there if sign == ">" else row.here < there


def distance(row):
    parts = [] if row.figure.reference is None else [off(row.figure.reference, row.here)]
    if row.figure.agrees is not None:
        parts.append("agrees" if agrees(row) else "**differs**")
    return ", ".join(parts) or "-"


def goal(row):
    sign, bound = definitions.GOAL.fullmatch(row.figure.goal).groups()
    return f"{'at least' if sign == '>=' else 'at most'} {bound}{unit(row.figure)}"


def reached(row):
    sign, bound = definitions.GOAL.fullmatch(row.figure.goal).groups()
    is_reached = row.here >= float(bound) if sign == ">=" else row.here <= float(bound)
    return "reached" if is_reached else "**not yet**"


def identity(row):
    count = len(row.experiment.seed_list())
    return f"(`{row.experiment.id}`, {count} seed{'' if count == 1 else 's'})"


def setup(row):
    return f"{row.experiment.setup} {identity(row)}".strip()


def whole_setup(row):
    return "; ".join(filter(None, [row.experiment.title, row.experiment.setup])) + f" {identity(row)}"


def case(row):
    return f"{row.experiment.title} (`{row.experiment.id}`)"


def plain(amount):
    return "-" if amount is None else f"{amount:,}"


# Kind of table -> (heading, whether only the first row of an experiment has it, cell).
FIRST_ONLY, EVERY = True, False
COLUMNS = {
    "published": [
        ("published", FIRST_ONLY, lambda row: row.experiment.title),
        ("set-up here", FIRST_ONLY, setup),
        ("measured", EVERY, lambda row: row.figure.what),
        ("as published", EVERY, lambda row: row.figure.published or "-"),
        ("here", EVERY, here),
        ("distance", EVERY, distance),
    ],
    "own": [
        ("set-up", FIRST_ONLY, whole_setup),
        ("measured", EVERY, lambda row: row.figure.what),
        ("result", EVERY, here),
    ],
    "htsim": [
        ("case", FIRST_ONLY, case),
        ("flow completion time", EVERY, lambda row: row.figure.what),
        ("htsim", EVERY, lambda row: plain(row.figure.htsim)),
        ("htsim, exact EVs", EVERY, lambda row: plain(row.figure.htsim_exact)),
        ("OpenMRC", EVERY, here),
        ("off", EVERY, lambda row: off(row.figure.htsim, row.here)),
        ("off, exact EVs", EVERY, lambda row: off(row.figure.htsim_exact, row.here)),
    ],
    "speed": [
        ("case", FIRST_ONLY, case),
        ("measured", EVERY, lambda row: row.figure.what),
        ("htsim", EVERY, lambda row: plain(row.figure.htsim) + unit(row.figure)),
        ("OpenMRC", EVERY, here),
        ("OpenMRC / htsim", EVERY, lambda row: f"{row.here / row.figure.htsim:.2f}"),
    ],
    "goals": [
        ("experiment", FIRST_ONLY, lambda row: f"`{row.experiment.id}`"),
        ("measured", EVERY, lambda row: row.figure.what),
        ("goal", EVERY, goal),
        ("here", EVERY, lambda row: value(row.figure, row.values)),
        ("", EVERY, reached),
    ],
}


def rows_of(defined, found, table):
    if table.columns == "goals":
        pairs = defined.goals()
    else:
        pairs = [(e, f) for e in defined.of_table(table.id) for f in e.figure]
    before = None
    for experiment, figure in pairs:
        yield Row(experiment, figure, experiment is not before, defined, found)
        before = experiment


def measured_at(entries):
    commits = sorted({entry["commit"] for entry in entries})
    return f"Measured at commit {', '.join(commits)}."


def table_text(defined, found, table):
    columns = COLUMNS[table.columns]
    lines = ["| " + " | ".join(heading for heading, _, _ in columns) + " |", "|" + "---|" * len(columns)]
    rows = list(rows_of(defined, found, table))
    for row in rows:
        cells = ["" if first_only and not row.is_first else cell(row) for _, first_only, cell in columns]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join([*lines, "", measured_at([row.entry for row in rows]), ""])


def bench_text(defined, found):
    entry = found["benches"]
    lines = ["| what | figure | goal |", "|---|---|---|"]
    for bench in defined.benches.values():
        measured = number(bench, entry["values"][bench.id]) + unit(bench)
        lines.append(f"| {bench.what} | {measured} | {bench.goal or '-'} |")
    return "\n".join([*lines, "", measured_at([entry]), ""])


def output_text(output, entry):
    return "\n".join(["```console", f"$ {output.shown}", *entry["lines"], "```", ""])


def block_text(defined, found, name):
    """What stands between the marks; None if nothing of this name is defined."""
    if name in defined.tables and defined.tables[name].columns == "bench":
        return bench_text(defined, found)
    if name in defined.tables:
        return table_text(defined, found, defined.tables[name])
    if name in defined.outputs:
        return output_text(defined.outputs[name], found["outputs"][name])
    return None


def documents(defined):
    return sorted({item.document for item in [*defined.tables.values(), *defined.outputs.values()]})


def rewritten(text, defined, found):
    """The text of a document with all its blocks made anew."""
    def replace(block):
        new = block_text(defined, found, block[2])
        return block[0] if new is None else block[1] + new + block[4]
    return BLOCK.sub(replace, text)


def blocks_in(text):
    return [block[2] for block in BLOCK.finditer(text)]
