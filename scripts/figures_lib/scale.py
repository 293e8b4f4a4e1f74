# SPDX-License-Identifier: BSD-3-Clause
"""How the parts of the project grow: measures them, keeps that in docs/figures/scale.json, and writes the tables of
docs/scale.md."""

import json
import os
import re
import resource
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

from . import results, runs

DOCUMENT = "docs/scale.md"
RESULTS = "docs/figures/scale.json"
BLOCK = re.compile(r"(<!-- scale:begin (\S+) [^\n]*-->\n)(.*?)(<!-- scale:end -->)", re.DOTALL)

KIB, MIB, GIB = 1024, 1024 ** 2, 1024 ** 3
PUBLISHED = "examples/fabrics/published.toml"
# planes, racks, hosts of a rack, uplinks
SHAPES = [(1, 1, 1, 0), (2, 4, 4, 4), (4, 32, 32, 32), (8, 128, 64, 64), (8, 512, 256, 256), (16, 1024, 512, 1024)]
SHAPES_EMITTED = [(2, 4, 4, 4), (4, 32, 32, 32), (8, 128, 64, 64), (8, 512, 256, 256)]
SIMULATED = (0, 10, 1000)
FULL_LOAD = ["sim", "run", "examples/scenarios/whole-fabric-with-faults.toml", "--set", 'workload.bytes="96 MiB"',
             "--set", 'fault.0.at="200 us"', "--set", 'fault.1.at="400 us"']
REPEATED = 5  # what is a ratio of times


def output(words, **options):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False, **options)
    if done.returncode != 0:
        raise runs.RunError(f"{shlex.join(map(str, words))}: {done.stderr.strip()}")
    return done.stdout


def amount(number):
    """1,234, or 12.3 MiB for bytes that are many."""
    for unit, name in ((GIB, "GiB"), (MIB, "MiB"), (KIB, "KiB")):
        if number >= 10 * unit or (unit == GIB and number >= unit):
            return f"{number / unit:,.1f} {name}"
    return f"{number:,.0f}"


def table(head, rows):
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *rows]
    return "".join("| " + " | ".join(map(str, line)) + " |\n" for line in lines)


def hosts_of(shape):
    return f"{shape[1] * shape[2]:,}"


def fabric_file(folder, shape):
    file = Path(folder) / "fabric.toml"
    keys = ("planes", "racks", "hosts_per_rack", "uplinks")
    file.write_text("".join(f"{key} = {value}\n" for key, value in zip(keys, shape) if value), encoding="utf-8")
    return file


def measured_process(words):
    """What it printed, its processor time and the most memory that it had."""
    def children():
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    before = children()
    with tempfile.TemporaryFile("w+") as printed:
        process = subprocess.Popen([str(word) for word in words], stdout=printed)
        memory = runs.peak_memory(process, 0.002)
        if process.returncode != 0:
            raise runs.RunError(f"{shlex.join(map(str, words))} failed")
        printed.seek(0)
        return printed.read(), children() - before, memory


def all_instructions(words):
    """Of a whole run, as callgrind counts them."""
    done = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *map(str, words)],
                          capture_output=True, text=True, check=False)
    found = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode != 0 or not found:
        raise runs.RunError(f"callgrind failed: {done.stderr}")
    return int(found[1])


def core_scale(build, count):
    """(bytes of an idle one, rate of all to that of one), with a peer each and with 100 to a peer."""
    printed = output([build / "bench/core_scale", "--queue-pairs", count])
    found = [line.split() for line in printed.splitlines() if re.match(r"(1|100)\s+\d", line)]
    return [(float(line[1]), float(line[5])) for line in found]


def queue_pairs(_, build):
    rows = []
    for count in (100, 10_000, 100_000):
        row = [f"{count:,}"]
        for measured in zip(*(core_scale(build, count) for _ in range(REPEATED))):
            size, ratio = map(statistics.median, zip(*measured))
            row += [f"{size:,.0f}", f"{ratio:.2f}"]
        rows.append(row)
    return table(["queue pairs", "bytes of an idle one, a peer each", "packets/s, all to one",
                  "bytes of an idle one, 100 to a peer", "packets/s, all to one"], rows)


def queue_pairs_once(_, build):
    """Of numbers that cannot all be kept busy: each completes one write. Once: a million take half a minute and 8 GB."""
    rows = []
    for count in (100_000, 1_000_000):
        row = [f"{count:,}"]
        printed = output([build / "bench/core_scale", "--once", "--queue-pairs", count])
        for per_peer in (1, 100):
            line = re.search(rf"^{per_peer}\s+(\d.*)$", printed, re.MULTILINE)[1]
            idle, both_ends, *_, ratio = map(float, line.split())
            row += [f"{idle:,.0f}", f"{both_ends:,.0f}", f"{ratio:.2f}"]
        rows.append(row)
    return table(["queue pairs", "bytes of an idle one, a peer each", "both ends, after a write", "packets/s, each to one",
                  "bytes of an idle one, 100 to a peer", "both ends, after a write", "packets/s, each to one"],
                 rows)


