// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/scenario/failure_process.h"

#include <algorithm>
#include <tuple>

#include "openmrc/base/check.h"
#include "openmrc/sim/workload/random_lengths.h"

namespace openmrc::sim {
namespace {

using fabric::Element;
using fabric::Fabric;
using fabric::HostIndex;
using fabric::LinkId;

ElementGroup elements_of(FailingPart part) {
  switch (part) {
    case FailingPart::kUplinks:
    case FailingPart::kUplinkTransceivers: return ElementGroup::kUplinks;
    case FailingPart::kHostLinks:
    case FailingPart::kDownlinkTransceivers:
    case FailingPart::kNicTransceivers: return ElementGroup::kHostLinks;
    case FailingPart::kT0s: return ElementGroup::kT0s;
    case FailingPart::kT1s: return ElementGroup::kT1s;
    case FailingPart::kT1Uplinks: return ElementGroup::kT1Uplinks;
    case FailingPart::kT2s: return ElementGroup::kT2s;
  }
  return ElementGroup::kUplinks;
}

// The links in a row that transceivers are cut from.
std::uint64_t links_in_row(FailingPart part, const Fabric& fabric) {
  switch (part) {
    case FailingPart::kUplinkTransceivers: return fabric.shape().uplinks;
    case FailingPart::kDownlinkTransceivers: return fabric.shape().hosts_per_rack;
    case FailingPart::kNicTransceivers: return fabric.shape().planes;
    default: return 1;
  }
}

std::uint64_t transceivers_per_row(const FailureProcess& process, const Fabric& fabric) {
  return (links_in_row(process.part, fabric) + process.links - 1) / process.links;
}

LinkId nic_link(std::uint64_t host, std::uint64_t plane, const Fabric& fabric) {
  const HostIndex index(static_cast<std::uint32_t>(host));
  return {.kind = LinkId::Kind::kHost,
          .plane = Plane(static_cast<std::uint8_t>(plane)),
          .rack = fabric.rack_of(index),
          .port = fabric.downlink_of(index)};
}

Picoseconds draw_repair(const FailureProcess& process, Rng& rng) {
  switch (process.repair) {
    case RepairTime::kExponential: return draw_exponential(rng, process.mttr);
    case RepairTime::kFixed: return process.mttr;
    case RepairTime::kLognormal: return draw_lognormal(rng, process.mttr, process.sigma_percent);
  }
  return process.mttr;
}

// When one part fails and works again; false if there is no end to it.
bool add_history(const FailureProcess& process, const std::vector<Element>& part, Rng rng,
                 std::vector<BrokenElement>& broken) {
  Picoseconds now = process.from;
  while (true) {
    now += draw_exponential(rng, process.mtbf);
    if (now >= process.until) return true;
    const Picoseconds works_again = now + std::max(Picoseconds(1), draw_repair(process, rng));
    for (const Element& element : part) {
      broken.push_back({.element = element, .from = now, .to = works_again});
    }
    if (broken.size() > kFailuresMax) return false;
    now = works_again;
  }
}

// The part of each failure in which the loss is at one step.
std::vector<BrokenElement> step_of(const std::vector<BrokenElement>& broken, std::int64_t step,
                                   std::int64_t steps) {
  std::vector<BrokenElement> result;
  for (const BrokenElement& one : broken) {
    const auto at = [&](std::int64_t place) {
      const std::int64_t length = (one.to - one.from).raw();
      return one.from + Picoseconds(length / steps * place + length % steps * place / steps);
    };
    if (at(step) < at(step + 1)) {
      result.push_back({.element = one.element, .from = at(step), .to = at(step + 1)});
    }
  }
  return result;
}

Breakage breakage_at(const FailureProcess& process, std::uint32_t step) {
  Breakage breakage = process.breakage;
  if (process.steps > 1) {
    const std::uint64_t rise = process.worst_loss_per_billion - breakage.loss_per_billion;
    breakage.loss_per_billion += static_cast<std::uint32_t>(rise * step / (process.steps - 1));
  }
  return breakage;
}

}  // namespace

std::uint64_t count_of(const FailureProcess& process, const Fabric& fabric) {
  const std::uint64_t single = size_of(elements_of(process.part), fabric);
  if (single == 0) return 0;
  return single / links_in_row(process.part, fabric) * transceivers_per_row(process, fabric);
}

std::vector<Element> failing_part(const FailureProcess& process, std::uint64_t index,
                                  const Fabric& fabric) {
  OPENMRC_CHECK(index < count_of(process, fabric), "there are not so many");
  const std::uint64_t per_row = transceivers_per_row(process, fabric);
  const std::uint64_t row = index / per_row;
  const std::uint64_t length = links_in_row(process.part, fabric);
  const std::uint64_t first = index % per_row * process.links;
  std::vector<Element> part;
  for (std::uint64_t i = first; i < std::min(first + process.links, length); ++i) {
    part.push_back(process.part == FailingPart::kNicTransceivers
                       ? Element(nic_link(row, i, fabric))
                       : element_of(elements_of(process.part), row * length + i, fabric));
  }
  return part;
}

bool sample_failures(const FailureProcess& process, const Fabric& fabric, const Rng& rng,
                     std::vector<LinkFault>& faults, std::vector<FaultNote>& notes) {
  OPENMRC_CHECK(process.links > 0 && process.steps > 0, "a transceiver has a link");
  std::vector<BrokenElement> broken;
  for (std::uint64_t i = 0; i < count_of(process, fabric); ++i) {
    if (!add_history(process, failing_part(process, i, fabric), rng.fork(i), broken)) return false;
  }
  std::ranges::stable_sort(broken, {},
                           [](const BrokenElement& one) { return std::tuple(one.from, one.to); });
  for (std::uint32_t step = 0; step < process.steps; ++step) {
    if (!expand_fault(step_of(broken, step, process.steps), breakage_at(process, step), fabric,
                      faults, notes)) {
      return false;
    }
  }
  return true;
}

}  // namespace openmrc::sim
