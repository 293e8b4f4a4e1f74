// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/core/endpoint/transmitter.h"

#include <algorithm>

#include "openmrc/base/hold.h"
#include "openmrc/core/endpoint/route.h"
#include "openmrc/core/requestor/requestor_run.h"

namespace openmrc::core {
namespace {

// In a small burst data leaves before the control packets, which come first otherwise: somebody
// waits for it, and on a host each packet that leaves earlier makes it wait for a system call.
// CC-5
[[gnu::noinline]] void send_data_first(std::span<Transmit> burst) {
  const auto data = std::ranges::find_if(burst, [](const Transmit& one) {
    return one.packet.traffic_class != wire::TrafficClass::kControl;
  });
  std::rotate(burst.begin(), data, burst.end());
}

}  // namespace

std::size_t Transmitter::poll(Instant now, PlaneMask free_ports, Ports ports,
                              std::span<Transmit> out) {
  sending_.wake_for_room();
  std::size_t count = 0;
  // What has no free port goes to the end of its queue; each is asked once.
  std::size_t control_tries = control_.size();
  std::size_t aside_tries = responses_.size() + datagrams_.size();
  bool blocked = false;
  while (count < out.size() && !free_ports.empty()) {
    if (control_tries > 0 && !control_.empty()) {
      --control_tries;
      if (control_.send(now, free_ports, out[count]) != ControlSent::kYes) continue;
    } else if (const bool data_waits = !sending_.empty() && !blocked;
               aside_tries > 0 && !(is_turn_of_data_ && data_waits)) {
      --aside_tries;
      if (send_aside(now, free_ports, out[count]) != ControlSent::kYes) continue;
      is_turn_of_data_ = true;
    } else {
      if (!data_waits) break;
      const DataSent data =
          send_first(now, free_ports, ports, aside_tries == 0, out.subspan(count));
      blocked = data.outcome == Sent::kNoPort;
      if (data.outcome != Sent::kYes) continue;
      is_turn_of_data_ = false;
      count += data.more;
    }
    if (ports == Ports::kTakenOnce) free_ports.remove(out[count].plane);
    ++count;
  }
  if (count > 1 && count <= kSmallBurst && ports == Ports::kReused) {
    send_data_first(out.first(count));
  }
  return count;
}

// Lets the first queue pair in line send: a run, if nothing else waits for its turn and ports may
// be taken again, otherwise one packet.
[[gnu::always_inline]] inline Transmitter::DataSent Transmitter::send_first(
    Instant now, PlaneMask free_ports, Ports ports, bool is_alone, std::span<Transmit> out) {
  if (sending_.first().burst == 0) look_ahead();
  if (ports == Ports::kReused && is_alone) {
    if (const std::size_t run = send_run(now, free_ports, out)) return {Sent::kYes, run - 1};
  }
  return {take_turn(now, free_ports, out.front()), 0};
}

// A turn begins: those that come next will find what they need.
inline void Transmitter::look_ahead() {
  const QueuePair* second = sending_.behind(sending_.first());
  if (second == nullptr) return;
  prefetch_.flight(second);
  prefetch_.paths(second);
  const QueuePair* third = sending_.behind(*second);
  if (third == nullptr) return;
  prefetch_.peer(third);
  Prefetch::queue_pair(sending_.behind(*third));
}

// An endpoint response or a datagram, in turn; one of them waits.
[[gnu::noinline]] ControlSent Transmitter::send_aside(Instant now, PlaneMask ports, Transmit& out) {
  const bool is_datagram = !datagrams_.empty() && (responses_.empty() || is_turn_of_datagram_);
  is_turn_of_datagram_ = !is_datagram;
  return is_datagram ? datagrams_.send(now, ports, out) : responses_.send(now, ports, out);
}

// Lets the first queue pair in line send a run of packets, if that is what is next. Returns how
// many. Anything else is for take_turn.
[[gnu::noinline]] std::size_t Transmitter::send_run(Instant now, PlaneMask ports,
                                                    std::span<Transmit> out) {
  QueuePair& qp = sending_.first();
  if (qp.state != QueuePairState::kReadyToSend) return 0;
  const Turn at = state_.turn(qp, now);
  const PlaneMask eligible = ports & state_.ports_to(at.peer) & at.peer.paths.planes();
  if (eligible.empty() || !at.peer.paths.chooses_singly()) return 0;
  const std::int64_t left_of_turn = std::int64_t{kBurstPerQueuePair} - qp.burst;
  const std::int64_t count =
      qp.requestor.run_length(at, std::min(left_of_turn, static_cast<std::int64_t>(out.size())));
  if (count == 0) return 0;
  const EndpointSettings& settings = state_.context.settings;
  const wire::TrafficClass traffic_class = qp.connection.peer_sends_trim_nacks
                                               ? wire::TrafficClass::kTrimmable
                                               : wire::TrafficClass::kNoTrim;
  qp.requestor.send_run(at, eligible, count,
                        [&] [[gnu::always_inline]] (std::int64_t i, EvIndex ev) -> auto& {
                          Transmit& one = out[static_cast<std::size_t>(i)];
                          const Plane plane = at.peer.paths.profile().entry(ev).plane;
                          set_route(settings, at.peer, {ev, plane}, one);
                          one.packet.ecn = wire::Ecn::kCapable0;
                          one.packet.transport.pkey = settings.pkey;
                          one.packet.traffic_class = traffic_class;
                          state_.context.counters.add_sent(plane);
                          return hold<wire::RdmaWrite>(one.packet.transport.body);
                        });
  state_.context.counters.add(Count::kDataSent, static_cast<std::uint64_t>(count));
  qp.burst = static_cast<std::uint8_t>(qp.burst + count);
  if (count == left_of_turn) {
    sending_.pop();
    sending_.make_ready(qp);
  }
  return static_cast<std::size_t>(count);
}

// Lets the first queue pair in line send one packet.
inline Transmitter::Sent Transmitter::take_turn(Instant now, PlaneMask ports, Transmit& out) {
  QueuePair& qp = sending_.first();
  const Sent sent = qp.state == QueuePairState::kReadyToSend ? send_data(now, ports, qp, out)
                                                             : Sent::kNothingToSend;
  // Its turn does not end while packets to its peer stay on one path: they may leave as one.
  if (sent == Sent::kYes &&
      (++qp.burst < kBurstPerQueuePair || state_.peers[qp.connection.peer].paths.in_burst())) {
    return sent;
  }
  sending_.pop();
  switch (sent) {
    case Sent::kYes:
    case Sent::kNoPort: sending_.make_ready(qp); break;
    case Sent::kMustWait:
      // Who has sent waits behind those that have not had their turn, or they would never have one.
      if (qp.burst > 0) {
        sending_.make_ready(qp);
        break;
      }
      sending_.wait_for_window(qp);
      break;
    case Sent::kNoRoom: sending_.wait_for_room(qp); break;
    case Sent::kNothingToSend:
      // It left its share of the window to others.
      if (qp.connection.remote != Qpn{}) sending_.wake(state_.peers[qp.connection.peer]);
      if (qp.destroyed) state_.queue_pairs.release(qp.connection.index);
      break;
  }
  return sent;
}

Transmitter::Sent Transmitter::send_data(Instant now, PlaneMask ports, QueuePair& qp,
                                         Transmit& out) {
  const Requestor::Offer offer = qp.requestor.next(state_.context, qp.connection.mtu);
  if (offer.what == Requestor::Next::kNothing) return Sent::kNothingToSend;
  if (offer.what == Requestor::Next::kNoRoom) return Sent::kNoRoom;
  const Turn at = state_.turn(qp, now);
  if (!at.peer.may_send(offer.size)) return Sent::kMustWait;
  const PlaneMask usable = state_.ports_to(at.peer) & at.peer.paths.planes();
  if (usable.empty()) {
    qp.requestor.on_no_route(at);
    return Sent::kMustWait;
  }
  const auto path = at.peer.paths.choose(ports & usable, offer.avoid);
  if (!path) return Sent::kNoPort;
  set_route(state_.context.settings, at.peer, *path, out);
  // CC-13
  out.packet.ecn = wire::Ecn::kCapable0;
  out.packet.transport.pkey = state_.context.settings.pkey;
  // A peer that does not answer trimmed packets shall not get any (MRC 8; REL-52, REL-56).
  out.packet.traffic_class = !qp.connection.peer_sends_trim_nacks ? wire::TrafficClass::kNoTrim
                             : offer.what == Requestor::Next::kRetransmit
                                 ? wire::TrafficClass::kTrimmableRetransmission
                                 : wire::TrafficClass::kTrimmable;
  qp.requestor.send(at, offer, *path, hold<wire::RdmaWrite>(out.packet.transport.body));
  state_.context.counters.add(Count::kDataSent);
  state_.context.counters.add_sent(path->plane);
  return Sent::kYes;
}

}  // namespace openmrc::core
