#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Where the processor time of a packet goes, on both sides of `mrc perf write-bw` and of `write-lat`, over
one cable (veth). Samples of linux-perf are sorted by the function that ran, so that the network stack
of the receiver, which a veth runs in the sender's system call, counts for the sender. Needs root.

  packet_budget.py --mrc build/bench/tools/mrc [--write docs/guide/throughput.md]
"""
import argparse
import os
import re
import shutil
import sys
import tempfile

import one_hop
import page_block

MTU = 4096
SAMPLES_PER_SECOND = 4999

KERNEL = "kernel"
# In this order: whether it is the kernel, what the name of the function has in it.
PARTS = [
    ("copy into and out of the kernel", True,
     r"copy_(from|to)_(user|iter)|copy_user|rep_movs|_copy_(from|to)|skb_copy|copy_page"),
    ("waiting, waking, scheduling", True,
     r"sched|wake|wait|ep_poll|epoll|ep_|hrtimer|timerfd|futex|idle|task_switch|pick_next|enqueue_(task|entity)|"
     r"dequeue_(task|entity)|update_(curr|load)|context_switch|switch_"),
    ("system call entry", True, r"entry_SYSCALL|syscall|SYSCALL|sys_|fdget|fget|sockfd|msghdr|import_iovec|audit"),
    ("network stack, both hosts", True, r""),
    ("ICRC", False, r"crc"),
    ("copy to its place", False, r"mem(cpy|move|set)"),
    ("protocol", False, r"openmrc::(core|messages)::"),
    ("codec and data path", False, r"openmrc::(wire|datapath)::"),
    ("runtime and test program", False, r""),
]


def part_of(object_name, symbol):
    is_kernel = KERNEL in object_name
    for name, of_kernel, pattern in PARTS:
        if of_kernel == is_kernel and re.search(pattern, symbol):
            return name
    raise AssertionError("the last of each kind takes all")


def times_of(profile):
    """Nanoseconds by part."""
    text = one_hop.run("perf", "report", "-i", profile, "--stdio", "-q", "-F", "period,dso,sym", "-t", "|")
    times = dict.fromkeys((name for name, *_ in PARTS), 0)
    for line in text.splitlines():
        fields = [field.strip() for field in line.split("|", 2)]
        if len(fields) == 3 and fields[0].isdigit():
            times[part_of(fields[1], fields[2])] += int(fields[0])
    if not sum(times.values()):
        sys.exit(f"no samples in {profile}")
    return times


def measure(cable, options, folder, test, burst, *test_options, server_options=()):
    """(nanoseconds by part of what is counted, of the client and of the server)."""
    profiles = {i: os.path.join(folder, f"{i}.perf") for i in (1, 2)}
    prefix = {i: ("perf", "record", "-q", "-e", "cpu-clock", "-F", str(SAMPLES_PER_SECOND), "-o", profiles[i], "--")
              for i in (1, 2)}
    result = one_hop.mrc_test(cable, options.mrc, folder, test, burst, "verify", *test_options, prefix=prefix,
                              server_options=server_options)["results"]
    count = result["bytes"] / MTU if test == "write-bw" else result["n_iterations"]
    return [{name: time / count for name, time in times_of(profiles[i]).items()} for i in (1, 2)]


def table(head, columns):
    rows = [[name, *(f"{column[name]:,.0f}" for column in columns)] for name, *_ in PARTS]
    rows.append(["**all**", *(f"**{sum(column.values()):,.0f}**" for column in columns)])
    return page_block.table(["ns of processor time", *head], rows)


def expected(client, server):
    """Cores for a rate, if every packet costs what it does here."""
    rows = []
    for gbps in (100, 400):
        packets = gbps * 1e9 / 8 / MTU
        costs = [sum(side.values()) - without for side in (client, server) for without in (side["ICRC"], 0)]
        rows.append([f"{gbps} Gb/s", *(f"{packets * cost / 1e9:.1f}" for cost in costs)])
    return page_block.table(["cores", "to send, without ICRC", "with it", "to receive, without ICRC", "with it"], rows)


def measure_all(cable, options, folder):
    """The tables of the page, by name."""
    head, columns = [], []
    for burst in (8, 1):
        client, server = measure(cable, options, folder, "write-bw", burst, "-D", "5", "-s", "1M", "-t", "16")
        head += [f"packet sent, burst {burst}", f"received, burst {burst}"]
        columns += [client, server]
    for name, words in (("event-driven", ("--events",)), ("busy-poll", ())):
        client, _ = measure(cable, options, folder, "write-lat", one_hop.DEFAULT_BURST, "-n", "200000", *words,
                            server_options=words)
        head.append(f"2-byte write and reply, {name}")
        columns.append(client)
    return {"budget": table(head, columns), "expected": expected(*columns[:2])}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--mrc", required=True)
    parser.add_argument("--write", metavar="DOCUMENT", help="put the table between its markers there")
    options = parser.parse_args()
    if os.geteuid() != 0 or shutil.which("perf") is None:
        sys.exit("needs root, and perf: apt-get install linux-perf")
    with one_hop.Cable() as cable, tempfile.TemporaryDirectory() as folder:
        tables = measure_all(cable, options, folder)
    for name, text in tables.items():
        print(f"{name}\n{text}")
        if options.write:
            page_block.write(options.write, name, text)


if __name__ == "__main__":
    main()
