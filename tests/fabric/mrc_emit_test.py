#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs `mrc fabric emit` as a user does, and lets the tools that configuration is for judge it.

SONiC's YANG models are not part of this project: OPENMRC_SONIC_MODELS names a folder with them (see
sonic_yang.py), OPENMRC_CLAB_SCHEMA the JSON schema of containerlab. What is absent is skipped, and
the test says so.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import sonic_yang

ROOT = pathlib.Path(__file__).resolve().parents[2]
PUBLISHED = ROOT / "examples/fabrics/published.toml"
SMALL = ROOT / "examples/fabrics/small.toml"
SITE = ROOT / "examples/fabrics/site.toml"
MRC = pathlib.Path(sys.argv.pop(1)).resolve()
KINDS = ("iproute2", "frr", "frr-8.4", "sonic", "cumulus", "eos", "containerlab")
MODELS = os.environ.get("OPENMRC_SONIC_MODELS")
SCHEMA = os.environ.get("OPENMRC_CLAB_SCHEMA")
# What FRR 8.4 does not know of the configuration for 10.3; everything else it must accept.
NEW_IN_FRR_10 = ("block-len", "behavior usid", "static-sids", "behavior uN", "exit")


def mrc(*arguments):
    return subprocess.run([str(MRC), "fabric", *map(str, arguments)], capture_output=True, text=True,
                          timeout=300, check=False)


