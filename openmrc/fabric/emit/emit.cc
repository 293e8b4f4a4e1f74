// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/fabric/emit/emit.h"

#include <fmt/format.h>

#include "openmrc/fabric/emit/containerlab.h"
#include "openmrc/fabric/emit/cumulus.h"
#include "openmrc/fabric/emit/eos.h"
#include "openmrc/fabric/emit/frr.h"
#include "openmrc/fabric/emit/host_config.h"
#include "openmrc/fabric/emit/iproute2.h"
#include "openmrc/fabric/emit/sonic.h"

namespace openmrc::fabric {
namespace {

// More than any machine runs as containers.
constexpr std::uint32_t kContainersMax = 4096;

EmittedFile script(const EmitInput& input, const Device& device, ScriptRoutes routes) {
  return {"setup.sh", iproute2_script(device, input.site, input.plan.block(), routes)};
}

}  // namespace

std::vector<EmittedFile> emit(EmitKind kind, const EmitInput& input, const SwitchId& id) {
  const Device device = device_of(input.plan, input.site, kind, id);
  const Fabric& fabric = input.plan.fabric();
  switch (kind) {
    case EmitKind::kIproute2:
    case EmitKind::kContainerlab: return {script(input, device, ScriptRoutes::kAll)};
    case EmitKind::kFrr:
    case EmitKind::kFrr84:
      return {script(input, device,
                     kind == EmitKind::kFrr ? ScriptRoutes::kNone : ScriptRoutes::kSegments),
              {"frr.conf", frr_config(device, kind)},
              {"daemons", frr_daemons(kind)}};
    case EmitKind::kSonic:
      return {{"config_db.json", sonic_config_db(fabric, input.site, device, input.platform)}};
    case EmitKind::kCumulus: return {{"nvue.yaml", cumulus_config(fabric, input.site, device)}};
    case EmitKind::kEos: return {{"eos.cfg", eos_config(fabric, input.site, device)}};
  }
  return {};
}

std::vector<EmittedFile> emit(EmitKind kind, const EmitInput& input, HostIndex host) {
  const Device device = device_of(input.plan, input.site, kind, host);
  return {script(input, device, ScriptRoutes::kAll),
          {"openmrc.toml", host_config(input.plan, input.site, device)}};
}

std::vector<EmittedFile> emit_whole(EmitKind kind, const EmitInput& input) {
  if (kind != EmitKind::kContainerlab) return {};
  return {{"topology.clab.yml", containerlab_topology(input.plan, input.site)}};
}

std::vector<std::string> check_emit(EmitKind kind, const EmitInput& input) {
  const Fabric& fabric = input.plan.fabric();
  std::vector<std::string> errors = check_site(kind, fabric, input.site);
  const std::size_t nodes = fabric.hosts() + all_switches(fabric).size();
  if (kind == EmitKind::kContainerlab && nodes > kContainersMax) {
    errors.push_back(
        fmt::format("{} hosts and switches are more than containerlab is written for "
                    "({})",
                    nodes, kContainersMax));
  }
  if (kind != EmitKind::kSonic || input.platform.empty()) return errors;
  for (const Tier tier : {Tier::kT0, Tier::kT1}) {
    if (tier == Tier::kT1 && !fabric.has_t1()) continue;
    const Device device = device_of(input.plan, input.site, kind, SwitchId{Plane(0), tier, 0});
    const auto missing = ports_missing(device, input.platform);
    if (missing.empty()) continue;
    errors.push_back(fmt::format("port_config has no '{}', which is a port of {} ({} are missing)",
                                 missing.front(), device.name, missing.size()));
  }
  return errors;
}

}  // namespace openmrc::fabric
