// SPDX-License-Identifier: BSD-3-Clause
// Packets of any bytes through a switch, in any order with departures. Besides not crashing: what
// came in has left, waits, or was dropped for a reason; no queue is over its limit; and what leaves
// is an IP packet that is no longer than what came in.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "fuzz/fuzz_check.h"
#include "fuzz/fuzz_input.h"
#include "openmrc/softswitch/switch.h"
#include "openmrc/wire/decode.h"
#include "openmrc/wire/encode.h"
#include "openmrc/wire/header/ipv4.h"

namespace {

using namespace openmrc;
using namespace openmrc::softswitch;
using fuzz::FuzzInput;
using Bytes = std::vector<std::byte>;

constexpr std::size_t kPorts = 4;
constexpr std::uint32_t kBlock = 0xfcbb'bb00;
constexpr wire::Usid kOwn{0x10};
constexpr wire::WireSettings kNoIcrc{.icrc_check = wire::IcrcCheck::kSkip};

PortIndex port(std::size_t index) { return PortIndex(static_cast<std::uint16_t>(index)); }

// Port n is reached by uSID n + 1; all ports together lead to everywhere else.
SwitchSettings settings_from(FuzzInput& input) {
  SwitchSettings settings;
  settings.buffers = 1 + input.below(16);
  settings.forwarding.block = kBlock;
  settings.forwarding.own = kOwn;
  PrefixRoute everywhere;
  for (std::size_t i = 0; i < kPorts; ++i) {
    settings.ports.push_back(
        {.ecn_min_bytes = 0,
         .ecn_max_bytes = input.flag() ? 1u : 0u,
         .data_max_bytes = 100u * input.u8(),
         .control_max_bytes = 10u * input.u8(),
         .trims = input.flag(),
         .place = input.flag() ? wire::TrimPlace::kLastHop : wire::TrimPlace::kOnPath});
    settings.forwarding.usids.push_back({wire::Usid(static_cast<std::uint16_t>(i + 1)), port(i)});
    everywhere.ports.push_back(port(i));
  }
  settings.forwarding.prefixes = {everywhere,
                                  {Prefix::of(wire::Ipv4Address(0), 0), everywhere.ports}};
  return settings;
}

wire::Ipv6Address carrier(FuzzInput& input) {
  wire::Ipv6Address address = wire::Ipv6Address::of({0xfcbb, 0xbb00, 0, 0, 0, 0, 0, 0});
  const std::size_t usids = input.below(7);
  for (std::size_t i = 0; i < usids; ++i) {
    const bool own = i == 0 && input.flag();
    const auto other = static_cast<std::uint16_t>(input.below(kPorts + 2));
    address.set_group(2 + i, own ? kOwn.raw() : other);
  }
  return address;
}

// A packet of the right form.
Bytes sound_packet(FuzzInput& input) {
  static const Bytes kPayload(1'024);
  constexpr wire::TrafficClass kClasses[] = {
      wire::TrafficClass::kTrimmable, wire::TrafficClass::kControl, wire::TrafficClass::kNoTrim,
      wire::TrafficClass::kTrimmableRetransmission};
  wire::Packet packet{.traffic_class = kClasses[input.below(std::size(kClasses))],
                      .ecn = static_cast<wire::Ecn>(input.below(4))};
  if (input.below(4) == 3) {
    packet.route = wire::Ipv4Route{.ev_low = input.u16()};
  } else {
    wire::Ipv6Route route{.ev = Ev(input.u16())};
    if (input.flag()) {
      route.encapsulation =
          wire::SrEncapsulation{.source = {}, .destination = carrier(input), .srh = {}};
      if (input.flag()) {
        route.encapsulation->srh = wire::Srh{
            .segment = carrier(input), .segments_left = static_cast<std::uint8_t>(input.below(2))};
      }
    }
    packet.route = route;
  }
  const std::size_t payload = 1 + input.u16() % kPayload.size();
  packet.transport.body =
      wire::RdmaWrite{.destination_qp = Qpn(3),
                      .reth = {.dma_length = 1u << 20},
                      .payload = wire::Payload::of_bytes(ConstBytes(kPayload).first(payload))};
  Bytes bytes(wire::encoded_size(packet));
  wire::encode_packet(packet, kNoIcrc, bytes);
  return bytes;
}

bool is_ipv4(ConstBytes bytes) {
  return !bytes.empty() && std::to_integer<unsigned>(bytes[0] >> 4) == 4;
}

Bytes damaged_packet(FuzzInput& input) {
  Bytes bytes = sound_packet(input);
  for (std::size_t i = input.below(8); i > 0; --i) {
    const std::size_t at = input.u8() % bytes.size();
    bytes[at] = std::byte{input.u8()};
  }
  if (input.flag()) bytes.resize(input.u16() % bytes.size());
  // A fuzzer cannot find a checksum.
  if (is_ipv4(bytes) && bytes.size() >= wire::kIpv4Size && input.flag()) {
    wire::set_ipv4_checksum(std::span(bytes).first<wire::kIpv4Size>());
  }
  return bytes;
}

Bytes raw_packet(FuzzInput& input) {
  const auto raw = std::as_bytes(input.take(input.u16() % 600));
  return {raw.begin(), raw.end()};
}

void check_balance(const Switch& it, const SwitchSettings& settings) {
  std::uint64_t received = 0;
  std::uint64_t transmitted = 0;
  std::uint64_t dropped = 0;
  for (std::size_t i = 0; i < kPorts; ++i) {
    const PortCounters& counters = it.counters(port(i));
    received += counters.received;
    transmitted += counters.transmitted;
    dropped += counters.dropped.total();
    const PacketQueue& data = it.waiting(port(i), QueueClass::kData);
    const PacketQueue& control = it.waiting(port(i), QueueClass::kControl);
    FUZZ_CHECK(counters.forwarded == counters.transmitted + data.packets() + control.packets());
    FUZZ_CHECK(data.bytes() <= settings.ports[i].data_max_bytes);
    FUZZ_CHECK(control.bytes() <= settings.ports[i].control_max_bytes);
  }
  FUZZ_CHECK(received == transmitted + it.packets_waiting() + dropped);
}

void receive(Switch& it, PortIndex in, const Bytes& bytes) {
  const auto way = it.receive(in, bytes);
  if (way) {
    FUZZ_CHECK(way->raw() < kPorts);
  } else {
    FUZZ_CHECK(!describe(way.error()).text.empty());
  }
}

void check_departure(ConstBytes bytes, std::size_t longest) {
  FUZZ_CHECK(bytes.size() <= longest);
  const std::size_t header = is_ipv4(bytes) ? wire::kIpv4Size : wire::kIpv6Size;
  FUZZ_CHECK(bytes.size() >= header);
  if (is_ipv4(bytes)) {
    FUZZ_CHECK(wire::ipv4_sum(bytes.first<wire::kIpv4Size>()) == 0xffff);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  FuzzInput input({data, size});
  const SwitchSettings settings = settings_from(input);
  auto made = Switch::make(settings);
  FUZZ_CHECK(made.has_value());
  Switch& it = *made;
  std::size_t longest = 0;
  while (!input.empty()) {
    const std::uint8_t what = input.u8();
    const PortIndex where = port(what / 4 % kPorts);
    if (what % 4 == 3) {
      const ConstBytes out = it.transmit(where);
      if (!out.empty()) check_departure(out, longest);
    } else {
      Bytes bytes = what % 4 == 0   ? sound_packet(input)
                    : what % 4 == 1 ? damaged_packet(input)
                                    : raw_packet(input);
      bytes.shrink_to_fit();  // so that the sanitizer sees every read past its end
      longest = std::max(longest, bytes.size());
      receive(it, where, bytes);
    }
    check_balance(it, settings);
  }
  for (std::size_t i = 0; i < kPorts; ++i) {
    for (ConstBytes out = it.transmit(port(i)); !out.empty(); out = it.transmit(port(i))) {
      check_departure(out, longest);
    }
  }
  FUZZ_CHECK(it.packets_waiting() == 0);
  return 0;
}
