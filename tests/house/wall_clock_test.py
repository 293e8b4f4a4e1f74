#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Nothing that is shipped asks for the time of day to measure time by: whoever sets the clock of a
machine changes no timeout. The runtime's clock is CLOCK_MONOTONIC (openmrc/host/clock.h)."""
import re
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("openmrc", "tools", "include")
WALL_CLOCK = re.compile(r"\b(?:CLOCK_REALTIME\w*|CLOCK_TAI|system_clock|utc_clock|gettimeofday|"
                        r"high_resolution_clock|pthread_cond_timedwait|sem_timedwait)\b|"
                        r"\btime\s*\(\s*(?:nullptr|NULL|0|&\w+)\s*\)")
# Who tells people when something happened, and measures nothing by it.
ALLOWED = {"openmrc/datapath/capture.cc"}


def uses(root):
    """Files that ask for the time of day, from their folder on."""
    return {str(file.relative_to(root)) for folder in FOLDERS
            for file in sorted((root / folder).rglob("*"))
            if file.suffix in (".h", ".cc", ".c") and not file.name.endswith("_test.cc")
            and WALL_CLOCK.search(file.read_text(encoding="utf-8"))}


class WallClock(unittest.TestCase):
    def test_only_captures_have_the_time_of_day(self):
        self.assertEqual(uses(ROOT), ALLOWED)

    def test_each_way_to_ask_is_found(self):
        for code in ("clock_gettime(CLOCK_REALTIME, &now);", "std::chrono::system_clock::now();",
                     "gettimeofday(&now, nullptr);", "auto t = time(nullptr);", "time(&t);",
                     "pthread_cond_timedwait(&c, &m, &t);"):
            with tempfile.TemporaryDirectory() as folder, self.subTest(code):
                file = Path(folder) / "tools" / "planted.cc"
                file.parent.mkdir()
                file.write_text(code, encoding="utf-8")
                self.assertEqual(uses(Path(folder)), {"tools/planted.cc"})


if __name__ == "__main__":
    sys.exit(unittest.main())
