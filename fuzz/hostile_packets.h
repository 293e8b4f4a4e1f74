// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "fuzz/endpoint_world.h"
#include "fuzz/fuzz_input.h"
#include "openmrc/wire/packet.h"

namespace openmrc::fuzz {

// Makes packets as a peer sends that means harm or is broken: of the right form, with fields that
// the input chooses, near the values at which decisions are made.
class HostilePackets {
 public:
  HostilePackets(World& world, FuzzInput& input) : world_(world), input_(input) {}

  wire::Packet write();
  wire::Packet trimmed_write();
  wire::Packet acknowledge();
  wire::Packet sack();
  wire::Packet nack();
  wire::Packet probe();
  wire::Packet endpoint_request();
  wire::Packet endpoint_response();
  // Anything that a record can hold, mostly addressed so that it is read.
  wire::Packet arbitrary();

  // From the peer of `slot`, as it should be.
  wire::Packet plain(std::size_t slot, const wire::Body& body);
  // As a peer without faults reports everything that was sent.
  wire::Packet honest_sack(std::size_t slot);
  wire::Packet honest_acknowledge(std::size_t slot);

  // Where the last packet is to arrive.
  [[nodiscard]] std::size_t plane() const { return plane_; }

 private:
  wire::Packet from_peer(const wire::Body& body);
  wire::Packet addressed(const wire::Body& body) const;
  void choose_slot();
  Qpn destination();
  Psn near_arrivals();
  Psn near_sent();
  Psn near(UnwrappedPsn low, UnwrappedPsn high);
  Ev entropy();
  std::uint64_t bitmap();
  wire::Reth reth(std::uint32_t length);
  wire::ConnectionId own_id();
  wire::ConnectionId peer_id();

  World& world_;
  FuzzInput& input_;
  std::size_t slot_ = 0;
  std::size_t plane_ = 0;
};

}  // namespace openmrc::fuzz
