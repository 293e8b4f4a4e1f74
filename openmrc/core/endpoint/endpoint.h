// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "openmrc/base/ids.h"
#include "openmrc/base/result.h"
#include "openmrc/base/rng.h"
#include "openmrc/base/time.h"
#include "openmrc/core/congestion/congestion.h"
#include "openmrc/core/context/completion.h"
#include "openmrc/core/context/counters.h"
#include "openmrc/core/context/settings.h"
#include "openmrc/core/context/work.h"
#include "openmrc/core/endpoint/awaited_requests.h"
#include "openmrc/core/endpoint/queue_pair.h"
#include "openmrc/core/memory/memory_regions.h"
#include "openmrc/core/paths/ev_profile.h"
#include "openmrc/core/paths/plane_mask.h"
#include "openmrc/core/peer/peer_table.h"
#include "openmrc/core/peer/turn.h"
#include "openmrc/wire/packet.h"

namespace openmrc::core {

enum class CreateError : std::uint8_t {
  kLimit,  // as many queue pairs as the endpoint's limit
};

enum class ModifyError : std::uint8_t {
  kNoQueuePair,
  kTransition,  // not from this state (MRC 6.1)
  kProfile,     // no such EV or congestion profile
  kPlanes,      // addresses, profile and local ports differ in their number of planes
  kEvFormat,    // IPv4 carries 16 bits of an EV: only the UDP format fits
  kMtu,         // outside kMtuMin to kMtuMax
  kWindow,      // an MPR or a limit of immediates of 0
  kRetry,       // a timeout or a retry count above its maximum
  kRemoteQpn,   // the peer's number is reserved
};

// A packet to be sent, and the port to send it from.
struct Transmit {
  wire::Packet packet;
  Plane plane;
};

// One end of MRC connections: queue pairs, memory, paths, and the reserved queue pair 0x2. It
// performs no I/O and reads no clock: packets, time and seeds go in; packets, deadlines and
// completions come out. Owned by one thread.
//
// After each call that takes `now`, in this order: poll_transmit as long as it gives packets and
// ports are free, next_deadline, poll_completion, poll_event.
class Endpoint {
 public:
  // Two endpoints with the same settings, seed and inputs do the same, always. `trace` may be null.
  Endpoint(const EndpointSettings& settings, std::uint64_t seed, TraceSink* trace = nullptr);
  ~Endpoint();
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  // Profiles, shared by all queue pairs that name them. They stay as long as the endpoint.
  EvProfileId add_ev_profile(EvProfile profile);
  // The same for a profile that other endpoints share.
  EvProfileId add_ev_profile(std::shared_ptr<const EvProfile> profile);
  CcProfileId add_cc_profile(const CongestionSettings& settings);
  [[nodiscard]] const EvProfile& ev_profile(EvProfileId id) const;

  ProtectionDomain create_protection_domain() { return ProtectionDomain(++domains_); }
  // The bytes must stay until the region is deregistered.
  Result<RKey, RegisterError> register_memory(const MemoryRegion& region) {
    return context_.memory.add(region);
  }
  bool deregister_memory(RKey key) { return context_.memory.remove(key); }

  // Queue pairs (MRC 6.1, 10.1).
  Result<Qpn, CreateError> create_queue_pair();
  bool destroy_queue_pair(Qpn qpn);
  [[nodiscard]] Result<void, ModifyError> to_init(Qpn qpn, const InitAttributes& attributes);
  [[nodiscard]] Result<void, ModifyError> to_ready_to_recv(Qpn qpn, Instant now,
                                                           const ReadyToRecvAttributes& attributes);
  [[nodiscard]] Result<void, ModifyError> to_ready_to_send(Qpn qpn, Instant now,
                                                           const ReadyToSendAttributes& attributes);
  [[nodiscard]] Result<void, ModifyError> to_error(Qpn qpn, Instant now);
  [[nodiscard]] Result<void, ModifyError> to_reset(Qpn qpn);
  [[nodiscard]] std::optional<QueuePairState> state(Qpn qpn) const;

  [[nodiscard]] Result<void, PostError> post_write(Qpn qpn, Instant now,
                                                   const WriteRequest& request);
  [[nodiscard]] Result<void, PostError> post_receive(Qpn qpn, WorkId id);

  // A packet that arrived on the port of `plane`. Its payload is used up when this returns.
  void handle_packet(Instant now, Plane plane, const wire::Packet& packet);
  // Whatever is due by `now`.
  void handle_timeout(Instant now);
  // When handle_timeout is to be called at the latest; nothing if nothing is awaited.
  [[nodiscard]] std::optional<Instant> next_deadline() const { return context_.timers.next(); }

