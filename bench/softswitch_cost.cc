// SPDX-License-Identifier: BSD-3-Clause
// What a packet costs a switch, from its arrival to its departure. Packets arrive at one port and
// leave by 64, each of which has a few packets waiting.
//
//   softswitch_cost                the heap must not be used: fails if it is
//   softswitch_cost --count NAME   for callgrind, by count_instructions.py; NAME as in kVariants
//
// The switch copies each packet into a buffer. How many instructions that takes depends on the C
// library and the processor, so the same copy is measured alone, to be subtracted.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string_view>
#include <vector>

#include "bench/heap_count.h"
#include "openmrc/base/check.h"
#include "openmrc/softswitch/switch.h"
#include "openmrc/wire/encode.h"

namespace {

using namespace openmrc;
using namespace openmrc::bench;
using namespace openmrc::softswitch;
using Bytes = std::vector<std::byte>;

constexpr std::size_t kPorts = 64;
constexpr std::size_t kWaiting = 4;
constexpr std::uint32_t kBdpBytes = 1'000'000;
constexpr std::uint64_t kPackets = 6'400;
constexpr PortIndex kIn{0};
constexpr std::uint32_t kBlock = 0xfcbb'bb00;
constexpr wire::Usid kOwn{1};

wire::Usid usid_of(std::size_t port) { return wire::Usid(static_cast<std::uint16_t>(256 + port)); }

enum class Kind : std::uint8_t { kWrite, kMarkedWrite, kTrimmedWrite, kSack };

struct Variant {
  const char* name;
  Kind kind;
  bool has_path;  // as uSIDs; otherwise one of the ports is chosen by hash
};
constexpr std::array kVariants{
    Variant{.name = "path", .kind = Kind::kWrite, .has_path = true},
    Variant{.name = "hash", .kind = Kind::kWrite, .has_path = false},
    Variant{.name = "marked", .kind = Kind::kMarkedWrite, .has_path = true},
    Variant{.name = "trimmed", .kind = Kind::kTrimmedWrite, .has_path = true},
    Variant{.name = "control", .kind = Kind::kSack, .has_path = true},
};

}  // namespace

// Apart and by C names, so that callgrind can find them.
extern "C" [[gnu::noinline, gnu::used]] bool measured_receive(Switch* it, const std::byte* bytes,
                                                              std::size_t size) {
  return it->receive(kIn, {bytes, size}).has_value();
}
extern "C" [[gnu::noinline, gnu::used]] std::size_t measured_transmit(Switch* it,
                                                                      std::uint16_t port) {
  return it->transmit(PortIndex(port)).size();
}
extern "C" [[gnu::noinline, gnu::used]] void measured_copy(std::byte* to, const std::byte* from,
                                                           std::size_t size) {
  std::copy_n(from, size, to);
}

