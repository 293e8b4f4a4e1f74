#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""train.py with gloo over TCP from the address in TCP_ADDRESS: gloo itself takes the first of an interface, which may
be link-local. For comparison; `mptcpize run` makes MPTCP of it."""
import os

from torch import distributed

import train


def make_process_group(store, rank, size, timeout):
    options = distributed.ProcessGroupGloo._Options()  # pylint: disable=protected-access
    options._timeout = timeout  # pylint: disable=protected-access
    options._devices = [  # pylint: disable=protected-access
        distributed.ProcessGroupGloo.create_device(hostname=os.environ["TCP_ADDRESS"])]
    return distributed.ProcessGroupGloo(store, rank, size, options)


distributed.Backend.register_backend("plain", make_process_group)
train.main()
