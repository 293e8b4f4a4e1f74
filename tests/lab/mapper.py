#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Breaks links of a lab of four planes in which an agent on every host maps, and looks whether
`mrc map` names what was broken, how soon, and nothing else.

The time to the verdict is that from the fault's taking effect to the first reading that names it; a
reading takes some tens of milliseconds. Without faults, agents are stopped (SIGSTOP), at times all
processes of all hosts, and the machine is kept busy; nothing may be named.

--long is for a machine with hours: 100 trials of each kind with eight hosts, while they send to each other as fast as
the links allow, after an hour without faults. --each, --kinds, --quiet and --load choose parts of it. A link in each
plane is broken at once. That takes 5 to 15 s, most of which is until `mrc map` no longer names them; 0.1 % or a delay may
take minutes. At the end there is a table by kind: trials, those that named the link, and with its direction, other names that were read
meanwhile, and the time to the name. --json writes it to a file, with all trials.
"""
import argparse
import contextlib
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

from lab import Lab

ROUNDS = 200
START_MAX_S = 20
HEAL_MAX_S = 60
PORT = 9917
RACKS, UPLINKS, PLANES = 2, 2, 4
HOSTS, HOSTS_LONG = 4, 8
# Two processors fill all links of the second rate at once.
RATE, RATE_LOADED = "1gbit", "20mbit"
# Without faults: how often all processes of all hosts are stopped, not one agent.
ALL_STOP = 0.2

# kind: loss, what breaks it, seconds in which it must be named
KINDS = {
    "cut": (1.0, "cut", 5),
    "silent": (1.0, "silent", 5),
    "20%": (0.2, "silent", 10),
    "1%": (0.01, "silent", 60),
    "0.1%": (0.001, "silent", 600),
    "corrupt": (0.2, "corrupt", 20),
    "slow": (0, "slow", 60),
    "up": (1.0, "one-way", 5),
    "down": (1.0, "one-way", 5),
    "20%-up": (0.2, "one-way", 10),
    "20%-down": (0.2, "one-way", 10),
}
# What the short form tries: uplinks and host links, and both racks.
SHORT = [("cut", "p1.t0-0/up0"), ("cut", "h3/p2"), ("silent", "p3.t0-1/up1"), ("20%", "p0.t0-0/up1"),
         ("20%", "h1/p3"), ("up", "p2.t0-1/up0"), ("down", "p2.t0-0/up1"),
         ("20%-down", "p1.t0-1/up1"), ("1%", "p0.t0-1/up0"), ("corrupt", "p3.t0-0/up0")]


class Agents:
    """An mrcd on each host, which end with the test."""

    def __init__(self, lab, mrcd, folder, hosts):
        self.lab, self.mrcd, self.folder = lab, mrcd, pathlib.Path(folder)
        self.hosts = hosts
        self.processes = {}

    def __enter__(self):
        for host in self.hosts:
            self.start(host)
        return self

    def __exit__(self, *_):
        for process in self.processes.values():
            process.send_signal(signal.SIGCONT)
            process.terminate()
        for process in self.processes.values():
            process.communicate(timeout=START_MAX_S)

    def socket(self, host):
        return self.folder / f"{host}.sock"

    def kill(self, host):
        self.processes[host].kill()
        self.processes.pop(host).communicate(timeout=START_MAX_S)

    def start(self, host):
        config = pathlib.Path(f"/run/openmrc/labs/{self.lab.name}/{host}/openmrc.toml").read_text(
            encoding="utf-8")
        config += (f"[mapper]\nenabled = true\nrounds_per_second = {ROUNDS}\n"
                   f"deny = {'true' if host == 'h0' else 'false'}\n"
                   f"[agent]\nlisten = \"[::]:{PORT}\"\n")
        file = self.folder / f"{host}.toml"
        file.write_text(config, encoding="utf-8")
        # Not by `mrc lab exec`, so that the process that is stopped is the agent.
        space = f"mrc-{self.lab.name}-{host}"
        process = subprocess.Popen(
            ["ip", "netns", "exec", space, self.mrcd, "--config", file, "--socket",
             self.socket(host), "--state", self.folder / f"{host}.json"],
            text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        if "serves" not in process.stdout.readline():
            sys.exit(f"mrcd of {host} did not start")
        self.processes[host] = process


class Load:
    """Hosts of the first rack and of the second send to each other, both ways, until the end."""

    def __init__(self, lab, hosts):
        half = len(hosts) // 2
        self.processes = []
        for here, there in zip(hosts[:half], hosts[half:]):
            self.start(lab, there)
            time.sleep(1)
            self.start(lab, here, there, "--duration", "86400", "--bidirectional")

    def start(self, lab, host, *words):
        self.processes.append(subprocess.Popen(
            lab.command("exec", host, "--", "mrc", "perf", "write-bw", "--quiet", "--size", "1M", *words),
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))

    def all_run(self):
        return all(process.poll() is None for process in self.processes)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self.processes:
            process.terminate()
        for process in self.processes:
            process.communicate(timeout=START_MAX_S)


class Map:
    def __init__(self, lab, hosts):
        self.lab, self.hosts = lab, hosts

    def read(self):
        """The bad elements by name, with all that is said of them."""
        done = subprocess.run(
            self.lab.command("exec", "h0", "--", "mrc", "map", "--json", "--timeout", "5s",
                             *(f"{host}:{PORT}" for host in self.hosts)),
            capture_output=True, text=True, timeout=30, check=False)
        answer = json.loads(done.stdout)
        expected = 1 if answer["bad"] else 0
        if done.returncode != expected or answer["agents_unread"]:
            raise AssertionError(f"exit status {done.returncode}: {done.stdout}{done.stderr}")
        return {bad["name"]: bad for bad in answer["bad"]}

    def until(self, condition, seconds):
        """What was read when it was so, and when; None if it never was."""
        end = time.monotonic() + seconds
        while True:
            found = self.read()
            if condition(found):
                return found, time.monotonic_ns()
            if time.monotonic() > end:
                return None
            time.sleep(0.02)


def full_name(link, hosts):
    """Of a host's link from the side of its T0, as agents call it."""
    if not link.startswith("h"):
        return link
    host, plane = link.split("/")
    number = int(host[1:])
    rack, downlink = divmod(number, hosts // RACKS)
    return f"{plane}.t0-{rack}/down{downlink}"


def nft(space, *lines):
    subprocess.run(["ip", "netns", "exec", space, "nft", "-f", "-"], input="\n".join(lines),
                   text=True, check=True, timeout=10)


def at_t0(lab, link, hook, loss, verdict):
    """What happens to a part of the packets of one direction of an uplink, at its T0: up is what leaves it there."""
    switch, interface = link.split("/")
    part = "" if loss >= 1 else f"numgen random mod 10000 < {int(loss * 10000)} "
    nft(f"mrc-{lab.name}-{switch}", "add table netdev broken",
        f"add chain netdev broken faults {{ type filter hook {hook} device \"{interface}\" "
        "priority 0; }", f"add rule netdev broken faults {part}counter {verdict}")
    return lambda: nft(f"mrc-{lab.name}-{switch}", "delete table netdev broken")


def break_one_way(lab, link, loss, direction):
    return at_t0(lab, link, "egress" if direction == "up" else "ingress", loss, "drop")


def corrupt(lab, link, loss):
    """A byte of the payload: 40 bytes of IPv6 twice, UDP, and 32 of what is in a probe before its tag."""
    at_byte = (40 + 40 + 8 + 32) * 8
    return at_t0(lab, link, "egress", loss, f"@nh,{at_byte},8 set 0xa5")


def slow_down(lab, link, milliseconds=1):
    """Packets that go up take so much longer."""
    switch, interface = link.split("/")
    plane, t0 = switch.split(".")
    rack, uplink = t0.split("-")[1], interface.removeprefix("up")
    program = pathlib.Path(__file__).with_name("delay_link.py")
    process = subprocess.Popen(
        [sys.executable, program, f"mrc-{lab.name}-{switch}", interface, f"mrc-{lab.name}-{plane}.t1-{uplink}",
         f"down{rack}", str(milliseconds)], stdout=subprocess.PIPE, text=True)
    if "delays" not in process.stdout.readline():
        sys.exit("delay_link.py did not start")

    def heal():
        process.terminate()
        process.communicate(timeout=START_MAX_S)
    return heal


def break_link(lab, kind, link):
    """Breaks it; returns when that took effect, and how to heal it."""
    loss, means, _ = KINDS[kind]
    if means == "one-way":
        heal = break_one_way(lab, link, loss, kind.split("-")[-1])
        return time.monotonic_ns(), heal
    if means == "corrupt":
        heal = corrupt(lab, link, loss)
        return time.monotonic_ns(), heal
    if means == "slow":
        heal = slow_down(lab, link)
        return time.monotonic_ns(), heal
    options = [] if means == "cut" else ["--silent", "--loss", f"{loss * 100:g}%"]
    done = json.loads(lab.run("cut", link, *options, "--json"))
    return done["done_ns"], lambda: lab.run("heal")


def right_directions(kind, name):
    """What may be said of it."""
    if "down" in name.split("/")[1]:
        return {"unknown"}  # a host cannot tell those of its own link apart
    if KINDS[kind][1] == "slow":
        return {"unknown", "up"}  # a direction comes from losses; the way up may lose some
    if KINDS[kind][1] == "corrupt":
        return {"up"}
    return {kind.split("-")[-1] if KINDS[kind][1] == "one-way" else "both"}


class Trial:
    """One broken link: whether and when it is named, with its direction, and what else is named meanwhile."""

    def __init__(self, lab, kind, name, link):
        self.kind, self.name = kind, name
        self.limit_ns = KINDS[kind][2] * 1_000_000_000
        self.seconds = self.loss = self.direction_seconds = self.healed_seconds = None
        self.errors = []
        self.began, self.heal = break_link(lab, kind, link)

    def look(self, found, at):
        """Returns whether there is nothing more to wait for."""
        said = found.get(self.name)
        if said and self.seconds is None:
            self.seconds, self.loss = (at - self.began) / 1e9, said["loss"]
        if said and self.direction_seconds is None and said["direction"] in right_directions(self.kind, self.name):
            self.direction_seconds = (at - self.began) / 1e9
        limit = self.began + self.limit_ns * (1 if self.seconds is None else 2)
        return self.direction_seconds is not None or at > limit

    def end(self, healed_seconds):
        self.healed_seconds = healed_seconds
        if self.seconds is None:
            self.errors.append(f"{self.name} is not named in time")
        elif self.direction_seconds is None:
            self.errors.append(f"the direction of {self.name} is not found")


def try_faults(lab, network_map, faults):
    """A link of each plane at most: it is named, nothing else is, and all are good again after healing."""
    start = time.monotonic_ns()
    trials, others = [], set()
    try:
        for kind, link in faults:
            trials.append(Trial(lab, kind, full_name(link, len(network_map.hosts)), link))

        def look(found):
            others.update(set(found) - {trial.name for trial in trials})
            return all([trial.look(found, time.monotonic_ns()) for trial in trials])
        network_map.until(look, 2 * max(KINDS[kind][2] for kind, _ in faults))
    finally:
        for trial in trials:
            trial.heal()
    healed = time.monotonic_ns()
    good = network_map.until(lambda found: not found, HEAL_MAX_S)
    for trial in trials:
        trial.end((good[1] - healed) / 1e9 if good else None)
    if good is None:
        trials[0].errors.append(f"{sorted(network_map.read())} {HEAL_MAX_S} s after healing")
    trials[0].errors += [f"{other} is named as well" for other in sorted(others)]
    lasted = (time.monotonic_ns() - start) / 1e9
    return [{"kind": trial.kind, "link": trial.name, "seconds": trial.seconds, "loss": trial.loss,
             "direction_seconds": trial.direction_seconds, "healed_seconds": trial.healed_seconds,
             "errors": trial.errors, "others": sorted(others) if trial is trials[0] else [],
             "trial_seconds": lasted / len(trials)} for trial in trials]


def processes_of(lab, hosts):
    """All that run on them."""
    found = []
    for host in hosts:
        done = subprocess.run(["ip", "netns", "pids", f"mrc-{lab.name}-{host}"], text=True, capture_output=True,
                              timeout=10, check=True)
        found += [int(word) for word in done.stdout.split()]
    return found


def stop_for(seconds, processes):
    for sent, seconds_until in ((signal.SIGSTOP, seconds), (signal.SIGCONT, 0)):
        for process in processes:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, sent)
        time.sleep(seconds_until)


