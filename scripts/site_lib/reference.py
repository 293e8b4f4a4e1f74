# SPDX-License-Identifier: BSD-3-Clause
"""Pages that are written from the code: the help of all commands, and the counters."""

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HELP_SECONDS_MAX = 30
ROW = re.compile(r'^OPENMRC_\w+\(\s*k\w+,\s*"([^"]+)",\s*"([^"]+)"', re.MULTILINE)
FAMILY = re.compile(r'^    \{"(\w+)", (?:"(\w+)"|\{\}), (?:"([^"]+)"|\{\})\}', re.MULTILINE)
OTHER_METRIC = re.compile(r'\.name = "(openmrc_\w+)",\s*\.help = "([^"]+)"')


def help_of(mrc, verbs):
    done = subprocess.run([mrc, *verbs, "--help"], capture_output=True, text=True, timeout=HELP_SECONDS_MAX,
                          check=True, env={"COLUMNS": "80", "LC_ALL": "C.UTF-8"})
    return done.stdout.rstrip().replace(str(mrc), "mrc")


def commands_page(mrc):
    """The help of every command, each below a heading; its first line is the text."""
    lines = ["# Commands", "", "What `--help` prints. Manual pages are installed too: `man mrc-lab`.", ""]

    def add(verbs):
        text = help_of(mrc, verbs)
        summary, _, rest = text.partition("\n")
        lines.extend([f"{'#' * min(len(verbs) + 2, 4)} {' '.join(['mrc', *verbs])}", "", summary, "",
                      "```text", rest, "```", ""])
        listed = re.search(r"^Subcommands:\n((?:  .*\n?)+)", text, re.MULTILINE)
        for verb in re.findall(r"^  (\S+)", listed[1], re.MULTILINE) if listed else ():
            add([*verbs, verb])

    add([])
    return "\n".join(lines)


def rows_of(name):
    found = ROW.findall((ROOT / name).read_text(encoding="utf-8"))
    if not found:
        raise ValueError(f"{name} has no rows of the form MACRO(kName, \"name\", \"text\")")
    return found


def families_of(metrics, array):
    """(prefix of counters, metric, help) of an array of metrics.cc."""
    text = re.search(rf"\b{array}\[\]\{{\n(.*?)\n\}};", metrics, re.DOTALL)[1]
    found = FAMILY.findall(text)
    if len(found) != text.count("{\""):
        raise ValueError(f"metrics.cc: cannot read {array}")
    return found


def named_of(metrics, array):
    """(name, help) of a table of metrics.cc."""
    text = re.search(rf"\b{array}\{{\{{\n(.*?)\n\}}\}};", metrics, re.DOTALL)[1]
    found = re.findall(r'\{"(\w+)", "([^"]+)"\}', text)
    if len(found) != text.count("{\""):
        raise ValueError(f"metrics.cc: cannot read {array}")
    return found


def metric_of(name, prefix, families):
    for start, family, _ in families:
        if name.startswith(start):
            return f'{prefix}{family}_total{{reason="{name.removeprefix(start)}"}}' if family else \
                f"{prefix}{name}_total"
    return f"{prefix}{name}_total"


def table(head, rows):
    cells = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(row)} |\n" for row in cells)


def counter_table(source, prefix, families):
    return table(["counter", "metric", "counts"],
                 [[f"`{name}`", f"`{metric_of(name, prefix, families)}`", text] for name, text in rows_of(source)])


def counters_page():
    metrics = (ROOT / "openmrc/host/metrics.cc").read_text(encoding="utf-8")
    agent = (ROOT / "openmrc/agent/agent_metrics.cc").read_text(encoding="utf-8")
    mapper = (ROOT / "openmrc/prober/map_metrics.cc").read_text(encoding="utf-8")
    planes, gauges = named_of(metrics, "kPlaneMetrics"), named_of(metrics, "kGaugeMetrics")
    core, datapath = (families_of(metrics, name) for name in ("kCoreFamilies", "kDatapathFamilies"))
    others = OTHER_METRIC.findall(metrics)
    rejected = "openmrc_datapath_rejected_total"
    return "\n".join([
        "# Counters and metrics", "",
        "Counters are in the JSON of `mrc perf`; metrics are what `mrcd` gives to Prometheus "
        "([Operating a fabric](../guide/operate.md#metrics)). Names are kept from release to release.", "",
        "## Protocol", "", counter_table("openmrc/core/context/counters.def", "openmrc_", core),
        "## By plane", "", table(["metric", "counts"], [
            *([f"`openmrc_plane_{name}_total{{plane=\"N\"}}`", text] for name, text in planes),
            *([f"`{name}{{plane=\"N\"}}`", text] for name, text in others if name != rejected)]),
        "## Host and agent", "", table(["metric", "says"], [
            *([f"`openmrc_{name}`", text] for name, text in gauges),
            *([f"`{name}`", text] for name, text in OTHER_METRIC.findall(agent))]),
        "## Mapper", "", table(["metric", "says"],
                               [[f"`{name}`", text] for name, text in OTHER_METRIC.findall(mapper)]),
        "## Sending and receiving", "", counter_table("openmrc/datapath/counters.def", "openmrc_datapath_", datapath),
        "## Packets that are not valid", "",
        f"`{rejected}{{reason=\"...\"}}`; [The wire format](../protocol/wire.md) has the rules. What a switch counts is in "
        "[The switch](../softswitch.md#counters).", "",
        table(["reason", "what is wrong"], [[f"`{name}`", text] for name, text in
                                            rows_of("openmrc/wire/field/reject.def")]),
    ])
