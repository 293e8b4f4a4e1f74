#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""`mrc lab demo` shows a plane that is cut and healed, and leaves nothing behind, however it ends."""

import fcntl
import glob
import os
import pty
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unittest

MRC = sys.argv.pop(1)
LAB = f"d{os.getpid()}"
RUN_MAX_S = 60
COLUMNS = 40  # a narrow terminal
# From the building of the lab to the last scene.
INTERRUPTED_AFTER_S = (0.05, 0.3, 0.8, 2, 5, 8)

if os.geteuid() != 0:
    print("needs root for network namespaces: skipped")
    sys.exit(77)


class Demo(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.addCleanup(subprocess.run, [MRC, "lab", "down", LAB], capture_output=True, timeout=60)
        self.environment = dict(os.environ, TMPDIR=self.folder.name)

    def start(self, program=MRC, **options):
        return subprocess.Popen([program, "lab", "demo", LAB], env=self.environment, text=True,
                                **options)

    def remains(self):
        patterns = (f"/run/netns/mrc-{LAB}-*", f"/etc/netns/mrc-{LAB}-*",
                    f"/run/openmrc/labs/{LAB}", f"{self.folder.name}/*")
        return [name for pattern in patterns for name in glob.glob(pattern)]

    def test_says_what_a_cut_plane_cost(self):
        downloads = tempfile.TemporaryDirectory()
        self.addCleanup(downloads.cleanup)
        # The name of the program is not known to its parts.
        renamed = shutil.copy(MRC, f"{downloads.name}/mrc-x86_64")
        demo = self.start(renamed, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        text = demo.communicate(timeout=RUN_MAX_S)[0]
        self.assertEqual(demo.returncode, 0, text)
        self.assertRegex(text, r"\n   1 s   p0 0\.\d\d  p1 0\.\d\d  p2 0\.\d\d  p3 0\.\d\d  all")
        self.assertIn("p2 0.00 CUT", text)
        found = re.search(r"4 planes carried (\S+) Gb/s\. Plane 2 was cut: less than (\d+) ms later "
                          r"the other 3 carried what they can, (\S+) Gb/s\. It came back: "
                          r"less than (\d+) ms later all carried \S+ Gb/s again\. (\S+) messages",
                          " ".join(text.split()))
        self.assertTrue(found, text)
        # A machine that cannot fill the links says so: a cut costs it nothing.
        if "were the limit, not the links" not in " ".join(text.split()):
            self.assertLess(float(found[3]), float(found[1]))
        self.assertLessEqual(float(found[3]), 0.6)  # three links of 0.2 Gb/s
        self.assertGreater(int(found[5].replace(",", "")), 1000)
        self.assertLessEqual(max(map(len, text.splitlines())), 80)
        self.assertEqual(self.remains(), [])

    def test_draws_on_a_terminal(self):
        leader, terminal = pty.openpty()
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, COLUMNS, 0, 0))
        self.environment["NO_COLOR"] = "1"
        demo = self.start(stdout=terminal, stderr=terminal)
        os.close(terminal)
        shown = b""
        try:
            while data := os.read(leader, 65536):
                shown += data
        except OSError:
            pass  # the other end is closed
        os.close(leader)
        self.assertEqual(demo.wait(timeout=RUN_MAX_S), 0)
        self.assertIn(b"\x1b[8A\x1b[J", shown)  # each picture over the last
        self.assertNotIn(b"\x1b[3", shown)  # no colour
        self.assertRegex(shown, rb"plane 0  #+ ")
        self.assertRegex(shown, rb"plane 2 +0\.00 Gb/s  CUT")
        lines = re.sub(rb"\x1b\[\d*[AJ]", b"", shown).splitlines()
        self.assertEqual([line for line in lines if len(line) > COLUMNS], [])

    def test_leaves_nothing_when_it_is_interrupted(self):
        for number, seconds in enumerate(INTERRUPTED_AFTER_S):
            sent = (signal.SIGINT, signal.SIGTERM)[number % 2]
            with self.subTest(after=seconds, signal=sent.name):
                demo = self.start(stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
                time.sleep(seconds)
                demo.send_signal(sent)
                began = time.monotonic()
                text = demo.communicate(timeout=RUN_MAX_S)[1]
                # A build with sanitizers may not have reached main() by the first moment.
                ended = [128 + sent] + ([-sent] if number == 0 else [])
                self.assertIn(demo.returncode, ended, text)
                self.assertLess(time.monotonic() - began, 2)
                self.assertEqual(self.remains(), [])

    def test_does_not_touch_a_lab_that_is_there(self):
        subprocess.run([MRC, "lab", "up", LAB, "--planes", "1", "--t0", "1", "--hosts", "2"],
                       check=True, capture_output=True, timeout=RUN_MAX_S)
        demo = self.start(stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        text = demo.communicate(timeout=RUN_MAX_S)[1]
        self.assertEqual(demo.returncode, 1)
        self.assertIn(f"mrc lab down {LAB}", text)
        self.assertTrue(self.remains())


if __name__ == "__main__":
    unittest.main()
