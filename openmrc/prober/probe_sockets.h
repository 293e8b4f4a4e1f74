// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "openmrc/base/bytes.h"
#include "openmrc/base/result.h"
#include "openmrc/datapath/file_descriptor.h"
#include "openmrc/datapath/open.h"
#include "openmrc/host/error.h"
#include "openmrc/mapper/probe.h"
#include "openmrc/wire/field/dscp.h"
#include "openmrc/wire/field/usid.h"

namespace openmrc::prober {

// A probe with all headers that this process writes.
struct ProbePacket {
  std::array<std::byte, 40 + 40 + 8 + mapper::kProbeSize> bytes{};
  std::size_t size = 0;
};

// The outer and the inner IPv6 header, UDP, and the probe: from the host to itself.
ProbePacket encapsulated(const wire::Ipv6Address& own, const wire::UsidCarrier& to,
                         std::uint16_t udp_port, wire::Dscp dscp,
                         std::span<const std::byte, mapper::kProbeSize> probe);

// How a probe left.
enum class Sent : std::uint8_t {
  kYes,
  kLinkDown,  // its port does not take it: lost, as if on the way
  kNo,        // for a reason of this host
};

// The sockets of one plane.
class ProbeSockets {
 public:
  // `mode` is kSrv6 or kUsid.
  static Result<ProbeSockets, host::Error> open(datapath::Mode mode, const datapath::Port& port,
                                                std::uint16_t udp_port, wire::Dscp dscp);

  [[nodiscard]] Sent send(const wire::UsidCarrier& to,
                          std::span<const std::byte, mapper::kProbeSize> probe) const;
  // The next datagram, cut to the size of the buffer; nothing if none is there.
  [[nodiscard]] std::optional<ConstBytes> receive(MutableBytes buffer) const;
  [[nodiscard]] int descriptor() const { return receive_.get(); }
  // Datagrams that the socket had no room for, so far.
  [[nodiscard]] std::uint32_t dropped() const;

 private:
  ProbeSockets() = default;

  datapath::Port port_{};
  std::uint16_t udp_port_ = 0;
  wire::Dscp dscp_{};
  datapath::FileDescriptor receive_{};
  datapath::FileDescriptor raw_{};  // only with kSrv6
};

}  // namespace openmrc::prober
