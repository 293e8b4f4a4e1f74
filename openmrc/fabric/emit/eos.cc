// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/fabric/emit/eos.h"

#include <fmt/format.h>

#include <string_view>

#include "openmrc/fabric/emit/queue_plan.h"

namespace openmrc::fabric {
namespace {

std::string eos_segment(const Device& device) {
  const Ipv6Prefix& own = device.routes.front().to;
  const std::uint32_t block = std::uint32_t{own.address.group(0)} << 16 | own.address.group(1);
  return fmt::format(
      "ipv6 unicast-routing\n"
      "!\n"
      "router srv6\n"
      "   vrf default\n"
      "      micro-segment domain MRC\n"
      "         block {}\n"
      "      locator MAIN\n"
      "         prefix micro-segment domain MRC end usid 0x{:x}\n"
      "!\n",
      to_string(block_prefix(block)), own.address.group(2));
}

std::string eos_classes(const Site& site) {
  std::string text;
  for (const QueueClassPlan& each : queue_classes(site.queues)) {
    if (each.dscp) {
      text += fmt::format("qos map dscp {} to traffic-class {}\n", each.dscp->raw(),
                          each.traffic_class);
    }
  }
  for (const QueueClassPlan& each : queue_classes(site.queues)) {
    text +=
        fmt::format("qos map traffic-class {} to tx-queue {}\n", each.traffic_class, each.queue);
  }
  return text + "!\n";
}

// MRC 8: no marks on the last hop; so there are two profiles.
std::string eos_profiles(const Site& site, const QueueThresholds& thresholds) {
  return fmt::format(
      "qos profile MRC_UP\n"
      "   qos trust dscp\n"
      "   uc-tx-queue {}\n"
      "      random-detect ecn minimum-threshold {} bytes maximum-threshold {} bytes "
      "max-mark-probability {} weight 0\n"
      "!\n"
      "qos profile MRC_LAST_HOP\n"
      "   qos trust dscp\n"
      "!\n",
      site.queues.data_queue, thresholds.ecn_min_bytes, thresholds.ecn_max_bytes,
      site.queues.mark_percent);
}

// The commands for it are not in public documents; these are facts for whoever has them.
std::string trimming_comment(const Site& site, const Device& device,
                             const QueueThresholds& thresholds) {
  constexpr wire::DscpMap kDscps;
  std::string text = fmt::format(
      "! Packet trimming: the commands are not public. To be configured:\n"
      "!   trimmed: DSCP {} and {}; not DSCP {} and {}; to {} bytes, queue {}\n"
      "!   on path: beyond {} bytes, DSCP {} after it\n",
      kDscps.trimmable.raw(), kDscps.trimmable_retransmission.raw(), kDscps.no_trim.raw(),
      kDscps.control.raw(), site.queues.trim_size, site.queues.trimmed_queue, thresholds.trim_bytes,
      kDscps.trimmed.raw());
  if (device.switch_id().tier == Tier::kT0) {
    text += fmt::format("!   towards hosts: beyond {} bytes, DSCP {} after it\n",
                        thresholds.trim_last_hop_bytes, kDscps.trimmed_last_hop.raw());
  }
  return text + "!\n";
}

std::string eos_interface(const Site& site, const DevicePort& port) {
  return fmt::format(
      "interface {}\n"
      "   description {} {}\n"
      "   no switchport\n"
      "   mtu {}\n"
      "   ipv6 enable\n"
      "   ipv6 address {}\n"
      "   service-profile {}\n"
      "!\n",
      port.name, port.far_device, port.far_port, site.mtu, to_string(port.address),
      port.is_last_hop() ? "MRC_LAST_HOP" : "MRC_UP");
}

std::string eos_via(const Ipv6Prefix& to, const DevicePort& port) {
  return fmt::format("ipv6 route {} {} {}\n", to_string(to), port.name,
                     to_string(port.far_address));
}

}  // namespace

std::string eos_config(const Fabric& fabric, const Site& site, const Device& device) {
  const QueueThresholds thresholds = thresholds_of(fabric, site.queues);
  std::string text =
      fmt::format("! {}: EOS 4.34.2F or later, written by `mrc fabric emit`.\n", device.name) +
      eos_segment(device) + eos_classes(site) + eos_profiles(site, thresholds) +
      trimming_comment(site, device, thresholds);
  for (const DevicePort& port : device.ports) text += eos_interface(site, port);
  for (const DevicePort& port : device.ports) {
    for (const DeviceRoute& route : port.routes) text += eos_via(route.to, port);
  }
  if (device.by_any_uplink) {
    for (const DevicePort& port : device.ports) {
      if (port.link.kind == LinkId::Kind::kUplink) text += eos_via(*device.by_any_uplink, port);
    }
  }
  return text;
}

}  // namespace openmrc::fabric
