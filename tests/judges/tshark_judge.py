#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares what tshark reads in a capture with what the sender says it wrote.

The manifest has one JSON object a line, one for each frame of the capture, in order:

    {"name": "write-only/ipv6", "fields": {"mrc.psn": 1207, "mrc.rtx": true, "mrc.payload": "0001"}}

Integers stand for integers, true and false for booleans, lower-case hex text for byte fields, and a
list for a field that occurs more than once. The capture must be flawless: a field with another
value, a field that the manifest does not list, and any expert remark of the dissector is a failure.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile

TIMEOUT_SECONDS = 120
FAILURES_SHOWN_MAX = 50

PREFIX = "mrc."
EXPERT_PREFIX = "mrc.expert."
SEPARATOR = "\t"
AGGREGATOR = ";"  # no number, boolean or hex text contains it

# What the dissector derives from other fields and shows on nearly every packet: a manifest may
# leave these out. Each is compared when it is listed, and a wrong ICRC is an expert remark anyway.
MAY_BE_UNLISTED = {
    "mrc.ev",
    "mrc.icrc",
    "mrc.icrc.status",
    "mrc.payload.len",
    "mrc.sack.ack_psn",
    "mrc.sack.bitmap_base",
    "mrc.trimmed",
}

# Fields of tshark itself that are only there when a dissector broke down.
BREAKDOWN_FIELDS = ["_ws.lua.error", "_ws.malformed.expert", "_ws.malformed.dissector_bug"]


class JudgeError(Exception):
    """The comparison could not be made."""


