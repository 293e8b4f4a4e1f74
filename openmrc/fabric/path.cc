// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/fabric/path.h"

#include "openmrc/base/check.h"

namespace openmrc::fabric {

Path path_between(const Fabric& fabric, HostIndex source, HostIndex destination,
                  PathChoice choice) {
  OPENMRC_DCHECK(fabric.has(source) && fabric.has(destination), "no such host");
  OPENMRC_DCHECK(fabric.has(choice), "no such path");
  const Plane plane = choice.plane;
  const SwitchId first = fabric.t0_of(source, plane);
  const SwitchId last = fabric.t0_of(destination, plane);
  Path path;
  path.links.push_back(fabric.host_link(source, plane));
  path.switches.push_back(first);
  if (first != last) {
    using enum LinkId::Kind;
    path.links.push_back({kUplink, plane, first.index, choice.uplink});
    path.switches.push_back({plane, Tier::kT1, fabric.t1_of(choice.uplink)});
    path.links.push_back({kUplink, plane, last.index, choice.uplink});
    path.switches.push_back(last);
  }
  path.links.push_back(fabric.host_link(destination, plane));
  return path;
}

std::uint32_t ev_number(const Fabric& fabric, PathChoice choice) {
  OPENMRC_DCHECK(fabric.has(choice), "no such path");
  return choice.plane.raw() * fabric.evs_per_plane() + choice.uplink;
}

PathChoice ev_choice(const Fabric& fabric, std::uint32_t number) {
  OPENMRC_DCHECK(number < fabric.evs(), "no such EV");
  return {.plane = Plane(static_cast<std::uint8_t>(number / fabric.evs_per_plane())),
          .uplink = static_cast<std::uint16_t>(number % fabric.evs_per_plane())};
}

}  // namespace openmrc::fabric
