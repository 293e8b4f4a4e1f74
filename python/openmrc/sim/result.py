# SPDX-License-Identifier: BSD-3-Clause
"""What a run gives, as objects of Python and of pandas."""
import io
import json


def _pandas():
    try:
        import pandas  # pylint: disable=import-outside-toplevel
    except ImportError as error:
        raise ImportError("frames need pandas (Debian: apt install python3-pandas); "
                          "'data', 'figures' and 'series_csv' do without") from error
    return pandas


def frame(rows, columns=None):
    """A frame of pandas; an ImportError says how to get it."""
    return _pandas().DataFrame(rows, columns=columns)


class Result:
    """One run. Times in the data are picoseconds (None: never), amounts bytes.

    text        the result as `mrc sim run --json` writes it; `mrc sim run` runs it again from itself
    data        the same as a dict (docs/reports.md)
    figures     by name, as `mrc sim compare --json` has them
    series_csv  the time series as `mrc sim run --series` writes it, or None
    """

    def __init__(self, text, figures, series_csv):
        self.text = text
        self.data = json.loads(text)
        self.figures = figures
        self.series_csv = series_csv

    def __repr__(self):
        data = self.data
        state = "finished" if data["finished"] else "not finished"
        return (f"<openmrc.sim.Result {data['scenario']} ({data['transport']}), seed {data['seed']}, "
                f"{state} after {data['end_ps'] / 1e6:g} us>")

    @property
    def finished(self):
        """Whether all hosts were done with their work."""
        return self.data["finished"]

    def save(self, path):
        """Writes the result's file."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.text)

    @property
    def flows(self):
        """A frame with a row for each flow. 'completion_us' is empty where it did not end well."""
        flows = frame(self.data["flows"], self.data["flows_columns"])
        done = flows["end_ps"].notna() & (flows["failed"] == 0)
        flows["completion_us"] = (flows["end_ps"].astype("float64") - flows["start_ps"]).where(done) / 1e6
        return flows

    @property
    def steps(self):
        """A frame with a row for each step of a training job."""
        return frame(self.data["steps"], self.data["steps_columns"])

    @property
    def buckets(self):
        """A frame with a row for each slice of time of the result: what its report draws."""
        width = self.data["bucket_width_ps"]
        rows = []
        for number, bucket in enumerate(self.data["buckets"]):
            row = {"time_us": number * width / 1e6}
            for key, value in bucket.items():
                if key == "payload_bytes":
                    for plane, amount in enumerate(value):
                        row[f"goodput_gbps_p{plane}"] = amount * 8000 / width
                elif isinstance(value, dict):
                    row.update({f"{key}_{part}": amount for part, amount in value.items()})
                else:
                    row[key] = value
            rows.append(row)
        return frame(rows)

    @property
    def series(self):
        """The time series as a frame: a row for each time and thing, a column for each figure."""
        if self.series_csv is None:
            raise ValueError("this run was made without a series; give run() series='10 us'")
        return _pandas().read_csv(io.StringIO(self.series_csv))
