# SPDX-License-Identifier: BSD-3-Clause
"""What can be wrong with figures without running anything. Each check yields lines for people."""

from . import results, runs, tables

STALE = "stale: scripts/figures run --only {0}, then scripts/figures write"


def stale(entry, now, inputs):
    """Why an entry of the results is older than what it measures; None if it is not."""
    if entry is None:
        return "was never run"
    if entry["behaviour"] != now:
        return "was measured before the protocol changed"
    if entry["inputs"] != inputs:
        return "has another scenario, setting or measure than when it was run"
    return None


def check_stale(root, defined, found):
    now = results.behaviour(root)
    entries = [("experiments", i, runs.inputs_of_experiment(root, e)) for i, e in defined.experiments.items()]
    entries += [("outputs", i, runs.inputs_of_output(root, o)) for i, o in defined.outputs.items()]
    for kind, name, inputs in entries:
        if reason := stale(found[kind].get(name), now, inputs):
            yield f"{name} {reason}; " + STALE.format(name)
    if defined.benches and (reason := stale(found["benches"] or None, now,
                                            runs.inputs_of_benches(defined.benches.values()))):
        yield f"bench_report {reason}; " + STALE.format("bench")


def outside(name, figure, here):
    return f"{name}: {tables.number(figure, here)}{tables.unit(figure)} is outside its pinned range {figure.pinned}"


def check_ranges(defined, found):
    for experiment in defined.experiments.values():
        values = found["experiments"].get(experiment.id, {}).get("values", {})
        for figure in experiment.figure:
            if figure.id not in values:
                continue
            here = results.average(figure, values[figure.id])
            if not tables.in_range(figure.pinned, here):
                yield outside(f"{experiment.id}.{figure.id}", figure, here)


def check_benches(defined, found):
    for bench in defined.benches.values():
        here = found["benches"].get("values", {}).get(bench.id)
        if here is not None and not tables.in_range(bench.pinned, here):
            yield outside(bench.id, bench, here)


def check_documents(root, defined, found):
    for document in tables.documents(defined):
        text = (root / document).read_text(encoding="utf-8")
        here = tables.blocks_in(text)
        wanted = [i.id for i in [*defined.tables.values(), *defined.outputs.values()] if i.document == document]
        for name in sorted(set(here) ^ set(wanted)):
            yield f"{document}: the block '{name}' is " + ("not defined" if name in here else "missing")
        try:
            is_current = tables.rewritten(text, defined, found) == text
        except KeyError:
            continue  # a figure that was never run, which check_stale reports
        if not is_current:
            yield f"{document}: differs from the results; scripts/figures write"


def check_unused(defined, found):
    for kind, known in (("experiments", defined.experiments), ("outputs", defined.outputs)):
        for name in sorted(set(found[kind]) - set(known)):
            yield f"results of '{name}', which nothing defines; scripts/figures run removes them"


def all_problems(root, defined, found):
    return [*check_stale(root, defined, found), *check_ranges(defined, found),
            *check_benches(defined, found), *check_unused(defined, found),
            *check_documents(root, defined, found)]
