// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "openmrc/base/rng.h"
#include "openmrc/messages/layer.h"
#include "tests/support/scripted_peer.h"

namespace openmrc::messages::test {

inline constexpr std::uint32_t kMtu = 1024;

// What the network does to packets.
struct Weather {
  std::uint64_t lost_per_mille = 0;
  std::int64_t jitter_ns = 0;  // beyond the 5 us that every packet takes
  bool cut = false;            // nothing arrives
};

struct SideOptions {
  QueuePairOptions queue_pair{.sends = {.requests = 64, .segments = 4},
                              .receives = {.requests = 64, .segments = 4}};
  Access access{};
  bool remote_write = true;
  ResponderAttributes responder{};
  RequesterAttributes requester{};
  bool shares_receives = false;
  std::size_t queue_pairs = 1;
  bool ready_to_send = true;
};

struct PairOptions {
  SideOptions a{};
  SideOptions b{};
  Weather weather{};
  std::uint64_t seed = 1;
  std::uint8_t exponential_retries = 14;
  core::EndpointLimits limits{};
};

// Memory of a test, registered.
struct Memory {
  std::vector<std::byte> bytes;
  RKey key{};
  std::uint64_t address = 0;

  [[nodiscard]] Segment at(std::size_t offset, std::size_t length) {
    return {bytes.data() + offset, static_cast<std::uint32_t>(length)};
  }
  void fill(std::uint64_t seed) {
    Rng rng(seed);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(rng.next());
  }
};

// One host: an endpoint, a layer on it, and what came out of them.
struct Side {
  Side(const core::EndpointSettings& settings, std::uint64_t seed)
      : endpoint(settings, seed), layer(endpoint) {}

  core::Endpoint endpoint;
  Layer layer;
  core::InitAttributes init{};
  std::vector<Qpn> qpns;
  std::optional<SharedQueueId> shared;
  std::vector<Completion> completions;
  std::vector<Event> events;
};

// Two hosts with queue pairs between them, and a network that is as bad as the test wants it.
class Pair {
 public:
  explicit Pair(const PairOptions& options = {})
      : options_(options), weather(options.weather), rng_(options.seed) {
    for (std::uint16_t host = 0; host < 2; ++host) {
      core::EndpointSettings settings{};
      settings.addresses = {address(host)};
      settings.limits = options.limits;
      sides_[host] = std::make_unique<Side>(settings, options.seed + host);
      Side& side = *sides_[host];
      side.init = {.domain = side.endpoint.create_protection_domain(),
                   .ev_profile = side.endpoint.add_ev_profile(
                       core::EvProfile::simple({.planes = 1, .evs_per_plane = 4, .seed = 1})),
                   .cc_profile = side.endpoint.add_cc_profile(openmrc::test::fixed_window(256)),
                   .remote_write = of(host).remote_write};
      create(host);
    }
    for (std::uint16_t host = 0; host < 2; ++host) connect(host);
    settle();
  }

  Side& a() { return *sides_[0]; }
  Side& b() { return *sides_[1]; }
  [[nodiscard]] Instant now() const { return now_; }

  // Registered at a side with every right, or those that `change` leaves.
  std::unique_ptr<Memory> memory(Side& side, std::size_t size) {
    return memory(side, size, [](core::MemoryRegion&) {});
  }
  template <class Change>
  std::unique_ptr<Memory> memory(Side& side, std::size_t size, Change change) {
    auto made = std::make_unique<Memory>();
    made->bytes.resize(size);
    made->address = 0x7000'0000 + 0x100'0000 * ++regions_;
    core::MemoryRegion region{.domain = side.init.domain,
                              .address = made->address,
                              .length = size,
                              .bytes = made->bytes.data(),
                              .remote_write = true,
                              .remote_read = true,
                              .remote_atomic = true};
    change(region);
    made->key = *side.endpoint.register_memory(region);
    return made;
  }

  // Requests. Those that are refused throw the test.
  void send(Side& side, const SendRequest& request, std::size_t qp = 0) {
    posted(side.layer.post_send(side.qpns[qp], request));
  }
  void receive(Side& side, WorkId id, std::span<const Segment> segments, bool keys_ok = true) {
    const ReceiveRequest request{.id = id, .segments = segments, .keys_ok = keys_ok};
    posted(side.shared ? side.layer.post_shared_receive(*side.shared, request)
                       : side.layer.post_receive(side.qpns[0], request));
  }

  // Until nothing is left to do but to wait for longer than `patience`.
  void settle(Duration patience = milliseconds(50)) {
    for (;;) {
      drain();
      const Instant next = next_time();
      if (next == core::kNever || next > now_ + patience) return;
      step_to(next);
    }
  }
  void run_for(Duration span) {
    const Instant end = now_ + span;
    for (;;) {
      drain();
      const Instant next = next_time();
      if (next > end) break;
      step_to(next);
    }
    now_ = end;
    drain();
  }

  // What came out, and is taken.
  std::vector<Completion> completions(Side& side) { return std::exchange(side.completions, {}); }
  std::vector<Event> events(Side& side) { return std::exchange(side.events, {}); }

 private:
  struct Packet {
    std::size_t to = 0;
    core::Transmit transmit;
    std::vector<std::byte> payload;
  };

