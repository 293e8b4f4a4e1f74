#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Kills mrcd with SIGKILL while changes are made. No change that it has acknowledged may be lost.

    tests/agent/kill.py --mrcd build/dev/tools/mrcd --kills 500

Each profile has a counter in its vendor bytes, which only grows. After a kill the agent, started
again, must have the last acknowledged count, or the one that was in flight.
"""

import argparse
import json
import random
import sys
import tempfile
import threading
import time

from mrcd import Agent

PROFILES = (1, 2, 3)
COUNTER_BYTES = 4
KILL_AFTER_MAX_S = 0.1


def encoded(count):
    return list(count.to_bytes(COUNTER_BYTES, "little"))


def decoded(vendor):
    return int.from_bytes(bytes(vendor).ljust(COUNTER_BYTES, b"\0"), "little")


class Counters:
    def __init__(self):
        self.acknowledged = dict.fromkeys(PROFILES, 0)
        self.asked = dict.fromkeys(PROFILES, 0)

    def change(self, client, profile):
        self.asked[profile] = self.acknowledged[profile] + 1
        reply = client.call("modify-cc-profile", id=profile,
                            change={"state": "OFFLINE", "algorithm": "",
                                    "vendor": encoded(self.asked[profile])})
        if reply["outcome"]["error"] != 0:
            raise AssertionError(reply)
        self.acknowledged[profile] = self.asked[profile]

    def check(self, client):
        """How many acknowledged changes are lost."""
        lost = 0
        for profile in PROFILES:
            found = decoded(client.call("query-cc-profile", id=profile)["body"]["vendor"])
            if found not in (self.acknowledged[profile], self.asked[profile]):
                print(f"profile {profile}: {self.acknowledged[profile]} acknowledged, "
                      f"{self.asked[profile]} asked for, {found} found", flush=True)
                lost += 1
            self.acknowledged[profile] = self.asked[profile] = found
        return lost


def change_until_killed(agent, counters, delay):
    """Returns how many changes were acknowledged."""
    client = agent.connect()
    killer = threading.Timer(delay, agent.process.kill)
    count = 0
    try:
        killer.start()
        while True:
            counters.change(client, PROFILES[count % len(PROFILES)])
            count += 1
    except OSError:
        return count
    finally:
        killer.join()
        client.close()
        agent.kill()


def is_whole(state):
    """The file is there as a whole, or not at all before the first change."""
    if not state.exists():
        return True
    try:
        json.loads(state.read_text())
        return True
    except ValueError:
        return False


def run(program, kills, seed):
    choices = random.Random(seed)
    counters = Counters()
    changes = lost = corrupt = 0
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        agent = Agent(program, folder)
        try:
            for _ in range(kills):
                agent.start()
                client = agent.connect()
                lost += counters.check(client)
                client.close()
                changes += change_until_killed(agent, counters, choices.uniform(0, KILL_AFTER_MAX_S))
                corrupt += 0 if is_whole(agent.state) else 1
            agent.start()
            client = agent.connect()
            lost += counters.check(client)
            client.close()
        finally:
            agent.kill()
    print(f"{kills} kills during {changes} changes in {time.monotonic() - begin:.0f} s: "
          f"{lost} acknowledged changes lost, {corrupt} corrupt files")
    return lost == 0 and corrupt == 0 and changes > 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mrcd", required=True)
    parser.add_argument("--kills", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    sys.exit(0 if run(options.mrcd, options.kills, options.seed) else 1)


main()
