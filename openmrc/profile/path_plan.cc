// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/profile/path_plan.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <utility>

#include "openmrc/base/check.h"
#include "openmrc/fabric/names.h"

namespace openmrc::profile {
namespace {

using fabric::Reach;

// In a fabric the address of a host says where it is, and any path of the plane leads there.
class FabricReturnRoutes final : public core::ReturnRoutes {
 public:
  explicit FabricReturnRoutes(PathPlan paths) : paths_(std::move(paths)) {}

  [[nodiscard]] std::optional<wire::SrEncapsulation> route_to(
      Plane plane, const wire::Ipv6Address& source,
      const wire::Ipv6Address& destination) const override {
    const auto port = paths_.plan()->port_of(destination);
    if (!port) return std::nullopt;
    const core::EvProfile& profile = *paths_.profiles()[paths_.profile_to(port->host)];
    const core::EvIndex ev(static_cast<std::uint8_t>(profile.range(plane).first));
    return wire::SrEncapsulation{
        .source = source,
        .destination = profile.entry(ev).outer | paths_.overlay(port->host),
        .srh = std::nullopt};
  }

 private:
  PathPlan paths_;
};

// MRC 9.3.3 (PATH-8): over IPv4 an EV is a source port and nothing else, from 49152 on.
core::EvProfile source_ports(std::size_t planes, std::size_t per_plane, std::uint64_t seed) {
  constexpr std::array kFields{
      core::EvField{.width = 16, .init = 0xc000, .min = 0, .max = 0x3fff, .mask = 0x3fff}};
  auto profile =
      core::EvProfile::generated({.format = {.mode = core::EvFormatMode::kUdp, .slot_widths = {16}},
                                  .fields = kFields,
                                  .count = planes * per_plane,
                                  .planes = planes,
                                  .seed = seed,
                                  .options = {}});
  OPENMRC_CHECK(profile.has_value(), "more planes or EVs than a profile holds, or none");
  return *std::move(profile);
}

}  // namespace

Result<PathPlan, core::EvProfileError> PathPlan::in_fabric(const fabric::UsidPlan& plan,
                                                           fabric::HostIndex own,
                                                           const PathOptions& options) {
  auto drawn = draw_paths(plan, options, set_of(own, options));
  if (!drawn) return failure(drawn.error());
  return PathPlan(plan, own, std::move(*drawn));
}

PathPlan::PathPlan(const fabric::UsidPlan& plan, fabric::HostIndex own, DrawnPaths drawn)
    : plan_(plan),
      own_(own),
      profiles_{std::move(drawn.other_racks), std::move(drawn.own_rack)},
      numbers_(std::move(drawn.numbers)) {}

PathPlan PathPlan::hashed(std::size_t planes, const PathOptions& options, wire::IpVersion version) {
  PathPlan made;
  const std::size_t per_plane = std::max<std::size_t>(1, options.evs / planes);
  const std::uint64_t seed = options.seed.value_or(kPathSeedDefault);
  made.profiles_.push_back(std::make_shared<const core::EvProfile>(
      version == wire::IpVersion::kV4
          ? source_ports(planes, per_plane, seed)
          : core::EvProfile::simple({.planes = planes, .evs_per_plane = per_plane, .seed = seed})));
  return made;
}

std::size_t PathPlan::profile_to(std::optional<fabric::HostIndex> remote) const {
  return plan_ && remote && plan_->reach(*own_, *remote) == Reach::kOwnRack ? 1 : 0;
}

wire::Ipv6Address PathPlan::overlay(std::optional<fabric::HostIndex> remote) const {
  return plan_ && remote ? plan_->overlay(*own_, *remote) : wire::Ipv6Address{};
}

fabric::PathChoice PathPlan::choice(core::EvIndex ev,
                                    std::optional<fabric::HostIndex> remote) const {
  const std::size_t profile = profile_to(remote);
  const Plane plane = profiles_[profile]->entry(ev).plane;
  const bool named = plan_ && profile == 0;
  return {.plane = plane, .path = named ? numbers_[ev.raw()] : std::uint16_t{0}};
}

std::string PathPlan::path_name(core::EvIndex ev, std::optional<fabric::HostIndex> remote) const {
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

std::shared_ptr<const core::ReturnRoutes> PathPlan::return_routes() const {
  if (!plan_) return nullptr;
  return std::make_shared<const FabricReturnRoutes>(*this);
}

}  // namespace openmrc::profile
