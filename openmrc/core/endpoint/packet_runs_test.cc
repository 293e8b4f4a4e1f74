// SPDX-License-Identifier: BSD-3-Clause
// Packets that are sent and handled many at once are what they would have been one by one. An
// endpoint with a trace has no runs: it is the measure.
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "openmrc/core/congestion/nscc.h"
#include "openmrc/core/endpoint/endpoint.h"
#include "openmrc/wire/encode.h"

namespace openmrc::core {
namespace {

constexpr std::size_t kPlanes = 4;
constexpr std::uint32_t kMtu = 1024;
constexpr unsigned kQueuePairs = 3;

struct NoTrace final : TraceSink {
  void record(const TraceEvent&) override {}
};

std::vector<wire::Ipv6Address> addresses(std::uint16_t side) {
  std::vector<wire::Ipv6Address> of_planes;
  for (std::uint16_t plane = 0; plane < kPlanes; ++plane) {
    of_planes.push_back(wire::Ipv6Address::of({0xfd00, side, plane, 0, 0, 0, 0, 1}));
  }
  return of_planes;
}

// A requestor and a responder with some queue pairs, and all that both have sent, as bytes.
class Exchange {
 public:
  Exchange(TraceSink* trace, bool handles_many)
      : requestor_({.addresses = addresses(1)}, 1, trace),
        responder_({.addresses = addresses(2)}, 2, trace),
        handles_many_(handles_many) {
    const InitAttributes init = add_profiles(requestor_);
    const InitAttributes remote_init = add_profiles(responder_);
    key_ = *responder_.register_memory(
        {.domain = remote_init.domain, .length = std::uint64_t{1} << 30});
    for (unsigned i = 0; i < kQueuePairs; ++i) {
      qpns_.push_back(*requestor_.create_queue_pair());
      const Qpn remote = *responder_.create_queue_pair();
      connect(requestor_, qpns_.back(), init, remote, 2);
      connect(responder_, remote, remote_init, qpns_.back(), 1);
    }
  }

  // So many writes of a queue pair, each longer than the one before by less than a packet.
  void run() {
    for (std::uint32_t i = 0; i < 60; ++i) {
      const bool posted = requestor_
                              .post_write(qpns_[i % kQueuePairs], now_,
                                          {.id = i,
                                           .data = wire::Payload::of_length(1 + i * 700),
                                           .remote_address = std::uint64_t{i} << 20,
                                           .rkey = key_})
                              .has_value();
      ASSERT_TRUE(posted);
    }
    for (int tick = 0; tick < 4000; ++tick) {
      now_ = now_ + nanoseconds(500);
      for (Endpoint* one : {&requestor_, &responder_}) {
        if (one->next_deadline() <= now_) one->handle_timeout(now_);
      }
      pass(requestor_, responder_);
      pass(responder_, requestor_);
      while (requestor_.poll_completion()) ++completed_;
    }
  }

  [[nodiscard]] unsigned completed() const { return completed_; }
  [[nodiscard]] const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  static InitAttributes add_profiles(Endpoint& endpoint) {
    return {.domain = endpoint.create_protection_domain(),
            .ev_profile = endpoint.add_ev_profile(
                EvProfile::simple({.planes = kPlanes, .evs_per_plane = 16, .seed = 1})),
            .cc_profile =
                endpoint.add_cc_profile(nscc_defaults({.mtu = ByteCount(kMtu),
                                                       .base_rtt = microseconds(5),
                                                       .link_bits_per_second = 100'000'000'000,
                                                       .trimming = true}))};
  }
  static void connect(Endpoint& endpoint, Qpn qpn, const InitAttributes& init, Qpn remote,
                      std::uint16_t side) {
    ASSERT_TRUE(endpoint.to_init(qpn, init));
    ASSERT_TRUE(endpoint.to_ready_to_recv(
        qpn, Instant{},
        {.remote_qpn = remote, .remote_addresses = addresses(side), .mtu = kMtu, .mpr_dest = 2}));
    ASSERT_TRUE(endpoint.to_ready_to_send(qpn, Instant{}, {.mpr = 2}));
  }

  // What `from` sends now reaches `to` at once. Every seventh burst loses its second packet.
  void pass(Endpoint& from, Endpoint& to) {
    const std::size_t count =
        from.poll_transmit(now_, PlaneMask::all(), Endpoint::Ports::kReused, records_);
    std::span<const Transmit> sent = std::span(records_).first(count);
    for (const Transmit& one : sent) {
      std::array<std::byte, wire::kHeadersSizeMax> headers{};
      const std::size_t size = wire::encode_headers(one.packet, {}, headers).size;
      bytes_.insert(bytes_.end(), headers.begin(),
                    headers.begin() + static_cast<std::ptrdiff_t>(size));
    }
    if (count > 1 && ++bursts_ % 7 == 0) {
      to.handle_packet(now_, sent[0].plane, sent[0].packet);
      sent = sent.subspan(2);
    }
    if (handles_many_) return to.handle_packets(now_, sent);
    for (const Transmit& one : sent) to.handle_packet(now_, one.plane, one.packet);
  }

  Endpoint requestor_;
  Endpoint responder_;
  bool handles_many_;
  std::vector<Qpn> qpns_;
  RKey key_{};
  Instant now_{1};
  std::array<Transmit, 20> records_{};
  unsigned bursts_ = 0;
  unsigned completed_ = 0;
  std::vector<std::byte> bytes_;
};

TEST(PacketRuns, AreWhatSinglePacketsWouldHaveBeen) {
  NoTrace trace;
  Exchange singly(&trace, false);
  Exchange together(nullptr, true);
  ASSERT_NO_FATAL_FAILURE(singly.run());
  ASSERT_NO_FATAL_FAILURE(together.run());
  EXPECT_EQ(singly.completed(), 60U);
  EXPECT_EQ(together.completed(), 60U);
  EXPECT_TRUE(singly.bytes() == together.bytes());
}

}  // namespace
}  // namespace openmrc::core
