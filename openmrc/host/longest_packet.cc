// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/host/longest_packet.h"

#include <cstddef>

#include "openmrc/wire/header/bth.h"
#include "openmrc/wire/header/immdt.h"
#include "openmrc/wire/header/ipv4.h"
#include "openmrc/wire/header/ipv6.h"
#include "openmrc/wire/header/meth.h"
#include "openmrc/wire/header/reth.h"
#include "openmrc/wire/header/tseth.h"
#include "openmrc/wire/header/udp.h"

namespace openmrc::host {

std::uint32_t longest_packet(datapath::Mode mode, wire::IpVersion version, std::uint32_t mtu) {
  const std::size_t ip = version == wire::IpVersion::kV4 ? wire::kIpv4Size : wire::kIpv6Size;
  const std::size_t outer = datapath::encapsulates(mode) ? wire::kIpv6Size : 0;
  const std::size_t padded = (mtu + 3) / 4 * 4;
  return static_cast<std::uint32_t>(outer + ip + wire::kUdpSize + wire::kBthSize + wire::kMethSize +
                                    wire::kTsethSize + wire::kRethSize + wire::kImmdtSize + padded +
                                    wire::kIcrcSize);
}

std::optional<std::uint32_t> payload_for(datapath::Mode mode, wire::IpVersion version,
                                         std::uint32_t interface_mtu) {
  for (const std::uint32_t payload : {4096U, 2048U, 1024U, 512U, 256U}) {
    if (longest_packet(mode, version, payload) <= interface_mtu) return payload;
  }
  return std::nullopt;
}

}  // namespace openmrc::host
