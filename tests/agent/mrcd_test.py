#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""mrcd when it cannot save, when its state cannot be read, and when there are too many clients."""

import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import time
import unittest

from mrcd import Agent

MRCD = pathlib.Path(sys.argv.pop(1)).resolve()
MRC = pathlib.Path(sys.argv.pop(1)).resolve()
ROOT = pathlib.Path(__file__).resolve().parents[2]

CLIENTS_MAX = 1000
CLIENTS_RESERVED = 64
CLIENTS_PER_USER_MAX = 256
FIRST_USER = 60001
ANSWER_MAX_S = 2

# As the user that it is told, connects so many times, says how many connections were refused, and
# keeps the others.
IDLE_CLIENTS = """
import os, select, socket, sys, time
path, count, user = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
os.setgroups([])
os.setgid(user)
os.setuid(user)
clients = []
for _ in range(count):
    client = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    client.connect(path)
    clients.append(client)
time.sleep(0.5)
poll = select.poll()
for client in clients:
    poll.register(client, select.POLLIN)
print(len(poll.poll(0)), flush=True)
sys.stdin.readline()
"""


class AgentTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.folder.chmod(0o755)  # other users connect
        self.agent = Agent(MRCD, self.folder)
        self.addCleanup(self.agent.kill)

    def ctl(self, *arguments):
        return subprocess.run([MRC, "ctl", *arguments, "--socket", str(self.agent.socket)],
                              capture_output=True, text=True, timeout=30, check=False)

    def port_state(self):
        done = self.ctl("ports", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)


class Documents(AgentTest):
    """The commands of the guide and of the man page, one after the other, in a fresh agent."""

    def assert_commands_work(self, text):
        self.agent.start()
        commands = [line.split("#")[0].split() for line in text.splitlines()
                    if re.match(r"(sudo )?mrc ctl ", line)]
        commands = [words[words.index("ctl") + 1:] for words in commands]
        self.assertIn("deny", [words[0] for words in commands])
        for words in commands:
            if words == ["watch"]:  # until it is interrupted
                continue
            done = self.ctl(*words)
            self.assertEqual(done.returncode, 0, f"{words}: {done.stderr}")
        self.assertEqual(self.ctl("show", "5").stdout.count("DENIED"), 1)

    def test_guide(self):
        self.assert_commands_work((ROOT / "docs/guide/libmrc.md").read_text(encoding="utf-8"))

    def test_man_page(self):
        text = (ROOT / "docs/man/mrc-ctl.1").read_text(encoding="utf-8")
        self.assert_commands_work(text.split(".SH EXAMPLES")[1].replace("\\-", "-"))

    def test_an_ev_that_is_not_there_is_named(self):
        self.agent.start()
        done = self.ctl("deny", "5", "b7d0@1")
        self.assertEqual(done.returncode, 1)
        self.assertIn("the profile has no EV b7d0@1; `mrc ctl show` lists those it has",
                      done.stderr)


class StateFile(AgentTest):
    def assert_refuses_to_start(self, *said):
        done = self.agent.run()
        self.assertEqual(done.returncode, 1, done.stderr)
        for each in (str(self.agent.state), "fix: ", *said):
            self.assertIn(each, done.stderr)

    def test_none_is_a_warning(self):
        self.agent.program = "/usr/bin/timeout"
        self.agent.prefix = ()
        command = ["/usr/bin/timeout", "1", str(MRCD), *self.agent.command()[1:]]
        done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
        self.assertIn(f"warning: {self.agent.state} does not exist yet", done.stderr)
        self.assertIn("serves", done.stdout)

    def test_an_empty_one_is_an_error(self):
        self.agent.state.touch()
        self.assert_refuses_to_start("the file is empty", "backup")

    def test_a_loop_of_links_is_an_error(self):
        self.agent.state.symlink_to(self.agent.state)
        self.assert_refuses_to_start("symbolic link", "Too many levels")

    def test_a_link_to_nothing_is_an_error(self):
        self.agent.state.symlink_to(self.folder / "nowhere")
        self.assert_refuses_to_start("symbolic link", "No such file")

    def test_a_folder_is_an_error(self):
        self.agent.state.mkdir()
        self.assert_refuses_to_start("not a regular file")

    def test_what_is_no_state_is_an_error(self):
        for text in ("{", "[" * 1_000_000, '{"version": 1}', "\0" * 100):
            self.agent.state.write_text(text)
            self.assert_refuses_to_start()

    def test_a_large_one_is_an_error_and_not_read(self):
        with self.agent.state.open("wb") as file:
            file.truncate(1 << 40)
        self.assert_refuses_to_start("has more than")

    def test_one_that_may_not_be_read_is_an_error(self):
        if os.geteuid() == 0:
            self.skipTest("root may read every file")
        self.agent.state.write_text("{}")
        self.agent.state.chmod(0)
        self.assert_refuses_to_start("Permission denied")


