// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "openmrc/base/ids.h"
#include "openmrc/base/result.h"
#include "openmrc/core/context/work.h"
#include "openmrc/core/memory/datagram_handler.h"
#include "openmrc/host/host.h"
#include "openmrc/host/shard.h"
#include "openmrc/wire/field/ip_address.h"

namespace openmrc::host {

// An unreliable datagram that has arrived. Its source is what it claims: anybody who knew the
// number and the Q_Key of the queue pair may have sent it.
struct Datagram {
  wire::Ipv6Address source{};  // mapped if it came over IPv4
  Plane plane{};               // of the port that it came by
  Qpn source_qp{};             // whom to answer
  std::optional<std::uint32_t> immediate{};
  std::span<const std::byte> payload{};  // gone when the call returns
};

// Where datagrams go. Called from the thread that received them and while the shard waits for it:
// it is quick and does not call the host or what was made with it.
class DatagramSink {
 public:
  virtual void on_datagram(const Datagram& datagram) = 0;

 protected:
  ~DatagramSink() = default;
};

// A queue pair for unreliable datagrams (docs/protocol/datagrams.md), beyond MRC. Any thread may
// use it. When it has been destroyed its sink is no longer called.
class DatagramQueuePair final : private core::DatagramHandler {
 public:
  ~DatagramQueuePair();

  [[nodiscard]] Qpn number() const { return qpn_; }
  // What arrives must carry it; at first 0.
  void set_qkey(std::uint32_t qkey);
  // The longest payload: the MTU of the configuration.
  [[nodiscard]] std::uint32_t mtu() const { return host_.config().transport.mtu; }

  // Copies the pieces, one behind the other; what was sent may be lost, and nobody is told. kLimit:
  // as many wait for a port as the queue holds.
  [[nodiscard]] Result<void, PostError> send(const Destination& to, Qpn remote, std::uint32_t qkey,
                                             std::optional<std::uint32_t> immediate,
                                             std::span<const std::span<const std::byte>> pieces);

 private:
  friend class Host;
  DatagramQueuePair(Host& host, Shard& shard, DatagramSink& sink)
      : host_(host), shard_(shard), sink_(sink) {}
  void on_datagram(const core::ArrivedDatagram& datagram) override;

  Host& host_;
  Shard& shard_;
  DatagramSink& sink_;
  Qpn qpn_{};
};

}  // namespace openmrc::host
