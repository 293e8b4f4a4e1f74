#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every command in the documents can be given: its program, verbs, options, presets and targets exist.

    commands_test.py MRC [ROOT]        MRC: the program mrc, which is asked for its help

Looks at command lines in code blocks and at commands in `backticks` of README.md, CONTRIBUTING.md, docs/ and the
README.md files of tests/. Runs nothing but `mrc ... --help`. Prints what is wrong as file:line and exits 1.
"""

import functools
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

FENCE = re.compile(r"^\s*(```|~~~)")
CODE = re.compile(r"`([^`\n]+)`")
OPTION = re.compile(r"(?<![\w-])(--?[A-Za-z][\w-]*)")
DOCUMENTS = ("README.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "docs/**/*.md", "tests/**/README.md")
PROGRAMS = re.compile(r"^(mrc|cmake|ctest|(?:\./)?(?:scripts|tests|bench|build|\.ci)/\S+)$")


def lines_with_commands(path):
    """(line number, command line) of a document; continued lines are joined."""
    in_code, begin, joined = False, 0, ""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if FENCE.match(line):
            in_code = not in_code
        elif not in_code:
            for code in CODE.findall(line):
                yield number, code
        else:
            begin = begin if joined else number
            joined += line.removesuffix("\\") if line.endswith("\\") else line
            if not line.endswith("\\"):
                yield begin, re.sub(r"^\w*\$ ", "", joined.strip())
                joined = ""


def commands(line):
    """The commands of a line as lists of words; what is no shell gives none."""
    try:
        lexer = shlex.shlex(line, posix=True, punctuation_chars="&|;<>()")
        lexer.whitespace_split = True
        words = list(lexer)
    except ValueError:
        return
    command = []
    for word in [*words, ";"]:
        if not set(word) <= set("&|;<>()"):
            command.append(word)
            continue
        yield from stripped(command)
        command = []


def stripped(words):
    """The command behind sudo, env, bash and assignments, and the one that `mrc lab exec` starts."""
    while words and (words[0] in ("sudo", "env", "bash", "nice", "exec", "mpirun") or re.match(r"\w+=", words[0])):
        words = words[1:]
    if not words:
        return
    inner = next((i for i, word in enumerate(words) if i > 2 and word == "mrc"), None)
    if inner:
        yield from stripped(words[inner:])
    words = words[:inner]
    if PROGRAMS.match(words[0]) or words[0].endswith("/mrc"):
        yield words


class Project:
    """What commands may name: presets and targets."""

    def __init__(self, root, mrc):
        self.root, self.mrc = root, mrc
        presets = json.loads((root / "CMakePresets.json").read_text(encoding="utf-8"))
        self.presets = {kind: {p["name"] for p in presets.get(kind + "Presets", ()) if not p.get("hidden")}
                        for kind in ("configure", "build", "test", "workflow")}
        text = "\n".join(p.read_text(encoding="utf-8")
                         for p in (*root.rglob("CMakeLists.txt"), *root.glob("cmake/*.cmake"))
                         if "build" not in p.relative_to(root).parts)
        named = re.findall(r"^ *(?:add_executable|add_custom_target|add_library|openmrc_\w+)\((?:\s*NAME\s+)?([\w-]+)",
                           text, re.MULTILINE)
        self.targets = {"all", "install", *named}
        self.targets |= {f"{name}_test" for name in named} | {f"{name}_replay" for name in named}
        self.labels = set(re.findall(r"\bLABELS? ([\w-]+)", text)) | {"unit"}

    @functools.cache
    def help(self, *verbs):
        return subprocess.run([self.mrc, *verbs, "--help"], capture_output=True, text=True, check=False).stdout

    def verbs(self, *verbs):
        section = self.help(*verbs).partition("Subcommands:")[2]
        return set(re.findall(r"^  ([a-z][\w-]*)", section, re.MULTILINE))

    def takes_words(self, *verbs):
        """Beside verbs, as `mrc map h0` does."""
        return "Positionals:" in self.help(*verbs)


def value_after(words, option):
    for word, following in zip(words, [*words[1:], None]):
        if word == option:
            return following
        if word.startswith(option + "="):
            return word.split("=", 1)[1]
    return None


def targets_of(words):
    if "--target" not in words:
        return []
    following = words[words.index("--target") + 1:]
    return following[: next((i for i, word in enumerate(following) if word.startswith("-")), None)]


def wrong_cmake(project, words):
    kind = "build" if "--build" in words else "workflow" if "--workflow" in words else "configure"
    preset = value_after(words, "--preset")
    if preset and preset not in project.presets[kind]:
        yield f"there is no {kind} preset '{preset}'"
    for target in targets_of(words):
        if target not in project.targets:
            yield f"there is no target '{target}'"


def wrong_ctest(project, words):
    preset = value_after(words, "--preset")
    if preset and preset not in project.presets["test"]:
        yield f"there is no test preset '{preset}'"
    label = value_after(words, "-L")
    if label and not any(re.search(label, known) for known in project.labels):
        yield f"no test has the label '{label}'"


def wrong_mrc(project, words):
    verbs, rest = [], words[1:]
    while rest and rest[0] in project.verbs(*verbs):
        verbs.append(rest.pop(0))
    if rest and re.match(r"[a-z]", rest[0]) and project.verbs(*verbs) and not project.takes_words(*verbs):
        yield f"'mrc {' '.join(verbs)}' has no verb '{rest[0]}'" if verbs else f"mrc has no verb '{rest[0]}'"
        return
    if verbs == ["lab", "exec"]:
        return  # what follows is another program's
    known = set(OPTION.findall(project.help(*verbs)))
    for word in rest:
        if word == "--":
            return
        option = word.split("=")[0]
        if OPTION.fullmatch(option) and option not in known:
            yield f"'mrc {' '.join(verbs)}' has no option {option}"


def wrong_program(project, words):
    name = words[0].removeprefix("./")
    if name.startswith("build/"):
        preset, target = name.split("/")[1], name.split("/")[-1]
        if preset not in project.presets["configure"]:
            yield f"{name}: there is no preset '{preset}'"
        if "." not in target and "*" not in name and len(name.split("/")) > 2 and target not in project.targets:
            yield f"{name}: there is no target '{target}'"
        return
    path = project.root / name
    if "*" in name or name.endswith("/") or path.is_dir():
        return
    if not path.is_file():
        yield f"there is no {name}"
        return
    text = path.read_text(encoding="utf-8", errors="replace")
    for word in words[1:]:
        option = word.split("=")[0]
        if OPTION.fullmatch(option) and option.startswith("--") and option not in text:
            yield f"{name} has no option {option}"


def wrong(project, words):
    if words[0] == "cmake":
        return wrong_cmake(project, words)
    if words[0] == "ctest":
        return wrong_ctest(project, words)
    if words[0].split("/")[-1] == "mrc":
        return wrong_mrc(project, words)
    return wrong_program(project, words)


def all_commands(root):
    """(document:line, words) of every command in the documents."""
    for pattern in DOCUMENTS:
        for document in sorted(root.glob(pattern)):
            for number, line in lines_with_commands(document):
                for words in commands(line):
                    yield f"{document.relative_to(root)}:{number}", words


def main():
    root = Path(sys.argv[2] if len(sys.argv) > 2 else Path(__file__).parents[2]).resolve()
    project = Project(root, sys.argv[1])
    every = list(all_commands(root))
    found = [f"{place}: {' '.join(words)}: {problem}"
             for place, words in every for problem in wrong(project, words)]
    print("\n".join(found) or f"{len(every)} commands: each can be given")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
