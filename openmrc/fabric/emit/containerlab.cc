// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/fabric/emit/containerlab.h"

#include <fmt/format.h>

namespace openmrc::fabric {
namespace {

std::string node_text(const std::string& name, std::string_view group, bool is_host) {
  std::string text = fmt::format(
      "    {0}:\n"
      "      kind: linux\n"
      "      group: {1}\n"
      "      binds:\n"
      "        - {0}/setup.sh:/setup.sh:ro\n",
      name, group);
  if (is_host)
    text += fmt::format("        - {}/openmrc.toml:/etc/openmrc/openmrc.toml:ro\n", name);
  return text + "      exec:\n        - sh /setup.sh\n";
}

// Each cable once, from its lower end.
std::string link_text(const Device& device, std::uint32_t mtu) {
  std::string text;
  for (const DevicePort& port : device.ports) {
    if (port.end != CableEnd::kLower) continue;
    text += fmt::format("    - endpoints: [\"{}:{}\", \"{}:{}\"]\n      mtu: {}\n", device.name,
                        port.name, port.far_device, port.far_port, mtu);
  }
  return text;
}

}  // namespace

std::string containerlab_topology(const UsidPlan& plan, const Site& site) {
  constexpr EmitKind kKind = EmitKind::kContainerlab;
  std::string nodes;
  std::string links;
  const auto add = [&](const Device& device, std::string_view group) {
    nodes += node_text(device.name, group, device.is_host());
    links += link_text(device, site.mtu);
  };
  for (const SwitchId& id : all_switches(plan.fabric())) {
    add(device_of(plan, site, kKind, id), "switch");
  }
  for (std::uint32_t i = 0; i < plan.fabric().hosts(); ++i) {
    add(device_of(plan, site, kKind, HostIndex(i)), "host");
  }
  return fmt::format(
             "# Written by `mrc fabric emit`: containerlab deploy -t topology.clab.yml\n"
             "name: {}\n"
             "topology:\n"
             "  groups:\n"
             "    switch:\n"
             "      image: {}\n"
             "    host:\n"
             "      image: {}\n"
             "  nodes:\n",
             site.containerlab.name, site.containerlab.switch_image, site.containerlab.host_image) +
         nodes + "  links:\n" + links;
}

}  // namespace openmrc::fabric
