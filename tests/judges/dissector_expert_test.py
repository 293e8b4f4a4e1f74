#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What the Wireshark dissector says of packets that are wrong, and that it survives all of them.

  dissector_expert_test.py --tshark TSHARK --dissector mrc.lua --tour tour.pcapng

No packet of the tour may have a remark of severity Error, whoever makes it. Then its packets are
spoiled in one way each; tshark must show exactly that expert remark. Then every packet is cut at
every length, and no cut may bring the dissector down.
"""

import argparse
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

SECONDS_MAX = 120
BTH_AT = 14 + 40 + 40 + 8  # Ethernet, outer and inner IPv6, UDP
EXPERTS = ["unknown_opcode", "truncated", "after_control", "tver", "reserved_qp", "psn_differs", "no_payload",
           "nack_reason", "mark", "ftype", "pad", "icrc"]
ERROR_SEVERITY = 8388608
REMARKS = ["_ws.expert.message", "_ws.expert.severity"]
BREAKDOWN = ["_ws.lua.error", "_ws.malformed.dissector_bug"]


def read_tour(path):
    """The frames of a little-endian pcapng file."""
    data = path.read_bytes()
    frames, at = [], 0
    while at < len(data):
        kind, length = struct.unpack_from("<II", data, at)
        if kind == 6:
            size = struct.unpack_from("<I", data, at + 20)[0]
            frames.append(data[at + 28:at + 28 + size])
        at += length
    return frames


def write_pcap(path, frames):
    with open(path, "wb") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
        for frame in frames:
            file.write(struct.pack("<IIII", 0, 0, len(frame), len(frame)) + frame)


def with_lengths(frame):
    """The frame with the lengths in its IPv6 and UDP headers made right again."""
    frame = bytearray(frame)
    struct.pack_into(">H", frame, 14 + 4, len(frame) - 14 - 40)
    struct.pack_into(">H", frame, 54 + 4, len(frame) - 54 - 40)
    struct.pack_into(">H", frame, 94 + 4, len(frame) - 94)
    return bytes(frame)


def changed(frame, at, value):
    return frame[:at] + value + frame[at + len(value):]


def cut_before_icrc(frame, count):
    return with_lengths(frame[:-4 - count] + frame[-4:])


def spoiled(tour):
    """(what was done, frame, the expert remark that it must bring)"""
    first, sack, nack, probe = tour[0], tour[5], tour[6], tour[8]
    only = tour[14]
    return [
        ("flawless", sack, None),
        ("SACK two bytes short", cut_before_icrc(sack, 2), "truncated"),
        ("SACK with four bytes more", with_lengths(sack[:-4] + bytes(4) + sack[-4:]), "after_control"),
        ("version 1", changed(first, BTH_AT + 1, b"\x01"), "tver"),
        ("queue pair 1", changed(first, BTH_AT + 5, b"\0\0\1"), "reserved_qp"),
        ("BTH.PSN is not cack_psn", changed(sack, BTH_AT + 9, b"\0\0\7"), "psn_differs"),
        ("no payload", changed(cut_before_icrc(only, 64), BTH_AT + 1, b"\0"), "no_payload"),
        ("NACK reason 0x55", changed(nack, BTH_AT + 14, b"\x55"), "nack_reason"),
        ("path mark 3", changed(sack, BTH_AT + 13, b"\x60"), "mark"),
        ("timestamp format 2", changed(probe, BTH_AT + 27, b"\x02"), "ftype"),
        ("payload byte flipped", changed(first, len(first) - 5, b"\0"), "icrc"),
        ("a control packet with a pad", changed(probe, BTH_AT + 1, b"\x30"), "pad"),
        ("opcode 0xdf", changed(first, BTH_AT, b"\xdf"), "unknown_opcode"),
    ]


def run_tshark(options, frames, fields, occurrence="f"):
    """A dictionary of the fields that tshark shows, for each frame: the first of each name, or all ("a")."""
    with tempfile.TemporaryDirectory() as folder:
        capture = os.path.join(folder, "frames.pcap")
        write_pcap(capture, frames)
        command = [options.tshark, "-X", f"lua_script:{options.dissector}", "-r", capture,
                   "-T", "fields", "-E", "separator=/t", "-E", f"occurrence={occurrence}"]
        for field in fields:
            command += ["-e", field]
        environment = dict(os.environ, HOME=folder, XDG_CONFIG_HOME=folder)
        done = subprocess.run(command, env=environment, capture_output=True, text=True,
                              timeout=SECONDS_MAX, check=False)
    if done.returncode != 0 or "Lua" in done.stderr:
        sys.exit(f"tshark failed:\n{done.stderr}")
    lines = done.stdout.split("\n")[:-1]
    if len(lines) != len(frames):
        sys.exit(f"tshark shows {len(lines)} of {len(frames)} frames")
    return [{name: value for name, value in zip(fields, line.split("\t")) if value}
            for line in lines]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tshark", required=True)
    parser.add_argument("--dissector", required=True)
    parser.add_argument("--tour", type=pathlib.Path, required=True)
    options = parser.parse_args()
    tour = read_tour(options.tour)
    experts = [f"mrc.expert.{name}" for name in EXPERTS]

    failures = 0
    for number, fields in enumerate(run_tshark(options, tour, REMARKS, "a"), 1):
        if str(ERROR_SEVERITY) in fields.get("_ws.expert.severity", "").split(","):
            print(f"packet {number} of the tour: {fields['_ws.expert.message']}")
            failures += 1

    cases = spoiled(tour)
    shown = run_tshark(options, [frame for _, frame, _ in cases], experts + BREAKDOWN)
    for (what, _, expected), fields in zip(cases, shown):
        seen = {name.rsplit(".", 1)[1] for name in fields}
        # A packet that was spoiled on purpose may have a wrong ICRC as well.
        wanted = {expected} if expected else set()
        also = {"icrc"} if expected else set()
        if not wanted <= seen <= wanted | also:
            print(f"{what}: expected {expected}, tshark shows {sorted(seen)}")
            failures += 1

    cuts = [frame[:size] for frame in tour for size in range(14, min(len(frame), 300))]
    for frame, fields in zip(cuts, run_tshark(options, cuts, BREAKDOWN)):
        if fields:
            print(f"cut to {len(frame)} bytes: {fields}")
            failures += 1
    if failures == 0:
        print(f"{len(cases)} remarks as expected, {len(cuts)} cut packets survived")
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())
