# SPDX-License-Identifier: BSD-3-Clause
"""The words of a figure's `measure`. Times are microseconds, rates Gb/s of payload, shares per cent."""

import math
import statistics

PS_PER_US = 1_000_000
BUILTINS = {"abs": abs, "len": len, "max": max, "min": min, "range": range, "sorted": sorted, "sum": sum, "zip": zip,
            "median": statistics.median, "mean": statistics.mean}


def gbps(payload_bytes, us):
    return payload_bytes * 8e-3 / us


class Measured:
    """One result of `mrc sim run --json`."""

    def __init__(self, result, seconds=0.0, memory_bytes=0):
        self.totals = result["totals"]
        self.hosts = result["hosts"]
        self.end = result["end_ps"] / PS_PER_US
        self.finished = result["finished"]
        self.seconds, self.memory_bytes = seconds, memory_bytes
        self.hops = self.totals["switch_hops"] + self.totals["nic_hops"]
        self._width = result["bucket_width_ps"] / PS_PER_US
        self._buckets = result["buckets"]
        self._payload = [sum(bucket["payload_bytes"]) for bucket in self._buckets]
        self._steps = result["steps"]
        self.flows = [dict(zip(result["flows_columns"], flow)) for flow in result["flows"]]

    # ---- over time; the ends of a span are taken to the slice of time below ----

    def _slices(self, begin, end):
        return range(int(begin / self._width), min(len(self._buckets), int(end / self._width)))

    def goodput(self, begin, end):
        """Payload that arrived at all hosts."""
        slices = self._slices(begin, end)
        return gbps(sum(self._payload[i] for i in slices), len(slices) * self._width) if slices else 0.0

    def _windows(self, begin, end, width):
        """(begin, end, goodput) of every window of this width, one from each slice on."""
        at = begin
        while at + width <= end:
            yield at, at + width, self.goodput(at, at + width)
            at += self._width

    def lowest_goodput(self, begin, end, width):
        return min(rate for _, _, rate in self._windows(begin, end, width))

    def time_below(self, begin, end, rate, width):
        """From the begin to the end of the last window with less goodput."""
        return max((to for _, to, had in self._windows(begin, end, width) if had < rate), default=begin) - begin

    def retransmits(self, begin=0, end=math.inf):
        end = min(end, len(self._buckets) * self._width)
        return sum(self._buckets[i]["retransmissions"] for i in self._slices(begin, end))

    def paths_disabled(self, at):
        """EVs of all connections that are disabled for loss at this time."""
        return sum(self._buckets[i]["ev_changes"]["assumed_bad"] for i in self._slices(0, at))

    def last_path_left(self, begin, end):
        """From the begin to the end of the last slice in which EVs became suspect or disabled."""
        last = begin
        for i in self._slices(begin, end):
            changes = self._buckets[i]["ev_changes"]
            if changes["suspect"] + changes["assumed_bad"] > 0:
                last = (i + 1) * self._width
        return last - begin

    def longest_standstill(self):
        longest = silent = 0
        for payload in self._payload[:int(self.end / self._width)]:
            silent = 0 if payload else silent + 1
            longest = max(longest, silent)
        return longest * self._width

    # ---- flows and steps ----

    def completions(self):
        return [(f["end_ps"] - f["start_ps"]) / PS_PER_US for f in self.flows
                if f["end_ps"] is not None and not f["failed"]]

    def completion(self, percent):
        """Nearest rank of the flow completion times."""
        times = sorted(self.completions())
        return times[max(1, math.ceil(len(times) * percent / 100)) - 1]

    def flow_rate(self, place):
        flow = self.flows[place]
        return gbps(flow["bytes"], (flow["end_ps"] - flow["start_ps"]) / PS_PER_US)

    def rate(self, source, destination, begin, end):
        """By the messages from one host to another that ended in this time."""
        return gbps(sum(f["bytes"] for f in self.flows if (f["from"], f["to"]) == (source, destination)
                        and f["end_ps"] is not None and begin <= f["end_ps"] / PS_PER_US < end), end - begin)

    def starts(self):
        return [flow["start_ps"] / PS_PER_US for flow in self.flows]

    def steps(self):
        return [(end - begin) / PS_PER_US for begin, end, _ in self._steps]

    # ---- the whole run ----

    def bus_bandwidth(self):
        """What each host sends by the time that all take; 0 if the run has no end or a queue pair broke."""
        if not self.finished or self.totals["messages_failed"]:
            return 0.0
        return gbps(self.totals["message_bytes_posted"] / self.hosts, self.end)

    def total_goodput(self):
        return gbps(self.totals["message_bytes_completed"], self.end)

    def untrimmed_retransmits(self):
        """Retransmits that answer no trimmed packet, of all data packets."""
        untrimmed = self.totals["retransmissions"] - self.totals["trimmed_packets_arrived"]
        return 100 * untrimmed / self.totals["data_packets_sent"]


def words(measured):
    return {name: getattr(measured, name) for name in dir(measured) if not name.startswith("_")}


def evaluate(expression, measured, undisturbed=None):
    """The value of a `measure`; six digits behind the point are more than any figure shows."""
    names = {"__builtins__": {}, **BUILTINS, **words(measured), "undisturbed": undisturbed}
    return round(float(eval(expression, names)), 6)  # pylint: disable=eval-used; the definitions are ours
