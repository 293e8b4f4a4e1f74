// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "openmrc/base/time.h"
#include "openmrc/mapper/places.h"
#include "openmrc/mapper/probe_plan.h"
#include "openmrc/mapper/round_window.h"

namespace openmrc::mapper {

struct SlowLink {
  fabric::LinkId link{};
  Duration delay{};  // there and back, more than others of its kind

  bool operator==(const SlowLink&) const = default;
};

// Names links on which every packet takes longer. What counts is the shortest round trip of many:
// queues, and a host that is busy, delay some packets and not all of them. A link is compared with
// others of its kind, so nothing has to be known of cables and switches.
class DelayJudge {
 public:
  explicit DelayJudge(const ProbePlan& plan);

  // A batch without noise.
  void add(const Batch& batch, Instant now);
  [[nodiscard]] std::vector<SlowLink> slow() const;

 private:
  // The shortest round trip of the probes that run, and of those before.
  struct Shortest {
    Instant since{};
    std::uint32_t probes = 0;
    Duration current{std::numeric_limits<std::int64_t>::max()};
    std::optional<Duration> before{};
  };

  void add(std::size_t place, Duration time, Instant now);
  // By the link itself: of an uplink without what the host's link takes.
  [[nodiscard]] std::optional<Duration> time_of(std::size_t place) const;
  void find(bool host_links, std::vector<SlowLink>& found) const;

  ProbePlan plan_;
  LinkPlaces places_;
  std::vector<Shortest> links_;
};

}  // namespace openmrc::mapper
