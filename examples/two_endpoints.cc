// SPDX-License-Identifier: BSD-3-Clause
// Two endpoints in one process: a write of 1 MB with an immediate over four planes, one of which
// loses everything. There is no network here: packets are handed over as records, and time is a
// number that this program moves on.
#include <algorithm>
#include <cstdio>
#include <deque>
#include <variant>
#include <vector>

#include "openmrc/core/endpoint/endpoint.h"

namespace {

using namespace openmrc;
using namespace openmrc::core;

constexpr std::size_t kPlanes = 4;
constexpr Plane kBrokenPlane{2};
constexpr Duration kOneWay = microseconds(5);
constexpr std::uint64_t kAddress = 0x10000;  // what the peer calls the first byte of the memory

struct Host {
  std::vector<wire::Ipv6Address> addresses;
  Endpoint endpoint;
  Qpn qpn{};

  Host(std::uint16_t number, std::uint64_t seed)
      : addresses(addresses_of(number)), endpoint({.addresses = addresses}, seed) {
    const auto evs = endpoint.add_ev_profile(
        EvProfile::simple({.planes = kPlanes, .evs_per_plane = 16, .seed = 1}));
    const auto congestion =
        endpoint.add_cc_profile(nscc_defaults({.mtu = ByteCount(4096 + 88),
                                               .base_rtt = kOneWay * 2,
                                               .link_bits_per_second = 400'000'000'000,
                                               .trimming = true}));
    qpn = endpoint.create_queue_pair().value();
    const InitAttributes init{
        .domain = endpoint.create_protection_domain(), .ev_profile = evs, .cc_profile = congestion};
    endpoint.to_init(qpn, init).value();
  }

  static std::vector<wire::Ipv6Address> addresses_of(std::uint16_t number) {
    std::vector<wire::Ipv6Address> list;
    for (std::uint16_t plane = 0; plane < kPlanes; ++plane) {
      list.push_back(wire::Ipv6Address::of({0xfd00, 0, 0, 0, 0, 0, plane, number}));
    }
    return list;
  }

  // What the two would tell each other over TCP, say.
  void connect(Instant now, const Host& peer, Psn own_psn, Psn peer_psn) {
    const ReadyToRecvAttributes receiving{
        .remote_qpn = peer.qpn, .remote_psn = peer_psn, .remote_addresses = peer.addresses};
    endpoint.to_ready_to_recv(qpn, now, receiving).value();
    endpoint.to_ready_to_send(qpn, now, {.first_psn = own_psn}).value();
  }
};

struct OnItsWay {
  Instant arrives;
  Host* to;
  Transmit packet;
};

// Lets a host send what it can, up to eight packets.
void send(Instant now, Host& from, Host& to, std::deque<OnItsWay>& wire) {
  std::vector<Transmit> burst(8);
  const std::size_t count =
      from.endpoint.poll_transmit(now, PlaneMask::all(), Endpoint::Ports::kReused, burst);
  for (std::size_t i = 0; i < count; ++i) {
    if (burst[i].plane != kBrokenPlane) wire.push_back({now + kOneWay, &to, burst[i]});
  }
}

void report(Instant now, const char* name, Host& host) {
  while (const auto done = host.endpoint.poll_completion()) {
    std::printf("%7.1f us  %s: %s of %u bytes: %s\n", static_cast<double>(now.ns()) / 1000, name,
                done->kind == WorkKind::kWrite ? "write" : "receive", done->length,
                core::name(done->status).data());
  }
}

}  // namespace

int main() {
  Host a(1, 11);
  Host b(2, 22);
  Instant now;
  a.connect(now, b, Psn(100), Psn(200));
  b.connect(now, a, Psn(200), Psn(100));

  const std::vector<std::byte> source(1'000'000, std::byte{0x5a});
  std::vector<std::byte> memory(source.size());
  const auto key = b.endpoint.register_memory({.domain = ProtectionDomain(1),
                                               .address = kAddress,
                                               .length = memory.size(),
                                               .bytes = memory.data()});
  b.endpoint.post_receive(b.qpn, 1).value();
  const WriteRequest write{.id = 2,
                           .data = wire::Payload::of_bytes(source),
                           .remote_address = kAddress,
                           .rkey = key.value(),
                           .immediate = wire::Immediate(7)};
  a.endpoint.post_write(a.qpn, now, write).value();

  std::deque<OnItsWay> wire;
  for (int step = 0; step < 100'000 && !a.endpoint.queue_pair(a.qpn)->requestor.idle(); ++step) {
    send(now, a, b, wire);
    send(now, b, a, wire);
    now = now + nanoseconds(500);  // a real host would sleep until next_deadline() or a packet
    for (; !wire.empty() && wire.front().arrives <= now; wire.pop_front()) {
      wire.front().to->endpoint.handle_packet(now, wire.front().packet.plane,
                                              wire.front().packet.packet);
    }
    for (Host* host : {&a, &b}) host->endpoint.handle_timeout(now);
    report(now, "a", a);
    report(now, "b", b);
  }

  unsigned disabled = 0;
  unsigned elsewhere = 0;
  while (const auto event = a.endpoint.poll_event()) {
    const auto* change = std::get_if<EvChange>(&*event);
    if (change == nullptr || change->after != EvState::kAssumedBad) continue;
    ++(change->plane == kBrokenPlane ? disabled : elsewhere);
  }
  const Counters& counters = a.endpoint.counters();
  std::printf(
      "a sent %lu packets, %lu of them retransmits; disabled %u paths of plane %u, %u others\n",
      counters.of(Count::kDataSent),
      counters.of(Count::kRetransmitsLoss) + counters.of(Count::kRetransmitsProbe) +
          counters.of(Count::kRetransmitsTimeout),
      disabled, kBrokenPlane.raw(), elsewhere);
  return memory == source ? 0 : 1;
}
