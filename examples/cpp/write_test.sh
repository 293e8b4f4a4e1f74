#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Both ends of the example on this machine, over the loopback interface: write_test.sh <program>
set -euo pipefail

folder=$(mktemp -d)
trap 'kill "${server:-}" 2>/dev/null || true; rm -rf "$folder"' EXIT
cat >"$folder/openmrc.toml" <<'TOML'
name = "here"
mode = "udp"
[[port]]
interface = "lo"
address = "::1"
[transport]
udp_port = 24792
evs = 4
[exchange]
port = 24792
TOML
export OPENMRC_CONFIG=$folder/openmrc.toml
"$1" >"$folder/server" &
server=$!
timeout 20 "$1" ::1
wait "$server"
grep -q "received: Hello over every path" "$folder/server"
