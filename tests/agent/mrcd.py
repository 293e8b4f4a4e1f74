# SPDX-License-Identifier: BSD-3-Clause
"""An mrcd of a test's own, and a client that speaks its protocol."""

import json
import os
import pathlib
import socket
import subprocess

CONFIG = 'name = "here"\n[[port]]\ninterface = "lo"\naddress = "::1"\n'
START_MAX_S = 20
CALL_MAX_S = 20
MESSAGE_MAX = 128 * 1024


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def parse_metrics(text):
    """Values by series, as written: name{labels}."""
    samples = {}
    for line in text.splitlines():
        if not line.startswith("#"):
            series, value = line.rsplit(" ", 1)
            assert series not in samples, f"twice: {series}"
            samples[series] = float(value)
    return samples


class Agent:
    """Files in `folder`; `prefix` is a command that runs mrcd, e.g. in a mount namespace."""

    def __init__(self, program, folder, state=None, prefix=(), options=()):
        self.program = program
        self.folder = pathlib.Path(folder)
        self.socket = self.folder / "mrcd.sock"
        self.state = pathlib.Path(state) if state else self.folder / "mrcd.json"
        self.prefix = prefix
        self.options = options
        self.process = None
        (self.folder / "openmrc.toml").write_text(CONFIG)

    def command(self):
        return [*map(str, self.prefix), str(self.program), "--config",
                str(self.folder / "openmrc.toml"), "--socket", str(self.socket), "--state",
                str(self.state), *self.options]

    def start(self):
        """Returns when it serves."""
        # A build with the address sanitizer keeps little of what was freed: its memory is measured.
        options = os.environ.get("ASAN_OPTIONS", "")
        environment = os.environ | {"ASAN_OPTIONS": f"quarantine_size_mb=8:{options}"}
        self.process = subprocess.Popen(self.command(), stdout=subprocess.PIPE, env=environment,
                                        stderr=subprocess.DEVNULL, text=True)
        line = self.process.stdout.readline()
        if "serves" not in line:
            raise AssertionError(f"mrcd did not start: {line!r}")

    def run(self):
        """For one that is expected to end by itself."""
        return subprocess.run(self.command(), capture_output=True, text=True, check=False,
                              timeout=START_MAX_S)

    def kill(self):
        if self.process is None:
            return
        self.process.kill()
        self.process.communicate(timeout=START_MAX_S)
        self.process = None

    def connect(self):
        return Client(self.socket)


class Client:
    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.settimeout(CALL_MAX_S)
        self.socket.connect(str(path))
        self.calls = 0

    def close(self):
        self.socket.close()

    def receive(self):
        """The next message. An agent that closes with requests unread is a reset, and what it sent
        before comes after that."""
        try:
            message = self.socket.recv(MESSAGE_MAX)
        except ConnectionResetError:
            message = self.socket.recv(MESSAGE_MAX)
        if not message:
            raise ConnectionResetError("mrcd has closed the connection")
        return json.loads(message)

    def call(self, request, **body):
        """The whole reply; raises an OSError if the agent is gone before it answers."""
        self.calls += 1
        text = json.dumps({"call": self.calls, "request": request, "body": body})
        self.socket.send(text.encode())
        reply = self.receive()
        assert reply["call"] == self.calls, reply
        return reply

    def refusal(self):
        """Why the agent takes no connection of ours; None if it does."""
        try:
            return None if self.call("query-device")["outcome"]["error"] == 0 else "?"
        except AssertionError as error:
            return error.args[0]["outcome"]["why"]
        except BrokenPipeError:
            return self.receive()["outcome"]["why"]
