#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Trains a small transformer on several hosts with DistributedDataParallel, over MRC.

Start it on each host with RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT, as PyTorch has them, and the host's
openmrc.toml in OPENMRC_CONFIG. Rank 0 writes a line of CSV for each step: its number, when it ended, how long it took
(both in seconds), the loss.
"""
import argparse
import time

import torch
import torch.distributed as dist
from torch import nn

import openmrc.torch  # the first of the two lines

SYMBOLS, LENGTH, BATCH, WIDTH = 64, 16, 8, 128


class Model(nn.Module):
    """Says which symbol comes next."""

    def __init__(self):
        super().__init__()
        self.symbols = nn.Embedding(SYMBOLS, WIDTH)
        self.places = nn.Parameter(torch.randn(LENGTH, WIDTH) * 0.02)
        layer = nn.TransformerEncoderLayer(WIDTH, 4, 4 * WIDTH, dropout=0, batch_first=True)
        self.layers = nn.TransformerEncoder(layer, 2)
        self.output = nn.Linear(WIDTH, SYMBOLS)

    def forward(self, symbols):
        ahead = torch.triu(torch.full((LENGTH, LENGTH), float("-inf")), diagonal=1)
        return self.output(self.layers(self.symbols(symbols) + self.places, ahead))


def batch(generator):
    """Sequences in which each symbol follows from the two before it."""
    symbols = torch.randint(SYMBOLS, (BATCH, LENGTH + 1), generator=generator)
    for i in range(2, LENGTH + 1):
        symbols[:, i] = (3 * symbols[:, i - 1] + symbols[:, i - 2]) % SYMBOLS
    return symbols[:, :-1], symbols[:, 1:]


def train(steps, seed, output):
    torch.manual_seed(seed)
    model = nn.parallel.DistributedDataParallel(Model())
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    generator = torch.Generator().manual_seed(seed + 1 + dist.get_rank())  # each rank has data of its own
    for step in range(steps):
        begin = time.monotonic()
        inputs, targets = batch(generator)
        loss = nn.functional.cross_entropy(model(inputs).flatten(0, 1), targets.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        dist.all_reduce(loss.data)
        if dist.get_rank() == 0:
            end = time.monotonic()
            print(f"{step},{end:.6f},{end - begin:.6f},{loss.item() / dist.get_world_size()!r}",
                  file=output, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--backend", default="openmrc", help="openmrc, or gloo for TCP")
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", type=argparse.FileType("w"), default="-", help="CSV of rank 0")
    options = parser.parse_args()
    torch.set_num_threads(1)  # the same sums in the same order wherever it runs
    dist.init_process_group(options.backend)  # the second
    train(options.steps, options.seed, options.output)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