namespace {

SwitchSettings settings_of(const Variant& variant) {
  SwitchSettings settings;
  // Too much for the packets that wait even where the hash sends many flows to one port.
  QueuePolicy policy = recommended_policy(kBdpBytes, wire::TrimPlace::kOnPath);
  if (variant.kind == Kind::kMarkedWrite) policy.ecn_min_bytes = policy.ecn_max_bytes = 1;
  if (variant.kind == Kind::kTrimmedWrite) policy.data_max_bytes = 0;
  settings.ports.assign(kPorts, policy);
  settings.forwarding.block = kBlock;
  settings.forwarding.own = kOwn;
  PrefixRoute everywhere;
  for (std::size_t port = 0; port < kPorts; ++port) {
    const PortIndex index(static_cast<std::uint16_t>(port));
    settings.forwarding.usids.push_back({usid_of(port), index});
    everywhere.ports.push_back(index);
  }
  settings.forwarding.prefixes.push_back(everywhere);
  return settings;
}

// Each port's packet is another flow; by hash they go where they go.
Bytes packet_for(const Variant& variant, std::size_t port, ConstBytes payload) {
  wire::Ipv6Route route{.source = wire::Ipv6Address::of({0xfd00, 0, 0, 0, 0, 0, 0, 1}),
                        .destination = wire::Ipv6Address::of({0xfd00, 0, 0, 0, 0, 0, 0, 2}),
                        .ev = Ev(0x00120000 + static_cast<std::uint32_t>(port))};
  if (variant.has_path) {
    const std::array path{kOwn, usid_of(port), wire::Usid(7), wire::Usid(8)};
    const auto carrier = wire::UsidCarrier::of(kBlock, path);
    route.encapsulation = wire::SrEncapsulation{
        .source = route.source, .destination = carrier->address(), .srh = std::nullopt};
  }
  wire::Packet packet{.route = route};
  if (variant.kind == Kind::kSack) {
    packet.transport.body = wire::Sack{.destination_qp = Qpn(3)};
  } else {
    packet.traffic_class = wire::TrafficClass::kTrimmable;
    packet.ecn = wire::Ecn::kCapable0;
    packet.transport.body = wire::RdmaWrite{.destination_qp = Qpn(3),
                                            .sent = wire::TxTimestamp{},
                                            .reth = {.dma_length = 1u << 20},
                                            .payload = wire::Payload::of_bytes(payload)};
  }
  Bytes bytes(wire::encoded_size(packet));
  wire::encode_packet(packet, {}, bytes);
  return bytes;
}

// A busy switch: whenever a packet has come in, the next one leaves by the same port.
class Traffic {
 public:
  explicit Traffic(const Variant& variant)
      : switch_(*Switch::make(settings_of(variant))), copy_(kPacketSizeMax) {
    const Bytes payload(4096);
    for (std::size_t port = 0; port < kPorts; ++port) {
      packets_.push_back(packet_for(variant, port, payload));
      ways_.push_back(arrive(packets_.back()));
      for (std::size_t i = 1; i < kWaiting; ++i) arrive(packets_.back());
    }
  }

  void run() {
    for (std::uint64_t i = 0; i < kPackets; ++i) {
      const Bytes& packet = packets_[i % kPorts];
      OPENMRC_CHECK(measured_receive(&switch_, packet.data(), packet.size()), "it is forwarded");
      const std::size_t size = measured_transmit(&switch_, ways_[i % kPorts].raw());
      OPENMRC_CHECK(size > 0, "one leaves for each that came");
      measured_copy(copy_.data(), packet.data(), size);
    }
  }

  [[nodiscard]] std::uint64_t sum(std::uint64_t PortCounters::* counter) const {
    std::uint64_t all = 0;
    for (std::size_t port = 0; port < kPorts; ++port) {
      all += switch_.counters(PortIndex(static_cast<std::uint16_t>(port))).*counter;
    }
    return all;
  }

 private:
  PortIndex arrive(const Bytes& packet) {
    const auto way = switch_.receive(kIn, packet);
    OPENMRC_CHECK(way.has_value(), "it is forwarded");
    return *way;
  }

  Switch switch_;
  std::vector<Bytes> packets_;
  std::vector<PortIndex> ways_;  // of these
  Bytes copy_;
};

int count(const Variant& variant) {
  Traffic traffic(variant);
  traffic.run();
  std::printf("packets %llu\n", static_cast<unsigned long long>(kPackets));
  return 0;
}

int check_heap() {
  std::uint64_t allocations = 0;
  std::printf("%-10s %10s %10s %10s %12s\n", "packets", "forwarded", "marked", "trimmed",
              "allocations");
  for (const Variant& variant : kVariants) {
    Traffic traffic(variant);
    const std::uint64_t before = heap_count().allocations;
    traffic.run();
    const std::uint64_t here = heap_count().allocations - before;
    std::printf("%-10s %10llu %10llu %10llu %12llu\n", variant.name,
                static_cast<unsigned long long>(traffic.sum(&PortCounters::transmitted)),
                static_cast<unsigned long long>(traffic.sum(&PortCounters::marked)),
                static_cast<unsigned long long>(traffic.sum(&PortCounters::trimmed)),
                static_cast<unsigned long long>(here));
    allocations += here;
  }
  if (allocations == 0) return 0;
  std::printf("FAILED: packets cost heap allocations\n");
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::span arguments(argv, static_cast<std::size_t>(argc));
  if (argc == 1) return check_heap();
  if (argc == 3 && std::string_view(arguments[1]) == "--count") {
    for (const Variant& variant : kVariants) {
      if (std::string_view(arguments[2]) == variant.name) return count(variant);
    }
  }
  std::fprintf(stderr, "usage: softswitch_cost [--count path|hash|marked|trimmed|control]\n");
  return 2;
}