  static wire::Ipv6Address address(std::uint16_t host) {
    return wire::Ipv6Address::of({0xfd00, 0, 0, 0, 0, 0, 0, static_cast<std::uint16_t>(host + 1)});
  }
  [[nodiscard]] const SideOptions& of(std::size_t host) const {
    return host == 0 ? options_.a : options_.b;
  }
  static void posted(const Result<void, PostError>& result) {
    OPENMRC_CHECK(result.has_value(), "the request is taken");
  }
  void create(std::size_t host) {
    Side& side = *sides_[host];
    QueuePairOptions options = of(host).queue_pair;
    if (of(host).shares_receives) {
      side.shared = *side.layer.create_shared_queue(options.receives);
      options.shared_queue = side.shared;
    }
    for (std::size_t i = 0; i < of(host).queue_pairs; ++i) {
      side.qpns.push_back(*side.layer.create_queue_pair(options));
    }
  }
  void connect(std::uint16_t host) {
    Side& side = *sides_[host];
    const auto other = static_cast<std::uint16_t>(1 - host);
    for (std::size_t i = 0; i < side.qpns.size(); ++i) {
      const Qpn qpn = side.qpns[i];
      bool done = side.layer.to_init(qpn, side.init, of(host).access).has_value() &&
                  side.layer
                      .to_ready_to_recv(qpn, now_,
                                        {.remote_qpn = sides_[other]->qpns[i],
                                         .remote_psn = Psn(100u + other),
                                         .remote_addresses = {address(other)},
                                         .mtu = kMtu,
                                         .mpr_dest = kMpr,
                                         .max_wimm_dest = kImmediatesMax},
                                        of(host).responder)
                      .has_value();
      if (of(host).ready_to_send) done = done && to_ready_to_send(host, qpn);
      OPENMRC_CHECK(done, "a queue pair connects");
    }
  }

 public:
  bool to_ready_to_send(std::uint16_t host, Qpn qpn) {
    return sides_[host]
        ->layer
        .to_ready_to_send(qpn, now_,
                          {.first_psn = Psn(100u + host),
                           .mpr = kMpr,
                           .max_wimm = kImmediatesMax,
                           .exponential_retries = options_.exponential_retries},
                          of(host).requester)
        .has_value();
  }

 private:
  void drain() {
    bool any = true;
    while (any) {
      any = false;
      for (std::size_t host = 0; host < 2; ++host) any = drain(host) || any;
    }
  }
  // What an owner does after each call.
  bool drain(std::size_t host) {
    Side& side = *sides_[host];
    while (const auto done = side.endpoint.poll_completion()) {
      OPENMRC_CHECK(side.layer.handle_completion(*done), "all queue pairs are the layer's");
    }
    while (const auto event = side.endpoint.poll_event()) (void)side.layer.handle_event(*event);
    side.layer.progress(now_);
    std::array<core::Transmit, 16> out;
    bool any = false;
    while (const std::size_t count = side.endpoint.poll_transmit(
               now_, core::PlaneMask::all(), core::Endpoint::Ports::kReused, out)) {
      any = true;
      for (std::size_t i = 0; i < count; ++i) carry(1 - host, out[i]);
    }
    while (const auto done = side.layer.poll_completion()) side.completions.push_back(*done);
    while (const auto event = side.layer.poll_event()) side.events.push_back(*event);
    return any;
  }
  void carry(std::size_t to, const core::Transmit& transmit) {
    ++packets_sent;
    const auto* write = std::get_if<wire::RdmaWrite>(&transmit.packet.transport.body);
    if (write != nullptr && write->payload.size() >= loses_writes_to[to]) return;
    if (weather.cut || rng_.below(1000) < weather.lost_per_mille) return;
    Packet packet{.to = to, .transmit = transmit, .payload = {}};
    if (write != nullptr) {
      const ConstBytes bytes = write->payload.bytes();
      packet.payload.assign(bytes.begin(), bytes.end());
    }
    const auto late =
        weather.jitter_ns == 0
            ? std::int64_t{0}
            : static_cast<std::int64_t>(rng_.below(static_cast<std::uint64_t>(weather.jitter_ns)));
    on_the_way_.emplace(std::pair{now_.ns() + 5000 + late, ++order_}, std::move(packet));
  }
  [[nodiscard]] Instant next_time() const {
    Instant next = core::kNever;
    if (!on_the_way_.empty()) next = Instant(on_the_way_.begin()->first.first);
    for (const auto& side : sides_) {
      next = std::min(next, side->endpoint.next_deadline().value_or(core::kNever));
      next = std::min(next, side->layer.next_deadline().value_or(core::kNever));
    }
    return next;
  }
  void step_to(Instant when) {
    now_ = std::max(now_, when);
    while (!on_the_way_.empty() && on_the_way_.begin()->first.first <= now_.ns()) {
      auto arrived = on_the_way_.extract(on_the_way_.begin());
      Packet& packet = arrived.mapped();
      if (auto* write = std::get_if<wire::RdmaWrite>(&packet.transmit.packet.transport.body)) {
        write->payload = wire::Payload::of_bytes(packet.payload);
      }
      sides_[packet.to]->endpoint.handle_packet(now_, packet.transmit.plane,
                                                packet.transmit.packet);
      (void)drain(packet.to);
    }
    for (auto& side : sides_) side->endpoint.handle_timeout(now_);
  }

  PairOptions options_;

 public:
  Weather weather;
  // Writes to a side with so many bytes are lost; acknowledgements arrive.
  std::array<std::size_t, 2> loses_writes_to{SIZE_MAX, SIZE_MAX};
  std::uint64_t packets_sent = 0;

 private:
  Rng rng_;
  Instant now_{1'000'000};
  std::array<std::unique_ptr<Side>, 2> sides_;
  std::map<std::pair<std::int64_t, std::uint64_t>, Packet> on_the_way_;
  std::uint64_t order_ = 0;
  std::uint64_t regions_ = 0;
};

}  // namespace openmrc::messages::test
