#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""One rank of tests/torch/lab_test.py: each collective operation against what it must give.

    rank.py collectives        every operation, data type and size once
    rank.py loop SECONDS       the same again and again, until the time is over
    rank.py wait               operations without end, until one of them raises
    rank.py groups             groups of some of the ranks, and operations at the same time
    rank.py late               rank 1 sends too late what the others wait for; then they make a new group

Prints one line of JSON at its end. RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT as PyTorch has them.
"""
import datetime
import json
import os
import sys
import time

import torch
import torch.distributed as dist

import openmrc.torch  # pylint: disable=unused-import

TYPES = (torch.float32, torch.float64, torch.float16, torch.int64, torch.int32, torch.uint8)
# Elements: nothing to split, with a rest, just around what is sent at once, up to 16 MiB of float32.
SIZES = (1, 7, 1000, 4096, 4097, 65_537, 1 << 20)
LONGEST = 4 << 20


def pattern(rank, size, dtype):
    """Small integers, so that sums are exact in every type."""
    return ((torch.arange(size) * 3 + rank * 5) % 11).to(dtype)


def check(name, actual, expected):
    if not torch.equal(actual, expected):
        wrong = (actual != expected).nonzero().flatten()
        raise AssertionError(f"{name}: rank {dist.get_rank()}, {actual.numel()} of {actual.dtype}: "
                             f"{wrong.numel()} wrong, from {wrong[0].item()}")


class Operations:
    """Each operation with tensors of one size and type."""

    def __init__(self, size, dtype):
        self.rank, self.world = dist.get_rank(), dist.get_world_size()
        self.size, self.dtype = size, dtype
        self.all = [pattern(rank, size, dtype) for rank in range(self.world)]
        self.mine = self.all[self.rank]
        self.sum = torch.stack([one.to(torch.float64) for one in self.all]).sum(0).to(dtype)

    def empty(self, count):
        return [torch.zeros(self.size, dtype=self.dtype) for _ in range(count)]

    def all_reduce(self):
        tensor = self.mine.clone()
        dist.all_reduce(tensor)
        check("all_reduce", tensor, self.sum)
        tensor = self.mine.clone()
        dist.all_reduce(tensor, op=dist.ReduceOp.MAX)
        check("all_reduce MAX", tensor, torch.stack(self.all).max(0).values)

    def reduce(self):
        for root in range(self.world):
            tensor = self.mine.clone()
            dist.reduce(tensor, root)
            if self.rank == root:
                check("reduce", tensor, self.sum)

    def broadcast(self):
        for root in range(self.world):
            tensor = self.mine.clone()
            dist.broadcast(tensor, root)
            check("broadcast", tensor, self.all[root])

    def all_gather(self):
        outputs = self.empty(self.world)
        dist.all_gather(outputs, self.mine)
        check("all_gather", torch.cat(outputs), torch.cat(self.all))

    def gather(self):
        outputs = self.empty(self.world) if self.rank == 1 else None
        dist.gather(self.mine, outputs, dst=1)
        if outputs:
            check("gather", torch.cat(outputs), torch.cat(self.all))

    def scatter(self):
        output = torch.zeros(self.size, dtype=self.dtype)
        dist.scatter(output, [one + 1 for one in self.all] if self.rank == 0 else None, src=0)
        check("scatter", output, self.mine + 1)

    def all_to_all(self):
        output = torch.zeros(self.size * self.world, dtype=self.dtype)
        dist.all_to_all_single(output, torch.cat([self.mine + to for to in range(self.world)]))
        check("all_to_all", output, torch.cat([one + self.rank for one in self.all]))
        # Of different lengths, some of them nothing.
        counts = [[(a + b) % 3 * (self.size // 2) for b in range(self.world)]
                  for a in range(self.world)]
        inputs = [self.mine[:1].repeat(count) for count in counts[self.rank]]
        sizes = [counts[source][self.rank] for source in range(self.world)]
        output = torch.zeros(sum(sizes), dtype=self.dtype)
        dist.all_to_all_single(output, torch.cat(inputs), sizes, counts[self.rank])
        check("all_to_all of different lengths", output,
              torch.cat([self.all[source][:1].repeat(size) for source, size in enumerate(sizes)]))

    def send_and_receive(self):
        after, before = (self.rank + 1) % self.world, (self.rank - 1) % self.world
        output = torch.zeros(self.size, dtype=self.dtype)
        sent = dist.isend(self.mine, after, tag=3)
        received = dist.irecv(output, before, tag=3)
        sent.wait()
        received.wait()
        check("send", output, self.all[before])

    def receive_from_any(self):
        if self.rank == 0:
            seen = set()
            for _ in range(self.world - 1):
                output = torch.zeros(self.size, dtype=self.dtype)
                source = dist.recv(output)
                check("receive from any", output, self.all[source])
                seen.add(source)
            if seen != set(range(1, self.world)):
                raise AssertionError(f"receive from any: messages of {seen}")
        else:
            dist.send(self.mine, 0)
        dist.barrier()

    def run(self):
        for operation in (self.all_reduce, self.reduce, self.broadcast, self.all_gather, self.gather,
                          self.scatter, self.all_to_all, self.send_and_receive,
                          self.receive_from_any):
            operation()
        dist.barrier()


def collectives():
    count = 0
    for dtype in TYPES:
        for size in SIZES:
            Operations(size, dtype).run()
            count += 1
    longest = Operations(LONGEST, torch.float32)
    longest.all_reduce()
    longest.broadcast()
    longest.send_and_receive()
    objects = [None] * dist.get_world_size()
    dist.all_gather_object(objects, {"rank": dist.get_rank()})
    if objects != [{"rank": rank} for rank in range(dist.get_world_size())]:
        raise AssertionError(f"all_gather_object: {objects}")
    return {"rounds": count}


def loop(seconds):
    """Until rank 0 says that the time is over: all must do the same."""
    end, count = time.monotonic() + seconds, 0
    while True:
        Operations(SIZES[count % len(SIZES)], TYPES[count % len(TYPES)]).run()
        count += 1
        goes_on = torch.tensor([int(time.monotonic() < end)])
        dist.broadcast(goes_on, 0)
        if not goes_on.item():
            return {"rounds": count}


def wait():
    print("begun", flush=True)
    try:
        while True:
            Operations(65_537, torch.float32).all_reduce()
    except RuntimeError as error:
        return {"error": str(error), "at": time.time()}


def groups():
    """Groups of their own, of which two work at the same time."""
    world, rank = dist.get_world_size(), dist.get_rank()
    halves = [dist.new_group(list(range(first, world, 2))) for first in (0, 1)]
    everybody = dist.new_group()
    works, tensors = [], []
    for step in range(50):
        for group in (halves[rank % 2], everybody):
            tensors.append(torch.full((3000 * (step % 7 + 1),), float(rank + step)))
            works.append(dist.all_reduce(tensors[-1], group=group, async_op=True))
    for work in works:
        work.wait()
    for step in range(50):
        half = sum(other + step for other in range(rank % 2, world, 2))
        check("half", tensors[2 * step], torch.full_like(tensors[2 * step], half))
        total = sum(other + step for other in range(world))
        check("everybody", tensors[2 * step + 1], torch.full_like(tensors[2 * step + 1], total))
    return {"works": len(works)}


def late():
    try:
        if dist.get_rank() == 1:
            time.sleep(8)
        dist.all_reduce(torch.ones(10))
        return {}
    except RuntimeError as error:
        text = str(error)
    dist.destroy_process_group()
    os.environ["MASTER_PORT"] = str(int(os.environ["MASTER_PORT"]) + 1000)
    dist.init_process_group("openmrc")
    Operations(65_537, torch.float32).run()
    return {"error": text, "again": True}


def main():
    timeout = datetime.timedelta(seconds=float(os.environ.get("TIMEOUT", "60")))
    torch.set_num_threads(1)
    dist.init_process_group("openmrc", timeout=timeout)
    mode, arguments = sys.argv[1], [float(one) for one in sys.argv[2:]]
    modes = {"collectives": collectives, "loop": loop, "wait": wait, "groups": groups, "late": late}
    result = modes[mode](*arguments)
    print(json.dumps({"rank": dist.get_rank()} | result), flush=True)


if __name__ == "__main__":
    main()
