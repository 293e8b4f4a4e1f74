# SPDX-License-Identifier: BSD-3-Clause
"""PyTorch's distributed training over MRC.

    import openmrc.torch
    torch.distributed.init_process_group("openmrc")

The backend "openmrc" is PyTorch's own gloo with a transport that sends over all planes of the host. The host is
described by openmrc.toml: $OPENMRC_CONFIG, or /etc/openmrc/openmrc.toml.
"""
import atexit
import os

from torch import distributed

from openmrc.torch import _gloo

__all__ = ["device", "make_process_group"]

_devices = {}


def device():
    """The device of this process, which is opened when it is first asked for."""
    process = os.getpid()  # a child made by fork() needs one of its own
    if process not in _devices:
        _devices.clear()
        _devices[process] = _gloo.open_device()
    return _devices[process]


def make_process_group(store, rank, size, timeout):
    """What init_process_group and new_group call for the backend."""
    options = distributed.ProcessGroupGloo._Options()  # pylint: disable=protected-access
    options._devices = [device()]  # pylint: disable=protected-access
    options._timeout = timeout  # pylint: disable=protected-access
    return distributed.ProcessGroupGloo(store, rank, size, options)


def _close():
    # What this process sent last may not have arrived yet.
    if os.getpid() in _devices:
        _gloo.close_device(_devices[os.getpid()])


distributed.Backend.register_backend("openmrc", make_process_group)
atexit.register(_close)
