// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/mrc/ev_sets.h"

#include <algorithm>
#include <span>

#include "openmrc/base/check.h"
#include "openmrc/base/rng.h"

namespace openmrc::sim {
namespace {

using fabric::Reach;

// Enough that hosts of one rack hardly share one.
constexpr std::uint32_t kEvSetsDefault = 512;

// A profile of these uplinks in each plane, as a controller would hand it out.
std::shared_ptr<const core::EvProfile> make_profile(const fabric::UsidPlan& plan,
                                                    const MrcTransport& transport,
                                                    std::span<const std::uint16_t> uplinks,
                                                    Reach reach) {
  const std::uint32_t planes = plan.fabric().shape().planes;
  std::vector<core::PortedEv> evs;
  for (std::size_t i = 0; i < uplinks.size(); ++i) {
    const auto plane = static_cast<std::uint8_t>(i / (uplinks.size() / planes));
    core::PortedEv ev{.port = port_of(Plane(plane))};
    const wire::Ipv6Address part =
        plan.ev_part({.plane = Plane(plane), .uplink = uplinks[i]}, reach);
    std::copy(part.bytes.begin(), part.bytes.end(), ev.value.begin());
    evs.push_back(ev);
  }
  core::EvFormat format{.mode = core::EvFormatMode::kSrv6};
  for (int group = 0; group < 8; ++group) format.slot_widths.push_back(16);
  const auto profile =
      core::EvProfile::explicit_list({.format = format,
                                      .evs = evs,
                                      .planes = planes,
                                      .options = {.min_active = transport.min_active,
                                                  .active_per_plane = transport.active_per_plane}});
  OPENMRC_CHECK(profile.has_value(), "the scenario's EVs were checked");
  return std::make_shared<const core::EvProfile>(*profile);
}

EvSet make_set(const fabric::UsidPlan& plan, const MrcTransport& transport,
               std::vector<std::uint16_t> uplinks) {
  return {.other_rack = make_profile(plan, transport, uplinks, Reach::kOtherRack),
          .own_rack = make_profile(plan, transport, uplinks, Reach::kOwnRack),
          .uplinks = std::move(uplinks)};
}

// Random uplinks, all different as long as there are enough.
std::vector<std::uint16_t> draw_uplinks(Rng& rng, const fabric::Shape& shape,
                                        std::uint32_t evs_per_plane) {
  std::vector<std::uint16_t> drawn;
  std::vector<std::uint16_t> all(std::max(shape.uplinks, 1u));
  for (std::uint32_t plane = 0; plane < shape.planes; ++plane) {
    std::size_t left = 0;
    for (std::uint32_t i = 0; i < evs_per_plane; ++i) {
      if (left == 0) {
        left = all.size();
        for (std::size_t u = 0; u < all.size(); ++u) all[u] = static_cast<std::uint16_t>(u);
      }
      std::swap(all[rng.below(left)], all[left - 1]);
      drawn.push_back(all[--left]);
    }
  }
  return drawn;
}

}  // namespace

EvSets::EvSets(const fabric::UsidPlan& plan, const MrcTransport& transport, std::uint64_t seed) {
  const fabric::Shape& shape = plan.fabric().shape();
  const std::uint32_t hosts = plan.fabric().hosts();
  shared_ = std::min(transport.ev_sets == 0 ? kEvSetsDefault : transport.ev_sets, hosts);
  Rng rng(seed);
  for (std::size_t i = 0; i < shared_; ++i) {
    sets_.push_back(
        make_set(plan, transport, draw_uplinks(rng, shape, transport.evs / shape.planes)));
  }
  for (const MrcTransport::FixedPaths& fixed : transport.fixed_paths) {
    std::vector<std::uint16_t> uplinks;
    for (std::uint32_t plane = 0; plane < shape.planes; ++plane) {
      uplinks.insert(uplinks.end(), fixed.uplinks.begin(), fixed.uplinks.end());
    }
    sets_.push_back(make_set(plan, transport, std::move(uplinks)));
    fixed_.push_back(fixed.host);
  }
}

const EvSet& EvSets::of(fabric::HostIndex host) const {
  const auto at = std::find(fixed_.begin(), fixed_.end(), host.raw());
  if (at != fixed_.end()) return sets_[shared_ + static_cast<std::size_t>(at - fixed_.begin())];
  return sets_[host.raw() % shared_];
}

}  // namespace openmrc::sim