  // Fills in packets to be sent now, each from a port in `free_ports`; returns how many. Payloads
  // refer to the memory of posted writes. The records may be used again and again, which saves
  // clearing them. They leave in the order given, unless each goes by a port of its own:
  // kTakenOnce, for ports that take one packet at a time.
  enum class Ports : std::uint8_t { kReused, kTakenOnce };
  [[nodiscard]] std::size_t poll_transmit(Instant now, PlaneMask free_ports, Ports ports,
                                          std::span<Transmit> out);
  // Whether poll_transmit would have something to send if ports were free.
  [[nodiscard]] bool wants_to_send() const { return !context_.control.empty() || !ready_.empty(); }

  [[nodiscard]] std::optional<Completion> poll_completion();
  [[nodiscard]] std::optional<Event> poll_event();

  // MRC 7.3: probes one path to the peer of a connected queue pair, whatever its state; the answer
  // is a ProbeAnswer with `tag` among the events. False: not connected, or no such path.
  bool probe_path(Qpn qpn, Instant now, EvIndex ev, std::uint32_t tag);

  // The answer is a ProbeAnswer without queue pair among the events. False: no such plane, or too
  // many are waiting to be sent.
  bool send_request(Instant now, const DirectRequest& request);

  // MRC 7.4.8: the link of a local port went down or came up; peers are notified.
  void set_port(Instant now, Plane plane, bool up);
  // MRC 9.3.1: peers are to leave this plane: it is about to go down, or is denied.
  void set_plane_unwelcome(Plane plane, bool unwelcome);
  // MRC 9.3.1: the controller forbids an EV, or allows it again, for all peers of the profile.
  void set_ev_denied(Instant now, EvProfileId profile, EvIndex ev, bool denied);
  // MRC 7.5.1: the window that the responder offers from now on, 1 to what it offered at first.
  bool offer_mpr(Qpn qpn, std::uint8_t mpr);
  // MRC 8: how busy this receiver is: 0 not at all, 127 the most. Told to peers in every SACK.
  bool set_receiver_penalty(Qpn qpn, std::uint8_t penalty, bool restore);

  [[nodiscard]] const Counters& counters() const { return context_.counters; }
  [[nodiscard]] std::size_t planes() const { return context_.settings.addresses.size(); }
  // For those who watch: the peer of a connected queue pair.
  [[nodiscard]] const Peer* peer_of(Qpn qpn) const;
  [[nodiscard]] const QueuePair* queue_pair(Qpn qpn) const;

 private:
  struct ProfileEntry {
    std::shared_ptr<const EvProfile> profile;
    std::vector<EvIndex> denied;  // by the controller; new peers start with it
  };
  // Lets a PoolList link queue pairs.
  struct QueuePairs {
    std::vector<std::unique_ptr<QueuePair>> all;
    QueuePair& operator[](PoolIndex index) { return *all[index]; }
  };
  // endpoint.cc
  [[nodiscard]] QueuePair* find(Qpn qpn) const {
    const std::uint32_t index = qpn.raw() - context_.settings.first_qpn.raw();
    if (index >= queue_pairs_.all.size()) return nullptr;
    QueuePair* qp = queue_pairs_.all[index].get();
    return qp == nullptr || qp->destroyed ? nullptr : qp;
  }
  [[nodiscard]] Turn turn(QueuePair& qp, Instant now) {
    return {context_, qp.connection, peers_[qp.connection.peer], now};
  }
  [[nodiscard]] Result<void, ModifyError> check(const InitAttributes& init,
                                                const ReadyToRecvAttributes& attributes) const;
  [[nodiscard]] static Result<void, ModifyError> check(const ReadyToSendAttributes& attributes);
  PeerIndex join_peer(const QueuePair& qp, const ReadyToRecvAttributes& attributes);
  void leave_peer(QueuePair& qp);
  void disconnect(QueuePair& qp, Flush how, Instant now);
  void change_state(QueuePair& qp, QueuePairState state, Instant now);
  void fail(QueuePair& qp, const Fatal& fatal, Instant now);
  void release(QueuePairIndex index);

  // endpoint_receive.cc
  [[nodiscard]] QueuePair* receiver_of(Qpn qpn, Plane plane, const wire::Packet& packet);
  void receive(Instant now, Plane plane, const wire::Packet& packet, const wire::RdmaWrite& write);
  void receive(Instant now, Plane plane, const wire::Packet& packet,
               const wire::TrimmedWrite& trimmed);
  void receive(Instant now, Plane plane, const wire::Packet& packet,
               const wire::ReliabilityProbe& probe);
  void receive(Instant now, Plane plane, const wire::Packet& packet, const wire::Sack& sack);
  void receive(Instant now, Plane plane, const wire::Packet& packet, const wire::Nack& nack);
  void receive(Instant now, Plane plane, const wire::Packet& packet,
               const wire::Acknowledge& acknowledge);
  void receive(Instant now, Plane plane, const wire::Packet& packet,
               const wire::EndpointRequest& request);
  void receive(Instant now, Plane arrived_by, const wire::Packet& packet,
               const wire::EndpointResponse& response);
  void answer_from_error(QueuePair& qp, UnwrappedPsn psn, Ev ev);
  void refuse(QueuePair& qp, const Responder::Refusal& refusal, Instant now);
  void after_feedback(QueuePair& qp, const std::optional<Fatal>& fatal, Instant now);
  [[nodiscard]] ArrivalInfo arrival_info(Plane plane, const wire::Packet& packet) const;
  [[nodiscard]] bool apply_port_status(Instant now, const wire::Ipv6Address& source,
                                       const wire::EndpointRequest& request);
  [[nodiscard]] bool is_newer(Instant now, Peer& peer, wire::EndpointRequestId id) const;
  void take_direct_answer(Instant now, Plane arrived_by, const AwaitedRequest& awaited);
  void refresh_reverse_paths(Instant now, PeerIndex index, Peer& peer);
  void search_reverse_paths(Instant now, PeerIndex index, Peer& peer);

