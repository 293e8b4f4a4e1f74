#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Reads the first MRC packet to each of some addresses from an interface, and prints its queue pair
and PSN as JSON: what somebody on the path knows.

    observe.py INTERFACE ADDRESS...
"""
import ipaddress
import json
import socket
import struct
import sys

EVERYTHING, IPV6 = 3, b"\x86\xdd"
ETHERTYPE_AT, IPV6_AT, UDP_AT, BTH_AT = 12, 14, 54, 62
NEXT_HEADER_AT, DESTINATION_AT = IPV6_AT + 6, IPV6_AT + 24
QP_AT, PSN_AT = BTH_AT + 5, BTH_AT + 9
UDP, MRC_PORT, ENDPOINT_QP = 17, 4791, 2
SECONDS_MAX = 10


def observe(interface, addresses):
    wanted = {ipaddress.IPv6Address(address).packed: address for address in addresses}
    found = {}
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(EVERYTHING)) as packets:
        packets.bind((interface, 0))
        packets.settimeout(SECONDS_MAX)
        while len(found) < len(wanted):
            frame = packets.recv(2048)
            if len(frame) < PSN_AT + 3 or frame[ETHERTYPE_AT:IPV6_AT] != IPV6:
                continue
            if frame[NEXT_HEADER_AT] != UDP:
                continue
            if struct.unpack_from("!H", frame, UDP_AT + 2)[0] != MRC_PORT:
                continue
            qpn = int.from_bytes(frame[QP_AT:QP_AT + 3], "big")
            to = wanted.get(frame[DESTINATION_AT:DESTINATION_AT + 16])
            if to and qpn != ENDPOINT_QP:
                found[to] = {"qpn": qpn,
                             "psn": int.from_bytes(frame[PSN_AT:PSN_AT + 3], "big")}
    return found


if __name__ == "__main__":
    print(json.dumps(observe(sys.argv[1], sys.argv[2:])))
