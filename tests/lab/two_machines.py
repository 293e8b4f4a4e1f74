#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Gives the commands of docs/guide/two-machines.md on two hosts made of namespaces, with two cables.

Lines that begin with `a$` or `b$` are run on that host, one after the other, by a user without
privileges; those behind `sudo` by root. A server runs until what its client does is done. What the
document does "in another terminal" happens while the transfer before it runs.
"""
import argparse
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

DOCUMENT = pathlib.Path(__file__).resolve().parents[2] / "docs/guide/two-machines.md"
COMMAND = re.compile(r"^([ab])\$ (.*)$", re.MULTILINE)
SERVERS = {"mrc ping --serve", "mrc perf write-bw"}
UNPRIVILEGED = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups",
                "--bounding-set", "-all", "--inh-caps", "-all"]
COMMAND_MAX_S = 60
SERVER_READY_S = 1.0


class Host:
    """A network namespace with the /sys that belongs to it, a folder and a user's environment."""

    def __init__(self, name, folder, mrc):
        self.name = name
        self.home = pathlib.Path(folder) / name
        self.home.mkdir()
        self.environment = {"PATH": f"{mrc.parent}:{os.environ['PATH']}", "LC_ALL": "C.UTF-8",
                            "PWD": str(self.home), "OPENMRC_RUNTIME_DIR": str(self.home / "run")}
        (self.home / "run").mkdir(mode=0o700)
        for path in (self.home, self.home / "run"):
            os.chown(path, 65534, 65534)
        self.holder = subprocess.Popen(["unshare", "-n", "-m", "sh", "-c",
                                        "mount -t sysfs sysfs /sys; echo ready; read line"],
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.holder.stdout.readline()

    def start(self, command):
        """Of the document, as a process."""
        is_root = command.startswith("sudo ")
        words = [] if is_root else UNPRIVILEGED
        return subprocess.Popen(
            ["nsenter", "-t", str(self.holder.pid), "-n", "-m", f"--wd={self.home}", *words, "bash", "-c",
             f"exec {command.removeprefix('sudo ')}" if ">>" not in command else command],
            cwd=self.home, env=self.environment, text=True, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT)

    def close(self):
        self.holder.kill()
        self.holder.communicate(timeout=30)


class Failure(Exception):
    pass


def finish(process, command, expected=0):
    try:
        text = process.communicate(timeout=COMMAND_MAX_S)[0]
    except subprocess.TimeoutExpired:
        process.kill()
        raise Failure(f"{command}: takes too long\n{process.communicate()[0]}") from None
    print(text, end="", flush=True)
    if process.returncode != expected:
        raise Failure(f"{command}: exit code {process.returncode}")
    return text


def run(host, command):
    print(f"{host.name}$ {command}", flush=True)
    if command.startswith("export "):
        name, value = command.removeprefix("export ").split("=", 1)
        host.environment[name] = value.replace("$PWD", str(host.home))
        return ""
    return finish(host.start(command), command)


def steps_of(text):
    """[[(host, command), ...], ...]: the code blocks with commands."""
    blocks = re.findall(r"```console\n(.*?)```", text, re.DOTALL)
    return [COMMAND.findall(block) for block in blocks if COMMAND.search(block)]


def serve_and_use(hosts, block, meanwhile):
    """A block that starts a server on one host and a client on the other."""
    (server_host, server_command), (client_host, client_command) = block
    server = hosts[server_host].start(server_command)
    try:
        time.sleep(SERVER_READY_S)
        client = hosts[client_host].start(client_command)
        try:
            if meanwhile:
                time.sleep(2)
            for host, command in meanwhile:
                run(hosts[host], command)
            text = finish(client, client_command)
        finally:
            client.kill()
        if server_command == "mrc ping --serve":
            server.send_signal(signal.SIGINT)
        served = finish(server, server_command)
    finally:
        server.kill()
        server.communicate()
    return text, served


def check(block, text, served, was_cut):
    """That the commands did what the document says of them."""
    if "ping" in block[1][1]:
        rows = [line.split() for line in text.splitlines()[1:]]
        planes = {row[0] for row in rows}
        if planes != {"p0", "p1"} or any(row[2] != "0%" for row in rows):
            raise Failure("not every path of both planes responded")
    elif not re.search(r"[1-9]\d* messages of \S+ verified", served):
        raise Failure("nothing was verified")
    elif not was_cut:
        raise Failure("no cable was pulled meanwhile")


def cables(hosts):
    """With numbers that differ at both ends: Linux then reports a lost carrier at once."""
    a, b = (hosts[name].holder.pid for name in "ab")
    for i, name in enumerate(("eth0", "eth1")):
        subprocess.run(["nsenter", "-t", str(a), "-n", "ip", "link", "add", "name", name, "index",
                        str(100 + i), "type", "veth", "peer", "name", name, "index", str(200 + i),
                        "netns", str(b)], check=True)
    for pid in (a, b):
        subprocess.run(["nsenter", "-t", str(pid), "-n", "sh", "-c",
                        "sysctl -q -e -w net.ipv6.conf.all.disable_ipv6=1; ip link set dev lo up"],
                       check=True)


def give_all(hosts, blocks):
    used = 0
    while blocks:
        block = blocks.pop(0)
        if len(block) == 2 and block[0][1] in SERVERS:
            meanwhile = []
            if blocks and all(host == "a" for host, _ in blocks[0]) and "perf" in block[0][1]:
                meanwhile = blocks.pop(0)
            check(block, *serve_and_use(hosts, block, meanwhile), bool(meanwhile))
            used += 1
        else:
            for host, command in block:
                run(hosts[host], command)
    if used != 2:
        raise Failure(f"{used} servers were used instead of 2: has the document changed?")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mrc", required=True)
    options = parser.parse_args()
    if os.geteuid() != 0:
        print("needs root, for network namespaces")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        mrc = pathlib.Path(shutil.copy(options.mrc, pathlib.Path(folder) / "mrc"))
        hosts = {}
        try:
            for name in "ab":
                hosts[name] = Host(name, folder, mrc)
            cables(hosts)
            give_all(hosts, steps_of(DOCUMENT.read_text(encoding="utf-8")))
        except Failure as failure:
            print(failure)
            return 1
        finally:
            for host in hosts.values():
                host.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
