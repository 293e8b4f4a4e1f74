// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mrc/lab/demo/timeline.h"

#include <algorithm>
#include <fstream>

namespace openmrc::lab {
namespace {

constexpr Duration kShort = milliseconds(20);
constexpr Duration kLong = milliseconds(200);
constexpr Duration kLookFor = seconds(2);

}  // namespace

Result<ArrivalTimeline, std::string> ArrivalTimeline::read(const std::string& file) {
  std::ifstream in(file);
  std::string heading;
  std::getline(in, heading);
  std::vector<Sample> samples;
  Sample sample;
  for (char comma = 0; in >> sample.time_ns >> comma >> sample.bytes;) samples.push_back(sample);
  if (samples.size() < 2) return failure("nothing arrived: " + file + " is empty");
  return ArrivalTimeline(std::move(samples));
}

double ArrivalTimeline::bytes_at(std::int64_t time_ns) const {
  const auto after = std::ranges::lower_bound(samples_, time_ns, {}, &Sample::time_ns);
  if (after == samples_.end()) return static_cast<double>(samples_.back().bytes);
  const auto high = static_cast<double>(after->bytes);
  if (after == samples_.begin() || after->time_ns == time_ns) return high;
  const Sample& before = *std::prev(after);
  const auto low = static_cast<double>(before.bytes);
  return low + (high - low) * static_cast<double>(time_ns - before.time_ns) /
                   static_cast<double>(after->time_ns - before.time_ns);
}

double ArrivalTimeline::bits_per_second(std::int64_t begin_ns, std::int64_t end_ns) const {
  return (bytes_at(end_ns) - bytes_at(begin_ns)) * 8e9 / static_cast<double>(end_ns - begin_ns);
}

std::optional<Duration> ArrivalTimeline::reached_after(std::int64_t begin_ns, double goal) const {
  for (Duration after{}; after < kLookFor; after = after + milliseconds(1)) {
    const std::int64_t from = begin_ns + after.raw();
    if (bits_per_second(from, from + kShort.raw()) >= goal &&
        bits_per_second(from, from + kLong.raw()) >= goal) {
      return after;
    }
  }
  return std::nullopt;
}

}  // namespace openmrc::lab