def run_tshark(arguments):
    """Runs tshark with an empty configuration and returns its standard output."""
    with tempfile.TemporaryDirectory() as empty_home:
        environment = dict(os.environ, HOME=empty_home, XDG_CONFIG_HOME=empty_home)
        try:
            done = subprocess.run(
                arguments,
                env=environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=TIMEOUT_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise JudgeError(f"tshark took more than {TIMEOUT_SECONDS} s") from error
        except OSError as error:
            raise JudgeError(f"cannot run {arguments[0]}: {error.strerror}") from error
    output = done.stdout.decode("utf-8", "replace")
    complaints = done.stderr.decode("utf-8", "replace")
    if "Lua:" in complaints or "Lua Error" in complaints:
        raise JudgeError(f"Lua error:\n{complaints}")
    if done.returncode != 0:
        raise JudgeError(f"tshark ended with code {done.returncode}:\n{complaints}")
    return output


def read_field_types(tshark, dissector):
    """Returns {field name: Wireshark type} of every field the dissector registers."""
    # tshark takes -G only as its first option.
    listing = run_tshark([tshark, "-G", "fields", "-X", f"lua_script:{dissector}"])
    types = {}
    for line in listing.splitlines():
        columns = line.split("\t")
        if columns[0] == "F" and columns[2].startswith(PREFIX):
            types[columns[2]] = columns[3]
    if not types:
        raise JudgeError(f"{dissector} registers no field that starts with {PREFIX}")
    return types


def read_manifest(path):
    """Returns [(name, {field: value})], one for each frame."""
    frames = []
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                entry = json.loads(line)
                frames.append((str(entry["name"]), dict(entry["fields"])))
            except (ValueError, KeyError, TypeError) as error:
                raise JudgeError(f"{path}, line {number}: not a manifest entry: {error}") from error
    if not frames:
        raise JudgeError(f"{path} has no entries")
    return frames


def check_names(frames, types):
    """Refuses a manifest with a field that tshark does not know."""
    unknown = sorted({field for _, fields in frames for field in fields} - types.keys())
    if unknown:
        raise JudgeError("the dissector has no such field: " + ", ".join(unknown))


def read_value(text, field_type):
    """Turns one value as tshark prints it into what a manifest would hold."""
    if field_type == "FT_BOOLEAN":
        return {"1": True, "0": False, "True": True, "False": False}.get(text, text)
    if field_type == "FT_BYTES":
        return text.replace(":", "").lower()
    if field_type.startswith(("FT_UINT", "FT_INT")):
        try:
            return int(text, 0)
        except ValueError:
            return text
    return text


def dissect(tshark, capture, dissector, types):
    """Runs tshark over the capture; returns (protocols, breakdowns, {field: values}) by frame."""
    columns = ["frame.protocols", *BREAKDOWN_FIELDS, *types]
    command = [tshark, "-n", "-r", capture, "-X", f"lua_script:{dissector}"]
    # The source port is part of the entropy and may be any dissector's well-known port.
    command += ["-o", "udp.try_heuristic_first:TRUE"]
    command += ["-T", "fields", "-E", "separator=/t", "-E", f"aggregator={AGGREGATOR}"]
    command += ["-E", "occurrence=a", "-E", "header=n", "-E", "quote=n"]
    for column in columns:
        command += ["-e", column]

    output = run_tshark(command)
    if "Lua Error" in output:
        raise JudgeError("Lua error in the output of tshark")
    frames = []
    for line in output.splitlines():
        cells = dict(zip(columns, line.split(SEPARATOR)))
        values = {
            field: [read_value(text, types[field]) for text in cells[field].split(AGGREGATOR)]
            for field in types
            if cells.get(field)
        }
        breakdowns = [field for field in BREAKDOWN_FIELDS if cells.get(field)]
        frames.append((cells["frame.protocols"], breakdowns, values))
    return frames


def show(values):
    """The way a failure prints a list of values; one alone is printed without its list."""
    if values is None:
        return "nothing"
    return json.dumps(values[0] if len(values) == 1 else values)


def compare_frame(expected_fields, protocols, breakdowns, got):
    """Yields (field, expected, got) for each difference."""
    if protocols.split(":")[-1] != "mrc":
        yield "frame.protocols", "...:mrc", protocols
    for field in breakdowns:
        yield field, "nothing", "present"
    expected = {
        field: value if isinstance(value, list) else [value]
        for field, value in expected_fields.items()
        if value != []
    }
    for field, values in expected.items():
        if got.get(field) != values:
            yield field, show(values), show(got.get(field))
    for field, values in got.items():
        if field.startswith(EXPERT_PREFIX):
            yield field, "nothing", "an expert remark"
        elif field not in expected_fields and field not in MAY_BE_UNLISTED:
            yield field, "nothing", show(values)
        elif expected_fields.get(field) == []:
            yield field, "nothing", show(values)


def judge(options):
    """Returns (failure lines, number of frames, number of values that agree)."""
    types = read_field_types(options.tshark, options.dissector)
    manifest = read_manifest(options.manifest)
    check_names(manifest, types)
    dissected = dissect(options.tshark, options.capture, options.dissector, types)

    failures = []
    if len(dissected) != len(manifest):
        failures.append(f"frames: expected {len(manifest)}, got {len(dissected)}")
    values = 0
    for number, ((name, fields), found) in enumerate(zip(manifest, dissected), start=1):
        for field, expected, got in compare_frame(fields, *found):
            failures.append(f"frame {number} {name}: {field}: expected {expected}, got {got}")
        values += sum(len(value) if isinstance(value, list) else 1 for value in fields.values())
    return failures, len(dissected), values


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--capture", required=True, help="pcap or pcapng file")
    parser.add_argument("--manifest", required=True, help="what the capture holds, JSON lines")
    parser.add_argument("--dissector", required=True, help="the Lua dissector")
    parser.add_argument("--tshark", default="tshark", help="the tshark to run")
    return parser.parse_args()


def main():
    try:
        failures, frames, values = judge(parse_options())
    except (JudgeError, OSError) as error:
        print(f"tshark_judge: {error}", file=sys.stderr)
        return 1
    if failures:
        print("\n".join(failures[:FAILURES_SHOWN_MAX]))
        if len(failures) > FAILURES_SHOWN_MAX:
            print(f"... and {len(failures) - FAILURES_SHOWN_MAX} more")
        return 1
    print(f"{frames} frames, {values} field values agree")
    return 0


if __name__ == "__main__":
    sys.exit(main())
