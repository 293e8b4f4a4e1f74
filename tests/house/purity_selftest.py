#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Shows that scripts/check-purity can fail, and that it does not fail for nothing."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

CHECK = Path(__file__).resolve().parents[2] / "scripts" / "check-purity"

# One file for each kind of thing that is banned.
BANNED_HEADERS = (
    "chrono ctime time.h sys/time.h "
    "sys/socket.h sys/epoll.h netinet/in.h arpa/inet.h net/if.h linux/if_ether.h unistd.h poll.h "
    "fcntl.h "
    "thread mutex shared_mutex condition_variable atomic future semaphore latch barrier stop_token "
    "pthread.h "
    "fstream iostream filesystem cstdio stdio.h random"
).split()
BANNED_CODE = {
    "getenv": 'const char* home = std::getenv("HOME");',
    "rand": "int a = rand();",
    "srand": "void seed() { srand (1); }",
    "random_device": "std::random_device device;",
    "system_clock": "auto now = std::chrono::system_clock::now();",
    "steady_clock": "using Clock = std::chrono::steady_clock;",
    "time(nullptr)": "auto now = time(nullptr);",
    "throw": "void f() { throw 1; }",
    "try": "void f() { try { g(); } catch (...) {} }",
    "fmt::print": 'void f() { fmt::print("hello"); }',
    '"../wire/bth.h"': '#include "../wire/bth.h"',
    # Behind things that look like the start of a literal or of a comment.
    "steady_clock ": "int n = 1'000; auto c = steady_clock::now(); int m = 2'000;",
    "throw ": 'auto s = "//"; throw s; auto t = R"x(" /* )x";',
}

CLEAN = r'''
#include <algorithm>
#include "openmrc/base/time.h"  // not <time.h>, and not "../time.h"
// Nothing here may throw; rand() and std::getenv are for others. #include <thread>
/* try this:
#include <chrono>
   steady_clock::now() */
const char* text = "throw \" getenv time(nullptr)";
const char* raw = R"mark(
#include <mutex>
throw " )" srand(1))mark";
const char quote = '"';
int try_push(int operand) { return operand + 1'000; }
bool retry_throwing(long time) { return strand(time(0x1)); }
'''


def check(folder):
    return subprocess.run(
        [sys.executable, CHECK, folder], capture_output=True, text=True, check=False
    )


class PuritySelfTest(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory())) / "base"
        self.folder.mkdir()

    def run_on(self, text, name="file.cc"):
        (self.folder / name).write_text(text, encoding="utf-8")
        return check(self.folder)

    def assert_reported(self, result, line, what):
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
        self.assertIn(f"file.cc:{line}: {what}: ", result.stdout)
        self.assertEqual(len(result.stdout.splitlines()), 1, result.stdout)

    def test_each_banned_header_is_reported(self):
        for header in BANNED_HEADERS:
            with self.subTest(header):
                self.assert_reported(self.run_on(f"\n#include <{header}>\n"), 2, f"<{header}>")

    def test_each_banned_word_is_reported(self):
        for what, code in BANNED_CODE.items():
            with self.subTest(what):
                self.assert_reported(self.run_on(f"// first\n\n{code}\n"), 3, what.strip())

    def test_clean_code_passes(self):
        result = self.run_on(CLEAN)
        self.assertEqual((result.returncode, result.stdout), (0, ""), result.stderr)

    def test_tests_are_exempt(self):
        self.run_on(CLEAN)
        self.assertEqual(self.run_on("#include <thread>\n", "file_test.cc").returncode, 0)

    def test_an_exemption_holds_for_its_file_and_its_header_only(self):
        self.assertEqual(self.run_on("#include <cstdio>\n", "check.cc").returncode, 0)
        self.assertEqual(self.run_on("#include <thread>\n", "check.cc").returncode, 1)

    def test_a_folder_without_sources_is_an_error(self):
        self.assertIn("no sources", check(self.folder).stderr)


if __name__ == "__main__":
    unittest.main()
