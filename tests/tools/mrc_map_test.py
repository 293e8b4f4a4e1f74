#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""`mrc map` with agents that say what they should, nothing, too much, or nonsense."""

import json
import socket
import socketserver
import subprocess
import sys
import threading
import time
import unittest

MRC = sys.argv.pop(1)

FABRIC = {"planes": 2, "racks": 2, "hosts_per_rack": 2, "uplinks": 2}
COUNTERS = ("rounds", "sent", "replied", "late", "repeated", "foreign", "rounds_judged",
            "rounds_host_late", "rounds_all_planes")


def page(index, bad=(), fabric=None):
    shape = fabric or FABRIC
    return json.dumps({
        "openmrc_map": 1, "host": f"h{index}", "index": index, "fabric": shape,
        "rounds_per_second": 10, "send_failures": 0, "recent_rounds": [0] * 6,
        "counters": dict.fromkeys(COUNTERS, 0), "uplinks": [{"sent": 0, "lost": 0}] * shape["planes"],
        "links": [], "slow": [],
        "bad": [{"link": link, "sent": 20, "lost": 10, "direction": "up", "loss": 0.5,
                              "for_seconds": 3.5} for link in bad]}).encode()


def http(body, status=b"200 OK"):
    return (b"HTTP/1.1 " + status + b"\r\nContent-Type: application/json\r\nContent-Length: "
            + str(len(body)).encode() + b"\r\n\r\n" + body)


class Agent:
    """Answers each connection with the same bytes; None: with none at all, for a while."""

    def __init__(self, answer):
        stop = self.stop = threading.Event()

        class Handler(socketserver.BaseRequestHandler):
            def handle(self):
                if answer is None:
                    stop.wait(20)
                    return
                try:
                    self.request.recv(4096)
                    self.request.sendall(answer)
                except OSError:
                    pass  # who asked has gone

        class Server(socketserver.ThreadingTCPServer):
            daemon_threads = True

        self.server = Server(("127.0.0.1", 0), Handler)
        self.url = f"127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.stop.set()
        self.server.shutdown()
        self.server.server_close()


