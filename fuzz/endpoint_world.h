// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "fuzz/guarded_memory.h"
#include "openmrc/base/ids.h"
#include "openmrc/base/time.h"
#include "openmrc/core/endpoint/endpoint.h"
#include "openmrc/wire/packet.h"

namespace openmrc::fuzz {

inline constexpr std::size_t kPlanes = 2;
inline constexpr std::size_t kPeers = 2;
inline constexpr std::size_t kSlots = 2;  // queue pairs that an input works with
inline constexpr std::size_t kEvProfiles = 3;
inline constexpr std::size_t kCcProfiles = 3;
inline constexpr std::uint32_t kMtu = 64;
inline constexpr core::PlaneMask kAllPorts = core::PlaneMask::first(kPlanes);

// By number: what a queue pair may be told to use.
inline constexpr std::uint8_t kManyPaths = 0;  // four in each plane, three of them active
inline constexpr std::uint8_t kFewPaths = 1;   // one in each plane
inline constexpr std::uint8_t kSrv6Paths = 2;  // two in each plane, with a segment; plain on IPv4
inline constexpr std::uint8_t kNscc = 0;
inline constexpr std::uint8_t kWideWindow = 1;
inline constexpr std::uint8_t kNarrowWindow = 2;  // two packets

enum class AddressFamily : std::uint8_t { kIpv6, kIpv4 };

// Of an address that is written as ::ffff:a.b.c.d.
inline wire::Ipv4Address ipv4_of(const wire::Ipv6Address& address) {
  return wire::Ipv4Address(std::uint32_t{address.group(6)} << 16 | address.group(7));
}

// How a queue pair is connected.
struct BringUp {
  std::uint8_t ev_profile = kManyPaths;
  std::uint8_t cc_profile = kWideWindow;
  std::uint8_t peer = 0;
  Psn local_psn{0xffffc0};  // so that every window crosses the wrap
  Psn remote_psn{0xffffe0};
  std::uint16_t immediates_max = 4;
  std::uint8_t mpr = 1;
  std::uint8_t timeout = 8;
  std::uint8_t linear_retries = 2;
  std::uint8_t exponential_retries = 2;
  bool dynamic_mpr = false;
  bool trim_nacks = true;
};

// A write that was posted and is not complete.
struct PostedWrite {
  core::WriteRequest request;
  std::uint32_t packets = 0;
  std::uint32_t packets_sent = 0;  // at least once
  Psn first_psn{};                 // once it has begun
};

// What is known of a queue pair from outside.
struct Slot {
  std::optional<Qpn> local;
  Qpn remote{};  // 0: not connected; otherwise never used before
  BringUp how{};
  std::deque<PostedWrite> writes;
  std::deque<core::WorkId> receives;
  std::uint32_t writes_completed = 0;     // since RTS
  std::uint16_t immediates_received = 0;  // since RTR
  std::vector<Psn> heard;                 // of the peer's packets since RTR
};

// One endpoint, the memory that it opens to peers, and a record of everything that goes in and
// comes out. Every method checks what it can see; `check` checks the rest.
class World {
 public:
  explicit World(AddressFamily family);

  [[nodiscard]] core::Endpoint& endpoint() { return *endpoint_; }
  [[nodiscard]] Slot& slot(std::size_t index) { return slots_[index]; }
  [[nodiscard]] const core::QueuePair* queue_pair(std::size_t slot) const;
  [[nodiscard]] const core::Peer* peer(std::size_t slot) const;
  [[nodiscard]] Instant now() const { return now_; }
  [[nodiscard]] wire::Ipv6Address peer_address(std::size_t peer, std::size_t plane) const;
  [[nodiscard]] wire::Ipv6Address own_address(std::size_t plane) const;

  // What the peer knows of our memory.
  struct Keys {
    RKey open{};
    RKey read_only{};
    RKey elsewhere{};
    RKey gone{};  // was `open` before
  };
  [[nodiscard]] const Keys& keys() const { return keys_; }
  static constexpr std::uint64_t kOpenAddress =
      ~std::uint64_t{0} - GuardedMemory::kOpenSize;  // as far up as can be
  static constexpr std::uint64_t kClosedAddress = 0x1000;

