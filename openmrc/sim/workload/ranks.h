// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>

#include "openmrc/fabric/fabric.h"
#include "openmrc/sim/workload/workload.h"

namespace openmrc::sim {

// The hosts of a job, numbered from 0 as the job sees them.
class Ranks {
 public:
  Ranks(std::uint32_t count, Placement placement, const fabric::Fabric& fabric)
      : fabric_(fabric), placement_(placement), count_(count) {}

  [[nodiscard]] std::uint32_t count() const { return count_; }

  [[nodiscard]] fabric::HostIndex host(std::uint32_t rank) const {
    if (placement_ == Placement::kPacked) return fabric::HostIndex(rank);
    const std::uint32_t racks = fabric_.shape().racks;
    return fabric_.host_at(rank % racks, rank / racks);
  }

  // Nothing for a host that is not in the job.
  [[nodiscard]] std::optional<std::uint32_t> rank(fabric::HostIndex host) const {
    std::uint32_t rank = host.raw();
    if (placement_ == Placement::kSpread) {
      rank = fabric_.downlink_of(host) * fabric_.shape().racks + fabric_.rack_of(host);
    }
    if (rank >= count_) return std::nullopt;
    return rank;
  }

 private:
  fabric::Fabric fabric_;
  Placement placement_;
  std::uint32_t count_;
};

}  // namespace openmrc::sim
