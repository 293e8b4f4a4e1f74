// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/lab/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "openmrc/fabric/emit/iproute2.h"
#include "openmrc/fabric/usid_plan.h"
#include "openmrc/lab/emitted.h"
#include "openmrc/lab/files.h"
#include "openmrc/lab/plan_ipv4.h"
#include "openmrc/wire/field/ip_address.h"

namespace openmrc::lab {
namespace {

using fabric::HostIndex;
using fabric::LinkId;
using fabric::Segment;
using fabric::SwitchId;
using fabric::Tier;
using Lines = std::vector<std::string>;

bool all(std::string_view /*interface*/) { return true; }

bool is_ipv4(const Spec& spec) { return spec.ip == wire::IpVersion::kV4; }

// What `ip` does, and not a routing daemon.
fabric::ScriptRoutes routes_of(const Spec& spec) {
  return spec.source == Source::kFrr ? fabric::ScriptRoutes::kSegments : fabric::ScriptRoutes::kAll;
}

template <class Id>
fabric::Device device_of(const Spec& spec, const Id& id) {
  const fabric::EmitInput input = emit_input(spec);
  return fabric::device_of(input.plan, input.site, emit_kind(spec), id);
}

std::string link_line(const Spec& spec, std::string_view interface) {
  return fmt::format("link set dev {} mtu {} up", interface, spec.mtu);
}

// What every interface of a cable has from the beginning and keeps.
void add_interface(const Spec& spec, const std::string& interface, Lines& lines) {
  if (!is_ipv4(spec)) lines.push_back(fmt::format("link set dev {} addrgenmode none", interface));
  // With a rate, or a switch that looks at every packet, each is a frame of its own.
  if (spec.bits_per_second || is_soft(spec.switches)) {
    lines.push_back(fmt::format("link set dev {} gso_max_segs 1", interface));
  }
}

Lines host_base_lines(const Spec& spec, HostIndex host) {
  Lines lines{"link set dev lo up", fmt::format("link set dev {} up", kManagementInterface)};
  if (!is_ipv4(spec)) {
    lines.push_back(fmt::format("address replace {}/64 dev {} nodad", management_ipv6_address(host),
                                kManagementInterface));
  }
  for (std::uint32_t plane = 0; plane < spec.shape.planes; ++plane) {
    add_interface(spec, name_of(plane_at(plane)), lines);
  }
  if (is_ipv4(spec) || spec.source != Source::kLab) return lines;
  const fabric::Device device = device_of(spec, host);
  std::ranges::move(iproute2_once_lines(device, fabric::kUsidBlockDefault),
                    std::back_inserter(lines));
  std::ranges::move(iproute2_device_lines(device), std::back_inserter(lines));
  return lines;
}

Lines interfaces_of(const Spec& spec, const SwitchId& id) {
  Lines interfaces;
  for (const LinkId& link : links_of(spec.fabric(), id)) {
    const Cable cable = cable_of(spec, link);
    interfaces.push_back(id.tier == Tier::kT0 ? cable.t0.interface : cable.far.interface);
  }
  return interfaces;
}

Lines switch_base_lines(const Spec& spec, const SwitchId& id) {
  Lines lines{"link set dev lo up"};
  for (const std::string& interface : interfaces_of(spec, id)) {
    add_interface(spec, interface, lines);
  }
  if (is_soft(spec.switches) || spec.source != Source::kLab) return lines;
  if (is_ipv4(spec)) {
    std::ranges::move(ipv4::blackholes(id), std::back_inserter(lines));
    return lines;
  }
  const fabric::Device device = device_of(spec, id);
  std::ranges::move(iproute2_once_lines(device, fabric::kUsidBlockDefault),
                    std::back_inserter(lines));
  std::ranges::move(iproute2_device_lines(device), std::back_inserter(lines));
  return lines;
}

Step sysctl(const std::string& space, const Lines& settings) {
  Step step{{"ip", "netns", "exec", space, "sysctl", "-q", "-w"}, {}};
  step.arguments.insert(step.arguments.end(), settings.begin(), settings.end());
  return step;
}

// Interfaces take `default` over when they are made, so this comes before them.
Stage sysctl_stage(const Spec& spec) {
  Lines on_hosts;
  Lines on_switches;
  if (is_ipv4(spec)) {
    on_hosts = ipv4::host_settings();
    on_switches = ipv4::switch_settings();
  } else {
    on_hosts = kernel_settings(device_of(spec, HostIndex(0)));
    on_switches = kernel_settings(device_of(spec, all_switches(spec.fabric()).front()));
  }
  if (is_soft(spec.switches)) {
    on_switches = {"net.ipv6.conf.all.disable_ipv6=1", "net.ipv6.conf.default.disable_ipv6=1"};
  }
  Stage stage;
  for (std::uint32_t i = 0; i < spec.fabric().hosts(); ++i) {
    stage.push_back(sysctl(space_of(spec.name, HostIndex(i)), on_hosts));
  }
  for (const SwitchId& id : all_switches(spec.fabric())) {
    stage.push_back(sysctl(space_of(spec.name, id), on_switches));
  }
  if (is_ipv4(spec)) {
    stage.push_back(sysctl(management_space(spec.name), ipv4::host_settings()));
  }
  return stage;
}

Stage space_stage(const Spec& spec) {
  Lines lines{"netns add " + management_space(spec.name)};
  for (std::uint32_t i = 0; i < spec.fabric().hosts(); ++i) {
    lines.push_back("netns add " + space_of(spec.name, HostIndex(i)));
  }
  for (const SwitchId& id : all_switches(spec.fabric())) {
    lines.push_back("netns add " + space_of(spec.name, id));
  }
  return {{{"ip", "-batch", "-"}, lines}};
}

std::string veth_end(const Spec& spec, const End& end) {
  return fmt::format("name {} index {} address {} mtu {} netns {}", end.interface, end.index,
                     end.mac, spec.mtu, end.space);
}

Stage cable_stage(const Spec& spec) {
  Lines lines;
  for (const LinkId& link : all_links(spec.fabric())) {
    const Cable cable = cable_of(spec, link);
    lines.push_back(fmt::format("link add {} type veth peer {}", veth_end(spec, cable.far),
                                veth_end(spec, cable.t0)));
  }
  for (std::uint32_t i = 0; i < spec.fabric().hosts(); ++i) {
    lines.push_back(
        fmt::format("link add name {} index 50 netns {} type veth peer name h{} index {} netns {}",
                    kManagementInterface, space_of(spec.name, HostIndex(i)), i, 100 + i,
                    management_space(spec.name)));
  }
  return {{{"ip", "-batch", "-"}, lines}};
}

Lines management_lines(const Spec& spec) {
  Lines lines{"link add br0 type bridge", "link set dev br0 up"};
  for (std::uint32_t i = 0; i < spec.fabric().hosts(); ++i) {
    lines.push_back(fmt::format("link set dev h{} master br0 up", i));
  }
  return lines;
}

Stage node_stage(const Spec& spec) {
  Stage stage{in_space(spec, management_space(spec.name), management_lines(spec))};
  for (std::uint32_t i = 0; i < spec.fabric().hosts(); ++i) {
    const HostIndex host(i);
    Lines lines = host_base_lines(spec, host);
    if (spec.source == Source::kLab) {
      std::ranges::move(host_lines(spec, host, all), std::back_inserter(lines));
    }
    stage.push_back(in_space(spec, space_of(spec.name, host), std::move(lines)));
    stage.push_back(
        {{"ip", "-n", space_of(spec.name, host), "address", "replace",
          management_ipv4_address(host) + "/16", "dev", std::string(kManagementInterface)},
         {}});
  }
  for (const SwitchId& id : all_switches(spec.fabric())) {
    Lines lines = switch_base_lines(spec, id);
    if (spec.source == Source::kLab) {
      std::ranges::move(switch_lines(spec, id, all, all), std::back_inserter(lines));
    }
    stage.push_back(in_space(spec, space_of(spec.name, id), std::move(lines)));
  }
  return stage;
}

// A host's own port drops nothing, it makes the sender wait.
std::int64_t queue_of_host(std::int64_t bits_per_second) {
  return std::max(queue_of_switch(bits_per_second), bits_per_second / 8 * 50 / 1000);
}

// A token bucket: bursts as short as timers allow, and a queue behind it.
std::string shaper(const Spec& spec, std::string_view interface, std::int64_t queue) {
  constexpr std::int64_t kBurstsPerSecond = 4000;
  const std::int64_t bits = *spec.bits_per_second;
  const std::int64_t two_frames = 2 * (std::int64_t{spec.mtu} + 14);
  const std::int64_t burst = std::max(two_frames, bits / 8 / kBurstsPerSecond);
  return fmt::format("qdisc replace dev {} root tbf rate {}bit burst {} limit {}", interface, bits,
                     burst, queue);
}

// A soft switch keeps the rate of its own ports.
Stage rate_stage(const Spec& spec) {
  Stage stage;
  const auto add = [&](const std::string& space, const Lines& interfaces, std::int64_t queue) {
    Step step{{"tc", "-n", space, "-batch", "-"}, {}};
    for (const std::string& interface : interfaces) {
      step.input.push_back(shaper(spec, interface, queue));
    }
    stage.push_back(std::move(step));
  };
  Lines ports;
  for (std::uint32_t i = 0; i < spec.shape.planes; ++i) ports.push_back(name_of(plane_at(i)));
  for (std::uint32_t i = 0; i < spec.fabric().hosts(); ++i) {
    add(space_of(spec.name, HostIndex(i)), ports, queue_of_host(*spec.bits_per_second));
  }
  if (is_soft(spec.switches)) return stage;
  for (const SwitchId& id : all_switches(spec.fabric())) {
    add(space_of(spec.name, id), interfaces_of(spec, id), queue_of_switch(*spec.bits_per_second));
  }
  return stage;
}

}  // namespace

Step in_space(const Spec& spec, const std::string& space, std::vector<std::string> lines) {
  return {{"ip", is_ipv4(spec) ? "-4" : "-6", "-n", space, "-batch", "-"}, std::move(lines)};
}

std::vector<std::string> host_lines(const Spec& spec, HostIndex host, const InterfaceTest& wanted) {
  Lines lines;
  if (is_ipv4(spec)) {
    for (std::uint32_t plane = 0; plane < spec.shape.planes; ++plane) {
      if (wanted(name_of(plane_at(plane)))) ipv4::add_host_port(spec, host, plane_at(plane), lines);
    }
    return lines;
  }
  const fabric::Device device = device_of(spec, host);
  for (const fabric::DevicePort& port : device.ports) {
    if (!wanted(port.name)) continue;
    std::ranges::move(iproute2_port_lines(device, port, spec.mtu), std::back_inserter(lines));
  }
  return lines;
}

std::vector<std::string> switch_lines(const Spec& spec, const SwitchId& id,
                                      const InterfaceTest& wanted, const InterfaceTest& is_up) {
  if (is_ipv4(spec)) return ipv4::switch_lines(spec, id, wanted, is_up);
  Lines lines;
  bool any_uplink = false;
  const fabric::Device device = device_of(spec, id);
  for (const fabric::DevicePort& port : device.ports) {
    if (!wanted(port.name)) continue;
    if (is_soft(spec.switches)) {
      lines.push_back(link_line(spec, port.name));
      continue;
    }
    std::ranges::move(iproute2_port_lines(device, port, spec.mtu, routes_of(spec)),
                      std::back_inserter(lines));
    any_uplink = any_uplink || port.link.kind == LinkId::Kind::kUplink;
  }
  if (!any_uplink || is_soft(spec.switches) || spec.source == Source::kFrr) return lines;
  if (std::string way = iproute2_way_up_line(device, is_up); !way.empty()) {
    lines.push_back(std::move(way));
  }
  return lines;
}

std::int64_t queue_of_switch(std::int64_t bits_per_second) {
  constexpr std::int64_t kBytesMin = 128 * 1024;  // the windows of two senders
  return std::max(kBytesMin, bits_per_second / 8 * 3 / 1000);
}

Plan plan_of(const Spec& spec) {
  Plan plan{.stages = {space_stage(spec), sysctl_stage(spec), cable_stage(spec), node_stage(spec)},
            .files = files_of(spec)};
  if (spec.source != Source::kLab) {
    std::ranges::move(emitted_files(spec), std::back_inserter(plan.files));
    plan.stages.erase(plan.stages.begin() + 1);  // scripts have the settings of the kernel
    std::ranges::move(emitted_stages(spec), std::back_inserter(plan.stages));
  }
  if (spec.bits_per_second) plan.stages.push_back(rate_stage(spec));
  return plan;
}

}  // namespace openmrc::lab
