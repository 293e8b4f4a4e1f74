// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "openmrc/base/time.h"
#include "openmrc/core/context/counters.h"

namespace openmrc::host {

// Notices when so many packets are dropped that somebody must be sending them on purpose, or to the
// wrong host. Reads counters now and then, and costs packets nothing (SEC-26).
class FloodWatch {
 public:
  struct Flood {
    core::Count counter{};  // most of them
    std::uint64_t packets = 0;
  };
  // Whether it is time to look.
  [[nodiscard]] bool is_due(Instant now) const { return now >= looked_at_ + kInterval; }
  void look(Instant now, const core::Counters& counters);
  // The worst so far.
  [[nodiscard]] const std::optional<Flood>& worst() const { return worst_; }

  static constexpr Duration kInterval = milliseconds(500);
  static constexpr std::uint64_t kPacketsMax = 1000;  // in one interval, for one reason

 private:
  Instant looked_at_{};
  core::Counters before_;
  std::optional<Flood> worst_;
};

// For people.
[[nodiscard]] std::string to_string(const FloodWatch::Flood& flood);

}  // namespace openmrc::host
