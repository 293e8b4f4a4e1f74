// SPDX-License-Identifier: BSD-3-Clause
// What a socket delivers, as a data path reads it: control data, joined datagrams, messages from
// other shards, and whole frames. Besides not crashing: bytes are left as they were, payloads lie
// inside of them, and a packet is for the slot that steering says.
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "fuzz/fuzz_check.h"
#include "fuzz/fuzz_input.h"
#include "openmrc/datapath/arrival.h"
#include "openmrc/datapath/forwarding.h"
#include "openmrc/datapath/steering.h"
#include "openmrc/wire/decode.h"
#include "openmrc/xdp/frame_parts.h"

namespace {

using namespace openmrc;
using namespace openmrc::datapath;
using fuzz::FuzzInput;
using Bytes = std::vector<std::byte>;

// Fuzzers cannot find a CRC; without the check they get past it.
constexpr wire::WireSettings kNoIcrc{.icrc_check = wire::IcrcCheck::kSkip};

ConstBytes rest_of(FuzzInput& input) { return std::as_bytes(input.take(SIZE_MAX)); }

void check_owner(ConstBytes datagram, const wire::Packet& packet) {
  const auto owner = owner_of(datagram);
  const auto& body = packet.transport.body;
  if (const auto* write = std::get_if<wire::RdmaWrite>(&body)) {
    FUZZ_CHECK(owner == slot_of(write->destination_qp));
  } else if (const auto* sent = std::get_if<wire::UdSend>(&body)) {
    FUZZ_CHECK(owner == slot_of(sent->destination_qp));
  } else if (const auto* response = std::get_if<wire::EndpointResponse>(&body)) {
    FUZZ_CHECK(owner == slot_of(response->id));
  } else if (std::holds_alternative<wire::EndpointRequest>(body)) {
    FUZZ_CHECK(!owner);
    FUZZ_CHECK(is_endpoint_request(datagram));
  }
}

void decode(const Arrival& arrival, Bytes& buffer, std::size_t at, std::size_t size) {
  const Bytes before = buffer;
  wire::Packet packet;
  const auto decoded =
      decode_in_place({arrival, size, wire::kUdpPortRoce}, buffer, at, kNoIcrc, packet);
  FUZZ_CHECK(buffer == before);
  if (!decoded) return;
  const ConstBytes datagram = ConstBytes(buffer).subspan(at, size);
  check_owner(datagram, packet);
  const ConstBytes payload = wire::payload_of(packet.transport.body).bytes();
  if (!payload.empty()) {
    FUZZ_CHECK(payload.data() >= datagram.data());
    FUZZ_CHECK(payload.data() + payload.size() <= datagram.data() + datagram.size());
  }
}

// Over IPv4 if the port is odd.
Arrival arrival_from(FuzzInput& input) {
  Arrival arrival{.flow_label = input.u16() * 16u + input.u8() % 16u,
                  .source_port = input.u16(),
                  .traffic_byte = input.u8()};
  if (arrival.source_port % 2 != 0) arrival.source = wire::mapped(wire::Ipv4Address(1));
  return arrival;
}

// Datagrams of one length, the last may be shorter.
void joined(FuzzInput& input) {
  const Arrival arrival = arrival_from(input);
  const std::size_t segment = input.u16();
  Bytes buffer(kRoomInFront);
  const ConstBytes rest = rest_of(input);
  buffer.insert(buffer.end(), rest.begin(), rest.end());
  for (std::size_t at = kRoomInFront; at < buffer.size();) {
    const std::size_t left = buffer.size() - at;
    const std::size_t size = segment == 0 ? left : std::min(segment, left);
    decode(arrival, buffer, at, size);
    at += size;
  }
}

void control(FuzzInput& input) {
  alignas(cmsghdr) std::array<std::byte, 256> room{};
  sockaddr_in6 from{};
  from.sin6_family = AF_INET6;
  msghdr message{};
  message.msg_name = &from;
  message.msg_namelen = sizeof from;
  message.msg_flags = input.flag() ? MSG_TRUNC : 0;
  const ConstBytes rest = rest_of(input);
  if (rest.size() % 2 != 0) from.sin6_family = AF_INET;  // at the same place in both
  message.msg_control = room.data();
  message.msg_controllen = std::min(rest.size(), room.size());
  std::ranges::copy(rest.first(message.msg_controllen), room.begin());
  const auto read = read_message(message);
  if (!read) return;
  FUZZ_CHECK(read->arrival.flow_label <= kFlowLabelMax);
  FUZZ_CHECK(message.msg_flags == 0);
}

void forwarded(FuzzInput& input) {
  Bytes buffer(kRoomInFront);
  const ConstBytes rest = rest_of(input);
  buffer.insert(buffer.end(), rest.begin(), rest.end());
  for (std::size_t at = kRoomInFront; at < buffer.size();) {
    const auto record = read_forwarded(buffer, at);
    if (!record) return;
    FUZZ_CHECK(record->next > at && record->next <= buffer.size());
    decode(record->record.arrival, buffer, record->at, record->record.size);
    at = record->next;
  }
}

// Whoever passes a frame on must find the same datagram in it as whoever decodes it.
void frame(FuzzInput& input) {
  const ConstBytes frame = rest_of(input);
  const auto parts = xdp::read_frame(frame);
  const auto packet = wire::decode_frame(frame, kNoIcrc);
  if (!parts) return;
  FUZZ_CHECK(parts->datagram.data() + parts->datagram.size() <= frame.data() + frame.size());
  const Arrival arrival = xdp::arrival_of(frame, *parts);
  FUZZ_CHECK(arrival.flow_label <= kFlowLabelMax);
  if (packet) check_owner(parts->datagram, *packet);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  FuzzInput input({data, size});
  switch (input.below(4)) {
    case 0: joined(input); break;
    case 1: control(input); break;
    case 2: forwarded(input); break;
    default: frame(input); break;
  }
  return 0;
}
