#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Plants wrong links and commands in a small tree and shows that each is found, and that right ones are not."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent

MRC = """#!/bin/sh
case "$*" in
"--help") printf 'Subcommands:\\n  lab   Labs\\n  ping  Paths\\n' ;;
"lab --help") printf 'Subcommands:\\n  up   Build\\n  exec Run\\n' ;;
"lab up --help") printf 'Options:\\n  -h,--help  Help\\n  --rate RATE  Rate\\n' ;;
*) printf 'Options:\\n  -h,--help  Help\\n  --count N  How many\\n' ;;
esac
"""
CLEAN = {
    "README.md": "# Title\n\n## Use it: `now`\n\n[self](#use-it-now) [page](docs/a.md#twice-1) `openmrc/core/*.h`\n"
    "`docs/{a,b}.md` `tests/<name>` [web](https://example.org/x) `scripts/fuzz TARGET`\n"
    "```console\n$ cmake --workflow --preset check  # all\n$ sudo mrc lab exec h0 mrc ping h1 --count 3 &\n"
    "[no link](nowhere.md)\n```\n",
    "docs/a.md": "## Twice\n## Twice\n\n[up](../README.md)\n\n```\ncmake --build --preset dev \\\n  --target core_test\n"
    "scripts/fuzz --merge core\nctest --preset dev -L unit\nbuild/dev/tools/mrc lab up --rate=1gbit\n```\n",
    "docs/b.md": "",
    "docs/c.md": "`house.purity` `World.Ends` `World.E*` `fuzz.core_fuzz_replay` `house.h` `End.DT6`\n",
    "openmrc/core/a_test.cc": "TEST(World, Ends) {}\n",
    "openmrc/core/a.h": "",
    "scripts/fuzz": "--merge\n",
    "CMakeLists.txt": "openmrc_library(NAME core)\nopenmrc_fuzz(core_fuzz)\nopenmrc_house_test(purity a)\nset_tests_properties(a PROPERTIES LABELS sim)\n",
    "CMakePresets.json": '{"configurePresets": [{"name": "dev"}, {"name": "base", "hidden": true}],'
    '"buildPresets": [{"name": "dev"}], "testPresets": [{"name": "dev"}], "workflowPresets": [{"name": "check"}]}',
}


class DocumentsSelfTest(unittest.TestCase):
    def setUp(self):
        self.root = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.mrc = self.root / "build" / "mrc"
        for name, text in {**CLEAN, "build/mrc": MRC}.items():
            self.write(name, text)
        self.mrc.chmod(0o755)

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def run_test(self, name, *arguments):
        return subprocess.run([sys.executable, HERE / name, *arguments, self.root],
                              capture_output=True, text=True, check=False)

    def links(self):
        return self.run_test("links_test.py")

    def names(self):
        return self.run_test("test_names_test.py")

    def commands(self):
        return self.run_test("commands_test.py", self.mrc)

    def test_clean_documents_pass(self):
        for result in (self.links(), self.names(), self.commands()):
            self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def assert_found(self, check, text, word):
        self.write("docs/b.md", f"first line\n{text}\n")
        result = check()
        self.assertEqual(result.returncode, 1, f"{text}: {result.stdout}{result.stderr}")
        self.assertIn("docs/b.md:2: ", result.stdout)
        self.assertIn(word, result.stdout)

    def test_wrong_links_are_found(self):
        for text, word in (
            ("[gone](nowhere.md)", "nowhere.md"),
            ("[`gone`](nowhere.md)", "nowhere.md"),
            ("[gone](../README.md#no-such)", "no such heading"),
            ("[gone](a.md#twice-2)", "no such heading"),
            ("see `openmrc/core/b.h`", "openmrc/core/b.h"),
            ("see `docs/{a,d}.md`", "docs/d.md"),
            ("run `scripts/gone NAME`", "scripts/gone"),
        ):
            with self.subTest(text):
                self.assert_found(self.links, text, word)

    def test_wrong_names_of_tests_are_found(self):
        for name in ("house.layers", "house.l*", "World.Begins", "Worlds.Ends", "fuzz.wire_fuzz_replay"):
            with self.subTest(name):
                self.assert_found(self.names, f"see `{name}`", name)

    def test_wrong_commands_are_found(self):
        for text, word in (
            ("`cmake --preset base`", "no configure preset 'base'"),
            ("`cmake --workflow --preset all`", "no workflow preset 'all'"),
            ("`cmake --preset dev && cmake --build --preset dev --target wire_test`", "no target 'wire_test'"),
            ("`ctest --preset asan`", "no test preset 'asan'"),
            ("`ctest --preset dev -L slow`", "label 'slow'"),
            ("`mrc lob up`", "no verb 'lob'"),
            ("`sudo mrc lab down`", "no verb 'down'"),
            ("`mrc lab up --speed 1gbit`", "no option --speed"),
            ("`OPENMRC_LAB=x mrc lab exec h0 mrc ping h1 --often`", "no option --often"),
            ("`scripts/fuzz --minutes 3`", "no option --minutes"),
            ("`scripts/gone`", "no scripts/gone"),
            ("`build/dev/openmrc/wire/wire_test`", "no target 'wire_test'"),
            ("`build/fast/tools/mrc-sim`", "no preset 'fast'"),
        ):
            with self.subTest(text):
                self.assert_found(self.commands, text, word)

    def test_wrong_commands_in_code_blocks_are_found(self):
        self.write("docs/b.md", "```console\n$ mrc lab up\n$ sleep 1; sudo mrc lab up \\\n    --speed 1gbit\n```\n")
        self.assertIn("docs/b.md:3: ", self.commands().stdout)


if __name__ == "__main__":
    unittest.main()
