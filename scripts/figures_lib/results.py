# SPDX-License-Identifier: BSD-3-Clause
"""docs/figures/results.json: the values of each figure by seed, and what they were measured with."""

import json
import re
import statistics
import subprocess

FILE = "docs/figures/results.json"
BEHAVIOUR = "tests/golden/many-faults.sha256"


def load(root):
    path = root / FILE
    recorded = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return {"experiments": {}, "outputs": {}, "benches": {}, **recorded}


def save(root, results):
    text = json.dumps(results, indent=1, sort_keys=True)
    # A list on one line, so that a difference is one line for each figure.
    text = re.sub(r"\[\s+([^\[\]{}\"]*?)\s+\]", lambda found: "[" + re.sub(r"\s+", " ", found[1]) + "]", text)
    (root / FILE).write_text(text + "\n", encoding="utf-8")


def behaviour(root):
    """Checksum of a run with everything in it: every change of what the protocol does changes it."""
    return (root / BEHAVIOUR).read_text(encoding="utf-8").strip()


def git(root, *words):
    return subprocess.run(["git", "-C", str(root), *words], capture_output=True, text=True, check=False)


def commit(root):
    """The commit that is measured; with a plus if anything but documents differs from it."""
    name = git(root, "rev-parse", "--short=10", "HEAD").stdout.strip()
    is_clean = git(root, "diff", "--quiet", "HEAD", "--", ".", ":!docs", ":!README.md").returncode == 0
    return (name + ("" if is_clean else "+")) if name else "unknown"


def average(figure, values):
    return statistics.mean(values) if figure.average == "mean" else statistics.median(values)
