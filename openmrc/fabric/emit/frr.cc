// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/fabric/emit/frr.h"

#include <fmt/format.h>

namespace openmrc::fabric {
namespace {

// All lengths are said: the block of a locator would otherwise have 24 bits.
std::string frr_segment(const DeviceRoute& own) {
  const std::string prefix = to_string(own.to);
  return fmt::format(
      "segment-routing\n"
      " srv6\n"
      "  locators\n"
      "   locator MAIN\n"
      "    prefix {0} block-len 32 node-len 16 func-bits 0\n"
      "    behavior usid\n"
      "   exit\n"
      "  exit\n"
      "  static-sids\n"
      "   sid {0} locator MAIN behavior uN\n"
      "  exit\n"
      " exit\n"
      "exit\n",
      prefix);
}

std::string frr_via(const Ipv6Prefix& to, const DevicePort& port) {
  return fmt::format("ipv6 route {} {} {}\n", to_string(to), to_string(port.far_address),
                     port.name);
}

}  // namespace

std::string frr_config(const Device& device, EmitKind kind) {
  std::string text = fmt::format("hostname {}\n", device.name);
  for (const DeviceRoute& route : device.routes) {
    if (route.kind == DeviceRoute::Kind::kBlackhole) {
      text += fmt::format("ipv6 route {} blackhole\n", to_string(route.to));
    }
  }
  for (const DevicePort& port : device.ports) {
    for (const DeviceRoute& route : port.routes) text += frr_via(route.to, port);
  }
  for (const DevicePort& port : device.ports) {
    if (device.by_any_uplink && port.link.kind == LinkId::Kind::kUplink) {
      text += frr_via(*device.by_any_uplink, port);
    }
  }
  return kind == EmitKind::kFrr ? text + frr_segment(device.routes.front()) : text;
}

std::string frr_daemons(EmitKind kind) {
  // From 10.3 on mgmtd has the static routes, and is always started.
  return std::string("zebra=yes\nstaticd=yes\n") + (kind == EmitKind::kFrr ? "mgmtd=yes\n" : "");
}

}  // namespace openmrc::fabric