# Runs a command with a socket passed as systemd does it: sd_listen_fds(3).
PASS_SOCKET = 'exec 3<&"$0"; export LISTEN_PID=$$ LISTEN_FDS=1; exec "$@"'


class Activation(AgentTest):
    """A socket that is there before mrcd, and after it."""

    def start(self, kind=socket.SOCK_SEQPACKET):
        listener = socket.socket(socket.AF_UNIX, kind)
        self.addCleanup(listener.close)
        listener.bind(str(self.agent.socket))
        listener.listen()
        command = ["bash", "-c", PASS_SOCKET, str(listener.fileno()), *self.agent.command()]
        process = subprocess.Popen(command, pass_fds=[listener.fileno()], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        self.agent.process = process
        return process

    def test_serves_it_and_leaves_it_in_place(self):
        process = self.start()
        self.assertIn("serves", process.stdout.readline())
        self.assertEqual(self.ctl("set", "port", "1", "disabled").returncode, 0)
        self.assertTrue(self.port_state())
        process.terminate()
        self.assertEqual(process.wait(timeout=ANSWER_MAX_S), 0)
        self.assertTrue(self.agent.socket.is_socket())

    def test_another_kind_of_socket_is_an_error(self):
        process = self.start(socket.SOCK_STREAM)
        self.assertEqual(process.wait(timeout=ANSWER_MAX_S), 1)
        self.assertIn("ListenSequentialPacket=", process.stderr.read())

    def test_a_socket_for_another_process_is_not_taken(self):
        self.agent.prefix = ("env", "LISTEN_PID=1", "LISTEN_FDS=1")
        self.agent.start()
        self.assertTrue(self.port_state())


class MountNamespace:
    """With a file system of 64 KiB of its own at `folder`; lives as long as the process in it."""

    def __init__(self, folder):
        script = f"mount -t tmpfs -o size=64k state '{folder}' && echo ready; read line"
        self.process = subprocess.Popen(["unshare", "-m", "sh", "-c", script], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        if self.process.stdout.readline() != "ready\n":
            raise unittest.SkipTest("cannot mount a file system here")
        self.prefix = ("nsenter", "-t", self.process.pid, "-m")

    def close(self):
        self.process.kill()
        self.process.communicate(timeout=30)

    def shell(self, script):
        subprocess.run([*map(str, self.prefix), "sh", "-c", script], check=False, timeout=30,
                       capture_output=True)


class Saving(AgentTest):
    def setUp(self):
        if os.geteuid() != 0:
            self.skipTest("needs root, to mount file systems")
        super().setUp()
        self.place = self.folder / "state"
        self.place.mkdir()
        self.space = MountNamespace(self.place)
        self.addCleanup(self.space.close)
        self.agent = Agent(MRCD, self.folder, self.place / "mrcd.json", self.space.prefix)
        self.addCleanup(self.agent.kill)
        self.agent.start()
        self.assertEqual(self.ctl("set", "port", "1", "disabled").returncode, 0)

    def restart(self):
        self.agent.kill()
        self.agent.start()

    def assert_refused(self, *said):
        """The change is not made, and the caller reads why."""
        before = self.port_state()
        done = self.ctl("set", "port", "1", "enabled")
        self.assertEqual(done.returncode, 1)
        for each in ("not changed", str(self.place), "to fix", *said):
            self.assertIn(each, done.stderr)
        self.assertEqual(self.port_state(), before)
        self.restart()
        self.assertEqual(self.port_state(), before)

    def assert_works_again(self):
        before = self.port_state()
        done = self.ctl("set", "port", "1", "enabled")
        self.assertEqual(done.returncode, 0, done.stderr)
        after = self.port_state()
        self.assertNotEqual(after, before)
        self.restart()
        self.assertEqual(self.port_state(), after)

    def test_on_a_full_file_system_is_an_error_of_the_caller(self):
        filler = self.place / "filler"
        self.space.shell(f"cat /dev/zero > {filler}")
        self.assert_refused("No space left on device", "free space in")
        self.space.shell(f"rm {filler}")
        self.assert_works_again()

    def test_in_a_read_only_folder_is_an_error_of_the_caller(self):
        self.space.shell(f"mount -o remount,ro {self.place}")
        self.assert_refused("Read-only file system", "remount")
        self.space.shell(f"mount -o remount,rw {self.place}")
        self.assert_works_again()

    def test_every_change_is_there_after_a_kill(self):
        for state in ("enabled", "disabled") * 5:
            self.assertEqual(self.ctl("set", "port", "1", state).returncode, 0)
            shown = self.port_state()
            self.restart()
            self.assertEqual(self.port_state(), shown)


class ManyClients(AgentTest):
    def setUp(self):
        if os.geteuid() != 0:
            self.skipTest("needs root, to be several users")
        super().setUp()
        self.agent.start()

    def connect(self):
        client = self.agent.connect()
        self.addCleanup(client.close)
        return client

    def connect_as(self, user, count):
        """How many of the connections were refused; the others stay until the test ends."""
        process = subprocess.Popen([sys.executable, "-c", IDLE_CLIENTS, str(self.agent.socket),
                                    str(count), str(user)], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return int(process.stdout.readline())

    def assert_root_is_served(self):
        begin = time.monotonic()
        for arguments in (("ports",), ("set", "port", "1", "disabled")):
            done = self.ctl(*arguments)
            self.assertEqual(done.returncode, 0, done.stderr)
        self.assertLess(time.monotonic() - begin, ANSWER_MAX_S)

    def test_a_user_has_some_places_and_root_is_served(self):
        self.assertEqual(self.connect_as(FIRST_USER, CLIENTS_MAX),
                         CLIENTS_MAX - CLIENTS_PER_USER_MAX)
        self.assert_root_is_served()
        self.assertEqual(self.connect_as(FIRST_USER + 1, 10), 0)

    def test_several_users_leave_places_for_root(self):
        wanted = CLIENTS_PER_USER_MAX
        refused = [self.connect_as(FIRST_USER + i, wanted) for i in range(4)]
        self.assertEqual(sum(wanted - each for each in refused), CLIENTS_MAX - CLIENTS_RESERVED)
        self.assert_root_is_served()

    def test_who_is_refused_reads_why(self):
        # As root without an administrator's place: all of them are taken.
        clients = [self.connect() for _ in range(CLIENTS_MAX)]
        self.assertIn("1000 connections", self.connect().refusal())
        done = self.ctl("ports")
        self.assertEqual(done.returncode, 2)
        self.assertIn("mrcd has 1000 connections, and no more are allowed", done.stderr)
        clients[0].close()
        end = time.monotonic() + ANSWER_MAX_S  # it may serve the new one before it sees the old go
        while (refusal := self.connect().refusal()) and time.monotonic() < end:
            time.sleep(0.01)
        self.assertIsNone(refusal)


unittest.main(verbosity=1)
