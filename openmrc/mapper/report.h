// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "openmrc/base/result.h"
#include "openmrc/base/time.h"
#include "openmrc/fabric/fabric.h"
#include "openmrc/mapper/mapper.h"

namespace openmrc::mapper {

std::string_view name_of(Direction direction);

struct BadLink {
  fabric::LinkId link{};
  Direction direction = Direction::kUnknown;
  double loss = 0;
  Tally seen{};
  Duration age{};  // since the first loss

  bool operator==(const BadLink&) const = default;
};

// What one agent has found: all that a page, a metric or another program says of it.
struct MapReport {
  std::string host{};
  fabric::HostIndex index{};
  fabric::Shape shape{};
  std::uint32_t rounds_per_second = 0;
  MapperCounters counters{};
  std::uint64_t send_failures = 0;
  RecentAmounts recent_rounds{};   // that were judged
  std::vector<Tally> uplinks{};    // of the host's T0, all together, by plane
  std::vector<LinkTally> links{};  // that have lost something, and the host's own
  std::vector<BadLink> bad{};
  std::vector<SlowLink> slow{};
};

// Without what only a mapper knows: its counters.
MapReport report_of(const ProbePlan& plan, const Judge& judge, Instant now);
MapReport report_of(const Mapper& mapper, std::string_view host, std::uint64_t send_failures,
                    Instant now);

// The page of an agent, and back. Any bytes may be given; what is refused is said for people.
inline constexpr std::size_t kPageBytesMax = std::size_t{4} * 1024 * 1024;
std::string to_json(const MapReport& report);
Result<MapReport, std::string> parse_report(std::string_view text);

}  // namespace openmrc::mapper
