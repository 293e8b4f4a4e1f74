#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Delays all packets of one direction of a veth pair between two network namespaces, until it is ended: for kernels
without netem.

    delay_link.py FROM_NAMESPACE FROM_INTERFACE TO_NAMESPACE TO_INTERFACE MILLISECONDS

Where packets arrive, a rule drops all but those with a source address of our own; they are read before that, and put
on the link once more where they came from, with that address, when their time has come. Prints a line when it works.
"""
import collections
import ctypes
import os
import select
import signal
import socket
import subprocess
import sys
import time

ETH_P_ALL = 3
OUTGOING = 4
OURS = bytes.fromhex("02de1a000001")
TABLE = "delayed"
LONGEST = 65536
WAITING_MAX = 10_000


def packet_socket(namespace, interface):
    """In another namespace than ours."""
    libc = ctypes.CDLL(None, use_errno=True)
    with open("/proc/self/ns/net", "rb") as here, open(f"/run/netns/{namespace}", "rb") as there:
        if libc.setns(there.fileno(), 0) != 0:
            raise OSError(ctypes.get_errno(), f"setns to {namespace}")
        try:
            made = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
            made.bind((interface, ETH_P_ALL))
        finally:
            libc.setns(here.fileno(), 0)
    made.setblocking(False)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUFFORCE if hasattr(socket, "SO_RCVBUFFORCE") else 33, 8 << 20)
    return made


def nft(namespace, *lines):
    subprocess.run(["ip", "netns", "exec", namespace, "nft", "-f", "-"], input="\n".join(lines), text=True, check=True,
                   timeout=10)


def carry(sender, receiver, delay_ns):
    waiting = collections.deque()
    while True:
        now = time.monotonic_ns()
        while waiting and waiting[0][0] <= now:
            try:
                sender.send(waiting.popleft()[1])
            except OSError:
                pass  # the queue is full, or the link is gone: a packet is lost
        timeout = (waiting[0][0] - now) / 1e9 if waiting else None
        if not select.select([receiver], [], [], timeout)[0]:
            continue
        try:
            while len(waiting) < WAITING_MAX:
                frame, address = receiver.recvfrom(LONGEST)
                if address[2] != OUTGOING and frame[6:12] != OURS:
                    waiting.append((time.monotonic_ns() + delay_ns, frame[:6] + OURS + frame[12:]))
        except BlockingIOError:
            pass


def main():
    from_namespace, from_interface, to_namespace, to_interface, milliseconds = sys.argv[1:]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    sender = packet_socket(from_namespace, from_interface)
    receiver = packet_socket(to_namespace, to_interface)
    os.nice(-10)  # what it adds itself is to be little
    try:
        nft(to_namespace, f"add table netdev {TABLE}",
            f"add chain netdev {TABLE} arrivals {{ type filter hook ingress device \"{to_interface}\" priority 0; }}",
            f"add rule netdev {TABLE} arrivals ether saddr != 02:de:1a:00:00:01 drop")
        print("delays", flush=True)
        carry(sender, receiver, int(float(milliseconds) * 1e6))
    finally:
        nft(to_namespace, f"delete table netdev {TABLE}")


if __name__ == "__main__":
    main()
