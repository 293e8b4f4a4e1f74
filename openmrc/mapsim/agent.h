// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "openmrc/base/rng.h"
#include "openmrc/base/time.h"
#include "openmrc/fabric/usid_plan.h"
#include "openmrc/mapper/judge.h"
#include "openmrc/mapper/mapper.h"
#include "openmrc/mapper/probe_plan.h"
#include "openmrc/mapper/report.h"
#include "openmrc/mapsim/faults.h"

namespace openmrc::mapsim {

// One host: which of its probes come back is drawn, what follows is the mapper's own judgement.
class Agent {
 public:
  Agent(const Settings& settings, const FaultTable& faults, const fabric::UsidPlan& plan,
        fabric::HostIndex host);

  // All batches whose replies are not awaited any more by then.
  void run_until(Instant now);

  [[nodiscard]] const mapper::Judge& judge() const { return judge_; }
  // What its page would say.
  [[nodiscard]] mapper::MapReport report(Instant now) const;

  struct Counters {
    std::uint64_t rounds_judged = 0;
    std::uint64_t rounds_left_out = 0;
    std::uint64_t lost = 0;  // probes of the rounds that were judged
  };
  [[nodiscard]] const Counters& counters() const { return counters_; }

 private:
  void fill(Instant started);
  void lose_by_faults(Plane plane, Instant now);
  void lose_by_chance();
  void lose_in_burst();
  void lose(std::uint32_t plane, mapper::ProbeKind kind, std::uint32_t round);
  [[nodiscard]] double loss_on_the_way(const mapper::ProbePath& path, Instant now) const;
  double draw();  // from 0 to 1
  [[nodiscard]] std::uint64_t draw_gap();

  const Settings& settings_;
  mapper::ProbePlan plan_;
  mapper::Judge judge_;
  Rng rng_;

  // Faults that probes of this host meet in a plane.
  struct Faults {
    LinkLoss host_link{};
    const FaultTable::Uplinks* own = nullptr;
    std::array<const FaultTable::Uplinks*, mapper::kPartnersMax> partners{};

    [[nodiscard]] bool loses(mapper::ProbeKind kind) const;
  };
  [[nodiscard]] Faults faults_in(const FaultTable& faults, Plane plane) const;
  std::vector<Faults> faults_{};  // by plane

  Duration batch_length_{};
  Duration until_judged_{};  // from the beginning of a batch
  Instant next_{};
  Instant paused_until_{};
  std::uint64_t crossings_left_ = 0;  // of links, until one is lost by chance
  mapper::Batch batch_{};
  Counters counters_{};
};

}  // namespace openmrc::mapsim
