// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "openmrc/base/picoseconds.h"
#include "openmrc/sim/network/packet.h"
#include "openmrc/sim/result/result.h"
#include "openmrc/sim/series/series.h"

namespace openmrc::sim {

// What one worker counts. Sums and maxima only, so that the parts of all workers give the same
// whole however the work was divided.
class Stats {
 public:
  // Buckets begin this wide and double in width when there are more than kBucketsMax.
  Stats(std::uint32_t planes, Picoseconds bucket_width) : planes_(planes), width_(bucket_width) {}

  Totals totals{};
  std::vector<FlowRecord> flows;
  std::vector<StepRecord> steps;

  // Of the time `when`.
  Bucket& bucket(Picoseconds when) {
    if (when >= current_from_ && when < current_to_) return buckets_[current_];
    return find_bucket(when);
  }
  void lose(const Content& content, Loss why, Picoseconds when) {
    count_lost(content, why);
    ++bucket(when).lost;
  }
  void count_lost(const Content& content, Loss why) {
    const auto i = static_cast<std::size_t>(why);
    ++totals.packets_lost[i];
    totals.payload_bytes_lost[i] += payload_size(content);
  }
  void add_step(const StepRecord& part, std::size_t step);

  // Adds what another worker has counted.
  void merge(const Stats& other);

  // What it has counted so far, without windows.
  [[nodiscard]] FabricSample sample() const;

  // For another process of the same program.
  [[nodiscard]] std::string to_bytes() const;
  static Stats from_bytes(std::string_view bytes);

  [[nodiscard]] Picoseconds bucket_width() const { return width_; }
  [[nodiscard]] const std::vector<Bucket>& buckets() const { return buckets_; }

  static constexpr std::size_t kBucketsMax = 512;

 private:
  Bucket& find_bucket(Picoseconds when);
  void double_width();

  std::uint32_t planes_;
  Picoseconds width_;
  std::vector<Bucket> buckets_;
  std::size_t current_ = 0;  // the bucket that was asked for last, and its time
  Picoseconds current_from_{};
  Picoseconds current_to_{};
};

}  // namespace openmrc::sim
