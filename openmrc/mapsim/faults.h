// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "openmrc/base/ids.h"
#include "openmrc/base/time.h"
#include "openmrc/fabric/fabric.h"
#include "openmrc/mapper/tally.h"

// The mapper's judgement on a whole fabric: outcomes of probes are drawn, all that follows from
// them is what agents and `mrc map` run.
namespace openmrc::mapsim {

struct Settings {
  fabric::Shape shape{};
  std::uint32_t rounds_per_second = 100;
  Duration length = seconds(120);
  std::uint32_t bad_links = 10;
  std::vector<double> losses{1, 0.1, 0.01, 0.001};  // of a bad link, one of them
  double base_loss = 1e-7;                          // of each link, in each direction
  double pauses_per_second = 0.01;                  // of an agent, which does not run meanwhile
  double bursts_per_second = 0.001;                 // of a host, which loses some of its packets
  std::uint64_t seed = 1;
};

// Faults begin in the second half of this: until then nothing is to be found.
inline constexpr Duration kFaultsBegin = seconds(20);

struct LinkFault {
  fabric::LinkId link{};
  mapper::Direction direction = mapper::Direction::kBoth;
  double loss = 0;
  Instant from{};
};

// As many as the settings say, half of them on host links; no link twice.
std::vector<LinkFault> draw_faults(const Settings& settings);

// What a link loses in each direction, from a time on.
struct LinkLoss {
  double up = 0;
  double down = 0;
  Instant from{};

  [[nodiscard]] double up_at(Instant now) const { return now < from ? 0 : up; }
  [[nodiscard]] double down_at(Instant now) const { return now < from ? 0 : down; }
};

// Faults by where they are.
class FaultTable {
 public:
  FaultTable(const fabric::Shape& shape, const std::vector<LinkFault>& faults);

  [[nodiscard]] const LinkFault* find(const fabric::LinkId& link) const;
  [[nodiscard]] LinkLoss loss_of(const fabric::LinkId& link) const;
  // By port; nothing if no uplink of the rack has a fault.
  using Uplinks = std::vector<LinkLoss>;
  [[nodiscard]] const Uplinks* uplinks_of(Plane plane, std::uint32_t rack) const;

 private:
  std::map<fabric::LinkId, LinkFault> faults_{};
  std::map<std::pair<Plane, std::uint32_t>, Uplinks> uplinks_{};
};

}  // namespace openmrc::mapsim
