#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Holds our unreliable datagrams against Wireshark's own dissector of RoCEv2.

They are packets of InfiniBand's UD transport, which Wireshark knows without us. Our dissector is loaded as well, and
must leave them to it.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

from tshark_judge import JudgeError, run_tshark

SECONDS_MAX = 120
PREFIX = "infiniband."
FIELDS = ["bth.opcode", "bth.padcnt", "bth.p_key", "bth.destqp", "bth.psn", "deth.q_key", "deth.srcqp", "immdt"]


def read(options, capture):
    """One {field: value} for each frame, as tshark reads it."""
    command = [options.tshark, "-n", "-r", capture, "-X", f"lua_script:{options.dissector}"]
    command += ["-T", "fields", "-E", "separator=/t", "-E", "occurrence=f", "-e", "frame.protocols"]
    for field in FIELDS:
        command += ["-e", PREFIX + field]
    frames = []
    for line in run_tshark(command).splitlines():
        protocols, *cells = line.split("\t")
        if protocols.split(":")[-1] == "mrc":
            raise JudgeError("our dissector took a datagram for a packet of MRC")
        values = {}
        for field, cell in zip(FIELDS, cells):
            if cell:
                values[PREFIX + field] = cell.replace(":", "") if field == "immdt" else int(cell, 0)
        frames.append(values)
    return frames


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--packets", required=True, help="the program judge_packets")
    parser.add_argument("--tshark", default="tshark")
    parser.add_argument("--dissector", required=True, help="the Lua dissector")
    options = parser.parse_args()

    with tempfile.TemporaryDirectory() as folder:
        capture, manifest = f"{folder}/datagrams.pcapng", pathlib.Path(folder, "datagrams.jsonl")
        subprocess.run([options.packets, "datagrams", capture, manifest], timeout=SECONDS_MAX, check=True)
        written = [json.loads(line) for line in manifest.read_text(encoding="utf-8").splitlines()]
        try:
            frames = read(options, capture)
        except JudgeError as error:
            print(f"datagram_judge: {error}", file=sys.stderr)
            return 1
    failures = [] if len(frames) == len(written) else [f"{len(written)} frames written, {len(frames)} read"]
    for number, (entry, got) in enumerate(zip(written, frames), start=1):
        expected = {field: value for field, value in entry["fields"].items() if field.startswith(PREFIX)}
        if got != expected:
            failures.append(f"frame {number} {entry['name']}: wrote {expected}, Wireshark reads {got}")
    if failures or not frames:
        print("\n".join(failures[:5]))
        return 1
    print(f"{len(frames)} datagrams: Wireshark reads what was written")
    return 0


if __name__ == "__main__":
    sys.exit(main())
