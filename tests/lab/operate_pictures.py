#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes the pictures of docs/guide/operate.md: `mrc top`, and the graph page of Prometheus, of a lab in which jobs
run, a link between switches loses packets and a cable is pulled.

    operate_pictures.py --mrc build/dev/tools/mrc --mrcd build/dev/tools/mrcd

Needs root, the Debian packages prometheus, python3-pyte and chromium, and two minutes. It is no test.
"""
import pathlib
import subprocess
import sys
import time
import urllib.parse

import metrics

ROOT = pathlib.Path(__file__).resolve().parents[2]
GUIDE = ROOT / "docs/guide"
LINK, PORT = "p3.t0-0/up1", "h0/p1"
VERDICT = "p1.t0-0/down0"  # what mappers call that port
SHOWN = "p1       down"  # and mrc top
GRAPHS = ['8 * rate(openmrc_plane_sent_bytes_total{instance="h0"}[5s])', "element:openmrc_bad_element_loss:avg"]
RANGE_S = 100
SIZE = (1100, 1640)


class Pictures(metrics.Watched):
    """With the agents, the jobs and the Prometheus of that test."""

    def test_draw_them(self):
        self.start_jobs()
        time.sleep(40)
        self.lab.run("cut", LINK, "--silent", "--loss", "20%")
        self.wait_for("the link named", GRAPHS[1], lambda found: len(found) == 1)
        time.sleep(20)
        self.draw_top()
        time.sleep(15)
        self.print_names()
        self.lab.run("heal")
        time.sleep(20)
        self.draw_graphs()

    def draw_top(self):
        """The first screen on which the port is down whose cable is pulled meanwhile."""
        picture = GUIDE / "operate-top.svg"
        top = subprocess.Popen(
            [sys.executable, ROOT / "scripts/record-terminal", "--rows", "17", "--prompt", "mrc top", "--when", SHOWN,
             "--still", picture, "timeout", "-s", "INT", "8",
             *self.lab.command("exec", "h0", "--", "mrc", "top")])
        time.sleep(3)
        self.lab.run("cut", PORT)
        top.wait(timeout=60)
        self.assertIn(VERDICT, picture.read_text(encoding="utf-8"))

    def print_names(self):
        print(metrics.run(*self.lab.command("exec", metrics.WATCHER, "--", "promtool", "query", "instant",
                                            "http://localhost:9090", GRAPHS[1])))

    def draw_graphs(self):
        query = "&".join(f"g{i}.expr={urllib.parse.quote(each)}&g{i}.tab=0&g{i}.range_input={RANGE_S}s"
                         for i, each in enumerate(GRAPHS))
        subprocess.run(
            self.lab.command("exec", metrics.WATCHER, "--", "chromium", "--headless", "--no-sandbox", "--disable-gpu",
                             "--hide-scrollbars", f"--user-data-dir={self.folder}/chromium",
                             f"--window-size={SIZE[0]},{SIZE[1]}", "--virtual-time-budget=15000",
                             f"--screenshot={GUIDE / 'operate-prometheus.png'}",
                             f"http://127.0.0.1:9090/graph?{query}"),
            check=True, timeout=120, stderr=subprocess.DEVNULL)


if __name__ == "__main__":
    metrics.main()
