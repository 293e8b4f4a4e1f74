// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "openmrc/base/ids.h"
#include "openmrc/base/time.h"
#include "openmrc/core/endpoint/endpoint.h"
#include "openmrc/wire/packet.h"

namespace openmrc::test {

// What the options below say unless they are changed.
inline constexpr std::uint32_t kMtu = 1024;
inline constexpr Duration kRtt = microseconds(10);
inline constexpr Duration kTimeout = nanoseconds(1024 << 8);
inline constexpr ByteCount kPacket = core::nominal_size(kMtu, false);  // a full one

// Congestion control for the options: a window of so many full packets that nothing moves, or the
// real one for 100 Gb/s.
core::CongestionSettings fixed_window(std::int64_t packets);
core::CongestionSettings nscc();

struct ScriptedOptions {
  std::size_t planes = 1;
  std::size_t evs_per_plane = 4;
  std::optional<core::EvProfile> profile{};  // instead of simple EVs
  bool ipv4 = false;
  std::uint32_t mtu = kMtu;
  std::uint8_t mpr = 8;
  std::uint16_t max_wimm = 128;
  bool dynamic_mpr = false;
  bool peer_sends_trim_nacks = true;
  bool places_in_order = false;
  std::uint8_t timeout = 8;
  std::uint8_t linear_retries = 7;
  std::uint8_t exponential_retries = 14;
  core::CongestionSettings congestion = fixed_window(1 << 16);
  core::SackSettings sack{};
  core::EndpointLimits limits{};
  core::RequestIds request_ids{};
  std::uint8_t ev_burst = 1;
  std::shared_ptr<const core::ReturnRoutes> return_routes{};
  Duration reorder_floor{};
  ByteCount packet_weight_min{};
  Psn first_psn{100};    // of the endpoint's requests
  Psn remote_psn{5000};  // of the peer's
  std::uint64_t seed = 1;
  core::QueuePairState state = core::QueuePairState::kReadyToSend;  // to bring the queue pair to
};

// Where a packet from the peer comes from, and what happened to it on its way. What is not given is
// as it should be.
struct Arrival {
  Plane plane{0};
  Ev ev{0x1234c001};
  wire::Ecn ecn = wire::Ecn::kCapable0;
  PKey pkey = wire::kPKeyDefault;
  std::optional<wire::Ipv6Address> source{};
};

// One real endpoint with one queue pair, and a peer that the test plays by hand: it reads what the
// endpoint sends, and writes every packet that the endpoint gets. Time stands still unless the test
// moves it.
class ScriptedPeer {
 public:
  static constexpr std::uint64_t kMemoryAddress = 0x10000;
  static constexpr std::size_t kMemorySize = 1 << 16;
  static constexpr Qpn kRemoteQpn{0x51234};
  static constexpr std::byte kUntouched{0xee};
  static constexpr std::byte kWritten{0xda};  // by requests of the peer

  explicit ScriptedPeer(const ScriptedOptions& options = {});

  core::Endpoint& endpoint() { return endpoint_; }
  [[nodiscard]] const ScriptedOptions& options() const { return options_; }
  [[nodiscard]] Qpn qpn() const { return qpn_; }
  [[nodiscard]] const core::Requestor& requestor() const {
    return endpoint_.queue_pair(qpn_)->requestor;
  }
  [[nodiscard]] core::QueuePairState state() const { return *endpoint_.state(qpn_); }
  [[nodiscard]] std::uint64_t count(core::Count count) const {
    return endpoint_.counters().of(count);
  }

  // The attributes that the options say, and another queue pair with them: to the same host under
  // another number, or to another host.
  static constexpr std::uint16_t kHost = 2;
  [[nodiscard]] core::InitAttributes init_attributes() const;
  [[nodiscard]] core::ReadyToRecvAttributes receive_attributes(Qpn remote = kRemoteQpn,
                                                               std::uint16_t host = kHost) const;
  [[nodiscard]] core::ReadyToSendAttributes send_attributes() const;
  Qpn connect(Qpn remote, std::uint16_t host = kHost);
  [[nodiscard]] wire::Ipv6Address address(std::size_t plane, std::uint16_t host = kHost) const;

  // Time. Deadlines fire one by one, each at its own time, and nothing is collected in between.
  [[nodiscard]] Instant now() const { return now_; }
  void advance(Duration span);
  // To the next deadline, which fires. Nothing if there is none.
  std::optional<Instant> fire_next();
  // What the endpoint sends next, and time moves there: by `limit` at the most.
  std::vector<core::Transmit> await_packets(Duration limit);

