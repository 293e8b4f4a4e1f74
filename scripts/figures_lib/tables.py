# SPDX-License-Identifier: BSD-3-Clause
"""Results as blocks of Markdown, and the documents that have them."""

import re

from . import definitions, results

BLOCK = re.compile(r"(<!-- figures:begin (\S+) [^\n]*-->\n)(.*?)(<!-- figures:end -->)", re.DOTALL)


def number(figure, value):
    # Values that are rounded to nothing have no sign.
    return f"{value + 0.0:,.{figure.digits}f}".replace("-0", "0") if abs(value) < 0.5 * 10 ** -figure.digits \
        else f"{value:,.{figure.digits}f}"


def unit(figure):
    return f" {figure.unit}" if figure.unit else ""


def value(figure, values):
    """384 Gb/s (381 to 385)."""
    lowest, highest = number(figure, min(values)), number(figure, max(values))
    spread = f" ({lowest} to {highest})" if lowest != highest else ""
    return number(figure, results.average(figure, values)) + unit(figure) + spread


def off(reference, value_here):
    return "-" if reference is None else f"{(value_here / reference - 1) * 100:+.1f} %"


def in_range(limits, value_here):
    return limits[0] <= value_here <= limits[1]


def distance(figure, values):
    here = results.average(figure, values)
    parts = [] if figure.reference is None else [off(figure.reference, here)]
    if figure.agrees is not None:
        parts.append("agrees" if in_range(figure.agrees, here) else "**differs**")
    return ", ".join(parts) or "-"


def reaches(figure, values):
    sign, bound = definitions.GOAL.fullmatch(figure.goal).groups()
    here = results.average(figure, values)
    return here >= float(bound) if sign == ">=" else here <= float(bound)


def goal(figure):
    sign, bound = definitions.GOAL.fullmatch(figure.goal).groups()
    return f"{'at least' if sign == '>=' else 'at most'} {bound}{unit(figure)}"


def seeds(experiment):
    count = len(experiment.seed_list())
    return "1 seed" if count == 1 else f"{count} seeds"


def note(figure):
    return f" ({figure.note})" if figure.note else ""


def setup(experiment):
    return f"{experiment.setup} (`{experiment.id}`, {seeds(experiment)})".strip()


def plain(figure_value):
    return "-" if figure_value is None else f"{figure_value:,}"


# Kind of table -> (heading, cell of the experiment's first row only, cell of (experiment, figure, values)).
FIRST_ONLY, EVERY = True, False
COLUMNS = {
    "published": [
        ("published", FIRST_ONLY, lambda e, f, v: e.title),
        ("set-up here", FIRST_ONLY, lambda e, f, v: setup(e)),
        ("measured", EVERY, lambda e, f, v: f.what),
        ("as published", EVERY, lambda e, f, v: f.published or "-"),
        ("here", EVERY, lambda e, f, v: value(f, v) + note(f)),
        ("distance", EVERY, lambda e, f, v: distance(f, v)),
    ],
    "own": [
        ("set-up", FIRST_ONLY, lambda e, f, v: f"{e.title}; {setup(e)}"),
        ("measured", EVERY, lambda e, f, v: f.what),
        ("result", EVERY, lambda e, f, v: value(f, v) + note(f)),
    ],
    "htsim": [
        ("case", FIRST_ONLY, lambda e, f, v: f"{e.title} (`{e.id}`)"),
        ("flow completion time", EVERY, lambda e, f, v: f.what),
        ("htsim", EVERY, lambda e, f, v: plain(f.htsim)),
        ("htsim, exact EVs", EVERY, lambda e, f, v: plain(f.htsim_exact)),
        ("OpenMRC", EVERY, lambda e, f, v: value(f, v) + note(f)),
        ("off", EVERY, lambda e, f, v: off(f.htsim, results.average(f, v))),
        ("off, exact EVs", EVERY, lambda e, f, v: off(f.htsim_exact, results.average(f, v))),
    ],
    "speed": [
        ("case", FIRST_ONLY, lambda e, f, v: f"{e.title} (`{e.id}`)"),
        ("measured", EVERY, lambda e, f, v: f.what),
        ("htsim", EVERY, lambda e, f, v: plain(f.htsim) + unit(f)),
        ("OpenMRC", EVERY, lambda e, f, v: value(f, v)),
        ("OpenMRC / htsim", EVERY, lambda e, f, v: f"{results.average(f, v) / f.htsim:.2f}"),
    ],
    "goals": [
        ("experiment", FIRST_ONLY, lambda e, f, v: f"`{e.id}`"),
        ("measured", EVERY, lambda e, f, v: f.what),
        ("goal", EVERY, lambda e, f, v: goal(f)),
        ("here", EVERY, lambda e, f, v: value(f, v)),
        ("", EVERY, lambda e, f, v: "reached" if reaches(f, v) else "**not yet**"),
    ],
}


def rows_of(defined, table):
    """(experiment, figure, first of its experiment)."""
    if table.columns == "goals":
        pairs = defined.goals()
    else:
        pairs = [(e, f) for e in defined.of_table(table.id) for f in e.figure]
    before = None
    for experiment, figure in pairs:
        yield experiment, figure, experiment.id != before
        before = experiment.id


def measured_at(entries):
    commits = sorted({entry["commit"] for entry in entries})
    return f"Measured at commit {', '.join(commits)}."


def table_text(defined, found, table):
    columns = COLUMNS[table.columns]
    lines = ["| " + " | ".join(heading for heading, _, _ in columns) + " |", "|" + "---|" * len(columns)]
    used = []
    for experiment, figure, is_first in rows_of(defined, table):
        entry = found["experiments"][experiment.id]
        used.append(entry)
        values = entry["values"][figure.id]
        cells = ["" if first_only and not is_first else cell(experiment, figure, values)
                 for _, first_only, cell in columns]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join([*lines, "", measured_at(used), ""])


def bench_text(defined, found):
    entry = found["benches"]
    lines = ["| what | figure | goal |", "|---|---|---|"]
    for bench in defined.benches.values():
        here = number(bench, entry["values"][bench.id]) + unit(bench)
        lines.append(f"| {bench.what} | {here} | {bench.goal or '-'} |")
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