  // endpoint_transmit.cc
  enum class Sent : std::uint8_t {
    kYes,
    kNothingToSend,
    kMustWait,  // for the congestion window, or for a way to the peer
    kNoPort,    // there is a way, but its ports are busy
    kNoRoom,    // as many packets are in flight as the endpoint can remember
    kDropped,
  };
  [[nodiscard]] Sent send_control(Instant now, PlaneMask ports, Transmit& out);
  [[nodiscard]] Sent fill_control(Instant now, PlaneMask ports, const ControlItem& item,
                                  Transmit& out);
  [[nodiscard]] Sent fill_for_queue_pair(Instant now, PlaneMask ports, const ControlItem& item,
                                         Transmit& out);
  [[nodiscard]] Sent fill_for_peer(Instant now, PlaneMask ports, const ControlItem& item,
                                   Transmit& out);
  [[nodiscard]] Sent fill_direct(Instant now, PlaneMask ports, const ControlItem& item,
                                 Transmit& out);
  [[nodiscard]] Sent fill_response(Instant now, PlaneMask ports, const ControlItem& item,
                                   Transmit& out);
  void fill_body(const Turn& at, QueuePair& qp, const ControlItem& item, wire::Packet& out);
  void fill_nack(const Turn& turn, const ControlItem& item, wire::Nack& out);
  void fill_acknowledge(const Turn& turn, QueuePair& qp, wire::Acknowledge& out);
  [[nodiscard]] Sent send_data(Instant now, PlaneMask ports, QueuePair& qp, Transmit& out);
  [[nodiscard]] Sent take_turn(Instant now, PlaneMask ports, Transmit& out);
  void set_route(const Peer& peer, const PathSet::Choice& path, Transmit& out) const;
  static void set_encapsulation(const Peer& peer, EvIndex ev, wire::Packet& packet);
  void set_return_route(Transmit& out) const;
  void set_control(Transmit& out, wire::TrafficClass traffic_class) const;
  void make_ready(QueuePair& qp);
  void wake_waiting(Peer& peer);
  void wake_waiting_for_room();
  [[nodiscard]] PlaneMask ports_to(const Peer& peer) const {
    return local_ports_ & peer.remote_ports;
  }

  // endpoint_timers.cc
  void time_out_queue_pair(const TimerQueue::Due& due, Instant now);
  void time_out_peer(const TimerQueue::Due& due, Instant now);
  void probe_paths(PeerIndex index, Peer& peer, Instant now);
  void hurry_probes(PeerIndex index, Peer& peer, Instant now);
  void report_port_status(PeerIndex index, Peer& peer, Instant now);
  void repeat_port_status(PeerIndex index, Peer& peer, Instant now);
  void arm_peer(PeerIndex index, Peer& peer);
  void on_plane_restored(PeerIndex index, Peer& peer, Plane plane, Instant now);
  void probe_ev(PeerIndex index, const Peer& peer, const PathSet::Choice& path,
                AwaitedRequest::Kind kind);
  void queue_ev_probe(const Peer& peer, const PathSet::Choice& path, const AwaitedRequest& awaited);

  Context context_;
  Rng rng_;
  std::vector<std::unique_ptr<ProfileEntry>> ev_profiles_;
  std::vector<CongestionSettings> cc_profiles_;
  QueuePairs queue_pairs_;
  GrowingRing<QueuePairIndex> free_queue_pairs_;  // the longest free is used first
  PeerTable peers_;
  PoolList ready_;
  PoolList waiting_for_room_;  // for packets in flight
  std::size_t responses_queued_ = 0;
  PlaneMask local_ports_;
  PlaneMask unwelcome_planes_;
  std::uint32_t serial_ = 0;  // of the latest connection or peer: what is queued outlives them
  std::uint32_t domains_ = 0;
  AwaitedRequests awaited_;
  std::unordered_map<std::uint16_t, DirectRequest> direct_;  // by number, until they are sent
};

}  // namespace openmrc::core