def disturb(lab, agents, network_map, seconds, rng):
    """No faults, but agents that are stopped, at times all processes of all hosts, and a machine that is busy: what
    is named?"""
    false_verdicts = []
    busy = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            stopped = [agents.processes[rng.choice(agents.hosts)].pid]
            if rng.random() < ALL_STOP:
                stopped = processes_of(lab, agents.hosts)
            stop_for(rng.uniform(0.05, 1.5), stopped)
            time.sleep(rng.uniform(0.1, 0.7))
            false_verdicts += sorted(network_map.read())
    finally:
        busy.kill()
        busy.communicate()
    return false_verdicts


def check_page(lab):
    """The page is for reading, by anybody: what else is asked is refused, and who asks nothing for long
    does not keep others from reading."""
    script = f"""
import contextlib, socket, urllib.error, urllib.request
def status(path, method="GET"):
    try:
        request = urllib.request.Request("http://h1:{PORT}" + path, method=method)
        return urllib.request.urlopen(request, timeout=5).status
    except urllib.error.HTTPError as error:
        return error.code
idle = [socket.create_connection(("h1", {PORT}), 5) for _ in range(4)]
rude = socket.create_connection(("h1", {PORT}), 5)
with contextlib.suppress(ConnectionError):  # it may be closed in mid-request
    rude.sendall(bytes(range(256)) * 512)
print(status("/map"), status("/map?x"), status("/"), status("/map/../etc/passwd"),
      status("/map", "POST"), status("/map", "DELETE"))
"""
    done = subprocess.run(lab.command("exec", "h0", "--", sys.executable, "-c", script),
                          capture_output=True, text=True, timeout=60, check=False)
    expected = "200 200 404 404 405 405"
    return [] if done.stdout.strip() == expected else [f"the page: {done.stdout}{done.stderr}"]