class Emitted(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def emit(self, kind, file=SMALL, *options):
        done = mrc("emit", kind, file, "-o", self.folder / kind, *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.folder / kind


class Files(Emitted):
    def test_each_device_has_a_folder(self):
        switches = {f"p{p}.t{t}-{i}" for p in range(2) for t in range(2) for i in range(4)}
        hosts = {f"h{i}" for i in range(16)}
        for kind in KINDS:
            folder = self.emit(kind)
            self.assertEqual({path.name for path in folder.iterdir() if path.is_dir()},
                             switches | hosts)
        self.assertTrue((self.folder / "containerlab/topology.clab.yml").is_file())
        folder = self.folder / "part"
        self.assertEqual(mrc("emit", "eos", SMALL, "--only", "switches", "-o", folder).returncode, 0)
        self.assertEqual({path.name for path in folder.iterdir()}, switches)

    def test_one_device_is_printed(self):
        folder = self.emit("sonic")
        done = mrc("emit", "sonic", SMALL, "--device", "p1.t0-2")
        self.assertEqual(done.stdout, (folder / "p1.t0-2/config_db.json").read_text())
        done = mrc("emit", "iproute2", SMALL, "--device", "h3")
        self.assertIn("==> h3/setup.sh <==\n", done.stdout)
        self.assertIn("==> h3/openmrc.toml <==\n", done.stdout)

    def test_mistakes_are_named(self):
        for arguments, words in [
                (["eos", SMALL], "give either --output DIR"),
                (["eos", SMALL, "--device", "p9.t0-0"], "'p9.t0-0': no such plane"),
                (["eos", SMALL, "--device", "h99"], "'h99': no such host"),
                (["eos", SMALL, "--device", "h1", "--site", "/dev/zero"],
                 "'/dev/zero' is larger than 4MiB"),
                (["eos", SMALL, "-o", "/proc/nowhere"], "cannot write '/proc/nowhere"),
                (["containerlab", PUBLISHED, "--device", "h1"], "more than containerlab")]:
            done = mrc("emit", *arguments)
            self.assertEqual(done.returncode, 1, arguments)
            self.assertIn(words, done.stderr)
        self.assertEqual(mrc("emit", "ios", SMALL, "--device", "h1").returncode, 2)
        site = self.folder / "site.toml"
        site.write_text("mtu = 9000\nqueue = 3\n")
        done = mrc("emit", "eos", SMALL, "--device", "h1", "--site", site)
        self.assertIn("site.toml:2: unknown key 'queue'", done.stderr)
        site.write_text('[sonic]\nport_config = "nowhere.ini"\n')
        done = mrc("emit", "sonic", SMALL, "--device", "h1", "--site", site)
        self.assertIn(f"cannot read '{self.folder}/nowhere.ini'", done.stderr)

    def test_the_example_of_a_site_is_valid(self):
        for kind in ("sonic", "cumulus"):
            done = mrc("emit", kind, PUBLISHED, "--site", SITE, "--device", "p7.t0-511")
            self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("swp64s7", done.stdout)


class Judged(Emitted):
    def test_scripts_are_shell(self):
        for kind in ("iproute2", "frr", "frr-8.4", "containerlab"):
            for path in self.emit(kind).rglob("*.sh"):
                self.assertTrue(os.access(path, os.X_OK), path)
                for shell in ("sh", "bash"):
                    done = subprocess.run([shell, "-n", path], capture_output=True, text=True,
                                          check=False)
                    self.assertEqual((done.returncode, done.stderr), (0, ""), path)

    @unittest.skipUnless(shutil.which("vtysh"), "no vtysh: install frr")
    def test_vtysh_takes_the_configuration_of_frr(self):
        def complaints(path):
            done = subprocess.run(["vtysh", "-C", "-f", path], capture_output=True, text=True,
                                  timeout=60, check=False)
            return [line for line in (done.stdout + done.stderr).splitlines() if "Unknown" in line]
        for path in self.emit("frr-8.4").rglob("frr.conf"):
            self.assertEqual(complaints(path), [], path)
        broken = self.folder / "broken.conf"
        broken.write_text("ipv6 rooute fcbb::/48 fe80::1 up0\n")
        self.assertEqual(len(complaints(broken)), 1, "vtysh judges nothing")
        for path in self.emit("frr").rglob("frr.conf"):
            for line in complaints(path):
                self.assertTrue(any(word in line for word in NEW_IN_FRR_10), line)

    @unittest.skipUnless(MODELS and shutil.which("yanglint"),
                         "OPENMRC_SONIC_MODELS names no folder of SONiC's YANG models, or there is no "
                         "yanglint (libyang2-tools)")
    def test_models_of_sonic_take_every_config_db(self):
        ports = "".join(f"Ethernet{i} {i + 1} etp{i} {i} 100000\n" for i in range(8))
        (self.folder / "ports.ini").write_text("# name lanes alias index speed\n" + ports)
        site = self.folder / "site.toml"
        for inner in ("false", "true"):
            site.write_text(f'inner_routes = {inner}\n[sonic]\nport_config = "ports.ini"\n'
                            'pool_size = "64MiB"\nhwsku = "Example-8"\nplatform = "x86_64-example"\n')
            files = sorted(self.emit("sonic", SMALL, "--site", site).rglob("config_db.json"))
            self.assertEqual(len(files), 16)
            for path in files:
                config = json.loads(path.read_text())
                self.assertEqual(sonic_yang.complaints(config, MODELS), "", path)
        config["QUEUE"]["Ethernet99|3"] = {"scheduler": "DATA"}
        self.assertIn("Ethernet99", sonic_yang.complaints(config, MODELS))

    def test_yaml_and_json_are_read(self):
        for path in self.emit("sonic").rglob("config_db.json"):
            config = json.loads(path.read_text())
            self.assertEqual(len(config["NEIGH"]), 8 if ".t0" in str(path) else 4)
        try:
            import yaml
        except ImportError:
            self.skipTest("no python3-yaml")
        for path in self.emit("cumulus").rglob("nvue.yaml"):
            config = yaml.safe_load(path.read_text())[0]["set"]
            self.assertEqual(len(config["interface"]), 8 if ".t0" in str(path) else 4)
            self.assertEqual(len(config["vrf"]["default"]["router"]["static"]),
                             8 if ".t0" in str(path) else 4)
        topology = yaml.safe_load((self.emit("containerlab") / "topology.clab.yml").read_text())
        self.assertEqual(len(topology["topology"]["nodes"]), 32)
        self.assertEqual(len(topology["topology"]["links"]), 2 * 4 * (4 + 4))

    @unittest.skipUnless(SCHEMA, "OPENMRC_CLAB_SCHEMA does not name the JSON schema of containerlab")
    def test_the_schema_of_containerlab_takes_the_topology(self):
        import jsonschema
        import yaml
        schema = json.loads(pathlib.Path(SCHEMA).read_text())
        topology = yaml.safe_load((self.emit("containerlab") / "topology.clab.yml").read_text())
        jsonschema.validate(topology, schema)
        topology["topology"]["nodes"]["h0"]["kinds"] = "linux"
        with self.assertRaises(jsonschema.ValidationError):
            jsonschema.validate(topology, schema)


class Verify(Emitted):
    """Without devices; tests/lab/verify.py has them."""

    def ask(self, script):
        path = self.folder / "device.sh"
        path.write_text(script)
        return mrc("verify", SMALL, "--device", "h3", "--run", f"sh {path}")

    def test_mistakes_are_named(self):
        for arguments, words in [
                ([], "give either a FILE or --lab NAME"),
                ([SMALL, "--lab", "x"], "give either a FILE or --lab NAME"),
                ([SMALL, "--run", "true"], "--run must have {device} in it"),
                ([SMALL, "--run", "true", "--device", "h99"], "'h99': no such host"),
                ([SMALL, "--kind", "sonic"], "--kind sonic needs --dump"),
                ([SMALL, "--dump", "."], "needs --dump, which is for frr"),
                ([SMALL, "--kind", "sonic", "--dump", ".", "--device", "h0"], "h0 is no switch"),
                (["--lab", "nowhere"], "no lab 'nowhere'")]:
            done = mrc("verify", *arguments)
            self.assertEqual(done.returncode, 1, arguments)
            self.assertIn(words, done.stderr)

    def test_a_device_that_says_nothing_useful_is_silent(self):
        for script, words in [("exit 3", "failed"), ("echo no JSON", "'ip link' printed"),
                              ("echo '\033[2Jfoe' >&2; exit 1", "failed:  [2Jfoe"),
                              ("yes", "printed more than is read")]:
            done = self.ask(script)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn("h3         silent   ", done.stdout)
            self.assertIn(words, done.stdout)
            self.assertIn("0 differences on 0 of 1 device; 1 could not be asked.", done.stdout)

    def verify_sonic(self, folder):
        done = mrc("verify", SMALL, "--kind", "sonic", "--dump", folder, "--json")
        return json.loads(done.stdout)

    def test_databases_of_sonic_are_compared_and_the_layer_is_named(self):
        folder = self.emit("sonic")
        switches = [path.parent for path in folder.glob("p*/config_db.json")]
        for switch in switches:
            self.write_databases(switch)
        self.assertEqual(self.verify_sonic(folder),
                         {"devices": len(switches), "findings": [], "silent": []})
        (switches[0] / "appl_db.json").unlink()
        lost = json.loads((switches[1] / "asic_db.json").read_text())
        lost.pop(next(key for key in lost if "fcbb:bb00:8" in key or "fcbb:bb00:4" in key))
        (switches[1] / "asic_db.json").write_text(json.dumps(lost))
        answer = self.verify_sonic(folder)
        self.assertEqual([one["device"] for one in answer["silent"]], [switches[0].name])
        self.assertEqual([(one["device"], one["difference"]) for one in answer["findings"]],
                         [(switches[1].name, "missing")])
        self.assertIn("orchagent", answer["findings"][0]["layer"])

    @staticmethod
    def write_databases(switch):
        """What SONiC makes of its configuration, as sonic-db-dump prints it."""
        def entry(fields):
            return {"expireat": 1.0, "ttl": -0.001, "type": "hash", "value": fields}
        config = json.loads((switch / "config_db.json").read_text())
        appl, asic = {}, {}
        for key, fields in config["STATIC_ROUTE"].items():
            prefix = key.split("|")[1]
            appl[f"ROUTE_TABLE:{prefix}"] = entry({"nexthop": "", "ifname": "", "protocol": "static",
                                                   **fields})
            asic[f'ASIC_STATE:SAI_OBJECT_TYPE_ROUTE_ENTRY:{{"dest":"{prefix}","vr":"oid:0x3"}}'] = {}
        for key in config["SRV6_MY_SIDS"]:
            sid = key.split("|")[1].split("/")[0]
            appl[f"SRV6_MY_SID_TABLE:32:16:0:0:{sid}"] = entry({"action": "un"})
            asic["ASIC_STATE:SAI_OBJECT_TYPE_MY_SID_ENTRY:" + json.dumps(
                {"args_len": "0", "function_len": "0", "locator_block_len": "32",
                 "locator_node_len": "16", "sid": sid})] = {}
        (switch / "appl_db.json").write_text(json.dumps(appl))
        (switch / "asic_db.json").write_text(json.dumps(asic))

    def test_an_empty_device_lacks_everything(self):
        done = self.ask("echo '[]'")
        self.assertEqual(done.returncode, 1)
        self.assertIn("h3         missing  port p0", done.stdout)
        self.assertIn("h3         missing  to fcbb:bb00::/32 ipproto 17 lookup 4791", done.stdout)


if __name__ == "__main__":
    unittest.main()
