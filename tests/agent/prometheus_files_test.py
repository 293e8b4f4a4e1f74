#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The rules, alerts and the board in examples/ against the metrics that there are: every name and
every value of a label that a query asks for exists, every query is one, every alert is tested and
explained."""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request

import yaml
from mrcd import Agent, free_port, parse_metrics

MRCD, PUBLISHER = (pathlib.Path(each).resolve() for each in sys.argv[1:3])
sys.argv[1:] = []
ROOT = pathlib.Path(__file__).resolve().parents[2]
RULES = ROOT / "examples/prometheus"
BOARD = ROOT / "examples/grafana/openmrc.json"
GUIDE = ROOT / "docs/guide/operate.md"
SECONDS_MAX = 20

NAME = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")
OURS = re.compile(r"(?:[a-z_]+:)?(?:openmrc|process)_[a-z0-9_]+(?::\w+)?|\bup\b|\bALERTS\b")
# Of series that Prometheus makes itself.
ITS_OWN = {"up", "ALERTS"}
LABEL = re.compile(r'\b(reason|state|tier|direction)!?=(~?)"([^"]+)"')
# A mapper needs a network to find something in, so what it says is read from here.
MAPPER = [ROOT / "openmrc/prober/map_metrics.cc", ROOT / "openmrc/mapper/report.cc"]


def scraped():
    """Names of metrics, and values of labels, of an agent with a process."""
    with tempfile.TemporaryDirectory() as folder:
        address = f"127.0.0.1:{free_port()}"
        agent = Agent(MRCD, folder, options=("--listen", address))
        agent.start()
        publisher = subprocess.Popen([PUBLISHER, str(agent.socket), "1"], stdout=subprocess.PIPE)
        try:
            end = time.monotonic() + SECONDS_MAX
            while time.monotonic() < end:
                with urllib.request.urlopen(f"http://{address}/metrics", timeout=SECONDS_MAX) as page:
                    text = page.read().decode()
                if "openmrc_process_sent_bytes_total{" in text:
                    break
                time.sleep(0.1)
        finally:
            publisher.kill()
            publisher.communicate()
            agent.kill()
    names = {NAME.match(series)[0] for series in parse_metrics(text)}
    mapper = "".join(file.read_text(encoding="utf-8") for file in MAPPER)
    names |= set(re.findall(r'\.name = "(openmrc_\w+)"', mapper))
    words = set(re.findall(r'"(\w+)"', mapper))
    values = {(label, word) for label in ("tier", "direction") for word in words}
    return names, values | set(re.findall(r'\b(reason|state)="([^"]+)"', text))


def rules_of(file):
    groups = yaml.safe_load((RULES / file).read_text(encoding="utf-8"))["groups"]
    return [rule for group in groups for rule in group["rules"]]


def queries_of_board(board):
    for panel in board["panels"]:
        for target in panel["targets"]:
            yield f'{panel["title"]} {target["refId"]}', target["expr"]
    for each in board["annotations"]["list"]:
        yield each["name"], each["expr"]


class PrometheusFilesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.names, cls.label_values = scraped()
        cls.records = rules_of("openmrc-rules.yml")
        cls.alerts = rules_of("openmrc-alerts.yml")
        cls.board = json.loads(BOARD.read_text(encoding="utf-8"))
        cls.known = cls.names | {rule["record"] for rule in cls.records} | ITS_OWN

    def check_query(self, where, query):
        used = set(OURS.findall(query))
        self.assertTrue(used, f"{where}: {query}")
        self.assertLessEqual(used, self.known, where)
        for label, is_pattern, text in LABEL.findall(query):
            for value in text.split("|") if is_pattern else [text]:
                self.assertIn((label, value), self.label_values, where)

    def test_rules_ask_for_what_there_is(self):
        for rule in [*self.records, *self.alerts]:
            self.check_query(rule.get("record") or rule["alert"], rule["expr"])

    def test_rules_are_used_or_worth_keeping(self):
        """A rule that neither an alert nor the board nor another rule asks for is one too many."""
        queries = " ".join([*(rule["expr"] for rule in [*self.records, *self.alerts]),
                            *(query for _, query in queries_of_board(self.board))])
        kept = {"plane:openmrc_sent_bytes:rate1m", "job:openmrc_retransmits:rate1m",
                "instance_plane:openmrc_received_bytes:rate1m",
                "instance_plane:openmrc_trimmed_packets:ratio_rate1m"}
        for rule in self.records:
            self.assertTrue(rule["record"] in queries or rule["record"] in kept, rule["record"])

    def test_every_alert_is_tested_and_explained(self):
        tests = yaml.safe_load((RULES / "openmrc-tests.yml").read_text(encoding="utf-8"))["tests"]
        fired = {case["alertname"] for test in tests for case in test.get("alert_rule_test", [])
                 if case["exp_alerts"]}
        names = {rule["alert"] for rule in self.alerts}
        self.assertEqual(fired, names)
        self.assertEqual(set(re.findall(r"^\| `(Openmrc\w+)` \|", GUIDE.read_text(encoding="utf-8"),
                                        re.MULTILINE)), names)
        for rule in self.alerts:
            self.assertIn(rule["labels"]["severity"], ("critical", "warning", "info"))
            self.assertTrue(rule["annotations"]["summary"])

    def test_board_asks_for_what_there_is(self):
        for where, query in queries_of_board(self.board):
            self.check_query(where, query)
        for variable in self.board["templating"]["list"]:
            if variable["type"] == "query":
                self.check_query(variable["name"], variable["definition"])

    def test_board_is_one(self):
        panels = self.board["panels"]
        self.assertEqual(len({panel["id"] for panel in panels}), len(panels))
        self.assertEqual(len({panel["title"] for panel in panels}), len(panels))
        taken = set()
        for panel in panels:
            place = panel["gridPos"]
            self.assertLessEqual(place["x"] + place["w"], 24, panel["title"])
            cells = {(x, y) for x in range(place["x"], place["x"] + place["w"])
                     for y in range(place["y"], place["y"] + place["h"])}
            self.assertFalse(taken & cells, panel["title"])
            taken |= cells
            self.assertTrue(panel["fieldConfig"]["defaults"]["unit"], panel["title"])
            self.assertTrue(panel["description"], panel["title"])
            self.assertEqual(panel["datasource"]["uid"], "${DS}")

    def promtool(self, *arguments):
        if shutil.which("promtool") is None:
            self.skipTest("no promtool: scripts/install-deps test")
        done = subprocess.run(["promtool", *map(str, arguments)], capture_output=True, text=True,
                              check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_rules_pass_the_check_of_promtool(self):
        self.promtool("check", "rules", "--lint=all", "--lint-fatal", RULES / "openmrc-rules.yml",
                      RULES / "openmrc-alerts.yml")
        self.promtool("check", "config", RULES / "prometheus.yml")

    def test_rules_pass_their_unit_tests(self):
        self.promtool("test", "rules", RULES / "openmrc-tests.yml")

    def test_queries_of_the_board_are_queries(self):
        rules = [{"record": f"board:query:{i}",
                  "expr": query.replace("$__rate_interval", "1m").replace("$__all", ".*")}
                 for i, (_, query) in enumerate(queries_of_board(self.board))]
        with tempfile.NamedTemporaryFile("w", suffix=".yml") as file:
            yaml.safe_dump({"groups": [{"name": "board", "rules": rules}]}, file)
            file.flush()
            self.promtool("check", "rules", file.name)


if __name__ == "__main__":
    unittest.main()
