// SPDX-License-Identifier: BSD-3-Clause
#include "tests/support/scripted_peer.h"

#include <algorithm>
#include <array>
#include <utility>

#include "openmrc/base/check.h"
#include "openmrc/wire/field/connection_id.h"

namespace openmrc::test {
namespace {

using core::QueuePairState;

constexpr std::uint16_t kLocalHost = 1;

wire::Ipv6Address address_of(bool ipv4, std::size_t plane, std::uint16_t host) {
  const auto network = static_cast<std::uint16_t>(plane);
  if (ipv4) {
    return wire::Ipv6Address::of(
        {0, 0, 0, 0, 0, 0xffff, static_cast<std::uint16_t>(0x0a00 + network), host});
  }
  return wire::Ipv6Address::of({0xfd00, network, 0, 0, 0, 0, 0, host});
}

core::EndpointSettings settings_of(const ScriptedOptions& options) {
  core::EndpointSettings settings{.sack = options.sack,
                                  .request_ids = options.request_ids,
                                  .ev_burst = options.ev_burst,
                                  .reorder_floor = options.reorder_floor,
                                  .packet_weight_min = options.packet_weight_min,
                                  .return_routes = options.return_routes,
                                  .limits = options.limits};
  for (std::size_t plane = 0; plane < options.planes; ++plane) {
    settings.addresses.push_back(address_of(options.ipv4, plane, kLocalHost));
  }
  return settings;
}

wire::Ipv4Address ipv4_of(const wire::Ipv6Address& mapped) {
  return wire::Ipv4Address(std::uint32_t{mapped.group(6)} << 16 | mapped.group(7));
}

}  // namespace

core::CongestionSettings fixed_window(std::int64_t packets) {
  return core::FixedWindowSettings{.window = kPacket * packets, .base_rtt = kRtt};
}

core::CongestionSettings nscc() {
  return core::nscc_defaults({.mtu = kPacket,
                              .base_rtt = kRtt,
                              .link_bits_per_second = 100'000'000'000,
                              .trimming = true});
}

ScriptedPeer::ScriptedPeer(const ScriptedOptions& options)
    : options_(options),
      endpoint_(settings_of(options), options.seed),
      ev_profile_(endpoint_.add_ev_profile(
          options.profile.value_or(core::EvProfile::simple({.planes = options.planes,
                                                            .evs_per_plane = options.evs_per_plane,
                                                            .seed = options.seed})))),
      cc_profile_(endpoint_.add_cc_profile(options.congestion)),
      domain_(endpoint_.create_protection_domain()),
      memory_(kMemorySize, kUntouched),
      rkey_(*endpoint_.register_memory({.domain = domain_,
                                        .address = kMemoryAddress,
                                        .length = kMemorySize,
                                        .bytes = memory_.data()})),
      qpn_(connect(kRemoteQpn)) {}

core::InitAttributes ScriptedPeer::init_attributes() const {
  return {.domain = domain_, .ev_profile = ev_profile_, .cc_profile = cc_profile_};
}

core::ReadyToRecvAttributes ScriptedPeer::receive_attributes(Qpn remote, std::uint16_t host) const {
  core::ReadyToRecvAttributes attributes{.remote_qpn = remote,
                                         .remote_psn = options_.remote_psn,
                                         .mtu = options_.mtu,
                                         .mpr_dest = options_.mpr,
                                         .max_wimm_dest = options_.max_wimm,
                                         .dynamic_mpr = options_.dynamic_mpr,
                                         .peer_sends_trim_nacks = options_.peer_sends_trim_nacks,
                                         .places_in_order = options_.places_in_order};
  for (std::size_t plane = 0; plane < options_.planes; ++plane) {
    attributes.remote_addresses.push_back(address(plane, host));
  }
  return attributes;
}

core::ReadyToSendAttributes ScriptedPeer::send_attributes() const {
  return {.first_psn = options_.first_psn,
          .mpr = options_.mpr,
          .max_wimm = options_.max_wimm,
          .timeout = options_.timeout,
          .linear_retries = options_.linear_retries,
          .exponential_retries = options_.exponential_retries};
}

Qpn ScriptedPeer::connect(Qpn remote, std::uint16_t host) {
  const Qpn qpn = *endpoint_.create_queue_pair();
  const auto up_to = [&](QueuePairState state) { return options_.state >= state; };
  const bool accepted =
      (!up_to(QueuePairState::kInit) || endpoint_.to_init(qpn, init_attributes())) &&
      (!up_to(QueuePairState::kReadyToRecv) ||
       endpoint_.to_ready_to_recv(qpn, now_, receive_attributes(remote, host))) &&
      (!up_to(QueuePairState::kReadyToSend) ||
       endpoint_.to_ready_to_send(qpn, now_, send_attributes()));
  OPENMRC_CHECK(accepted, "the options do not make a queue pair");
  return qpn;
}

wire::Ipv6Address ScriptedPeer::address(std::size_t plane, std::uint16_t host) const {
  return address_of(options_.ipv4, plane, host);
}

std::optional<Instant> ScriptedPeer::fire_next() {
  const auto deadline = endpoint_.next_deadline();
  if (!deadline) return std::nullopt;
  now_ = std::max(now_, *deadline);
  endpoint_.handle_timeout(now_);
  return now_;
}

void ScriptedPeer::advance(Duration span) {
  const Instant end = now_ + span;
  while (endpoint_.next_deadline().value_or(core::kNever) <= end) fire_next();
  now_ = end;
}

std::vector<core::Transmit> ScriptedPeer::await_packets(Duration limit) {
  const Instant end = now_ + limit;
  for (;;) {
    std::vector<core::Transmit> sent = collect();
    if (!sent.empty()) return sent;
    if (endpoint_.next_deadline().value_or(core::kNever) > end) {
      now_ = end;
      return sent;
    }
    fire_next();
  }
}

std::vector<core::Transmit> ScriptedPeer::collect(core::PlaneMask ports) {
  std::vector<core::Transmit> all;
  std::array<core::Transmit, 16> some;
  for (;;) {
    const std::size_t count =
        endpoint_.poll_transmit(now_, ports, core::Endpoint::Ports::kReused, some);
    if (count == 0) return all;
    all.insert(all.end(), some.begin(), some.begin() + static_cast<std::ptrdiff_t>(count));
  }
}

std::vector<core::Completion> ScriptedPeer::completions() {
  std::vector<core::Completion> all;
  while (const auto completion = endpoint_.poll_completion()) all.push_back(*completion);
  return all;
}

std::vector<core::Event> ScriptedPeer::events() {
  std::vector<core::Event> all;
  while (const auto event = endpoint_.poll_event()) all.push_back(*event);
  return all;
}

std::optional<core::Failure> ScriptedPeer::failure() {
  std::optional<core::Failure> last;
  for (const core::Event& event : events()) {
    if (const auto* failure = std::get_if<core::Failure>(&event)) last = *failure;
  }
  return last;
}

void ScriptedPeer::post(core::WorkId id, std::uint32_t length,
                        std::optional<wire::Immediate> immediate) {
  const auto posted = endpoint_.post_write(qpn_, now_,
                                           {.id = id,
                                            .data = wire::Payload::of_length(length),
                                            .remote_address = kMemoryAddress,
                                            .rkey = rkey_,
                                            .immediate = immediate});
  OPENMRC_CHECK(posted.has_value(), "the write is not accepted");
}

wire::RdmaWrite ScriptedPeer::write(std::int64_t index) const {
  static const std::vector<std::byte> bytes(core::kMtuMax, kWritten);
  return {
      .destination_qp = qpn_,
      .psn = options_.remote_psn + index,
      .part = wire::MessagePart::only(),
      .meth = {.rqmsn = {}, .msn = Msn{} + index},
      .sent = wire::TxTimestamp{.ticks = 0x5a5a},
      .reth = {.virtual_address = kMemoryAddress + static_cast<std::uint64_t>(index) * options_.mtu,
               .rkey = rkey_,
               .dma_length = options_.mtu},
      .payload = wire::Payload::of_bytes(ConstBytes(bytes).first(options_.mtu))};
}

wire::Sack ScriptedPeer::sack(std::int64_t count) const {
  return {.destination_qp = qpn_,
          .seth = {.entropy = ev(0),
                   .spdcid = wire::connection_id(kRemoteQpn),
                   .dpdcid = wire::connection_id(qpn_),
                   .cack_psn = options_.first_psn + (count - 1),
                   .sack_offset = 1}};
}

wire::Sack ScriptedPeer::sack_out_of_order(std::size_t index) const {
  wire::Sack one = sack(0);
  one.seth.sack_bitmap = std::uint64_t{1} << index;
  one.seth.trigger = wire::SackTrigger::packet(static_cast<std::int16_t>(index + 1));
  return one;
}

wire::Nack ScriptedPeer::nack(const core::Transmit& refused, wire::NackReason reason, Qpn local) {
  return {.destination_qp = local,
          .neth = {.reason = reason,
                   .entropy = wire::ev_of(refused.packet),
                   .spdcid = wire::connection_id(kRemoteQpn),
                   .dpdcid = wire::connection_id(local),
                   .psn = write_of(refused).psn,
                   .tx_ticks = write_of(refused).sent->ticks}};
}

wire::Acknowledge ScriptedPeer::acknowledge(std::int64_t packets, std::int64_t messages) const {
  return {.destination_qp = qpn_,
          .psn = options_.first_psn + (packets - 1),
          .aeth = {.syndrome = wire::AckSyndrome::kAck, .msn = AckMsn{} + messages}};
}

wire::ReliabilityProbe ScriptedPeer::probe(std::uint16_t id) const {
  return {.destination_qp = qpn_,
          .peth = {.id = wire::ProbeId(id),
                   .spdcid = wire::connection_id(kRemoteQpn),
                   .dpdcid = wire::connection_id(qpn_),
                   .sent = {.ticks = 0x7777}}};
}

void ScriptedPeer::deliver(const wire::Body& body, const Arrival& arrival) {
  const wire::Ipv6Address source = arrival.source.value_or(address(arrival.plane.raw()));
  const wire::Ipv6Address local = address(arrival.plane.raw(), kLocalHost);
  wire::Packet packet{.ecn = arrival.ecn, .transport = {.pkey = arrival.pkey, .body = body}};
  if (options_.ipv4) {
    packet.route = wire::Ipv4Route{.source = ipv4_of(source),
                                   .destination = ipv4_of(local),
                                   .ev_low = static_cast<std::uint16_t>(arrival.ev.raw())};
  } else {
    packet.route = wire::Ipv6Route{.source = source, .destination = local, .ev = arrival.ev};
  }
  endpoint_.handle_packet(now_, arrival.plane, packet);
}

bool ScriptedPeer::memory_is_untouched() const {
  return std::all_of(memory_.begin(), memory_.end(),
                     [](std::byte byte) { return byte == kUntouched; });
}

bool ScriptedPeer::has_only(std::byte byte, std::int64_t index) const {
  const auto begin = memory_.begin() + static_cast<std::ptrdiff_t>(index * options_.mtu);
  return std::all_of(begin, begin + options_.mtu, [&](std::byte each) { return each == byte; });
}

core::EvState ScriptedPeer::ev_state(Ev ev) const {
  return peer().paths.state(*profile().find(ev));
}

std::vector<std::uint32_t> psns_of(const std::vector<core::Transmit>& sent) {
  std::vector<std::uint32_t> psns;
  for (const auto& write : only<wire::RdmaWrite>(sent)) psns.push_back(write.psn.raw());
  return psns;
}

std::vector<core::WorkId> ids_of(const std::vector<core::Completion>& completions) {
  std::vector<core::WorkId> ids;
  for (const core::Completion& completion : completions) ids.push_back(completion.id);
  return ids;
}

std::vector<core::WorkStatus> statuses_of(const std::vector<core::Completion>& completions) {
  std::vector<core::WorkStatus> statuses;
  for (const core::Completion& completion : completions) statuses.push_back(completion.status);
  return statuses;
}

}  // namespace openmrc::test
