#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A rank of an MPI job that times a collective: mpi_times.py allreduce|alltoall BYTES. The first prints
the median, in us."""
import statistics
import sys
import time

import numpy
from mpi4py import MPI

WARM_UP, TIMES = 20, 200

operation, size = sys.argv[1], int(sys.argv[2])
comm = MPI.COMM_WORLD
given = numpy.ones(size // 8)
taken = numpy.empty_like(given)
run = {"allreduce": comm.Allreduce, "alltoall": comm.Alltoall}[operation]
times = []
for _ in range(WARM_UP + TIMES):
    comm.Barrier()
    began = time.perf_counter()
    run(given, taken)
    times.append(time.perf_counter() - began)
if comm.Get_rank() == 0:
    print(f"{statistics.median(times[WARM_UP:]) * 1e6:.1f}")
