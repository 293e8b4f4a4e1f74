#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Puts deliberate bugs into the libraries, one at a time, and sees whether the tests notice.

    tests/mutation/mutation_check.py --list              are all of them still applicable?
    tests/mutation/mutation_check.py [--only TEXT] [--report FILE]

Works on a copy of the tree in build/mutation. Each bug costs a build; all of them take a while.
"""

import argparse
import shutil
import subprocess
import sys
from pathlib import Path

from mutations import MUTATIONS

ROOT = Path(__file__).resolve().parents[2]
WORK = ROOT / "build" / "mutation"
# What each judge is called, how it is run, and how long it may take.
JUDGES = {
    "core": [
        ("unit tests", ["openmrc/core/core_test", "--gtest_brief=1"], 120),
        ("seeds", ["tests/world/mrc-chaos", "--quiet", "--count", "3000"], 120),
        ("published behaviour", ["tests/world/published_behaviour_test", "--gtest_brief=1"], 120),
    ],
    "messages": [
        ("seeds", ["tests/world/mrc-chaos", "--messages", "--quiet", "--count", "3000"], 120),
        ("unit tests", ["openmrc/messages/messages_test", "--gtest_brief=1"], 120),
    ],
}


def applicable():
    bad = 0
    for mutation in MUTATIONS:
        count = mutation.path(ROOT).read_text().count(mutation.old)
        if count != 1:
            print(f"{mutation.file}: '{mutation.name}': its text occurs {count} times")
            bad += 1
    print(f"{len(MUTATIONS)} deliberate bugs, {bad} of them out of date")
    return bad == 0


def copy_tree():
    """All files under version control, as they are in the work tree, and no others."""
    tree = WORK / "tree"
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                            cwd=ROOT, capture_output=True, text=True, check=True).stdout
    names = {name for name in listed.split("\0") if name and (ROOT / name).is_file()}
    for name in names:
        source, target = ROOT / name, tree / name
        target.parent.mkdir(parents=True, exist_ok=True)
        copy_if_changed(source, target)
        target.chmod(source.stat().st_mode)
    for target in tree.rglob("*"):
        if target.is_file() and str(target.relative_to(tree)) not in names:
            target.unlink()
    return tree


def copy_if_changed(source, target):
    if not Path(target).exists() or Path(source).read_bytes() != Path(target).read_bytes():
        shutil.copyfile(source, target)


def run(command, seconds, cwd):
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, cwd=cwd, check=False)
        return done.returncode, done.stdout + done.stderr
    except subprocess.TimeoutExpired:
        return -1, "took too long"


def build(tree, out, judges):
    targets = [Path(command[0]).name for _, command, _ in judges]
    code, text = run(["cmake", "--build", str(out), "--target", *targets], 1200, tree)
    return code == 0, text


def why(name, code, text):
    if name != "seeds":
        failed = [line.split("] ")[1].split(" ")[0].rstrip(",") for line in text.splitlines()
                  if line.startswith("[  FAILED  ]") and "." in line]
        if failed:
            return f"{name}: {failed[0]}" + (f" and {len(set(failed)) - 1} more" if len(set(failed)) > 1 else "")
    for line in text.splitlines():
        if line.startswith("seed "):
            return f"{name}: {line}"
        if "check" in line.lower() and "failed" in line.lower():
            return f"{name}: {line.strip()[:100]}"
    return f"{name}: exit code {code}" if code != -1 else f"{name}: never ends"


def judge(tree, out, judges, until_caught=False):
    """What notices it. A judge is built when it is its turn."""
    caught = []
    for one in judges:
        name, command, seconds = one
        if until_caught and caught:
            break
        ok, _ = build(tree, out, [one])
        if not ok:
            return ["the compiler"]
        code, text = run([str(out / command[0]), *command[1:]], seconds, out)
        if code != 0:
            caught.append(why(name, code, text))
    return caught


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--list", action="store_true", help="only check that each can be applied")
    parser.add_argument("--only", help="only those whose library and name, 'core: ...', contain this")
    parser.add_argument("--until-caught", action="store_true",
                        help="ask no more judges once one has noticed it: a third of the time")
    parser.add_argument("--report", type=Path, help="write a table in Markdown")
    options = parser.parse_args()
    if not applicable():
        return 1
    if options.list:
        return 0

    tree, out = copy_tree(), WORK / "build"
    subprocess.run(["cmake", "-S", str(tree), "-B", str(out), "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
                    "-DCMAKE_CXX_FLAGS_RELEASE=-O1"], check=True, capture_output=True)
    chosen = [one for one in MUTATIONS if options.only is None or options.only in f"{one.library}: {one.name}"]
    for library in {one.library for one in chosen}:
        ok, text = build(tree, out, JUDGES[library])
        if not ok:
            sys.exit(f"the tree does not build without any bug:\n{text[-3000:]}")
        if found := judge(tree, out, JUDGES[library]):
            sys.exit(f"the tests fail without any bug: {found}")

    rows, missed = [], 0
    for mutation in chosen:
        path = mutation.path(tree)
        original = path.read_text()
        path.write_text(original.replace(mutation.old, mutation.new))
        caught = judge(tree, out, JUDGES[mutation.library], options.until_caught)
        path.write_text(original)
        missed += not caught
        print(f"{'caught' if caught else 'MISSED':<8}{mutation.name:<60}{'; '.join(caught)}", flush=True)
        rows.append(f"| {mutation.name} | `{mutation.where()}` | {'<br>'.join(caught) or '**nothing**'} |")
    print(f"{len(rows)} deliberate bugs, {missed} missed")
    if options.report:
        head = options.report.read_text().split("<!-- table -->")[0] if options.report.exists() else ""
        options.report.write_text(head + "<!-- table -->\n| bug | where | caught by |\n|---|---|---|\n" +
                                  "\n".join(rows) + "\n")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
