// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/fabric/path.h"

#include "openmrc/base/check.h"

namespace openmrc::fabric {

Path path_between(const Fabric& fabric, HostIndex source, HostIndex destination,
                  PathChoice choice) {
  OPENMRC_DCHECK(fabric.has(source) && fabric.has(destination), "no such host");
  OPENMRC_DCHECK(fabric.has(choice), "no such path");
  const Plane plane = choice.plane;
  const std::uint32_t uplink = fabric.uplink_of(choice.path);
  const SwitchId first = fabric.t0_of(source, plane);
  const SwitchId last = fabric.t0_of(destination, plane);
  Path path;
  const auto go = [&](LinkId::Kind kind, std::uint32_t below, std::uint32_t port, SwitchId to) {
    path.links.push_back({kind, plane, below, port});
    path.switches.push_back(to);
  };
  using enum LinkId::Kind;
  path.links.push_back(fabric.host_link(source, plane));
  path.switches.push_back(first);
  if (first != last) {
    const std::uint32_t rises = fabric.t1_of(first.index, uplink);
    const std::uint32_t falls = fabric.t1_of(last.index, uplink);
    go(kUplink, first.index, uplink, {plane, Tier::kT1, rises});
    if (rises != falls) {
      const std::uint32_t t1_uplink = fabric.t1_uplink_of(choice.path);
      go(kT1Uplink, rises, t1_uplink, {plane, Tier::kT2, fabric.t2_of(rises, t1_uplink)});
      go(kT1Uplink, falls, t1_uplink, {plane, Tier::kT1, falls});
    }
    go(kUplink, last.index, uplink, last);
  }
  path.links.push_back(fabric.host_link(destination, plane));
  return path;
}

std::uint32_t ev_number(const Fabric& fabric, PathChoice choice) {
  OPENMRC_DCHECK(fabric.has(choice), "no such path");
  return choice.plane.raw() * fabric.evs_per_plane() + choice.path;
}

PathChoice ev_choice(const Fabric& fabric, std::uint32_t number) {
  OPENMRC_DCHECK(number < fabric.evs(), "no such EV");
  return {.plane = Plane(static_cast<std::uint8_t>(number / fabric.evs_per_plane())),
          .path = static_cast<std::uint16_t>(number % fabric.evs_per_plane())};
}

}  // namespace openmrc::fabric
