#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Holds our packets against Scapy and its RoCE layer.

Reads what judge_packets prints: fields and the bytes we made of them. For each packet Scapy builds
IP, UDP, BTH and ICRC from the fields and must arrive at the same bytes, and takes our bytes apart
and must find the same fields. Behind the BTH, the extended headers are bytes to Scapy, which does
not know MRC; other tests look inside them.

Scapy 2.5 computes the ICRC for IPv4 alone. For IPv6 it is computed here, from the packet that Scapy
built, with Python's zlib: a second implementation of the rule that shares no line with ours.
"""

import argparse
import json
import logging
import subprocess
import sys
import zlib

logging.getLogger("scapy").setLevel(logging.ERROR)

from scapy.contrib.roce import BTH  # noqa: E402
from scapy.layers.inet import IP, UDP  # noqa: E402
from scapy.layers.inet6 import IPv6  # noqa: E402
from scapy.packet import Raw, bind_layers  # noqa: E402

BTH_SIZE = 12
ICRC_SIZE = 4
SECONDS_MAX = 120


def bth_of(mrc):
    """MRC's flags lie in the seven reserved bits behind Scapy's ackreq: R, RTX, TS and four more."""
    flags = int(mrc["mrc.rtx"]) << 5 | int(mrc["mrc.ts"]) << 4
    return BTH(
        opcode=mrc["mrc.opcode"], solicited=0, migreq=0, padcount=mrc["mrc.pad"], version=0,
        pkey=mrc["mrc.pkey"], dqpn=mrc["mrc.dqp"], ackreq=int(mrc["mrc.ackreq"]), resv7=flags,
        psn=mrc["mrc.psn"],
    )


def build(packet, behind_bth):
    """The packet as Scapy builds it from the fields; for IPv4 with Scapy's own ICRC."""
    ip = packet["ip"]
    udp = UDP(sport=ip["source_port"], dport=packet["port"], chksum=0)
    if ip["version"] == 4:
        outer = IP(src=ip["source"], dst=ip["destination"], tos=packet["traffic_byte"], ttl=64,
                   flags="DF", id=0)
        return bytes(outer / udp / bth_of(packet["mrc"]) / Raw(behind_bth))
    outer = IPv6(src=ip["source"], dst=ip["destination"], tc=packet["traffic_byte"],
                 fl=ip["flow_label"], hlim=64)
    bth = bth_of(packet["mrc"])
    bth.icrc = 0  # no computing: Scapy cannot do it for IPv6
    without = bytes(outer / udp / bth / Raw(behind_bth))[:-ICRC_SIZE]
    return without + icrc_ipv6(without)


def icrc_ipv6(without_icrc):
    masked = bytearray(without_icrc)
    masked[0] |= 0x0F  # traffic class and flow label
    masked[1:4] = b"\xff\xff\xff"
    masked[7] = 0xFF  # hop limit
    masked[46:48] = b"\xff\xff"  # UDP checksum
    masked[52] = 0xFF  # the variant byte of the BTH
    return zlib.crc32(b"\xff" * 8 + bytes(masked)).to_bytes(4, "little")


def differences(packet):
    """What Scapy sees in our bytes that is not what was put in."""
    ours = bytes.fromhex(packet["bytes"])
    ip, mrc = packet["ip"], packet["mrc"]
    seen = IP(ours) if ip["version"] == 4 else IPv6(ours)
    udp, bth = seen[UDP], seen[BTH]
    expected = {
        "source": (seen.src, ip["source"]),
        "destination": (seen.dst, ip["destination"]),
        "traffic byte": (seen.tos if ip["version"] == 4 else seen.tc, packet["traffic_byte"]),
        "source port": (udp.sport, ip["source_port"]),
        "port": (udp.dport, packet["port"]),
        "udp length": (udp.len, len(ours) - (20 if ip["version"] == 4 else 40)),
        "opcode": (bth.opcode, mrc["mrc.opcode"]),
        "pad": (bth.padcount, mrc["mrc.pad"]),
        "pkey": (bth.pkey, mrc["mrc.pkey"]),
        "dqp": (bth.dqpn, mrc["mrc.dqp"]),
        "ackreq": (bool(bth.ackreq), mrc["mrc.ackreq"]),
        "rtx": (bool(bth.resv7 & 0x20), mrc["mrc.rtx"]),
        "ts": (bool(bth.resv7 & 0x10), mrc["mrc.ts"]),
        "psn": (bth.psn, mrc["mrc.psn"]),
    }
    if ip["version"] == 6:
        expected["flow label"] = (seen.fl, ip["flow_label"])
    found = [f"{name}: Scapy reads {got}, we wrote {want}"
             for name, (got, want) in expected.items() if got != want]
    bth_at = (20 if ip["version"] == 4 else 40) + 8
    theirs = build(packet, ours[bth_at + BTH_SIZE:-ICRC_SIZE])
    if theirs != ours:
        found.append(f"Scapy builds {theirs.hex()}\n      we build   {ours.hex()}")
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--packets", required=True, help="the program judge_packets")
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()

    bind_layers(UDP, BTH, dport=4971)
    made = subprocess.run([options.packets, "random", str(options.count), str(options.seed)],
                          capture_output=True, text=True, timeout=SECONDS_MAX, check=True)
    judged = {4: 0, 6: 0}
    for number, line in enumerate(made.stdout.splitlines()):
        packet = json.loads(line)
        found = differences(packet)
        if found:
            print(f"packet {number} (seed {options.seed}) {packet['mrc']}:")
            print("\n".join("  " + difference for difference in found))
            return 1
        judged[packet["ip"]["version"]] += 1
    if min(judged.values()) * 2 != options.count:
        print(f"{judged} packets judged, not half of {options.count} of each")
        return 1
    print(f"{judged[4]} IPv4 and {judged[6]} IPv6 packets: Scapy builds and reads the same")
    return 0


if __name__ == "__main__":
    sys.exit(main())