  // The application.
  void create(std::size_t slot);
  void destroy(std::size_t slot);
  void raise(std::size_t slot, const BringUp& how, core::QueuePairState up_to);
  void reset(std::size_t slot);
  void fail(std::size_t slot);
  void post_write(std::size_t slot, std::uint32_t length, bool immediate);
  void post_receive(std::size_t slot);
  void register_again();  // the open memory, under a new key
  void set_port(std::size_t plane, bool up);

  // The network.
  void deliver(std::size_t plane, const wire::Packet& packet);
  void poll(core::PlaneMask ports, core::Endpoint::Ports how, std::size_t packets);
  void poll_all();  // whatever the windows allow
  void advance(Duration by);
  void advance_to_deadline();

  // Costs more than all the rest: whether every packet that leaves is encoded and decoded.
  void compare_bytes(bool compare) { compares_bytes_ = compare; }
  void check();
  void finish();

  // What was sent of late, for whoever answers.
  struct Sent {
    std::size_t slot = 0;
    Psn psn{};
    Ev ev{};
  };
  [[nodiscard]] const Sent& recent_data(std::size_t back) const {
    return recent_data_[(data_sent_ - 1 - back) % recent_data_.size()];
  }
  [[nodiscard]] std::uint16_t last_request_id() const { return last_request_id_; }
  [[nodiscard]] std::uint16_t last_probe_id() const { return last_probe_id_; }

 private:
  void register_open();
  void take_completion(const core::Completion& completion);
  void take_transmit(const core::Transmit& sent, core::PlaneMask ports);
  void check_own_address(const core::Transmit& sent) const;
  void check_route(const core::Transmit& sent) const;
  void check_round_trip(const wire::Packet& packet);
  void take_data(const core::Transmit& sent, const wire::RdmaWrite& write);
  void check_window(std::size_t slot, const wire::RdmaWrite& write) const;
  void check_path(std::size_t slot, const core::Transmit& sent) const;
  void check_part(std::size_t slot, const wire::RdmaWrite& write);
  void check_sack(const wire::Sack& sack) const;
  void check_nack(const wire::Nack& nack) const;
  void check_slot(std::size_t index) const;
  void check_next_deadline() const;
  void check_still_answers(std::size_t slot);
  void check_still_sends();
  void answer_honestly();
  [[nodiscard]] std::uint64_t progress_of(std::size_t slot) const;
  [[nodiscard]] wire::Packet from_peer(std::size_t slot, const wire::Body& body) const;
  [[nodiscard]] std::size_t slot_of(Qpn remote) const;
  [[nodiscard]] std::size_t slot_of_local(Qpn local) const;

  AddressFamily family_;
  Instant now_{1'000'000'000};
  GuardedMemory memory_;
  std::unique_ptr<core::Endpoint> endpoint_;
  core::ProtectionDomain domain_{};
  core::ProtectionDomain other_domain_{};
  Keys keys_;
  std::array<Slot, kSlots> slots_;
  std::array<core::EvProfileId, kEvProfiles> ev_profiles_;
  std::array<core::CcProfileId, kCcProfiles> cc_profiles_;
  core::PlaneMask ports_up_ = kAllPorts;
  core::WorkId next_id_ = 1;
  std::uint32_t next_remote_ = 0x1000;
  std::array<Sent, 16> recent_data_{};
  std::size_t data_sent_ = 0;
  std::uint16_t last_request_id_ = 0;
  std::uint16_t last_probe_id_ = 0;
  bool compares_bytes_ = true;
  std::vector<wire::EndpointRequestId> unanswered_;  // endpoint requests, while somebody answers
  std::vector<std::byte> encoded_;
  std::vector<core::Transmit> out_;
  // Since it was last cleared: which slots sent what.
  std::array<std::uint32_t, kSlots> acknowledges_sent_{};
  std::array<std::uint32_t, kSlots> sacks_sent_{};
  std::uint32_t responses_sent_ = 0;
};

}  // namespace openmrc::fuzz
