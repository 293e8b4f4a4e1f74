// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "openmrc/base/result.h"
#include "openmrc/base/time.h"

namespace openmrc::lab {

// What had arrived at which time, as `mrc perf --timeline` writes it.
class ArrivalTimeline {
 public:
  struct Sample {
    std::int64_t time_ns = 0;
    std::uint64_t bytes = 0;
  };
  // In order of time.
  explicit ArrivalTimeline(std::vector<Sample> samples) : samples_(std::move(samples)) {}
  static Result<ArrivalTimeline, std::string> read(const std::string& file);

  // Between two times. Samples are a millisecond apart; between them it grows evenly.
  [[nodiscard]] double bits_per_second(std::int64_t begin_ns, std::int64_t end_ns) const;
  // How long after `begin_ns` this rate, in bits per second, is reached to stay: for 20 ms, and on
  // the average of the 200 ms after that. Nothing: not within the two seconds in which it is looked
  // for.
  [[nodiscard]] std::optional<Duration> reached_after(std::int64_t begin_ns, double goal) const;

 private:
  [[nodiscard]] double bytes_at(std::int64_t time_ns) const;

  std::vector<Sample> samples_;
};

}  // namespace openmrc::lab
