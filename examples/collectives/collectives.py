#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A rank of an MPI job: random collectives and messages for some time, every result compared with what it
must be. All ranks draw the same from the same seed."""
import argparse
import random
import sys
import time

import numpy
from mpi4py import MPI

COMM = MPI.COMM_WORLD
RANK, SIZE = COMM.Get_rank(), COMM.Get_size()
LENGTH_MAX = 1 << 18


def part(rank, number, length):
    """What a rank contributes to operation `number`."""
    return (numpy.arange(length, dtype=numpy.int64) * 7 + 31 * rank + 1009 * number) % 65521


def check(got, expected, what):
    if not numpy.array_equal(got, expected):
        sys.stderr.write(f"rank {RANK}: {what} is wrong\n")
        COMM.Abort(3)


def allreduce(number, length, _):
    got = numpy.empty(length, dtype=numpy.int64)
    COMM.Allreduce(part(RANK, number, length), got)
    check(got, sum(part(rank, number, length) for rank in range(SIZE)), "allreduce")


def broadcast(number, length, root):
    got = part(root, number, length) if root == RANK else numpy.empty(length, dtype=numpy.int64)
    COMM.Bcast(got, root)
    check(got, part(root, number, length), "broadcast")


def allgather(number, length, _):
    got = numpy.empty((SIZE, length), dtype=numpy.int64)
    COMM.Allgather(part(RANK, number, length), got)
    check(got, numpy.stack([part(rank, number, length) for rank in range(SIZE)]), "allgather")


def alltoall(number, length, _):
    got = numpy.empty((SIZE, length), dtype=numpy.int64)
    mine = numpy.stack([part(RANK, number + to, length) for to in range(SIZE)])
    COMM.Alltoall(mine, got)
    check(got, numpy.stack([part(rank, number + RANK, length) for rank in range(SIZE)]), "alltoall")


def scatter(number, length, root):
    got = numpy.empty(length, dtype=numpy.int64)
    all_parts = numpy.stack([part(to, number, length) for to in range(SIZE)]) if root == RANK else None
    COMM.Scatter(all_parts, got, root)
    check(got, part(RANK, number, length), "scatter")


def ring(number, length, _):
    got = numpy.empty(length, dtype=numpy.int64)
    COMM.Sendrecv(part(RANK, number, length), (RANK + 1) % SIZE, 5, got, (RANK - 1) % SIZE, 5)
    check(got, part((RANK - 1) % SIZE, number, length), "message")


def one_sided(number, length, target):
    """Everybody adds to the memory of one."""
    memory = numpy.zeros(length, dtype=numpy.int64)
    window = MPI.Win.Create(memory, disp_unit=8, comm=COMM)
    window.Fence()
    window.Accumulate(part(RANK, number, length), target, op=MPI.SUM)
    window.Fence()
    window.Free()
    if RANK == target:
        check(memory, sum(part(rank, number, length) for rank in range(SIZE)), "accumulate")


OPERATIONS = (allreduce, broadcast, allgather, alltoall, scatter, ring, one_sided)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    draw = random.Random(options.seed)
    end = time.monotonic() + options.seconds
    number, longest = 0, 0.0
    # The first rank says when it is over: clocks differ.
    while COMM.bcast(time.monotonic() < end, 0):
        began = time.monotonic()
        draw.choice(OPERATIONS)(number, int(LENGTH_MAX ** draw.random()), draw.randrange(SIZE))
        longest = max(longest, time.monotonic() - began)
        number += 1
    if RANK == 0:
        print(f"{number} operations of {SIZE} ranks, all right; the longest took {longest:.3f} s")


if __name__ == "__main__":
    main()
