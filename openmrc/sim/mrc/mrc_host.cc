// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/mrc/mrc_host.h"

#include <algorithm>
#include <optional>
#include <variant>

#include "openmrc/base/check.h"
#include "openmrc/sim/mrc/mrc_sample.h"
#include "openmrc/sim/network/packet_size.h"
#include "openmrc/sim/workload/slice.h"

namespace openmrc::sim {
namespace {

// Everything that a peer may write to: programs say how much, the bytes do not matter.
constexpr std::uint64_t kMemory = kMessageBytesMax;

// A longer message is cut; a write has less than 4 GiB.
constexpr std::uint64_t kWriteBytesMax = std::uint64_t{1} << 31;
constexpr core::WorkId kWithoutMessage = ~core::WorkId{0};

core::EndpointSettings settings_of(const MrcWorld& world, fabric::HostIndex host) {
  core::EndpointSettings settings = profile::endpoint_settings(world.profile);
  for (std::uint32_t plane = 0; plane < world.network.planes(); ++plane) {
    settings.addresses.push_back(
        world.plan.inner_address(host, Plane(static_cast<std::uint8_t>(plane))));
  }
  return settings;
}

std::uint64_t seed_of(const MrcWorld& world, fabric::HostIndex host) {
  std::uint64_t state = world.seed ^ host.raw();
  return split_mix(state);
}

}  // namespace

MrcHost::MrcHost(const MrcWorld& world, fabric::HostIndex host, std::unique_ptr<Program> program,
                 std::vector<PortEvent> port_events)
    : world_(world),
      nic_(world.network, host),
      application_(Application(std::move(program), host, world.connections, world.queue_pairs),
                   world.network.scenario().nics.pcie_latency),
      endpoint_(settings_of(world, host), seed_of(world, host)),
      paths_(world.ev_sets.of(host)),
      port_events_(std::move(port_events)) {
  const auto outgoing = world.connections.outgoing(host);
  const auto incoming = world.connections.incoming(host);
  sends_ = static_cast<std::uint32_t>(outgoing.size());
  endpoint_.add_cc_profile(world.congestion);
  endpoint_.add_ev_profile(paths_.other_racks);
  endpoint_.add_ev_profile(paths_.own_rack);
  domain_ = endpoint_.create_protection_domain();
  // The first key of an endpoint is the same everywhere, so it need not be exchanged.
  rkey_ = *endpoint_.register_memory({.domain = domain_, .address = 0, .length = kMemory});
  std::uint32_t number = 0;
  for (const auto& ends : {outgoing, incoming}) {
    for (const Connections::End& end : ends) {
      for (std::uint32_t i = 0; i < world.queue_pairs; ++i) connect(number, end, i);
      ++number;
    }
  }
  wake_at_ = next_time();
}

Qpn MrcHost::qpn_of(std::uint32_t number, std::uint32_t queue_pair) const {
  return Qpn(kFirstUsableQpn.raw() + number * world_.queue_pairs + queue_pair);
}

void MrcHost::connect(std::uint32_t number, const Connections::End& end, std::uint32_t queue_pair) {
  const Qpn qpn = *endpoint_.create_queue_pair();
  OPENMRC_CHECK(qpn == qpn_of(number, queue_pair), "queue pairs are numbered in order");
  const fabric::HostIndex host = nic_.host();
  const bool own_rack = world_.plan.reach(host, end.other) == fabric::Reach::kOwnRack;
  core::ReadyToRecvAttributes recv = profile::recv_attributes(world_.profile);
  recv.remote_qpn = qpn_of(end.number, queue_pair);
  recv.path_overlay = world_.plan.overlay(host, end.other);
  for (std::uint32_t plane = 0; plane < world_.network.planes(); ++plane) {
    recv.remote_addresses.push_back(
        world_.plan.inner_address(end.other, Plane(static_cast<std::uint8_t>(plane))));
  }
  core::ReadyToSendAttributes send = profile::send_attributes(world_.profile);
  if (world_.hints) {
    send.senders = static_cast<std::uint32_t>(world_.connections.incoming(end.other).size());
  }
  const bool ready = endpoint_.to_init(qpn, {.domain = domain_,
                                             .ev_profile = core::EvProfileId(own_rack ? 1 : 0),
                                             .cc_profile = core::CcProfileId(0)}) &&
                     endpoint_.to_ready_to_recv(qpn, Instant{}, recv) &&
                     endpoint_.to_ready_to_send(qpn, Instant{}, send);
  OPENMRC_CHECK(ready, "every connection can be set up");
  if (number < sends_) return;
  for (std::uint16_t i = 0; i < world_.profile.max_wimm; ++i) {
    OPENMRC_CHECK(endpoint_.post_receive(qpn, number).has_value(), "receives can be posted");
  }
}

void MrcHost::run(const Window& window, std::span<const Packet> arrivals, Worker& worker) {
  Burst burst;
  std::size_t next = 0;
  for (;;) {
    const Picoseconds arrival =
        next < arrivals.size() ? window.begin + arrivals[next].key.time() : kNoTime;
    const Picoseconds own = next_time();
    const Picoseconds time = std::min(arrival, own);
    if (time >= window.end) break;
    now_ = std::max(now_, time);
    if (arrival <= own) {
      receive(arrivals[next++], worker);
    } else if (port_events_done_ < port_events_.size() &&
               port_events_[port_events_done_].at <= now_) {
      change_port(port_events_[port_events_done_++]);
    } else if (application_.wake_at() <= now_) {
      application_.on_time(now_, worker);
    } else {
      endpoint_.handle_timeout(instant_of(now_));
    }
    follow_up(window, burst, worker);
  }
  wake_at_ = next_time();
}

// When something happens here by itself.
Picoseconds MrcHost::next_time() const {
  Picoseconds next = application_.wake_at();
  if (port_events_done_ < port_events_.size()) {
    next = std::min(next, port_events_[port_events_done_].at);
  }
  if (const auto deadline = endpoint_.next_deadline()) {
    next = std::min(next, picoseconds(*deadline));
  }
  if (endpoint_.wants_to_send()) next = std::min(next, nic_.next_free(now_));
  return next;
}

void MrcHost::change_port(const PortEvent& event) {
  endpoint_.set_port(instant_of(now_), event.plane, event.up);
}

void MrcHost::receive(const Packet& packet, Worker& worker) {
  if (is_pause(packet)) [[unlikely]] {
    return nic_.pause(packet.plane, packet.kind == PacketKind::kPause, now_);
  }
  Content& content = *packet.content;
  Totals& totals = worker.stats.totals;
  wire::Packet record;
  record.route = wire::Ipv6Route{.source = world_.plan.inner_address(content.from, packet.plane),
                                 .destination = world_.plan.inner_address(packet.to, packet.plane),
                                 .ev = content.ev};
  record.ecn = packet.marked        ? wire::Ecn::kCongested
               : packet.ecn_capable ? wire::Ecn::kCapable0
                                    : wire::Ecn::kNotCapable;
  record.transport.body = content.body;
  if (packet.is_data) {
    ++totals.data_packets_arrived;
    totals.payload_bytes_arrived += payload_size(content);
    worker.stats.bucket(now_).payload_bytes[packet.plane.raw()] += payload_size(content);
  } else {
    const bool trimmed = std::holds_alternative<wire::TrimmedWrite>(content.body);
    ++(trimmed ? totals.trimmed_packets_arrived : totals.control_packets_arrived);
  }
  worker.release(content);
  endpoint_.handle_packet(instant_of(now_), packet.plane, record);
}

void MrcHost::follow_up(const Window& window, Burst& burst, Worker& worker) {
  take_completions(worker);
  take_events(worker);
  std::vector<Application::Posting>& postings = application_.postings();
  auto next = postings.begin();
  while (next != postings.end() && post(*next)) ++next;
  postings.erase(postings.begin(), next);
  if (endpoint_.wants_to_send()) transmit(window, burst, worker);
}

void MrcHost::take_completions(Worker& worker) {
  while (const auto completion = endpoint_.poll_completion()) {
    const bool failed = completion->status != core::WorkStatus::kSuccess;
    if (completion->id == kWithoutMessage) continue;
    if (completion->kind == core::WorkKind::kWrite) {
      application_.on_sent(now_, static_cast<std::uint32_t>(completion->id), failed, worker);
    } else if (!failed) {
      const std::uint32_t place = completion->qpn.raw() - kFirstUsableQpn.raw();
      const std::uint32_t number = place / world_.queue_pairs;
      OPENMRC_CHECK(endpoint_.post_receive(completion->qpn, number).has_value(),
                    "there was room for one");
      application_.on_received(now_, number - sends_, place % world_.queue_pairs,
                               completion->immediate.raw(), worker);
    }
  }
}

void MrcHost::take_events(Worker& worker) {
  while (const auto event = endpoint_.poll_event()) {
    const auto* change = std::get_if<core::EvChange>(&*event);
    if (change == nullptr) continue;
    Bucket& bucket = worker.stats.bucket(now_);
    --bucket.ev_changes[static_cast<std::size_t>(change->before)];
    ++bucket.ev_changes[static_cast<std::size_t>(change->after)];
    constexpr core::EvState kBad = core::EvState::kAssumedBad;
    if (change->after == kBad && change->before != kBad) ++worker.stats.totals.evs_lost;
    if (change->before == kBad && change->after != kBad) ++worker.stats.totals.evs_readmitted;
  }
}

// A long message is several writes; the last of them has the immediate, and completes behind the
// others. False: the rest waits until writes that were posted before are complete.
bool MrcHost::post(Application::Posting& posting) {
  const Qpn qpn = qpn_of(posting.connection, posting.queue_pair);
  core::WriteRequest request{.id = kWithoutMessage, .remote_address = 0, .rkey = rkey_};
  for (; posting.bytes > 0; posting.bytes -= request.data.size()) {
    request.data = wire::Payload::of_length(
        static_cast<std::uint32_t>(std::min(posting.bytes, kWriteBytesMax)));
    if (request.data.size() == posting.bytes) {
      request.id = posting.message;
      request.immediate = wire::Immediate(posting.tag);
    }
    const auto posted = endpoint_.post_write(qpn, instant_of(now_), request);
    if (posted) continue;
    if (posted.error() == core::PostError::kLimit) return false;
    OPENMRC_CHECK(posted.error() == core::PostError::kState, "writes can be posted");
    return true;
  }
  return true;
}

void MrcHost::transmit(const Window& window, Burst& burst, Worker& worker) {
  const core::PlaneMask free(nic_.free_ports(now_));
  if (free.empty()) return;
  const std::size_t count =
      endpoint_.poll_transmit(instant_of(now_), free, core::Endpoint::Ports::kTakenOnce, burst);
  for (std::size_t i = 0; i < count; ++i) send(burst[i], window, worker);
}

void MrcHost::send(const core::Transmit& transmit, const Window& window, Worker& worker) {
  const auto& route = std::get<wire::Ipv6Route>(transmit.packet.route);
  const wire::Body& body = transmit.packet.transport.body;
  const auto destination = world_.plan.port_of(route.destination);
  const std::uint32_t ev_index = route.ev.raw() - core::kSrv6SourcePortFirst;
  OPENMRC_CHECK(destination && ev_index < paths_.numbers.size(), "the path is one of ours");
  const wire::TrafficClass traffic_class = transmit.packet.traffic_class;
  const auto* write = std::get_if<wire::RdmaWrite>(&body);
  Content& content = worker.take_content();
  content.from = nic_.host();
  content.ev = route.ev;
  content.body = body;
  Packet packet{.content = &content,
                .to = destination->host,
                .size = static_cast<std::uint16_t>(size_on_wire(body)),
                .plane = transmit.plane,
                .is_data = traffic_class != wire::TrafficClass::kControl,
                .trimmable = traffic_class == wire::TrafficClass::kTrimmable ||
                             traffic_class == wire::TrafficClass::kTrimmableRetransmission,
                .ecn_capable = transmit.packet.ecn != wire::Ecn::kNotCapable};
  if (write != nullptr && write->retransmission) {
    ++worker.stats.totals.retransmissions;
    ++worker.stats.bucket(now_).retransmissions;
  }
  nic_.send(packet, paths_.numbers[ev_index], now_, window, worker);
}

void MrcHost::finish(Worker& worker) {
  application_.finish(worker);
  using core::Count;
  constexpr std::array<Count, kRetransmitReasons> kReasons{
      Count::kRetransmitsLoss,  Count::kRetransmitsProbe,       Count::kRetransmitsTimeout,
      Count::kRetransmitsTrim,  Count::kRetransmitsTrimLastHop, Count::kRetransmitsRefused,
      Count::kRetransmitsForAck};
  const core::Counters& counters = endpoint_.counters();
  Totals& totals = worker.stats.totals;
  for (std::size_t i = 0; i < kRetransmitReasons; ++i) {
    totals.retransmits[i] += counters.of(kReasons[i]);
  }
  totals.spurious_retransmits += counters.of(Count::kSpuriousRetransmits);
  totals.evs_suspected += counters.of(Count::kEvsSuspected);
}

void MrcHost::sample(SeriesRecorder& series) {
  const fabric::HostIndex host = nic_.host();
  const auto outgoing = world_.connections.outgoing(host);
  const bool wanted = series.wants(host);
  HostSample sample{.payload_bytes = endpoint_.counters().of(core::Count::kBytesPlaced),
                    .retransmissions = count_retransmits(endpoint_.counters())};
  for (std::uint32_t number = 0; number < sends_; ++number) {
    const core::Peer* peer = endpoint_.peer_of(qpn_of(number, 0));
    OPENMRC_CHECK(peer != nullptr, "every connection has a peer");
    if (peer->in_flight > ByteCount(0)) sample.transport += sample_window(*peer);
    if (!wanted) continue;
    series.add_connection({.from = host, .to = outgoing[number].other}, sample_connection(*peer));
  }
  series.add_host(host, sample);
  nic_.sample_links(series);
}

}  // namespace openmrc::sim
