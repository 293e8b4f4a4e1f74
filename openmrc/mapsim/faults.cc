// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/mapsim/faults.h"

#include <algorithm>
#include <array>
#include <set>

#include "openmrc/base/rng.h"

namespace openmrc::mapsim {
namespace {

using fabric::LinkId;
using mapper::Direction;

std::uint32_t below(Rng& rng, std::uint32_t bound) {
  return static_cast<std::uint32_t>(rng.below(bound));
}

LinkId draw_link(Rng& rng, const fabric::Shape& shape) {
  const bool is_host_link = shape.uplinks == 0 || rng.below(2) == 0;
  return {.kind = is_host_link ? LinkId::Kind::kHost : LinkId::Kind::kUplink,
          .plane = Plane(static_cast<std::uint8_t>(rng.below(shape.planes))),
          .rack = below(rng, shape.racks),
          .port = below(rng, is_host_link ? shape.hosts_per_rack : shape.uplinks)};
}

std::uint64_t links_of(const fabric::Shape& shape) {
  return std::uint64_t{shape.planes} * shape.racks * (shape.hosts_per_rack + shape.uplinks);
}

}  // namespace

std::vector<LinkFault> draw_faults(const Settings& settings) {
  constexpr std::array kDirections{Direction::kUp, Direction::kDown, Direction::kBoth};
  Rng rng(settings.seed);
  std::vector<LinkFault> faults;
  std::set<LinkId> links;
  // No more than half of all, or drawing takes long.
  const std::uint64_t count =
      std::min<std::uint64_t>(settings.bad_links, links_of(settings.shape) / 2);
  while (faults.size() < count) {
    const LinkId link = draw_link(rng, settings.shape);
    if (!links.insert(link).second) continue;
    const std::int64_t half = kFaultsBegin.raw() / 2;
    faults.push_back({.link = link,
                      .direction = kDirections[rng.below(kDirections.size())],
                      .loss = settings.losses[rng.below(settings.losses.size())],
                      .from = Instant(half + static_cast<std::int64_t>(
                                                 rng.below(static_cast<std::uint64_t>(half))))});
  }
  return faults;
}

FaultTable::FaultTable(const fabric::Shape& shape, const std::vector<LinkFault>& faults) {
  for (const LinkFault& each : faults) {
    faults_[each.link] = each;
    if (each.link.kind != LinkId::Kind::kUplink) continue;
    Uplinks& uplinks = uplinks_[{each.link.plane, each.link.rack}];
    uplinks.resize(shape.uplinks);
    uplinks[each.link.port] = loss_of(each.link);
  }
}

const LinkFault* FaultTable::find(const LinkId& link) const {
  const auto found = faults_.find(link);
  return found == faults_.end() ? nullptr : &found->second;
}

LinkLoss FaultTable::loss_of(const LinkId& link) const {
  const LinkFault* fault = find(link);
  if (fault == nullptr) return {};
  return {.up = fault->direction == Direction::kDown ? 0 : fault->loss,
          .down = fault->direction == Direction::kUp ? 0 : fault->loss,
          .from = fault->from};
}

const FaultTable::Uplinks* FaultTable::uplinks_of(Plane plane, std::uint32_t rack) const {
  const auto found = uplinks_.find({plane, rack});
  return found == uplinks_.end() ? nullptr : &found->second;
}

}  // namespace openmrc::mapsim
