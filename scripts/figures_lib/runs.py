# SPDX-License-Identifier: BSD-3-Clause
"""Runs experiments with `mrc sim run` and measures them."""

import contextlib
import hashlib
import json
import os
import re
import shlex
import subprocess
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

from . import measures

FINISHED = (0, 1)  # exit codes of mrc sim run; 1 is a run that its time limit ended


class RunError(Exception):
    """A program is missing, or a run failed."""


def program(build, name):
    path = build / name
    if not os.access(path, os.X_OK):
        raise RunError(f"there is no {path}: cmake --build --preset {build.name} --target {path.name}")
    return str(path.resolve())


def command(experiment, seed, further=()):
    """As anybody would give it, from the root of the project."""
    words = ["mrc", "sim", "run", f"examples/scenarios/{experiment.scenario}.toml", "--seed", str(seed)]
    for setting in [*experiment.set, *further]:
        words += ["--set", setting]
    return words


def shown(words):
    return " ".join(shlex.quote(word) for word in words)


def peak_memory(process, seconds_between=0.02):
    """Bytes at most, as last seen before the process ended. What wait4 reports begins with the memory of ours."""
    peak = 0
    while process.poll() is None:
        with contextlib.suppress(OSError), open(f"/proc/{process.pid}/status", encoding="ascii") as status:
            kib = re.search(r"VmHWM:\s+(\d+)", status.read())
            peak = int(kib[1]) * 1024 if kib else peak
        time.sleep(seconds_between)
    return peak


def simulate(root, build, words, threads):
    """A Measured of one run."""
    with tempfile.NamedTemporaryFile(suffix=".json") as file, tempfile.TemporaryFile() as errors:
        begin = time.monotonic()
        process = subprocess.Popen([program(build, "tools/mrc"), *words[1:], "--quiet", "--threads", str(threads),
                                    "--json", file.name], cwd=root, stdout=subprocess.DEVNULL, stderr=errors)
        memory = peak_memory(process)
        seconds = time.monotonic() - begin
        errors.seek(0)
        problem = errors.read().decode()
        if process.returncode not in FINISHED or "accounting" in problem:
            raise RunError(f"{shown(words)}: {problem.strip()}")
        return measures.Measured(json.load(file), seconds, memory)


def measure(root, build, experiment, seed, threads=1):
    """(values by figure, hops) of one seed."""
    measured = simulate(root, build, command(experiment, seed), threads)
    undisturbed = None
    if experiment.undisturbed is not None:
        undisturbed = simulate(root, build, command(experiment, seed, experiment.undisturbed), threads)
    values = {f.id: measures.evaluate(f.measure, measured, undisturbed) for f in experiment.figure}
    return values, measured.hops + (undisturbed.hops if undisturbed else 0)


def measure_all(root, build, experiments, jobs, on_done):
    """Every seed of every experiment; calls on_done(experiment, [(values, hops) by seed])."""
    with ThreadPoolExecutor(jobs) as pool:
        together = [(e, [pool.submit(measure, root, build, e, seed) for seed in e.seed_list()])
                    for e in experiments if not e.is_timed()]
        for experiment, seeds in together:
            on_done(experiment, [seed.result() for seed in seeds])
    for experiment in experiments:
        if experiment.is_timed():
            threads = os.cpu_count() if experiment.large else 1
            on_done(experiment, [measure(root, build, experiment, seed, threads) for seed in experiment.seed_list()])


def printed(root, build, output):
    """The lines of a program's output that a document shows."""
    done = subprocess.run([program(build, output.program), *output.arguments], cwd=root, capture_output=True, text=True,
                          check=False)
    if done.returncode != 0:
        raise RunError(f"{output.id}: {output.program} failed: {done.stderr.strip()}")
    lines = []
    for line in done.stdout.splitlines():
        if any(re.search(pattern, line) for pattern in output.keep):
            for pattern, replacement in output.replace.items():
                line = re.sub(pattern, replacement, line)
            lines.append(line.rstrip())
        elif lines[-1:] != ["..."]:
            lines.append("...")
    return lines


def bench_report(root, build, benches):
    """{id: number} of what the target bench_report prints."""
    done = subprocess.run(["cmake", "--build", str(build), "--target", "bench_report"], cwd=root, capture_output=True,
                          text=True, check=False)
    if done.returncode != 0:
        raise RunError(f"bench_report failed: {done.stdout[-2000:]}{done.stderr}")
    values = {}
    for bench in benches:
        found = re.search(bench.pattern, done.stdout, re.MULTILINE)
        if not found:
            raise RunError(f"bench_report prints nothing like '{bench.pattern}'")
        values[bench.id] = float(found[1])
    return values


def digest(*parts):
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def inputs_of_experiment(root, experiment):
    """Changes whenever the definition or the scenario asks for another run or another measure."""
    asked = [experiment.set, experiment.undisturbed, experiment.seeds, [(f.id, f.measure) for f in experiment.figure]]
    return digest(experiment.path(root).read_text(encoding="utf-8"), json.dumps(asked))


def inputs_of_benches(benches):
    return digest(json.dumps([(bench.id, bench.pattern) for bench in benches]))


def inputs_of_output(root, output):
    scenarios = [(root / word).read_text(encoding="utf-8") for word in output.arguments if word.endswith(".toml")]
    return digest(*scenarios, json.dumps([output.program, output.arguments, output.keep, output.replace]))
