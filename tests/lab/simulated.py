# SPDX-License-Identifier: BSD-3-Clause
"""The simulator on the fabric of a lab, with the configuration of its hosts."""
import json
import os
import subprocess

RUN_MAX_S = 60
LINKS = 4  # of a path to another rack
FRAME_BITS = {"data": 4262 * 8, "sack": 170 * 8}


def wire_ns(base_rtt_s, link_gbps):
    """The length of every wire that makes the round trip of a full packet and its SACK that of the
    hosts' base_rtt."""
    serialisation = LINKS * sum(FRAME_BITS.values()) / link_gbps
    return max(1000, int((base_rtt_s * 1e9 - serialisation) / (2 * LINKS)))


def scenario_of(fabric, length_ns, queue_bytes, flows, cut=None):
    """A lab's switches neither mark nor trim. `cut`: (link, at, for), times in seconds."""
    text = f"""title = "A lab, simulated"

[fabric]
{fabric}host_link_ns = {length_ns}
uplink_ns = {length_ns}

[switches]
trimming = false
ecn = false
queue_bytes = {queue_bytes}

[workload]
kind = "flows"
flows = [
"""
    text += "".join(f'  {{ from = {source}, to = {target}, bytes = {size}, repeat = {repeat} }},\n'
                    for source, target, size, repeat in flows) + "]\n"
    if cut:
        link, at, lasting = cut
        text += (f'\n[[fault]]\nkind = "cut"\ntarget = "{link}"\nat = "{at:.3f} s"\n'
                 f'for = "{lasting:.3f} s"\n')
    return text


def simulate(mrc, scenario, host_config, folder):
    path = os.path.join(folder, "scenario.toml")
    with open(path, "w", encoding="utf-8") as file:
        file.write(scenario)
    done = subprocess.run([mrc, "sim", "run", path, "--quiet", "--host-config", host_config,
                           "--json", "-"], timeout=RUN_MAX_S, text=True, capture_output=True,
                          check=False)
    if done.returncode != 0:
        raise RuntimeError(f"mrc sim run: {done.stderr}")
    return json.loads(done.stdout)


def message_times(result):
    """{sender: seconds from its first byte to the acknowledgement of its last}"""
    column = {name: i for i, name in enumerate(result["flows_columns"])}
    times = {}
    for flow in result["flows"]:
        sender, end_s = flow[column["from"]], flow[column["end_ps"]] / 1e12
        times[sender] = max(times.get(sender, 0), end_s)
    return times


def uplink_queue_max(result):
    return max(bucket["queue_max_bytes"]["t0_up"] for bucket in result["buckets"])
