// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/endpoint_world.h"

#include <algorithm>
#include <utility>

#include "openmrc/wire/field/connection_id.h"

namespace openmrc::fuzz {
namespace {

using namespace core;

constexpr std::size_t kSourceSize = 16 * 1024;

// What writes send. Only its place is looked at, so its content is whatever it is.
const std::vector<std::byte>& source() {
  static const std::vector<std::byte> bytes = [] {
    std::vector<std::byte> made(kSourceSize);
    for (std::size_t i = 0; i < made.size(); ++i) made[i] = static_cast<std::byte>(i * 7 + i / 256);
    return made;
  }();
  return bytes;
}

// In the flow label and the source port, or where there is no flow label in the port alone.
EvProfile plain_paths(AddressFamily family, std::size_t per_plane, EvProfileOptions options) {
  constexpr std::array kFields{
      EvField{.width = 16, .init = 0, .min = 0, .max = 0xffff, .mask = 0xffff},
      EvField{.width = 16, .init = 0xc000, .min = 0, .max = 0x3fff, .mask = 0x3fff}};
  const bool has_label = family == AddressFamily::kIpv6;
  EvFormat format{.mode = has_label ? EvFormatMode::kStev : EvFormatMode::kUdp};
  format.slot_widths.push_back(16);
  if (has_label) format.slot_widths.push_back(16);
  auto made = EvProfile::generated({.format = format,
                                    .fields = std::span(kFields).subspan(has_label ? 0 : 1),
                                    .count = kPlanes * per_plane,
                                    .planes = kPlanes,
                                    .seed = per_plane,
                                    .options = options});
  return *std::move(made);
}

EvProfile srv6_paths() {
  EvFormat format{.mode = EvFormatMode::kSrv6};
  for (int i = 0; i < 16; ++i) format.slot_widths.push_back(16);
  const EvFields fields = identity_fields(format);
  auto made = EvProfile::generated(
      {.format = format, .fields = fields, .count = 2 * kPlanes, .planes = kPlanes, .seed = 3});
  return *std::move(made);
}

using EvProfiles = std::array<EvProfile, kEvProfiles>;

EvProfiles make_ev_profiles(AddressFamily family) {
  return {plain_paths(family, 4, {.min_active = 2, .active_per_plane = 3}),
          plain_paths(family, 1, {}),
          family == AddressFamily::kIpv6 ? srv6_paths() : plain_paths(family, 2, {})};
}

// Made once: their tables take longer than everything else.
const EvProfiles& ev_profiles(AddressFamily family) {
  static const EvProfiles ipv6 = make_ev_profiles(AddressFamily::kIpv6);
  static const EvProfiles ipv4 = make_ev_profiles(AddressFamily::kIpv4);
  return family == AddressFamily::kIpv6 ? ipv6 : ipv4;
}

std::array<CongestionSettings, kCcProfiles> cc_profiles() {
  constexpr Duration kRtt = microseconds(10);
  const ByteCount packet = nominal_size(kMtu, false);
  return {nscc_defaults({.mtu = packet,
                         .base_rtt = kRtt,
                         .link_bits_per_second = 1'000'000'000,
                         .trimming = true}),
          FixedWindowSettings{.window = ByteCount(1 << 20), .base_rtt = kRtt},
          FixedWindowSettings{.window = packet * 2, .base_rtt = kRtt}};
}

wire::Ipv6Address address(AddressFamily family, std::size_t plane, std::uint16_t host) {
  if (family == AddressFamily::kIpv4) {
    const auto network = static_cast<std::uint16_t>(0x0a00 + plane);
    return wire::Ipv6Address::of({0, 0, 0, 0, 0, 0xffff, network, host});
  }
  return wire::Ipv6Address::of({0xfd00, static_cast<std::uint16_t>(plane), 0, 0, 0, 0, 0, host});
}

EndpointSettings settings_for(AddressFamily family) {
  EndpointSettings settings;
  for (std::size_t plane = 0; plane < kPlanes; ++plane) {
    settings.addresses.push_back(address(family, plane, 0x100));
  }
  // One more than there are slots: numbers are used again soon.
  settings.limits = {.queue_pairs = kSlots + 1,
                     .memory_regions = 8,
                     .sends_outstanding = 256,
                     .receives_outstanding = 256,
                     .early_immediates = 256,
                     .packets_in_flight = 4096};
  return settings;
}

}  // namespace

World::World(AddressFamily family)
    : family_(family),
      endpoint_(std::make_unique<Endpoint>(settings_for(family), 7)),
      encoded_(512),
      out_(64) {
  for (std::size_t i = 0; i < kEvProfiles; ++i) {
    ev_profiles_[i] = endpoint_->add_ev_profile(fuzz::ev_profiles(family)[i]);
  }
  const auto congestion = fuzz::cc_profiles();
  for (std::size_t i = 0; i < kCcProfiles; ++i) {
    cc_profiles_[i] = endpoint_->add_cc_profile(congestion[i]);
  }
  domain_ = endpoint_->create_protection_domain();
  other_domain_ = endpoint_->create_protection_domain();
  register_open();
  keys_.read_only = *endpoint_->register_memory({.domain = domain_,
                                                 .address = kClosedAddress,
                                                 .length = GuardedMemory::kClosedSize,
                                                 .bytes = memory_.read_only(),
                                                 .remote_write = false});
  keys_.elsewhere = *endpoint_->register_memory({.domain = other_domain_,
                                                 .address = kClosedAddress,
                                                 .length = GuardedMemory::kClosedSize,
                                                 .bytes = memory_.elsewhere()});
}

void World::register_open() {
  keys_.open = *endpoint_->register_memory({.domain = domain_,
                                            .address = kOpenAddress,
                                            .length = GuardedMemory::kOpenSize,
                                            .bytes = memory_.open()});
}

void World::register_again() {
  FUZZ_CHECK(endpoint_->deregister_memory(keys_.open));
  FUZZ_CHECK(!endpoint_->deregister_memory(keys_.open));
  keys_.gone = keys_.open;
  register_open();
  FUZZ_CHECK(keys_.gone != keys_.open);
}

const QueuePair* World::queue_pair(std::size_t slot) const {
  const auto& local = slots_[slot].local;
  return local ? endpoint_->queue_pair(*local) : nullptr;
}

const Peer* World::peer(std::size_t slot) const {
  const auto& local = slots_[slot].local;
  return local ? endpoint_->peer_of(*local) : nullptr;
}

wire::Ipv6Address World::peer_address(std::size_t peer, std::size_t plane) const {
  return address(family_, plane, static_cast<std::uint16_t>(1 + peer));
}

wire::Ipv6Address World::own_address(std::size_t plane) const {
  return address(family_, plane, 0x100);
}

std::size_t World::slot_of(Qpn remote) const {
  const auto found =
      std::find_if(slots_.begin(), slots_.end(), [&](const Slot& s) { return s.remote == remote; });
  FUZZ_CHECK(remote != Qpn{} && found != slots_.end());
  return static_cast<std::size_t>(found - slots_.begin());
}

std::size_t World::slot_of_local(Qpn local) const {
  const auto found =
      std::find_if(slots_.begin(), slots_.end(), [&](const Slot& s) { return s.local == local; });
  FUZZ_CHECK(found != slots_.end());
  return static_cast<std::size_t>(found - slots_.begin());
}

void World::create(std::size_t slot) {
  if (slots_[slot].local) return;
  const auto qpn = endpoint_->create_queue_pair();
  if (!qpn) return;  // the numbers of destroyed ones are still on a list
  slots_[slot] = Slot{};
  slots_[slot].local = *qpn;
}

void World::destroy(std::size_t slot) {
  if (!slots_[slot].local) return;
  const Qpn qpn = *slots_[slot].local;
  FUZZ_CHECK(endpoint_->destroy_queue_pair(qpn));
  FUZZ_CHECK(!endpoint_->destroy_queue_pair(qpn) && !endpoint_->state(qpn));
  slots_[slot] = Slot{};
}

void World::raise(std::size_t slot, const BringUp& how, QueuePairState up_to) {
  create(slot);
  Slot& raised = slots_[slot];
  if (!raised.local) return;
  const Qpn qpn = *raised.local;
  if (up_to == QueuePairState::kReset) return;
  if (!endpoint_->to_init(qpn, {.domain = domain_,
                                .ev_profile = ev_profiles_[how.ev_profile],
                                .cc_profile = cc_profiles_[how.cc_profile]})) {
    return;
  }
  if (up_to == QueuePairState::kInit) return;
  raised.how = how;
  raised.remote = Qpn(next_remote_++);
  ReadyToRecvAttributes receiving{.remote_qpn = raised.remote,
                                  .remote_psn = how.remote_psn,
                                  .mtu = kMtu,
                                  .mpr_dest = how.mpr,
                                  .max_wimm_dest = how.immediates_max,
                                  .dynamic_mpr = how.dynamic_mpr,
                                  .peer_sends_trim_nacks = how.trim_nacks};
  for (std::size_t plane = 0; plane < kPlanes; ++plane) {
    receiving.remote_addresses.push_back(peer_address(how.peer, plane));
  }
  FUZZ_CHECK(endpoint_->to_ready_to_recv(qpn, now_, receiving).has_value());
  if (up_to == QueuePairState::kReadyToRecv) return;
  const auto ready = endpoint_->to_ready_to_send(qpn, now_,
                                                 {.first_psn = how.local_psn,
                                                  .mpr = how.mpr,
                                                  .max_wimm = how.immediates_max,
                                                  .timeout = how.timeout,
                                                  .linear_retries = how.linear_retries,
                                                  .exponential_retries = how.exponential_retries});
  FUZZ_CHECK(ready.has_value());
}

void World::reset(std::size_t slot) {
  Slot& old = slots_[slot];
  if (!old.local) return;
  FUZZ_CHECK(endpoint_->to_reset(*old.local).has_value());
  FUZZ_CHECK(endpoint_->state(*old.local) == QueuePairState::kReset);
  const Qpn qpn = *old.local;
  old = Slot{};
  old.local = qpn;
}

void World::fail(std::size_t slot) {
  if (!slots_[slot].local) return;
  FUZZ_CHECK(endpoint_->to_error(*slots_[slot].local, now_).has_value());
  FUZZ_CHECK(endpoint_->state(*slots_[slot].local) == QueuePairState::kError);
}

void World::post_write(std::size_t slot, std::uint32_t length, bool immediate) {
  Slot& at = slots_[slot];
  if (!at.local) return;
  const std::size_t offset = next_id_ % 64;
  WriteRequest request{
      .id = next_id_++,
      .data = wire::Payload::of_bytes(ConstBytes(source()).subspan(offset, length)),
      .remote_address = next_id_ << 32,
      .rkey = RKey(static_cast<std::uint32_t>(next_id_)),
      .immediate = immediate ? std::optional(wire::Immediate(static_cast<std::uint32_t>(next_id_)))
                             : std::nullopt};
  const bool ready = endpoint_->state(*at.local) == QueuePairState::kReadyToSend;
  const auto posted = endpoint_->post_write(*at.local, now_, request);
  FUZZ_CHECK((posted == failure(PostError::kState)) == !ready);
  if (posted) {
    at.writes.push_back({.request = request, .packets = (length + kMtu - 1) / kMtu});
  }
}

void World::post_receive(std::size_t slot) {
  Slot& at = slots_[slot];
  if (!at.local) return;
  const WorkId id = next_id_++;
  if (endpoint_->post_receive(*at.local, id)) at.receives.push_back(id);
}

void World::set_port(std::size_t plane, bool up) {
  const Plane port(static_cast<std::uint8_t>(plane));
  endpoint_->set_port(now_, port, up);
  if (up) {
    ports_up_.add(port);
  } else {
    ports_up_.remove(port);
  }
}

void World::deliver(std::size_t plane, const wire::Packet& packet) {
  const Counters& counters = endpoint_->counters();
  const std::uint64_t placed = counters.of(Count::kDataReceived);
  const auto* write = std::get_if<wire::RdmaWrite>(&packet.transport.body);
  const auto* trimmed = std::get_if<wire::TrimmedWrite>(&packet.transport.body);
  if (write != nullptr || trimmed != nullptr) {
    const Psn psn = write != nullptr ? write->psn : trimmed->psn;
    for (Slot& to : slots_) {
      if (to.heard.empty() || to.heard.back() != psn) to.heard.push_back(psn);
    }
  }
  endpoint_->handle_packet(now_, Plane(static_cast<std::uint8_t>(plane)), packet);
  if (counters.of(Count::kDataReceived) == placed) return;
  FUZZ_CHECK(write != nullptr && counters.of(Count::kDataReceived) == placed + 1);
  FUZZ_CHECK(write->reth.rkey == keys_.open && write->payload.size() <= kMtu);
  FUZZ_CHECK(write->reth.virtual_address >= kOpenAddress);
  memory_.expect(write->reth.virtual_address - kOpenAddress, write->payload.bytes());
}

void World::advance(Duration by) {
  now_ = now_ + by;
  endpoint_->handle_timeout(now_);
  const auto next = endpoint_->next_deadline();
  FUZZ_CHECK(!next || *next > now_);
}

void World::advance_to_deadline() {
  const auto next = endpoint_->next_deadline();
  if (next && *next != kNever) advance(std::max(*next - now_, Duration(0)));
}

void World::poll(PlaneMask ports, Endpoint::Ports how, std::size_t packets) {
  struct Before {
    ByteCount in_flight;
    ByteCount window;
  };
  std::array<Before, kSlots> before{};
  for (std::size_t i = 0; i < kSlots; ++i) {
    if (const Peer* at = peer(i)) before[i] = {at->in_flight, at->congestion.window()};
  }
  const auto out = std::span(out_).first(std::min(packets, out_.size()));
  const std::size_t count = endpoint_->poll_transmit(now_, ports, how, out);
  FUZZ_CHECK(count <= out.size());
  PlaneMask left = ports;
  for (const Transmit& sent : out.first(count)) {
    take_transmit(sent, left);
    if (how == Endpoint::Ports::kTakenOnce) left.remove(sent.plane);
  }
  if (count != 1) return;
  // One packet alone: it had room in the window, or nothing was in flight.
  if (const auto* write = std::get_if<wire::RdmaWrite>(&out[0].packet.transport.body)) {
    const std::size_t by = slot_of(write->destination_qp);
    const ByteCount added = peer(by)->in_flight - before[by].in_flight;
    FUZZ_CHECK(before[by].in_flight + added <= before[by].window ||
               before[by].in_flight == ByteCount(0) || added == ByteCount(0));
  }
}

void World::poll_all() {
  for (int rounds = 0; rounds < 200; ++rounds) {
    const bool wanted = endpoint_->wants_to_send();
    const std::size_t before = data_sent_;
    poll(kAllPorts, Endpoint::Ports::kReused, out_.size());
    if (!wanted || (!endpoint_->wants_to_send() && data_sent_ == before)) return;
  }
}

}  // namespace openmrc::fuzz
