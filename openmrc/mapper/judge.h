// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "openmrc/base/ids.h"
#include "openmrc/base/time.h"
#include "openmrc/fabric/fabric.h"
#include "openmrc/mapper/probe_plan.h"
#include "openmrc/mapper/round_window.h"
#include "openmrc/mapper/suspicion.h"
#include "openmrc/mapper/tally.h"

namespace openmrc::mapper {

// A link that is bad, and why.
struct Verdict {
  fabric::LinkId link{};
  Direction direction = Direction::kUnknown;
  double loss = 0;  // of a probe that crosses the link there and back, recently
  Tally seen{};     // since the first loss
  Instant since{};
};

struct LinkTally {
  fabric::LinkId link{};
  Tally tally{};
};

// Names the bad links among those that a host is responsible for: its own ones and the uplinks of
// its T0s. What is behind them is judged by the hosts over there. There is no system to be solved:
// a T0 probe crosses the host's link only, a T1 probe one more, and far probes, which cross links
// of others, only say in which direction.
class Judge {
 public:
  Judge(const ProbePlan& plan, double least_loss, Duration hold);

  // A batch without noise.
  void add(const Batch& batch, Instant now);

  [[nodiscard]] std::vector<Verdict> verdicts() const;
  [[nodiscard]] std::vector<LinkTally> tallies() const;  // of all links

 private:
  // By plane: the host's link, then the uplinks.
  [[nodiscard]] std::size_t links_per_plane() const { return std::size_t{1} + plan_.uplinks(); }
  [[nodiscard]] std::size_t place(std::uint32_t plane) const { return plane * links_per_plane(); }
  [[nodiscard]] std::size_t place(std::uint32_t plane, std::uint32_t uplink) const {
    return place(plane) + 1 + uplink;
  }
  [[nodiscard]] fabric::LinkId link_at(std::size_t place) const;
  [[nodiscard]] bool is_host_link(std::size_t place) const {
    return place % links_per_plane() == 0;
  }

  void observe(const Batch& batch);
  void observe(const Batch& batch, Plane plane, ProbeKind kind);
  void observe_far(const ProbePath& path, const Tally& tally);
  void compare();
  void judge(std::size_t place, const Batch& batch, Instant now);

  ProbePlan plan_;
  JudgementRules host_link_rules_{};
  JudgementRules uplink_rules_{};
  std::vector<LinkWatch> watches_;
  std::vector<Observation> seen_;  // of the batch in hand
};

}  // namespace openmrc::mapper
