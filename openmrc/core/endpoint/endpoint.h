// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "openmrc/base/ids.h"
#include "openmrc/base/result.h"
#include "openmrc/base/rng.h"
#include "openmrc/base/time.h"
#include "openmrc/core/context/completion.h"
#include "openmrc/core/context/counters.h"
#include "openmrc/core/context/settings.h"
#include "openmrc/core/context/work.h"
#include "openmrc/core/endpoint/connections.h"
#include "openmrc/core/endpoint/control_packets.h"
#include "openmrc/core/endpoint/datagrams.h"
#include "openmrc/core/endpoint/endpoint_requests.h"
#include "openmrc/core/endpoint/endpoint_state.h"
#include "openmrc/core/endpoint/receiver.h"
#include "openmrc/core/endpoint/send_queue.h"
#include "openmrc/core/endpoint/transmitter.h"
#include "openmrc/core/memory/memory_regions.h"
#include "openmrc/core/paths/plane_mask.h"
#include "openmrc/wire/packet.h"

namespace openmrc::core {

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
  EvProfileId add_ev_profile(std::shared_ptr<const EvProfile> profile) {
    return state_.profiles.add(std::move(profile));
  }
  CcProfileId add_cc_profile(const CongestionSettings& settings) {
    return state_.profiles.add(settings);
  }
  [[nodiscard]] const EvProfile& ev_profile(EvProfileId id) const {
    return state_.profiles.evs(id);
  }

  ProtectionDomain create_protection_domain() { return ProtectionDomain(++domains_); }
  // The bytes must stay until the region is deregistered.
  Result<RKey, RegisterError> register_memory(const MemoryRegion& region) {
    return state_.context.memory.add(region);
  }
  bool deregister_memory(RKey key) { return state_.context.memory.remove(key); }
  [[nodiscard]] const MemoryRegions& memory() const { return state_.context.memory; }

  // Queue pairs (MRC 6.1, 10.1).
  // With `messages` (docs/protocol/messages.md) it is not a plain MRC queue pair: what is behind it
  // gets its immediates, receives are not posted to it, and the handler must outlive it.
  Result<Qpn, CreateError> create_queue_pair(MessageHandler* messages = nullptr) {
    return connections_.create(messages);
  }
  bool destroy_queue_pair(Qpn qpn) {
    datagrams_.leave(qpn);
    return connections_.destroy(qpn);
  }
  [[nodiscard]] Result<void, ModifyError> to_init(Qpn qpn, const InitAttributes& attributes) {
    return connections_.to_init(qpn, attributes);
  }
  [[nodiscard]] Result<void, ModifyError> to_ready_to_recv(
      Qpn qpn, Instant now, const ReadyToRecvAttributes& attributes) {
    return connections_.to_ready_to_recv(qpn, now, attributes);
  }
  [[nodiscard]] Result<void, ModifyError> to_ready_to_send(
      Qpn qpn, Instant now, const ReadyToSendAttributes& attributes) {
    return connections_.to_ready_to_send(qpn, now, attributes);
  }
  [[nodiscard]] Result<void, ModifyError> to_error(Qpn qpn, Instant now) {
    return connections_.to_error(qpn, now);
  }
  [[nodiscard]] Result<void, ModifyError> to_reset(Qpn qpn) { return connections_.to_reset(qpn); }
  [[nodiscard]] std::optional<QueuePairState> state(Qpn qpn) const;

  [[nodiscard]] Result<void, PostError> post_write(Qpn qpn, Instant now,
                                                   const WriteRequest& request);
  [[nodiscard]] Result<void, PostError> post_receive(Qpn qpn, WorkId id);
  // Whether a write would be taken, as far as PostError::kLimit goes.
  [[nodiscard]] bool has_room_for_write() const { return state_.context.messages.room() > 0; }

  // Unreliable datagrams (docs/protocol/datagrams.md). Their queue pairs have numbers as all have,
  // no states, and no completions: who posts a datagram is done with it. The handler must outlive
  // the queue pair.
  Result<Qpn, CreateError> create_datagram_queue_pair(DatagramHandler& handler,
                                                      const DatagramAttributes& attributes) {
    return datagrams_.create(handler, attributes);
  }
  bool set_qkey(Qpn qpn, wire::QKey qkey) { return datagrams_.set_qkey(qpn, qkey); }
  [[nodiscard]] Result<void, PostError> post_datagram(Qpn qpn, const DatagramRequest& request) {
    return datagrams_.post(qpn, request);
  }