class Denial:
    """What the policy of h0's agent does to an EV profile of the node."""

    PROFILE = "1"
    WITHIN_S = 2

    def __init__(self, lab, agents):
        self.lab, self.agents = lab, agents
        self.ctl("set", "ev", self.PROFILE, "--mode", "AUTO", "--state", "ONLINE")

    def ctl(self, *words):
        done = subprocess.run([self.lab.mrc, "ctl", *words, "--socket", self.agents.socket("h0")],
                              capture_output=True, text=True, timeout=20, check=False)
        if done.returncode != 0:
            raise AssertionError(f"mrc ctl {words}: {done.stdout}{done.stderr}")
        return done.stdout

    def denied(self):
        """The ports whose EVs are denied, one for each EV, and how many EVs each port has."""
        shown = json.loads(self.ctl("show", self.PROFILE, "--json"))
        evs = shown["ev"]["evs"]
        ports = [ev["ev"]["port"] for ev in evs]
        return ([ev["ev"]["port"] for ev in evs if ev["state"] == "DENIED"],
                {port: ports.count(port) for port in ports})

    def until(self, condition, seconds):
        end = time.monotonic() + seconds
        while not condition(self.denied()[0]):
            if time.monotonic() > end:
                return False
            time.sleep(0.05)
        return True

    def watch_limits(self, seconds):
        """Whatever is named meanwhile. An agent names what is worse than its like: the first links that are cut, and
        none any more when all are."""
        most, end = [], time.monotonic() + seconds
        while time.monotonic() < end:
            denied, all_evs = self.denied()
            most = max(most, denied, key=len)
            if any(denied.count(port) > all_evs[port] // 2 for port in all_evs):
                return [f"with all uplinks bad, denied: {denied} of {all_evs}"]
            time.sleep(0.05)
        print(f"deny      all uplinks of the rack: at most {len(most)} of {sum(all_evs.values())} EVs")
        return []

    def check(self):
        """A lossy link of the host costs half of a plane, all links together at most half of each; an agent
        that is killed lifts what it denied when it runs again."""
        errors = []
        self.lab.run("cut", "h0/p2", "--silent", "--loss", "20%")
        began = time.monotonic()
        if self.until(lambda denied: denied == [3], self.WITHIN_S):
            print(f"deny      h0/p2: half of plane 2 after {time.monotonic() - began:.2f} s")
        else:
            errors.append(f"{self.WITHIN_S} s after h0/p2 lost packets, denied: {self.denied()[0]}")
        self.agents.kill("h0")
        self.lab.run("heal")
        self.agents.start("h0")
        if not self.until(lambda denied: not denied, HEAL_MAX_S):
            errors.append(f"after a kill and healing, denied: {self.denied()[0]}")
        for plane in range(PLANES):
            for uplink in range(UPLINKS):
                self.lab.run("cut", f"p{plane}.t0-0/up{uplink}", "--silent")
        errors += self.watch_limits(5)
        self.lab.run("heal")
        if not self.until(lambda denied: not denied, HEAL_MAX_S):
            errors.append(f"after healing, denied: {self.denied()[0]}")
        return errors


def random_fault(rng, kind, hosts, plane):
    if KINDS[kind][1] not in ("one-way", "corrupt", "slow") and rng.random() < 0.3:
        return kind, f"h{rng.randrange(hosts)}/p{plane}"
    return kind, f"p{plane}.t0-{rng.randrange(RACKS)}/up{rng.randrange(UPLINKS)}"


def random_faults(rng, kind, hosts, count):
    """One in each plane at once. What delays a link takes a processor, so that it is alone."""
    planes = 1 if KINDS[kind][1] == "slow" else PLANES
    first = rng.randrange(PLANES)
    return [[random_fault(rng, kind, hosts, (first + i + plane) % PLANES) for plane in range(min(planes, count - i))]
            for i in range(0, count, planes)]


def print_trial(one):
    times = [f"{one[key]:6.2f} s" if one[key] is not None else "  never"
             for key in ("seconds", "direction_seconds", "healed_seconds")]
    loss = f"{one['loss'] * 100:5.1f} %" if one["loss"] is not None else "      -"
    print(f"{one['kind']:9} {one['link']:15} named {times[0]}  direction {times[1]}  loss {loss}  "
          f"good again {times[2]}  " + "; ".join(one["errors"]))
    sys.stdout.flush()


def summary_of(outcomes):
    """By kind, what the table shows."""
    rows = []
    for kind in KINDS:
        of_kind = [one for one in outcomes if one["kind"] == kind]
        if not of_kind:
            continue
        times = sorted(one["seconds"] for one in of_kind if one["seconds"] is not None)
        rows.append({"kind": kind, "trials": len(of_kind), "named": len(times),
                     "direction": sum(one["direction_seconds"] is not None for one in of_kind),
                     "others": sum(len(one["others"]) for one in of_kind),
                     "median_seconds": times[len(times) // 2] if times else None,
                     "max_seconds": times[-1] if times else None,
                     "trial_seconds": sum(one["trial_seconds"] for one in of_kind) / len(of_kind)})
    return rows


def print_summary(rows):
    print(f"{'kind':9} {'trials':>6} {'named':>6} {'direction':>9} {'other names':>11} {'median':>9} {'max':>9} "
          f"{'a trial':>8}")
    for row in rows:
        times = [f"{row[key]:7.2f} s" if row[key] is not None else "        -"
                 for key in ("median_seconds", "max_seconds")]
        print(f"{row['kind']:9} {row['trials']:6} {row['named']:6} {row['direction']:9} {row['others']:11} "
              f"{times[0]} {times[1]} {row['trial_seconds']:6.1f} s")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mrc", required=True)
    parser.add_argument("--mrcd", required=True)
    parser.add_argument("--mode", default="srv6", choices=["srv6", "usid"])
    parser.add_argument("--long", action="store_true", help="100 trials of each kind, under load, and a quiet hour")
    parser.add_argument("--each", type=int,
                        help="so many random trials of each kind, one in each plane at once")
    parser.add_argument("--kinds", nargs="+", default=list(KINDS), choices=list(KINDS))
    parser.add_argument("--quiet", type=int, help="seconds without faults, with agents that are stopped")
    parser.add_argument("--load", action="store_true", help="eight hosts, which send to each other meanwhile")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", metavar="FILE", type=pathlib.Path, help="the summary and all trials, for programs")
    options = parser.parse_args()
    options.load = options.load or options.long
    if options.quiet is None:
        options.quiet = 3600 if options.long else 10
    if options.each is None and options.long:
        options.each = 100
    return options


def check_lab(lab, agents, network_map, faults, options):
    """What is wrong."""
    wrong = check_page(lab)
    false_verdicts = disturb(lab, agents, network_map, options.quiet, random.Random(options.seed))
    print(f"no fault, agents stopped, {options.quiet} s: false verdicts {false_verdicts}", flush=True)
    if network_map.until(lambda found: not found, HEAL_MAX_S) is None:
        return [*wrong, f"{network_map.read()}, which do not end"]
    outcomes = []
    for together in faults:
        for one in try_faults(lab, network_map, together):
            outcomes.append(one)
            print_trial(one)
    rows = summary_of(outcomes)
    print_summary(rows)
    if options.json:
        options.json.write_text(json.dumps({"false_verdicts": false_verdicts, "kinds": rows, "trials": outcomes},
                                           indent=1) + "\n", encoding="utf-8")
    wrong += [f"without faults, {name} is named" for name in false_verdicts]
    return wrong + [error for one in outcomes for error in one["errors"]]


def main():
    options = parse_arguments()
    if os.geteuid() != 0:
        print("needs root, for network namespaces")
        return 77
    rng = random.Random(options.seed)
    hosts = [f"h{i}" for i in range(HOSTS_LONG if options.load else HOSTS)]
    faults = [[one] for one in SHORT]
    if options.each is not None:
        faults = [faults_together for kind in options.kinds
                  for faults_together in random_faults(rng, kind, len(hosts), options.each)]
    with tempfile.TemporaryDirectory() as folder, \
            Lab(options.mrc, options.mode, RATE_LOADED if options.load else RATE, "--planes", str(PLANES), "--t0",
                str(RACKS), "--t1", str(UPLINKS), "--hosts", str(len(hosts)), name="map") as lab, \
            Agents(lab, options.mrcd, folder, hosts) as agents:
        network_map = Map(lab, hosts)
        if options.load:
            with Load(lab, hosts) as load:
                wrong = check_lab(lab, agents, network_map, faults, options)
                if not load.all_run():
                    wrong.append("a transfer has ended")
        else:
            wrong = check_lab(lab, agents, network_map, faults, options) + Denial(lab, agents).check()
        print(*wrong, sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
