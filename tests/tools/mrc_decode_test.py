#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs `mrc decode` as a user does and looks at what it prints and at its exit code."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOUR = ROOT / "examples/captures/tour.pcapng"
GOLDEN = ROOT / "examples/captures/tour.txt"
MRC = sys.argv.pop(1)

# A reliability probe in plain IPv6, and the same in an Ethernet frame.
PROBE = ("6ba00001 0028 11 40 fd000000000000000000000000000001 fd000000000000000000000000000002"
         "c001 12b7 0028 0000 de00ffff 00000b02 00000000"
         "00000000 0007 0000 0a01 0b02 4a00 0001")


def mrc(*arguments, stdin=b""):
    return subprocess.run([MRC, "decode", *map(str, arguments)], input=stdin, capture_output=True,
                          timeout=30, check=False)


class Decode(unittest.TestCase):
    maxDiff = None

    def test_prints_the_tour_as_it_stands_in_the_examples(self):
        done = mrc(TOUR)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.decode(), GOLDEN.read_text())

    def test_reads_standard_input(self):
        done = mrc("-", stdin=TOUR.read_bytes())
        self.assertEqual(done.stdout.decode(), GOLDEN.read_text())

    def test_json_is_one_object_a_line_with_every_kind_in_it(self):
        done = mrc("--json", TOUR)
        packets = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual([p["number"] for p in packets], list(range(1, 17)))
        self.assertEqual({p["kind"] for p in packets}, {
            "WRITE First", "WRITE Middle", "WRITE Last+Imm", "WRITE Only", "WRITE Only+Imm", "SACK",
            "NACK", "ACK", "Reliability Probe", "Endpoint Request", "Endpoint Response"})
        self.assertEqual([p["number"] for p in packets if p["trimmed"]], [4])
        sack = packets[5]
        fields = {layer["layer"]: layer["fields"] for layer in sack["layers"]}
        self.assertEqual(fields["SETH"]["cack_psn"], 102)
        self.assertEqual(fields["SETH"]["bitmap"], "0x0000000000000002")
        self.assertEqual(fields["IPv6"]["usids"], "2002 > 2101 > 2001 > 2e01")

    def test_verbose_shows_every_header(self):
        text = mrc("-v", TOUR).stdout.decode()
        for layer in ["Ethernet", "IPv6", "IPv6 (inner)", "UDP", "BTH", "METH", "TSETH", "RETH",
                      "ImmDt", "AETH", "SETH", "CC_STATE", "NETH", "PETH", "ERTH", "EETH",
                      "Payload", "Pad", "ICRC", "Rest"]:
            self.assertIn(f"\n  {layer} (bytes ", text)
        self.assertNotIn("wrong", text)

    def test_hex_of_a_packet_with_a_bad_icrc_says_so(self):
        done = mrc("--hex", PROBE + "00000000")
        text = done.stdout.decode()
        self.assertEqual(done.returncode, 1)
        self.assertIn("not decoded (icrc_mismatch)", text)
        self.assertIn("Reliability Probe", text)
        expected = text.split("wrong, expected 0x")[1].split()[0]
        icrc = bytes.fromhex(expected)[::-1].hex()
        done = mrc("--hex", PROBE + icrc)
        self.assertEqual(done.returncode, 0)
        self.assertIn("Reliability Probe qp 0x000b02 id 7", done.stdout.decode())
        frame = "020000000002 020000000001 86dd" + PROBE + icrc
        done = mrc("--hex", frame)
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_hex_takes_colons_and_refuses_what_is_no_hex(self):
        self.assertIn(b"(ipv6_truncated)", mrc("--hex", "60:00").stdout)
        done = mrc("--hex", "60zz")
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"invalid hex digit 'z' at position 3", done.stderr)
        self.assertIn(b"only one digit", mrc("--hex", "600").stderr)

    def test_a_cut_file_prints_what_is_whole_and_says_where_it_ends(self):
        done = mrc("-", stdin=TOUR.read_bytes()[:4000])
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"WRITE First", done.stdout)
        self.assertIn(b"the file ends inside a block", done.stderr)

    def test_what_is_no_capture_is_refused_by_name(self):
        done = mrc(ROOT / "LICENSE")
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"neither a pcapng nor a pcap file", done.stderr)
        self.assertIn(b"cannot read '/nowhere'", mrc("/nowhere").stderr)

    def test_a_capture_that_is_too_large_is_not_read(self):
        with tempfile.NamedTemporaryFile(suffix=".pcap") as file:
            file.truncate(1 << 40)
            done = mrc(file.name)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"is larger than 1GiB, the most that is read", done.stderr)

    def test_wrong_use_exits_with_2(self):
        self.assertEqual(mrc("--nonsense").returncode, 2)
        self.assertEqual(mrc("--hex", "00", "--as", "token-ring").returncode, 2)
        self.assertEqual(mrc(TOUR, "--hex", "00").returncode, 2)


if __name__ == "__main__":
    unittest.main()
