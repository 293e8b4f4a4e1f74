// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/workload/all_reduce.h"

#include <fmt/format.h>

#include <bit>

#include "openmrc/sim/workload/slice.h"

namespace openmrc::sim {
namespace {

std::uint32_t log2_of(std::uint32_t power) {
  return static_cast<std::uint32_t>(std::countr_zero(power));
}

// The vector is cut into one slice per rank. In the first half of the rounds each slice travels
// once around and collects its sum, in the second half the sum travels around.
AllReduceRound ring_round(std::uint32_t ranks, std::uint32_t rank, std::uint32_t number,
                          std::uint64_t vector_bytes) {
  const bool reducing = number < ranks - 1;
  const std::uint32_t steps = reducing ? number : number - (ranks - 1);
  const std::uint32_t first = reducing ? rank : rank + 1;
  const std::uint32_t slice = (first + ranks - steps) % ranks;
  return {.to = (rank + 1) % ranks,
          .from = (rank + ranks - 1) % ranks,
          .bytes = slice_bytes(vector_bytes, ranks, slice)};
}

// First each rank halves the part of the vector that it still reduces: the half on the other side
// goes to the partner there. Then, backwards, partners give each other all they have.
AllReduceRound halving_doubling_round(std::uint32_t ranks, std::uint32_t rank, std::uint32_t number,
                                      std::uint64_t vector_bytes) {
  const std::uint32_t levels = log2_of(ranks);
  const bool halving = number < levels;
  const std::uint32_t level = halving ? number : 2 * levels - 1 - number;
  const std::uint32_t distance = ranks >> (level + 1);
  const std::uint32_t partner = rank ^ distance;
  const std::uint32_t whose = halving ? partner : rank;
  const std::uint32_t first_slice = whose / distance * distance;
  return {.to = partner,
          .from = partner,
          .bytes = slice_bytes(vector_bytes, ranks, first_slice, distance)};
}

}  // namespace

std::uint32_t AllReducePlan::rounds() const {
  return kind == AllReduceKind::kRing ? 2 * (ranks - 1) : 2 * log2_of(ranks);
}

AllReduceRound AllReducePlan::round(std::uint32_t rank, std::uint32_t number,
                                    std::uint64_t vector_bytes) const {
  OPENMRC_DCHECK(rank < ranks && number < rounds(), "no such round");
  return kind == AllReduceKind::kRing ? ring_round(ranks, rank, number, vector_bytes)
                                      : halving_doubling_round(ranks, rank, number, vector_bytes);
}

std::uint32_t AllReducePlan::sources() const {
  return kind == AllReduceKind::kRing ? 1 : log2_of(ranks);
}

std::uint32_t AllReducePlan::source_number(std::uint32_t rank, std::uint32_t from) const {
  return kind == AllReduceKind::kRing ? 0 : log2_of(rank ^ from);
}

std::string problem_with_vector(std::uint32_t hosts, std::uint64_t bytes,
                                const fabric::Fabric& fabric) {
  if (hosts < 2) return "an all-reduce needs two hosts";
  if (hosts > fabric.hosts()) {
    return fmt::format("{} hosts are asked for, and the fabric has {}", hosts, fabric.hosts());
  }
  if (bytes < hosts) return "a vector needs a byte for each host";
  if (bytes > kVectorBytesMax) return "a vector has at most 1 TiB";
  return {};
}

std::string problem_with_all_reduce(const AllReduce& settings, const fabric::Fabric& fabric) {
  std::string problem = problem_with_vector(settings.hosts, settings.bytes, fabric);
  if (!problem.empty()) return problem;
  if (settings.kind == AllReduceKind::kHalvingDoubling && !std::has_single_bit(settings.hosts)) {
    return fmt::format("halving and doubling needs a power of two of hosts, not {}",
                       settings.hosts);
  }
  return {};
}

}  // namespace openmrc::sim
