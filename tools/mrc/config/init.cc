// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mrc/config/init.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>

#include "openmrc/host/longest_packet.h"
#include "openmrc/text/units.h"

namespace openmrc::tools::config {
namespace {

constexpr datapath::Mode kMode = datapath::Mode::kUdp;

std::string port_text(const Interface& port, wire::IpVersion version) {
  const std::string speed =
      port.bits_per_second ? text::format_bit_rate(*port.bits_per_second) : "speed unknown";
  return fmt::format("\n# {}, interface MTU {}.\n[[port]]\ninterface = \"{}\"\naddress = \"{}\"\n",
                     speed, port.mtu, port.name, port.address(version));
}

// The largest usual payload that fits into the packets of every port.
std::string mtu_text(const Choice& choice) {
  const std::uint32_t least = std::ranges::min(choice.ports, {}, &Interface::mtu).mtu;
  const auto payload = host::payload_for(kMode, choice.version, least);
  if (!payload) {
    return fmt::format("# No usual payload fits into an interface MTU of {}: raise it.\n", least);
  }
  return fmt::format(
      "# Payload bytes of a packet, the same on all hosts. 4096 is best, and needs an interface "
      "MTU\n"
      "# of {} all the way; this is what fits here.\nmtu = {}\n",
      host::longest_packet(kMode, choice.version, 4096), *payload);
}

std::string rate_text(const std::vector<Interface>& ports) {
  std::uint64_t total = 0;
  for (const Interface& port : ports) {
    if (!port.bits_per_second) {
      return "# What all ports carry together. No driver said it: set it, or windows are those of\n"
             "# 10gbit.\n# rate = \"10gbit\"\n";
    }
    total += *port.bits_per_second;
  }
  return fmt::format("# What all ports carry together.\nrate = \"{}\"\n",
                     text::format_bit_rate(total));
}

}  // namespace

std::string config_text(const std::string& host, const Choice& choice) {
  std::string text = fmt::format(
      "# How this host speaks MRC, written by `mrc config init`. All keys: man openmrc.toml.\n"
      "# Afterwards: `mrc doctor` says whether the machine is as this file says.\n\n"
      "# What peers and messages call this host.\nname = \"{}\"\n\n"
      "# Packets leave as ordinary UDP. A path is what the network makes of the source port.\n"
      "mode = \"udp\"\n\n"
      "# One [[port]] for each plane, in the same order on all hosts.\n",
      host);
  for (const Interface& port : choice.ports) text += port_text(port, choice.version);
  return text + "\n[transport]\n" + mtu_text(choice) + rate_text(choice.ports) +
         "# The round trip of an idle network; `mrc ping HOST` measures it. Windows follow from "
         "it.\n# Without it, one that is longer than 200us is learned from the first packets.\n"
         "# base_rtt = \"200us\"\n";
}

}  // namespace openmrc::tools::config
