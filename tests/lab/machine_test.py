#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What machine.attempt makes of goals that are missed, on machines that are quiet or not."""
import contextlib
import io
import time
import unittest
from unittest import mock

import machine

QUIET = machine.Report(stall_ms=1, stolen=0)
STALLED = machine.Report(stall_ms=200, stolen=0)
STOLEN = machine.Report(stall_ms=1, stolen=0.2)


def attempt(reports, missed):
    """Attempts on a machine that was as `reports` say; `missed` is what each attempt misses."""
    results = iter(range(len(missed)))
    with (mock.patch.object(machine.Watch, "report", side_effect=lambda: reports[0]),
          mock.patch.object(machine.Watch, "__exit__", lambda *_: reports.append(reports.pop(0))),
          contextlib.redirect_stdout(io.StringIO()) as text):
        outcome = machine.attempt(lambda: next(results), lambda result: missed[result], len(missed))
    return outcome, text.getvalue()


class Attempt(unittest.TestCase):
    def test_reached_at_once_is_measured_once(self):
        self.assertEqual(attempt([QUIET], [[], ["never"]])[0], (0, []))

    def test_reached_later_counts(self):
        (result, missed), text = attempt([QUIET], [["slow"], []])
        self.assertEqual((result, missed), (1, []))
        self.assertIn("attempt 1 of 2", text)

    def test_missed_on_a_quiet_machine_fails(self):
        self.assertEqual(attempt([QUIET], [["slow"], ["slower"]])[0], (1, ["slower"]))

    def test_one_quiet_attempt_is_enough_to_fail(self):
        self.assertEqual(attempt([STALLED, QUIET], [["slow"], ["slow"]])[0][1], ["slow"])

    def test_a_machine_that_never_holds_still_judges_nothing(self):
        for disturbed in (STALLED, STOLEN):
            (_, missed), text = attempt([disturbed], [["slow"], ["slow"]])
            self.assertEqual(missed, [])
            self.assertIn("NOT JUDGED", text)

    def test_a_repeated_test_fails_with_what_it_missed(self):
        calls = []

        @machine.repeated
        def test(text):
            calls.append(text)
            machine.expect(len(calls) == 2 or text == "slow", text)
            machine.expect(text != "slow", text)

        with contextlib.redirect_stdout(io.StringIO()):
            test("noisy")
            self.assertEqual(calls, ["noisy"] * 2)
            with (mock.patch.object(machine.Watch, "report", lambda _: QUIET),
                  self.assertRaisesRegex(machine.GoalMissed, "slow")):
                test("slow")
        self.assertEqual(calls[2:], ["slow"] * machine.ATTEMPTS)

    def test_a_wrong_result_is_not_repeated(self):
        calls = []

        @machine.repeated
        def test():
            calls.append(1)
            raise AssertionError("corrupted")

        with self.assertRaisesRegex(AssertionError, "corrupted"):
            test()
        self.assertEqual(len(calls), 1)

    def test_watch_measures(self):
        with machine.Watch() as watch:
            time.sleep(0.05)
        self.assertGreaterEqual(watch.seconds, 0.05)
        self.assertGreaterEqual(watch.report().stall_ms, 0)


if __name__ == "__main__":
    unittest.main()
