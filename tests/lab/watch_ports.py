#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What leaves the ports of a lab host while a transfer runs, printed as JSON when standard input is
closed. Runs in the host's namespace.

`queued_max`: most bytes that waited at all ports together, sampled. With `share_same`: how many of
consecutive data packets of one port took the path of the one before it.
"""
import json
import select
import socket
import subprocess
import sys
import time

SAMPLE_EVERY_S = 0.05
PACKETS_MAX = 2000
DATA_MIN = 1000  # bytes: control packets are shorter
ETH_P_ALL = 3
DESTINATION = slice(14 + 24, 14 + 40)  # of the outer IPv6 header, which names the switches


def queued_bytes():
    text = subprocess.run(["tc", "-s", "-j", "qdisc", "show"], capture_output=True, check=True,
                          timeout=5).stdout
    return sum(qdisc["backlog"] for qdisc in json.loads(text))


def read_paths(tap, paths):
    while len(paths) < PACKETS_MAX:
        try:
            frame, (_, _, kind, *_) = tap.recvfrom(64, socket.MSG_TRUNC | socket.MSG_DONTWAIT)
        except BlockingIOError:
            return
        if kind == socket.PACKET_OUTGOING and is_data(frame):
            paths.append(frame[DESTINATION])
    tap.close()


def is_data(frame):
    payload_length = int.from_bytes(frame[14 + 4:14 + 6], "big")
    return frame[12:14] == b"\x86\xdd" and payload_length >= DATA_MIN


def main():
    paths, queued_max, next_sample = [], 0, 0
    tap = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
    tap.bind((sys.argv[1], ETH_P_ALL))
    print("ready", flush=True)
    while True:
        if time.monotonic() >= next_sample:
            queued_max = max(queued_max, queued_bytes())
            next_sample = time.monotonic() + SAMPLE_EVERY_S
        inputs = [sys.stdin] + ([] if tap.fileno() < 0 else [tap])
        ready = select.select(inputs, [], [], SAMPLE_EVERY_S)[0]
        if tap in ready:
            read_paths(tap, paths)
        if sys.stdin in ready:
            break
    same = sum(first == second for first, second in zip(paths, paths[1:]))
    print(json.dumps({"queued_max": queued_max, "data_packets": len(paths),
                      "share_same": same / max(len(paths) - 1, 1)}))


if __name__ == "__main__":
    main()
