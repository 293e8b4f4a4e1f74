// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/host/path_profiles.h"

#include <fmt/core.h>

#include <algorithm>

#include "openmrc/base/check.h"
#include "openmrc/base/rng.h"
#include "openmrc/fabric/path.h"

namespace openmrc::host {
namespace {

using fabric::Reach;

// Uplinks for each plane, all different, in a random order: hosts shall not all prefer the same.
std::vector<std::uint16_t> draw_uplinks(const fabric::Fabric& fabric, std::size_t per_plane,
                                        std::uint64_t seed) {
  Rng rng(seed);
  std::vector<std::uint16_t> drawn;
  for (std::uint32_t plane = 0; plane < fabric.shape().planes; ++plane) {
    std::vector<std::uint16_t> all(fabric.evs_per_plane());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::uint16_t>(i);
    for (std::size_t i = 0; i < per_plane; ++i) {
      std::swap(all[i], all[i + rng.below(all.size() - i)]);
      drawn.push_back(all[i]);
    }
  }
  return drawn;
}

Result<core::EvProfile, core::EvProfileError> make_profile(
    const fabric::UsidPlan& plan, const std::vector<std::uint16_t>& uplinks, Reach reach) {
  const std::uint32_t planes = plan.fabric().shape().planes;
  const std::size_t per_plane = uplinks.size() / planes;
  std::vector<core::PortedEv> evs;
  for (std::size_t i = 0; i < uplinks.size(); ++i) {
    const Plane plane(static_cast<std::uint8_t>(i / per_plane));
    core::PortedEv ev{.port = port_of(plane)};
    const wire::Ipv6Address part = plan.ev_part({.plane = plane, .uplink = uplinks[i]}, reach);
    std::copy(part.bytes.begin(), part.bytes.end(), ev.value.begin());
    evs.push_back(ev);
  }
  core::EvFormat format{.mode = core::EvFormatMode::kSrv6};
  for (int group = 0; group < 8; ++group) format.slot_widths.push_back(16);
  return core::EvProfile::explicit_list({.format = format, .evs = evs, .planes = planes});
}

Error unusable(const core::EvProfileError& error) {
  return {.what = "the paths cannot be used: " + to_string(error),
          .remedy = "change evs in the section paths of openmrc.toml"};
}

}  // namespace

Result<PathProfiles, Error> PathProfiles::make(const Config& config) {
  PathProfiles made;
  const std::size_t planes = config.ports.size();
  const std::size_t per_plane = std::max<std::size_t>(1, config.paths.evs / planes);
  if (config.mode == datapath::Mode::kUdp) {
    made.profiles_.push_back(std::make_shared<const core::EvProfile>(core::EvProfile::simple(
        {.planes = planes, .evs_per_plane = per_plane, .seed = config.paths.seed})));
    return made;
  }
  if (!config.fabric) {
    return failure(Error{.what = "there is no section fabric in openmrc.toml, and paths that name "
                                 "switches are made from it",
                         .remedy = "add it, or set mode = \"udp\""});
  }
  const auto fabric = fabric::Fabric::make(config.fabric->shape);
  if (!fabric) {
    return failure(Error{.what = "section fabric: " + std::string(describe(fabric.error()))});
  }
  made.plan_.emplace(*fabric, config.fabric->block);
  made.own_ = config.fabric->host;
  const std::size_t different = std::min<std::size_t>(per_plane, fabric->evs_per_plane());
  made.uplinks_ = draw_uplinks(*fabric, different, config.paths.seed + made.own_->raw());
  const auto other_rack = make_profile(*made.plan_, made.uplinks_, Reach::kOtherRack);
  // Within a rack there is one path in each plane.
  const auto own_rack =
      make_profile(*made.plan_, std::vector<std::uint16_t>(planes, 0), Reach::kOwnRack);
  if (!other_rack) return failure(unusable(other_rack.error()));
  if (!own_rack) return failure(unusable(own_rack.error()));
  made.profiles_ = {std::make_shared<const core::EvProfile>(*other_rack),
                    std::make_shared<const core::EvProfile>(*own_rack)};
  return made;
}

std::size_t PathProfiles::profile_to(std::optional<fabric::HostIndex> remote) const {
  return plan_ && remote && plan_->reach(*own_, *remote) == Reach::kOwnRack ? 1 : 0;
}

wire::Ipv6Address PathProfiles::overlay(std::optional<fabric::HostIndex> remote) const {
  return plan_ && remote ? plan_->overlay(*own_, *remote) : wire::Ipv6Address{};
}

fabric::PathChoice PathProfiles::choice(core::EvIndex ev,
                                        std::optional<fabric::HostIndex> remote) const {
  const std::size_t profile = profile_to(remote);
  const Plane plane = profiles_[profile]->entry(ev).plane;
  const bool named = plan_ && profile == 0;
  return {.plane = plane, .uplink = named ? uplinks_[ev.raw()] : std::uint16_t{0}};
}

std::string PathProfiles::path_name(core::EvIndex ev,
                                    std::optional<fabric::HostIndex> remote) const {
  const core::EvEntry& entry = profiles_[profile_to(remote)]->entry(ev);
  if (!plan_ || !remote) return fmt::format("EV {:#010x}", entry.ev.raw());
  std::string name;
  const fabric::Path path = path_between(plan_->fabric(), *own_, *remote, choice(ev, remote));
  for (const fabric::SwitchId& id : path.switches) {
    if (!name.empty()) name += " > ";
    name += name_of(id);
  }
  return name;
}

}  // namespace openmrc::host
