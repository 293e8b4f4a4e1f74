// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

#include "openmrc/sim/workload/workload.h"

namespace openmrc::sim {

// What a rank does in one round of an all-reduce: it sends one message, and the round is over when
// one has come. Then it may send the next, whether its own earlier ones have arrived or not.
struct AllReduceRound {
  std::uint32_t to = 0;
  std::uint32_t from = 0;
  std::uint64_t bytes = 0;  // that it sends

  bool operator==(const AllReduceRound&) const = default;
};

// How many hosts, and how they do it: a ring, or halving and doubling. Of these, the ring moves the
// fewest bytes over the fewest pairs of hosts, and halving and doubling has the fewest rounds.
struct AllReducePlan {
  std::uint32_t ranks = 0;
  AllReduceKind kind = AllReduceKind::kRing;

  [[nodiscard]] std::uint32_t rounds() const;
  [[nodiscard]] AllReduceRound round(std::uint32_t rank, std::uint32_t number,
                                     std::uint64_t vector_bytes) const;

  // The ranks that a rank hears from, numbered from 0; it sends to as many.
  [[nodiscard]] std::uint32_t sources() const;
  [[nodiscard]] std::uint32_t source_number(std::uint32_t rank, std::uint32_t from) const;
};

// There are enough hosts and bytes for a collective, and not too many; what is wrong otherwise.
std::string problem_with_vector(std::uint32_t hosts, std::uint64_t bytes,
                                const fabric::Fabric& fabric);
// The hosts and the vector fit the plan and the fabric; what is wrong otherwise.
std::string problem_with_all_reduce(const AllReduce& settings, const fabric::Fabric& fabric);

}  // namespace openmrc::sim
