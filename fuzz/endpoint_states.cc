// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/endpoint_states.h"

#include <array>
#include <utility>

#include "fuzz/fuzz_input.h"
#include "fuzz/hostile_packets.h"
#include "openmrc/wire/field/connection_id.h"

namespace openmrc::fuzz {
namespace {

using namespace core;
using enum QueuePairState;

void deliver(World& world, const wire::Body& body) {
  FuzzInput nothing({});
  HostilePackets packets(world, nothing);
  world.deliver(0, packets.plain(0, body));
}

// A packet of the peer's that is `ahead` of the one expected.
void deliver_write(World& world, std::int64_t ahead, wire::MessagePart part, Rqmsn rqmsn = {}) {
  static constexpr std::array<std::byte, kMtu> kPayload{};
  deliver(world, wire::RdmaWrite{
                     .destination_qp = *world.slot(0).local,
                     .psn = (world.queue_pair(0)->responder.window().expected() + ahead).wrapped(),
                     .part = part,
                     .meth = {.rqmsn = rqmsn},
                     .reth = {.virtual_address = World::kOpenAddress + kMtu,
                              .rkey = world.keys().open,
                              .dma_length = kMtu},
                     .payload = wire::Payload::of_bytes(kPayload)});
}

// `arrived`: how many packets from the oldest on; the bitmap follows the one after them.
void deliver_sack(World& world, std::int64_t arrived, std::uint64_t bitmap, wire::Seth more = {}) {
  const Slot& to = world.slot(0);
  more.spdcid = wire::connection_id(to.remote);
  more.dpdcid = wire::connection_id(*to.local);
  more.cack_psn = (world.queue_pair(0)->requestor.window().oldest() + (arrived - 1)).wrapped();
  more.sack_offset = 1;
  more.sack_bitmap = bitmap;
  more.entropy = world.recent_data(0).ev;
  deliver(world, wire::Sack{.destination_qp = *to.local, .seth = more});
}

void connect(World& world, const BringUp& how = {}) { world.raise(0, how, kReadyToSend); }

void send(World& world, std::uint32_t packets, bool immediate = false) {
  world.post_write(0, packets * kMtu, immediate);
  world.poll_all();
}

void reset(World& world) { world.create(0); }

void init(World& world) {
  world.raise(0, {}, kInit);
  world.post_receive(0);
}

void ready_to_recv(World& world) {
  world.post_receive(0);
  world.raise(0, {}, kReadyToRecv);
}

void idle(World& world) { connect(world); }

void one_in_flight(World& world) {
  connect(world);
  send(world, 1);
}

void window_full(World& world) {
  connect(world);
  send(world, 130);
}

void gap_reported(World& world) {
  connect(world);
  send(world, 5, true);
  send(world, 5);
  deliver_sack(world, 1, 0b1011'0110);
}

void awaiting_acknowledgement(World& world) {
  connect(world);
  send(world, 1);
  send(world, 2, true);
  deliver_sack(world, 3, 0);
}

void immediates_waiting(World& world) {
  connect(world);
  for (int i = 0; i < 3; ++i) world.post_receive(0);
  deliver_write(world, 1, wire::MessagePart::only(wire::Immediate(1)), Rqmsn(0));
  deliver_write(world, 3, wire::MessagePart::last(wire::Immediate(2)), Rqmsn(1));
}

void arrivals_with_gaps(World& world) {
  connect(world);
  for (const std::int64_t ahead : {1, 2, 5, 63, 64, 100, 127}) {
    deliver_write(world, ahead, wire::MessagePart::middle());
  }
  world.poll_all();
}

void retransmitting(World& world) {
  connect(world);
  send(world, 6);
  world.advance(microseconds(300));
  world.poll(kAllPorts, Endpoint::Ports::kReused, 3);
}

void path_probed(World& world) {
  connect(world);
  send(world, 8);
  deliver_sack(world, 2, 0, {.mark = wire::PathMark::kAlwaysSkip});
  world.advance(microseconds(12));
  world.poll_all();
}

void port_down(World& world) {
  connect(world);
  send(world, 4);
  world.set_port(0, false);
  world.poll_all();
}

void error_refused(World& world) {
  connect(world);
  send(world, 2);
  deliver(world, wire::RdmaWrite{.destination_qp = *world.slot(0).local,
                                 .psn = world.slot(0).how.remote_psn,
                                 .reth = {.rkey = RKey(0xdead00), .dma_length = 1},
                                 .payload = wire::Payload::of_length(1)});
}

void error_retries(World& world) {
  connect(world);
  send(world, 2);
  for (int i = 0; i < 64 && world.queue_pair(0)->state != kError; ++i) {
    world.advance_to_deadline();
    world.poll_all();
  }
}

void window_shrunk(World& world) {
  connect(world, {.mpr = 2, .dynamic_mpr = true});
  send(world, 140);
  deliver_sack(world, 3, 0xff00, {.mpr = 1});
}

void shared_peer(World& world) {
  for (std::size_t slot = 0; slot < kSlots; ++slot) {
    world.raise(slot, {.cc_profile = kNarrowWindow}, kReadyToSend);
    world.post_write(slot, 6 * kMtu, slot == 0);
    world.post_write(slot, kMtu, slot == 1);
  }
  world.poll_all();
}

void congested(World& world) {
  connect(world, {.cc_profile = kNscc});
  send(world, 40);
  deliver_sack(world, 2, 0xf0f0, {.mark = wire::PathMark::kSkipOnce});
}

void all_paths_denied(World& world) {
  connect(world, {.ev_profile = kFewPaths});
  send(world, 2);
  for (std::uint8_t ev = 0; ev < kPlanes; ++ev) {
    world.endpoint().set_ev_denied(world.now(), EvProfileId(kFewPaths), EvIndex(ev), true);
  }
}

void answers_unsent(World& world) {
  connect(world);
  deliver_write(world, 0, wire::MessagePart::only());
  deliver_write(world, -1, wire::MessagePart::only());
  deliver_write(world, 200, wire::MessagePart::only());
  deliver(world, wire::EndpointRequest{});
}

void source_routed(World& world) {
  connect(world, {.ev_profile = kSrv6Paths});
  send(world, 3);
}

constexpr std::array kStates{
    StartingState{"reset", AddressFamily::kIpv6, reset},
    StartingState{"init", AddressFamily::kIpv6, init},
    StartingState{"ready-to-recv", AddressFamily::kIpv6, ready_to_recv},
    StartingState{"idle", AddressFamily::kIpv6, idle},
    StartingState{"one-in-flight", AddressFamily::kIpv6, one_in_flight},
    StartingState{"window-full", AddressFamily::kIpv6, window_full},
    StartingState{"gap-reported", AddressFamily::kIpv6, gap_reported},
    StartingState{"awaiting-acknowledgement", AddressFamily::kIpv6, awaiting_acknowledgement},
    StartingState{"immediates-waiting", AddressFamily::kIpv6, immediates_waiting},
    StartingState{"arrivals-with-gaps", AddressFamily::kIpv6, arrivals_with_gaps},
    StartingState{"retransmitting", AddressFamily::kIpv6, retransmitting},
    StartingState{"path-probed", AddressFamily::kIpv6, path_probed},
    StartingState{"port-down", AddressFamily::kIpv6, port_down},
    StartingState{"error-refused", AddressFamily::kIpv6, error_refused},
    StartingState{"error-retries", AddressFamily::kIpv6, error_retries},
    StartingState{"window-shrunk", AddressFamily::kIpv6, window_shrunk},
    StartingState{"shared-peer", AddressFamily::kIpv6, shared_peer},
    StartingState{"congested", AddressFamily::kIpv6, congested},
    StartingState{"all-paths-denied", AddressFamily::kIpv6, all_paths_denied},
    StartingState{"answers-unsent", AddressFamily::kIpv6, answers_unsent},
    StartingState{"source-routed", AddressFamily::kIpv6, source_routed},
    StartingState{"ipv4", AddressFamily::kIpv4, one_in_flight},
};

}  // namespace

std::span<const StartingState> starting_states() { return kStates; }

std::unique_ptr<World> start(const StartingState& state) {
  auto world = std::make_unique<World>(state.family);
  world->compare_bytes(false);
  state.build(*world);
  world->compare_bytes(true);
  world->check();
  return world;
}

}  // namespace openmrc::fuzz
