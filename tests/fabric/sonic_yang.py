# SPDX-License-Identifier: BSD-3-Clause
"""CONFIG_DB of SONiC in the form that its YANG models describe, so that yanglint can judge it.

The models are SONiC's own and not part of this project: a folder of *.yang files, those that are
templates (*.yang.j2) already rendered. Which lists, keys and types a table has is read from them.
"""
import json
import pathlib
import re
import subprocess
import tempfile

MODULES = {
    "DEVICE_METADATA": "sonic-device_metadata", "PORT": "sonic-port", "INTERFACE": "sonic-interface",
    "NEIGH": "sonic-neigh", "SRV6_MY_LOCATORS": "sonic-srv6", "SRV6_MY_SIDS": "sonic-srv6",
    "STATIC_ROUTE": "sonic-static-route", "DSCP_TO_TC_MAP": "sonic-dscp-tc-map",
    "TC_TO_QUEUE_MAP": "sonic-tc-queue-map", "TC_TO_DSCP_MAP": "sonic-tc-dscp-map",
    "PORT_QOS_MAP": "sonic-port-qos-map", "SCHEDULER": "sonic-scheduler",
    "WRED_PROFILE": "sonic-wred-profile", "QUEUE": "sonic-queue", "BUFFER_POOL": "sonic-buffer-pool",
    "BUFFER_PROFILE": "sonic-buffer-profile", "BUFFER_QUEUE": "sonic-buffer-queue",
    "SWITCH_TRIMMING": "sonic-trimming", "FLEX_COUNTER_TABLE": "sonic-flex_counter",
}
# Maps are lists within a list: the leaf of a key and that of its value.
MAPS = {"DSCP_TO_TC_MAP": ("dscp", "tc"), "TC_TO_QUEUE_MAP": ("tc", "qindex"),
        "TC_TO_DSCP_MAP": ("tc", "dscp")}
NUMBER = re.compile(r"u?int(8|16|32)\b")


def block(text, begin):
    """What is between the braces that open at or after `begin`."""
    start = text.index("{", begin)
    depth = 0
    for at in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        if depth == 0:
            return text[start + 1:at]
    raise ValueError("a brace is not closed")


def read_model(models, module):
    text = (pathlib.Path(models) / f"{module}.yang").read_text(encoding="utf-8")
    return re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.S)


class Model:
    def __init__(self, models, module):
        self.text = read_model(models, module)
        self.types = {}
        for text in (self.text, read_model(models, "sonic-types")):
            for match in re.finditer(r"\btypedef ([\w-]+)\s*\{", text):
                self.types[match[1]] = re.search(r"\btype\s+([\w:-]+)", block(text, match.start()))[1]

    def table(self, name):
        return block(self.text, re.search(rf"\bcontainer {name}\b", self.text).start())

    def lists(self, name):
        """{number of keys: (list, [keys], its text)} of a table."""
        found = {}
        table = self.table(name)
        for match in re.finditer(r"\blist (\w+)\s*\{", table):
            body = block(table, match.start())
            key = re.search(r'\bkey\s+"?([^";]+)', body)
            if key:  # otherwise the word stands in a description
                keys = key[1].split()
                found.setdefault(len(keys), (match[1], keys, body))
        return found

    def value(self, body, leaf, text):
        match = re.search(rf"\bleaf {re.escape(leaf)}\s*\{{", body)
        if match is None:
            return text
        kind = re.search(r"\btype\s+([\w:-]+)", block(body, match.start()))[1]
        kind = self.types.get(kind.split(":")[-1], kind)
        if kind == "boolean":
            return text == "true"
        is_number = NUMBER.match(kind) or (kind == "union" and text.isdigit())
        return int(text) if is_number else text


def converted(config, models):
    out = {}
    for table, entries in config.items():
        module = MODULES[table]
        model = Model(models, module)
        body = out.setdefault(f"{module}:{module}", {}).setdefault(table, {})
        lists = model.lists(table)
        for key, fields in entries.items():
            parts = key.split("|")
            if len(parts) not in lists or not re.search(r"_LIST$", lists[len(parts)][0]):
                text = model.table(table)
                text = block(text, re.search(rf"\bcontainer {re.escape(key)}\b", text).start())
                body[key] = {leaf: model.value(text, leaf, value) for leaf, value in fields.items()}
                continue
            name, keys, text = lists[len(parts)]
            entry = {leaf: model.value(text, leaf, part) for leaf, part in zip(keys, parts)}
            if table in MAPS:
                first, second = MAPS[table]
                entry[table] = [{first: model.value(text, first, a), second: model.value(text, second, b)}
                                for a, b in fields.items()]
            else:
                entry.update({leaf: model.value(text, leaf, value) for leaf, value in fields.items()})
            body.setdefault(name, []).append(entry)
    return out


def complaints(config, models):
    """What yanglint says against a CONFIG_DB; empty if nothing."""
    modules = sorted(set(MODULES[table] for table in config) | {"sonic-vrf", "sonic-portchannel"})
    files = [str(pathlib.Path(models) / f"{module}.yang") for module in modules]
    with tempfile.TemporaryDirectory() as folder:
        data = pathlib.Path(folder) / "data.json"
        data.write_text(json.dumps(converted(config, models)), encoding="utf-8")
        done = subprocess.run(["yanglint", "-p", str(models), "-i", "-t", "config", "-f", "json",
                               *files, str(data)], capture_output=True, text=True, timeout=120,
                              check=False)
    return "" if done.returncode == 0 else done.stderr or f"exit code {done.returncode}"
