// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/fabric/emit/host_config.h"

#include <fmt/format.h>

#include "openmrc/text/units.h"

namespace openmrc::fabric {
namespace {

// The largest payload that fits into a packet with all its headers, of the sizes that RDMA knows.
std::uint32_t payload_size(std::uint32_t mtu) {
  constexpr std::uint32_t kHeadersMax = 200;
  std::uint32_t size = 4096;
  while (size + kHeadersMax > mtu) size /= 2;
  return size;
}

}  // namespace

std::string host_config(const UsidPlan& plan, const Site& site, const Device& device) {
  const Shape& shape = plan.fabric().shape();
  std::string text = fmt::format(
      "# Host {0}, written by `mrc fabric emit`. docs/guide/configuration.md describes every key.\n"
      "name = \"{0}\"\n"
      "mode = \"{1}\"\n"
      "\n[fabric]\nplanes = {2}\nracks = {3}\nhosts_per_rack = {4}\nuplinks = {5}\nhost = \"{0}\"\n"
      "block = \"{6:x}:{7:x}::\"\n",
      device.name, name_of(site.host_mode), shape.planes, shape.racks, shape.hosts_per_rack,
      shape.uplinks, plan.block() >> 16, plan.block() & 0xffff);
  for (const DevicePort& port : device.ports) {
    text += fmt::format("\n[[port]]\ninterface = \"{}\"\naddress = \"{}\"\n", port.name,
                        to_string(port.own_address->address));
  }
  const auto rate = static_cast<std::uint64_t>(shape.host_link_bits_per_second) * shape.planes;
  return text + fmt::format("\n[transport]\nmtu = {}\nbase_rtt = \"{}\"\nrate = \"{}\"\n{}",
                            payload_size(site.mtu), text::format_duration(site.queues.base_rtt),
                            text::format_bit_rate(rate),
                            site.host_trimming ? "trimming = true\n" : "");
}

}  // namespace openmrc::fabric
