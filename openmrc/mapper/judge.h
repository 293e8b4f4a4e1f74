// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "openmrc/base/ids.h"
#include "openmrc/base/time.h"
#include "openmrc/fabric/fabric.h"
#include "openmrc/mapper/places.h"
#include "openmrc/mapper/probe_plan.h"
#include "openmrc/mapper/recent.h"
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

// Losses of a link recently, of probes that cross it and nothing else that loses.
struct RecentLosses {
  RecentAmounts both{};  // there and back
  RecentAmounts up{};    // in one direction only; of uplinks
  RecentAmounts down{};

  bool operator==(const RecentLosses&) const = default;
};

struct LinkTally {
  fabric::LinkId link{};
  Tally tally{};
  RecentLosses recent{};
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
  [[nodiscard]] bool has_lost() const { return losses_.size() > plan_.planes(); }
  // Of the host's own links, and of all that have lost something.
  [[nodiscard]] std::vector<LinkTally> tallies(Instant now) const;
  // Of all uplinks of a plane together, by plane.
  [[nodiscard]] std::vector<Tally> uplink_tallies() const;
  [[nodiscard]] RecentAmounts recent_rounds(Instant now) const { return rounds_.at(now); }

 private:
  // Of most planes nothing is to be said: nothing was lost, and no link is watched.
  [[nodiscard]] bool is_quiet(const Batch& batch, Plane plane) const;
  void skim(const Batch& batch, Plane plane);
  void observe(const Batch& batch);
  void observe(const Batch& batch, Plane plane, ProbeKind kind);
  void observe_far(const ProbePath& path, const Tally& tally);
  Observation& seen_at(std::size_t place);
  void compare();
  void remember(std::size_t place, Instant now);
  void judge(std::size_t place, const Batch& batch, Instant now);

  ProbePlan plan_;
  LinkPlaces places_;
  JudgementRules host_link_rules_{};
  JudgementRules uplink_rules_{};
  std::vector<LinkWatch> watches_;
  std::vector<std::uint32_t> watched_;  // links, by plane
  RecentCount rounds_{};

  struct LossHistory {
    RecentCount both{};
    RecentCount up{};
    RecentCount down{};
  };
  std::map<std::size_t, LossHistory> losses_{};  // of own links, and all that have lost something

  // Of the batch in hand: all that is said of links, and sums of the planes that are quiet.
  std::vector<Observation> seen_;
  std::vector<bool> is_seen_;
  std::vector<std::size_t> seen_places_{};
  Tally quiet_host_links_{};
  Tally quiet_uplinks_{};
};

}  // namespace openmrc::mapper
