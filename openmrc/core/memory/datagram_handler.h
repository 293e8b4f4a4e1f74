// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include "openmrc/base/ids.h"
#include "openmrc/wire/field/ip_address.h"
#include "openmrc/wire/header/immdt.h"
#include "openmrc/wire/payload.h"

namespace openmrc::core {

// A datagram that has arrived (docs/protocol/datagrams.md). Whatever it says, anybody may have
// sent it who knew the queue pair's number and Q_Key: its source address is a claim.
struct ArrivedDatagram {
  wire::Ipv6Address source{};  // mapped if it came over IPv4
  Plane plane{};               // of the port that it came by
  Qpn source_qp{};             // whom to answer
  std::optional<wire::Immediate> immediate{};
  wire::Payload payload{};  // gone when the call returns
};

// What is behind a datagram queue pair. It is called while the endpoint handles a packet, and must
// not call the endpoint then.
class DatagramHandler {
 public:
  DatagramHandler() = default;
  DatagramHandler(const DatagramHandler&) = delete;
  DatagramHandler& operator=(const DatagramHandler&) = delete;

  virtual void on_datagram(const ArrivedDatagram& datagram) = 0;

 protected:
  ~DatagramHandler() = default;
};

}  // namespace openmrc::core