  // A packet that arrived on the port of `plane`. Its payload is used up when this returns.
  void handle_packet(Instant now, Plane plane, const wire::Packet& packet) {
    receiver_.handle(now, plane, packet);
  }
  // Many of them, in their order, each a `packet` and its `plane`: the same, and faster if they are
  // for many queue pairs.
  template <class Arrived>
  void handle_packets(Instant now, std::span<const Arrived> packets) {
    receiver_.handle_many(now, packets);
  }
  // Whatever is due by `now`.
  void handle_timeout(Instant now);
  // When handle_timeout is to be called at the latest; nothing if nothing is awaited.
  [[nodiscard]] std::optional<Instant> next_deadline() const {
    return state_.context.timers.next();
  }

  // Fills in packets to be sent now, each from a port in `free_ports`; returns how many. Payloads
  // refer to the memory of posted writes; those of datagrams stay until the next is posted or their
  // queue pair is destroyed. The records may be used again and again, which saves
  // clearing them. They leave in the order given, unless each goes by a port of its own:
  // kTakenOnce, for ports that take one packet at a time.
  using Ports = core::Ports;
  [[nodiscard]] std::size_t poll_transmit(Instant now, PlaneMask free_ports, Ports ports,
                                          std::span<Transmit> out) {
    return transmitter_.poll(now, free_ports, ports, out);
  }
  // Whether poll_transmit would have something to send if ports were free.
  [[nodiscard]] bool wants_to_send() const {
    return !control_.empty() || !sending_.empty() || !responses_.empty() || !datagrams_.empty();
  }

  [[nodiscard]] std::optional<Completion> poll_completion();
  [[nodiscard]] std::optional<Event> poll_event();

  // MRC 7.3: probes one path to the peer of a connected queue pair, whatever its state; the answer
  // is a ProbeAnswer with `tag` among the events. False: not connected, no such path, or too many
  // answers are awaited.
  bool probe_path(Qpn qpn, Instant now, EvIndex ev, std::uint32_t tag);

  // The answer is a ProbeAnswer without queue pair among the events. False: no such plane, or too
  // many answers are awaited.
  bool send_request(Instant now, const DirectRequest& request);

  // MRC 7.4.8: a local port went down or came up, or is disabled or enabled; peers are notified.
  // MRC 9.3.1: whatever still arrives by a port that is down is taken, and its sender told to leave
  // the path.
  void set_port(Instant now, Plane plane, bool up);
  // MRC 9.3.1: the controller forbids an EV, or allows it again, for all peers of the profile.
  void set_ev_denied(Instant now, EvProfileId profile, EvIndex ev, bool denied);
  // MRC 7.5.1: the window that the responder offers from now on, 1 to what it offered at first.
  // False: it may not, or both ends did not agree that the window may change.
  bool offer_mpr(Qpn qpn, std::uint8_t mpr);
  // MRC 8: how busy this receiver is: 0 not at all, 127 the most. Told to peers in every SACK. With
  // `restore`, peers take back the window that they had before.
  bool set_receiver_penalty(Qpn qpn, std::uint8_t penalty, bool restore);

  [[nodiscard]] const Counters& counters() const { return state_.context.counters; }
  // The owner did not send a packet, because its memory cannot be read. It is as if it was lost.
  void count_unreadable() { state_.context.counters.add(Count::kDropUnreadable); }
  [[nodiscard]] std::size_t planes() const { return state_.planes(); }
  // For those who watch: the peer of a connected queue pair.
  [[nodiscard]] const Peer* peer_of(Qpn qpn) const;
  [[nodiscard]] const PeerTable& peers() const { return state_.peers; }
  [[nodiscard]] const QueuePair* queue_pair(Qpn qpn) const { return state_.queue_pairs.find(qpn); }

 private:
  void time_out_queue_pair(const TimerQueue::Due& due, Instant now);
  void time_out_peer(const TimerQueue::Due& due, Instant now);

  EndpointState state_;
  Rng rng_;
  SendQueue sending_{state_};
  PathProbes probes_;
  EndpointResponses responses_{state_};
  EndpointRequests requests_;
  Connections connections_;
  Datagrams datagrams_{state_};
  Receiver receiver_{state_, sending_, probes_, requests_, connections_, datagrams_};
  ControlPackets control_{state_, requests_};
  Transmitter transmitter_{state_, sending_, control_, responses_, datagrams_};
  std::uint32_t domains_ = 0;
};

}  // namespace openmrc::core
