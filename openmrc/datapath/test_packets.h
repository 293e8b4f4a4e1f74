// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <poll.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "openmrc/base/bytes.h"
#include "openmrc/datapath/datapath.h"
#include "openmrc/datapath/slot.h"
#include "openmrc/wire/packet.h"

// Packets to send through data paths, and what came of them.
namespace openmrc::datapath {

// Of this process alone; other tests may run at the same time.
inline wire::UdpPort test_port() {
  return wire::UdpPort(static_cast<std::uint16_t>(20000 + ::getpid() % 10000));
}

// Bytes that say where they belong.
inline std::vector<std::byte> test_data(std::size_t size, std::uint8_t seed = 1) {
  std::vector<std::byte> data(size);
  for (std::size_t i = 0; i < size; ++i) data[i] = static_cast<std::byte>(seed + i * 7 + i / 256);
  return data;
}

inline wire::Packet test_write(const wire::Ipv6Route& route, ConstBytes data, std::uint32_t psn = 0,
                               Qpn to = kFirstUsableQpn) {
  return {.route = route,
          .traffic_class = wire::TrafficClass::kTrimmable,
          .ecn = wire::Ecn::kCapable0,
          .transport = {.body = wire::RdmaWrite{
                            .destination_qp = to,
                            .psn = Psn(psn),
                            .sent = wire::TxTimestamp{},
                            .reth = {.dma_length = static_cast<std::uint32_t>(data.size())},
                            .payload = wire::Payload::of_bytes(data)}}};
}

// All in one plane.
inline std::vector<Outgoing> burst_of(std::span<const wire::Packet> packets) {
  std::vector<Outgoing> burst;
  burst.reserve(packets.size());
  for (const auto& packet : packets) burst.push_back({.packet = &packet, .plane = Plane(0)});
  return burst;
}

// Waits until `count` packets are there or nothing comes for two seconds. Keeps copies of payloads.
struct Collected {
  std::vector<Incoming> incoming{};  // payloads are gone; see data
  std::vector<std::vector<std::byte>> data{};
};

inline Collected collect(Datapath& from, std::size_t count, int patience_ms = 2000) {
  Collected collected;
  std::vector<Incoming> burst(32);
  while (collected.incoming.size() < count) {
    const std::size_t got = from.receive(Instant(1), burst);
    for (std::size_t i = 0; i < got; ++i) {
      const auto* write = std::get_if<wire::RdmaWrite>(&burst[i].packet.transport.body);
      const ConstBytes bytes = write != nullptr ? write->payload.bytes() : ConstBytes();
      collected.data.emplace_back(bytes.begin(), bytes.end());
      collected.incoming.push_back(burst[i]);
    }
    if (got > 0) continue;
    std::vector<pollfd> wait;
    for (const int descriptor : from.descriptors()) wait.push_back({descriptor, POLLIN, 0});
    if (::poll(wait.data(), wait.size(), patience_ms) <= 0) break;
  }
  return collected;
}

inline const wire::RdmaWrite& write_of(const Incoming& incoming) {
  return std::get<wire::RdmaWrite>(incoming.packet.transport.body);
}
inline const wire::Ipv6Route& route_of(const Incoming& incoming) {
  return std::get<wire::Ipv6Route>(incoming.packet.route);
}

}  // namespace openmrc::datapath
