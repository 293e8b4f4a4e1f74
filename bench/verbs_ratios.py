#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How fast programs of verbs and MPI are, each beside what its users would compare it with, in one lab
and one run: medians of several rounds, and their spread. Run it on a machine that does nothing else."""
import argparse
import os
import pathlib
import re
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests" / "lab"))

from lab import Lab  # noqa: E402

SERVER, CLIENT, SERVER_ADDRESS = "h0", "h1", "10.255.0.1"
EXAMPLES = HERE.parent / "examples"
LIMIT_S = 90
OVER_MRC = {"UCX_TLS": "rc_v,self", "UCX_NET_DEVICES": "openmrc0:1"}
OVER_TCP = {"UCX_TLS": "tcp,self", "UCX_NET_DEVICES": "p0"}


def pair(lab, server, client, variables=None):
    """The output of the client of two programs, which both end well."""
    words = ["env"] + [f"{name}={value}" for name, value in (variables or {}).items()]
    processes = [lab.start_program(SERVER, *words, *server)]
    time.sleep(0.7)
    processes.append(lab.start_program(CLIENT, *words, *client))
    try:
        texts = [process.communicate(timeout=LIMIT_S)[0] for process in reversed(processes)]
    finally:
        for process in processes:
            process.kill()
            process.wait()
    if any(process.returncode != 0 for process in processes):
        sys.exit(f"{' '.join(client)}: {texts}")
    return texts[0]


def column_of(text, size, iterations, column):
    """Of the row that perftest and mrc perf print for a size."""
    row = re.search(rf"^ *{size} +{iterations} +(.*)$", text, re.MULTILINE)
    if row is None:
        sys.exit(text)
    return float(row[1].split()[column])


def perf(verb, size, iterations, column):
    def measure(lab):
        words = ["mrc", "perf", verb, "-s", str(size), "-n", str(iterations)]
        return column_of(pair(lab, words, [*words, SERVER]), size, iterations, column)
    return measure


def perftest(words, size, iterations, column):
    def measure(lab):
        program = ["mrc", "run", "--quiet", "--", *words.split(), "-d", "openmrc0", "-x", "3", "-F",
                   "-s", str(size), "-n", str(iterations)]
        return column_of(pair(lab, program, [*program, SERVER_ADDRESS]), size, iterations, column)
    return measure


# Columns: of bandwidth the average behind the peak, of latency the typical one behind least and most.
AVERAGE, TYPICAL = 1, 2


def ucx(test, size, iterations, variables, column):
    def measure(lab):
        program = ["ucx_perftest", "-t", test, "-s", str(size), "-n", str(iterations), "-w", "100"]
        run = ["mrc", "run", "--quiet", "--", *program]
        text = pair(lab, run, [*run, SERVER_ADDRESS], variables)
        row = re.search(r"^Final: +(.*)$", text, re.MULTILINE)
        return float(row[1].split()[column])
    return measure


def mpi(transport, operation, size):
    """The median time of a collective of four ranks, in us."""
    def measure(lab):
        over_ucx = ["--mca", "pml", "ucx", "--mca", "osc", "ucx", "--mca", "opal_common_ucx_devices",
                    "any"]
        over_tcp = ["--mca", "pml", "ob1", "--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include",
                    "p0"]
        environment = os.environ | OVER_MRC | {
            "LAB": lab.name, "PATH": f"{pathlib.Path(lab.mrc).parent}:{os.environ['PATH']}"}
        done = subprocess.run(lab.command(
            "exec", SERVER, "--", "mpirun.openmpi", "--allow-run-as-root", "--host", "h0,h1,h2,h3",
            "-n", "4", "--mca", "plm_rsh_agent", str(EXAMPLES / "mpi" / "lab-rsh"),
            "--mca", "oob_tcp_if_include", "mgmt", *(over_ucx if transport == "mrc" else over_tcp),
            "-x", "UCX_TLS", "-x", "UCX_NET_DEVICES", "mrc", "run", "--quiet", "--", sys.executable,
            str(HERE / "mpi_times.py"), operation, str(size)), env=environment, capture_output=True,
            text=True, timeout=LIMIT_S, check=False)
        if done.returncode != 0:
            sys.exit(done.stdout + done.stderr)
        return float(done.stdout)
    return measure


# What, beside what, how it should be and whether more is better. A figure may be used several times.
FIGURES = {
    "mrc perf write-bw, 64 KiB": perf("write-bw", 65536, 20000, AVERAGE),
    "mrc perf write-bw, 1 MiB": perf("write-bw", 1048576, 1500, AVERAGE),
    "mrc perf write-lat, 2 bytes": perf("write-lat", 2, 5000, TYPICAL),
    "ib_write_bw, 64 KiB": perftest("ib_write_bw", 65536, 20000, AVERAGE),
    "ib_write_bw, 1 MiB": perftest("ib_write_bw", 1048576, 1500, AVERAGE),
    "ib_send_bw, 64 KiB": perftest("ib_send_bw", 65536, 20000, AVERAGE),
    "ib_read_bw, 64 KiB": perftest("ib_read_bw", 65536, 20000, AVERAGE),
    "ib_write_lat": perftest("ib_write_lat", 2, 5000, TYPICAL),
    "ib_send_lat": perftest("ib_send_lat", 2, 5000, TYPICAL),
    "ib_read_lat": perftest("ib_read_lat", 2, 5000, TYPICAL),
    "ib_atomic_lat": perftest("ib_atomic_lat", 8, 5000, TYPICAL),
    "ucx tag_bw, 64 KiB": ucx("tag_bw", 65536, 10000, OVER_MRC, 4),
    "ucx tag_bw, 64 KiB, tcp": ucx("tag_bw", 65536, 10000, OVER_TCP, 4),
    "ucx tag_lat, 8 bytes": ucx("tag_lat", 8, 5000, OVER_MRC, 1),
    "ucx tag_lat, 8 bytes, tcp": ucx("tag_lat", 8, 5000, OVER_TCP, 1),
    "all-reduce, 1 MiB": mpi("mrc", "allreduce", 1 << 20),
    "all-reduce, 1 MiB, tcp": mpi("tcp", "allreduce", 1 << 20),
    "all-to-all, 256 KiB": mpi("mrc", "alltoall", 1 << 18),
    "all-to-all, 256 KiB, tcp": mpi("tcp", "alltoall", 1 << 18),
}
RATIOS = (
    ("ib_write_bw, 64 KiB", "mrc perf write-bw, 64 KiB", 1, ">= 0.95"),
    ("ib_write_bw, 1 MiB", "mrc perf write-bw, 1 MiB", 1, ">= 0.95"),
    ("ib_send_bw, 64 KiB", "ib_write_bw, 64 KiB", 1, ">= 0.9"),
    ("ib_read_bw, 64 KiB", "ib_write_bw, 64 KiB", 1, ">= 0.9"),
    ("ib_write_lat", "mrc perf write-lat, 2 bytes", 1, "<= 1.1"),
    ("ib_send_lat", "mrc perf write-lat, 2 bytes", 1, "<= 1.3"),
    ("ib_read_lat", "ib_write_lat", 2, "<= 1.2"),
    ("ib_atomic_lat", "ib_write_lat", 2, "<= 1.2"),
    ("ucx tag_bw, 64 KiB", "ucx tag_bw, 64 KiB, tcp", 1, ">= 0.6"),
    ("ucx tag_lat, 8 bytes", "ucx tag_lat, 8 bytes, tcp", 1, "<= 2"),
    ("all-reduce, 1 MiB", "all-reduce, 1 MiB, tcp", 1, "<= 1.7"),
    ("all-to-all, 256 KiB", "all-to-all, 256 KiB, tcp", 1, "<= 1.7"),
)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mrc", required=True)
    parser.add_argument("--mode", default="srv6")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="", help="ratios whose name begins so")
    options = parser.parse_args()
    wanted = [ratio for ratio in RATIOS if ratio[0].startswith(options.only)]
    names = dict.fromkeys(name for ratio in wanted for name in ratio[:2])
    values = {name: [] for name in names}
    with Lab(options.mrc, options.mode, "100gbit", name="ratios") as lab:
        for number in range(options.rounds):
            for name in names:
                print(f"\rround {number + 1} of {options.rounds}: {name:40}", end="", file=sys.stderr)
                values[name].append(FIGURES[name](lab))
    print(file=sys.stderr)
    for name in names:
        ordered = sorted(values[name])
        print(f"{name:32} {statistics.median(ordered):10.2f}   {ordered[0]:.2f} to {ordered[-1]:.2f}")
    print(f"\n{'ratio':24} {'of':36} {'goal':>8} {'median':>8}   least to greatest")
    for name, other, times, goal in wanted:
        ratios = sorted(a / (b * times) for a, b in zip(values[name], values[other]))
        print(f"{name:24} {('2 x ' if times == 2 else '') + other:36} {goal:>8} "
              f"{statistics.median(ratios):8.2f}   {ratios[0]:.2f} to {ratios[-1]:.2f}")


if __name__ == "__main__":
    main()