class MrcMap(unittest.TestCase):
    def agent(self, answer):
        agent = Agent(answer)
        self.addCleanup(agent.close)
        return agent.url

    def run_map(self, *words):
        return subprocess.run([MRC, "map", *words], capture_output=True, text=True, timeout=60,
                              check=False)

    def test_a_bad_link_is_a_line_of_the_table(self):
        done = self.run_map(self.agent(http(page(0, ["p0.t0-0/up1"]))),
                            "http://" + self.agent(http(page(1, ["p0.t0-0/up1"]))) + "/map",
                            self.agent(http(page(2))))
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(done.stdout.splitlines(), [
            "bad          direction  loss      lost    for  agents",
            "p0.t0-0/up1  up         50 %  20 of 40  3.5 s  2 of 2",
            "1 bad element found by 3 of 3 agents."])

    def test_nothing_bad_is_success(self):
        done = self.run_map(self.agent(http(page(0))), self.agent(http(page(3))))
        self.assertEqual((done.returncode, done.stdout),
                         (0, "Nothing bad found by 2 of 2 agents.\n"))

    def test_a_switch_is_named_instead_of_its_links(self):
        done = self.run_map("--json", self.agent(http(page(0, ["p1.t0-0/up0"]))),
                            self.agent(http(page(2, ["p1.t0-1/up0"]))))
        self.assertEqual([bad["name"] for bad in json.loads(done.stdout)["bad"]], ["p1.t1-0"])

    def test_an_agent_that_cannot_be_read_is_named_and_others_count(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            nobody = f"127.0.0.1:{free.getsockname()[1]}"
        answers = {
            "Connection refused": nobody,
            "HTTP status 404": self.agent(http(b"no", b"404 Not Found")),
            "this is no HTTP": self.agent(b"\x00\xff" * 100),
            "this is no page of a mapper": self.agent(http(b"{}")),
            "the page is damaged": self.agent(http(page(0, ["p0.t0-1/up1"]))),
            "the answer is too long": self.agent(http(b" " * (5 << 20))),
        }
        for why, url in answers.items():
            with self.subTest(why):
                done = self.run_map(self.agent(http(page(0))), url)
                self.assertEqual(done.returncode, 3, done.stdout + done.stderr)
                self.assertIn(f"{url}: {why}\n", done.stdout)
                self.assertIn("Nothing bad found by 1 of 2 agents.", done.stdout)

    def test_slow_agents_cost_the_timeout_once(self):
        slow = [self.agent(None) for _ in range(8)]
        begin = time.monotonic()
        done = self.run_map("--timeout", "500ms", *slow)
        self.assertEqual(done.returncode, 3)
        self.assertLess(time.monotonic() - begin, 0.5 * len(slow))
        self.assertEqual(done.stdout.count("the answer does not end"), len(slow))

    def test_an_agent_of_another_fabric_is_left_out(self):
        other = dict(FABRIC, planes=4)
        done = self.run_map(self.agent(http(page(0))),
                            self.agent(http(page(1, ["p0.t0-0/up1"], other))))
        self.assertEqual(done.returncode, 3)
        self.assertIn("h1: left out", done.stdout)

    def test_words_that_are_no_agents_are_refused(self):
        for words in ([], ["h0:port"], ["http://"], [":9917"], ["h0 h1"]):
            with self.subTest(words):
                done = self.run_map(*words)
                self.assertEqual(done.returncode, 1)
                self.assertIn("mrc map: ", done.stderr)

    def test_the_plan_of_a_fabric_is_for_people_and_programs(self):
        text = "planes = 8\nracks = 512\nhosts_per_rack = 256\nuplinks = 256\n"
        run = lambda *words: subprocess.run([MRC, "map", "plan", "-", *words], input=text, text=True,
                                            capture_output=True, timeout=60, check=True).stdout
        self.assertIn("uplink, whole rack", run("--rounds", "1000"))
        plan = json.loads(run("--rounds", "1000", "--json"))
        self.assertEqual(plan["packets_per_second"]["nic"], 24000)
        self.assertEqual(plan["bits_per_second"]["nic_port"], 3000 * 166 * 8)
        by_loss = {one["loss"]: one for one in plan["found_after_seconds"]}
        self.assertLess(by_loss[0.01]["uplink_by_rack"], by_loss[0.01]["uplink"])
        self.assertEqual(sorted(by_loss), [1e-5, 1e-4, 1e-3, 1e-2, 1])

    def test_a_slow_link_is_named_with_its_delay(self):
        pages = []
        for index in range(2):
            one = json.loads(page(index))
            one["slow"] = [{"link": "p1.t0-0/up0", "delay_seconds": 0.00101}]
            pages.append(self.agent(http(json.dumps(one).encode())))
        done = self.run_map(*pages)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(done.stdout.splitlines()[1].split(),
                         ["p1.t0-0/up0", "slow", "+1", "ms", "2", "of", "2"])

    def test_losses_of_a_rack_are_added_up(self):
        fabric = {"planes": 2, "racks": 2, "hosts_per_rack": 8, "uplinks": 64}
        pages = []
        for index in range(8):
            one = json.loads(page(index, fabric=fabric))
            one["recent_rounds"] = [64000] * 6
            one["links"] = [{"link": "p1.t0-0/up7", "sent": 1000, "lost": 2, "recent_lost": [2] * 6,
                             "recent_lost_up": [2] * 6, "recent_lost_down": [0] * 6}]
            pages.append(self.agent(http(json.dumps(one).encode())))
        done = self.run_map("--json", *pages)
        self.assertEqual(done.returncode, 1, done.stderr)
        found, = json.loads(done.stdout)["bad"]
        self.assertEqual((found["name"], found["direction"], found["by_rack"], found["found_by"]),
                         ("p1.t0-0/up7", "up", True, 8))
        self.assertEqual(self.run_map(*pages[:2]).returncode, 0)

    def test_a_simulation_depends_on_its_seed_only(self):
        text = "planes = 4\nracks = 4\nhosts_per_rack = 16\nuplinks = 16\n"
        run = lambda *words: subprocess.run(
            [MRC, "map", "simulate", "-", "--bad", "5", "--loss", "1", "0.1", "--length", "40s", *words],
            input=text, text=True, capture_output=True, timeout=60, check=True).stdout
        self.assertEqual(run("--threads", "1"), run("--threads", "4"))
        found = json.loads(run("--json"))
        self.assertEqual((found["named"], found["bad_links"], found["false_names"]), (5, 5, []))
        self.assertNotEqual(run(), run("--seed", "2"))


if __name__ == "__main__":
    unittest.main()
