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
// queues, and a host that is busy, delay some packets and not all of them. A queue that is never
// empty delays all, but not equally, so what round trips differ by anyway says nothing. A link is
// compared with others of its kind, so nothing has to be known of cables and switches.
class DelayJudge {
 public:
  explicit DelayJudge(const ProbePlan& plan);

  // A batch without noise.
  void add(const Batch& batch, Instant now);
  [[nodiscard]] std::vector<SlowLink> slow(Instant now) const;

 private:
  // Round trips over a link, of as many probes as are looked at together.
  struct RoundTrips {
    Instant first{};
    Instant last{};
    std::uint32_t count = 0;
    Duration shortest{std::numeric_limits<std::int64_t>::max()};
    Duration sum{};

    [[nodiscard]] Duration spread() const { return sum / count - shortest; }
    [[nodiscard]] bool is_recent(Instant now) const;
  };
  struct LinkTimes {
    RoundTrips current{};
    std::optional<RoundTrips> complete{};
  };
  // What a link itself takes: of an uplink without what the host's link takes.
  struct LinkTime {
    Duration time{};
    Duration spread{};
    std::size_t place = 0;
  };

  void add(std::size_t place, Duration time, Instant now);
  [[nodiscard]] const RoundTrips* recent(std::size_t place, Instant now) const;
  [[nodiscard]] std::optional<LinkTime> time_of(std::size_t place, Instant now) const;
  void find(bool host_links, Instant now, std::vector<SlowLink>& found) const;

  ProbePlan plan_;
  LinkPlaces places_;
  std::vector<LinkTimes> links_;
};

}  // namespace openmrc::mapper