def host_runtime(_, build):
    rows = []
    for count in (2, 100, 10_000, 100_000):
        words = output([build / "bench/host_scale", count]).split()
        found = dict(zip(words[::2], map(int, words[1::2])))
        heap = found["host_bytes"] + found["queue_pair_bytes"] * count
        rows.append([f"{count:,}", amount(heap), f"{heap / count:,.0f}", amount(found["peak_kib"] * KIB)])
    return table(["queue pairs of a process", "heap", "by queue pair", "resident at most"], rows)


def resident(process):
    status = Path(f"/proc/{process}/status").read_text(encoding="utf-8")
    return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) * KIB


def agent(root, build):
    sys.path.insert(0, str(root / "tests/agent"))
    import mrcd  # pylint: disable=import-outside-toplevel
    rows = []
    for count in (1, 10, 100, 1000):
        port = mrcd.free_port()
        with tempfile.TemporaryDirectory() as folder:
            one = mrcd.Agent(build / "tools/mrcd", folder, options=("--listen", f"127.0.0.1:{port}"))
            one.start()
            publishers = subprocess.Popen([build / "tests/agent/metrics_publisher", one.socket, str(count)],
                                          stdout=subprocess.PIPE, text=True)
            try:
                publishers.stdout.readline()
                end = time.monotonic() + 60
                text = ""
                while text.count("openmrc_process_sent_bytes_total{") < count and time.monotonic() < end:
                    time.sleep(1)
                    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=20) as page:
                        text = page.read().decode()
                series = [line for line in text.splitlines() if not line.startswith("#")]
                of_processes = [line for line in series if line.startswith("openmrc_process_")]
                rows.append([f"{count:,}", amount(resident(one.process.pid)), f"{len(series) - len(of_processes):,}",
                             f"{len(of_processes):,}", amount(len(text))])
            finally:
                publishers.kill()
                publishers.communicate()
                one.kill()
    return table(["processes that publish", "resident, mrcd", "series of the host", "series of processes",
                  "bytes of a scrape"], rows)


def instructions(root, build, words):
    printed = output([sys.executable, root / "bench/count_instructions.py",
                      shlex.join(str(word) for word in [build / "bench/mapper_cost", *words]), "--per", "rounds",
                      "round=measured_round"])
    return int(re.search(r"(\d+)", printed.replace(",", ""))[1])


def mapper(root, build):
    rows = []
    for shape in SHAPES:
        cells = []
        for further in ((), ("--lossy",)):
            words = output([build / "bench/mapper_cost", *shape, *further]).split()
            found = dict(zip(words[::2], map(int, words[1::2])))
            cells += [amount(found["heap_bytes"]), amount(found["page_bytes"]),
                      f"{instructions(root, build, [*shape, *further]):,}"]
        probes = shape[0] * (3 if shape[3] > 1 else 1)
        rows.append([hosts_of(shape), f"{shape[0] * (1 + shape[3]):,}", probes, *cells])
    return table(["hosts", "links of an agent", "probes of a round", "heap", "page", "instructions of a round",
                  "heap, lossy", "page, lossy", "instructions, lossy"], rows)


def mapper_simulated(root, build):
    text = ""
    for bad in SIMULATED:
        words = ["map", "simulate", PUBLISHED, "--bad", str(bad)]
        printed = output([build / "tools/mrc", *words], cwd=root)
        text += f"```console\n$ mrc {shlex.join(words)}\n{printed.strip()}\n```\n\n"
    return text.rstrip("\n") + "\n"


def planner(_, build):
    rows = []
    for shape in SHAPES[1:]:
        with tempfile.TemporaryDirectory() as folder:
            file = fabric_file(folder, shape)
            counts = [all_instructions([build / "tools/mrc", "fabric", verb, file]) for verb in ("plan", "check")]
        rows.append([hosts_of(shape), f"{shape[0]}", *(f"{count / 1e6:.1f} million" for count in counts)])
    return table(["hosts", "planes", "instructions of mrc fabric plan", "of mrc fabric check"], rows)


def configuration(_, build):
    rows = []
    for shape in SHAPES_EMITTED:
        cells = []
        for kind in ("iproute2", "sonic"):
            with tempfile.TemporaryDirectory() as folder:
                printed, seconds, memory = measured_process(
                    [build / "tools/mrc", "fabric", "emit", kind, fabric_file(folder, shape), "--only", "switches", "-o",
                     Path(folder) / "out"])
            size = int(re.search(r"([\d,]+) bytes", printed)[1].replace(",", ""))
            switches = shape[0] * (shape[1] + shape[3])
            cells += [amount(size / switches), f"{seconds * 1000 / switches:.1f} ms", amount(memory)]
        rows.append([hosts_of(shape), f"{switches:,}", *cells])
    return table(["hosts", "switches", "iproute2, of a switch", "time of a switch", "resident", "sonic, of a switch",
                  "time of a switch", "resident"], rows)