  // Everything that the endpoint wants to send now.
  std::vector<core::Transmit> collect(core::PlaneMask ports = core::PlaneMask::all());
  // The same, of one kind; the others are dropped.
  template <class Kind>
  std::vector<Kind> collect_only();
  std::vector<core::Completion> completions();
  std::vector<core::Event> events();
  // The last failure among the events, which are taken.
  std::optional<core::Failure> failure();

  // Posts a write of so many bytes without content to `kMemoryAddress`.
  void post(core::WorkId id, std::uint32_t length,
            std::optional<wire::Immediate> immediate = std::nullopt);

  // Packets of the peer, for the test to change and to deliver.
  // The `index`th request: a message of its own, `mtu` bytes, which is placed behind the one
  // before.
  [[nodiscard]] wire::RdmaWrite write(std::int64_t index) const;
  // The first `count` packets of the endpoint have arrived, and no others.
  [[nodiscard]] wire::Sack sack(std::int64_t count) const;
  // The packet behind the first `index` has arrived; nothing is said of any other.
  [[nodiscard]] wire::Sack sack_out_of_order(std::size_t index) const;
  [[nodiscard]] static wire::Nack nack(const core::Transmit& refused, wire::NackReason reason,
                                       Qpn local);
  [[nodiscard]] wire::Nack nack(const core::Transmit& refused, wire::NackReason reason) const {
    return nack(refused, reason, qpn_);
  }
  // The first `packets` have arrived, and the first `messages` are complete.
  [[nodiscard]] wire::Acknowledge acknowledge(std::int64_t packets, std::int64_t messages) const;
  [[nodiscard]] wire::ReliabilityProbe probe(std::uint16_t id) const;
  void deliver(const wire::Body& body, const Arrival& arrival = {});

  // The peer's memory is the endpoint's to write to, and the other way round.
  [[nodiscard]] RKey rkey() const { return rkey_; }
  [[nodiscard]] core::ProtectionDomain domain() const { return domain_; }
  [[nodiscard]] const std::vector<std::byte>& memory() const { return memory_; }
  [[nodiscard]] bool memory_is_untouched() const;
  // Where the `index`th request goes: it is there, or nothing is.
  [[nodiscard]] bool is_placed(std::int64_t index) const { return has_only(kWritten, index); }
  [[nodiscard]] bool is_untouched(std::int64_t index) const { return has_only(kUntouched, index); }

  // What the endpoint holds of its paths.
  [[nodiscard]] const core::Peer& peer() const { return *endpoint_.peer_of(qpn_); }
  [[nodiscard]] core::EvState ev_state(Ev ev) const;
  [[nodiscard]] Ev ev(std::size_t index) const { return profile().entries()[index].ev; }
  [[nodiscard]] const core::EvProfile& profile() const { return endpoint_.ev_profile(ev_profile_); }
  [[nodiscard]] core::EvProfileId ev_profile() const { return ev_profile_; }

 private:
  [[nodiscard]] bool has_only(std::byte byte, std::int64_t index) const;

  ScriptedOptions options_;
  core::Endpoint endpoint_;
  core::EvProfileId ev_profile_;
  core::CcProfileId cc_profile_;
  core::ProtectionDomain domain_;
  std::vector<std::byte> memory_;
  RKey rkey_;
  Qpn qpn_;
  Instant now_{1'000'000};
};

// What the endpoint sent, of one kind.
template <class Kind>
std::vector<Kind> only(const std::vector<core::Transmit>& sent) {
  std::vector<Kind> found;
  for (const core::Transmit& one : sent) {
    if (const auto* body = std::get_if<Kind>(&one.packet.transport.body)) found.push_back(*body);
  }
  return found;
}
template <class Kind>
std::vector<Kind> ScriptedPeer::collect_only() {
  return only<Kind>(collect());
}

// The parts of a request packet that the endpoint sent.
inline const wire::RdmaWrite& write_of(const core::Transmit& sent) {
  return std::get<wire::RdmaWrite>(sent.packet.transport.body);
}
inline Ev ev_of(const core::Transmit& sent) { return wire::ev_of(sent.packet); }
std::vector<std::uint32_t> psns_of(const std::vector<core::Transmit>& sent);

std::vector<core::WorkId> ids_of(const std::vector<core::Completion>& completions);
std::vector<core::WorkStatus> statuses_of(const std::vector<core::Completion>& completions);

}  // namespace openmrc::test