def simulator(root, build):
    rows = []
    for line in output([root / "scripts/sim-scale", build / "tools/mrc", 2]).splitlines()[1:]:
        hosts, _, rest = line.split(None, 2)
        found = re.search(r"threads, (.*?) hops, ([\d.]+) million hops/s, ([\d.]+ \w+) of memory", rest)
        rows.append([f"{int(hosts):,}", found[1], found[3], bytes_by_host(found[3], int(hosts))])
    return table(["hosts", "hops", "memory at most", "by host"], rows)


def simulator_full_load(root, build):
    """1 ms of all 131,072 NICs, with links that are cut and a switch that dies: more than an hour."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "result.json"
        done = subprocess.run([build / "tools/mrc", *FULL_LOAD, "--json", file], cwd=root, capture_output=True, text=True,
                              check=False)
        # The exit status says whether everything finished and every byte is accounted for.
        if done.returncode != 0:
            raise runs.RunError(f"{shlex.join(FULL_LOAD)}: {done.stderr[-2000:]}")
        return full_load_text(json.loads(file.read_text(encoding="utf-8")), done.stderr)


def full_load_text(result, printed):
    found = re.search(r": (.*?) on (\d+ threads?), (.*?) hops, (.*?) hops/s, (.*?) of memory at most", printed)
    totals = result["totals"]
    lost = totals["packets_lost"]
    rows = [["simulated", f"{result['end_ps'] / 1e6:,.1f} us"],
            ["took", f"{found[1]} on {found[2]}"],
            ["hops", f"{found[3]}, {found[4]} a second"],
            ["memory at most", found[5]],
            ["bytes of messages, posted", f"{totals['message_bytes_posted']:,}"],
            ["bytes of messages, completed", f"{totals['message_bytes_completed']:,}"],
            ["data packets sent", f"{totals['data_packets_sent']:,}"],
            ["of these arrived", f"{totals['data_packets_arrived']:,}"],
            ["of these trimmed, and arrived so", f"{totals['trimmed_packets_arrived']:,}"],
            ["packets lost on links that were down", f"{lost['link_down']:,}"],
            ["packets lost in full queues", f"{lost['data_full'] + lost['control_full']:,}"],
            ["retransmits", f"{totals['retransmissions']:,}"],
            ["EVs disabled for loss", f"{totals['evs_lost']:,} of {result['evs']:,}"]]
    return f"```console\n$ mrc {shlex.join(FULL_LOAD)}\n```\n\n" + table(["", "every byte accounted for"], rows)


def bytes_by_host(text, hosts):
    number, unit = text.split()
    return amount(float(number) * {"KiB": KIB, "MiB": MIB, "GiB": GIB}[unit] / hosts)


PARTS = {"queue-pairs": queue_pairs, "queue-pairs-once": queue_pairs_once, "host-runtime": host_runtime, "agent": agent,
         "mapper": mapper, "mapper-simulated": mapper_simulated, "planner": planner, "configuration": configuration,
         "simulator": simulator}
# What takes so long that only --only runs it.
LONG_PARTS = {"simulator-full-load": simulator_full_load}
ALL_PARTS = {**PARTS, **LONG_PARTS}


def load(root):
    path = root / RESULTS
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


def run(root, build, only):
    """Measures all parts, or some, and writes the document."""
    if unknown := set(only or []) - set(ALL_PARTS):
        raise runs.RunError(f"there is no '{min(unknown)}'; there are {', '.join(ALL_PARTS)}")
    found = load(root)
    for name in only or PARTS:
        found[name] = {"commit": results.commit(root), "text": ALL_PARTS[name](root, build.resolve())}
        print(f"{name}\n{found[name]['text']}", flush=True)
        (root / RESULTS).write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    write(root)


def rewritten(root, text):
    found = load(root)
    return BLOCK.sub(lambda block: block[1] + found.get(block[2], {"text": block[3]})["text"] + block[4], text)


def write(root):
    path = root / DOCUMENT
    path.write_text(rewritten(root, path.read_text(encoding="utf-8")), encoding="utf-8")


def check(root):
    text = (root / DOCUMENT).read_text(encoding="utf-8")
    names = [block[2] for block in BLOCK.finditer(text)]
    found = set(load(root))
    if missing := set(PARTS) - found:
        return [f"{DOCUMENT}: '{min(missing)}' was never run; scripts/figures scale"]
    if sorted(names) != sorted(found):
        return [f"{DOCUMENT}: has tables {sorted(names)}, {RESULTS} has {sorted(found)}"]
    return [] if rewritten(root, text) == text else [f"{DOCUMENT}: differs from {RESULTS}; scripts/figures write"]
