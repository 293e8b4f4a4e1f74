// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/messages_world.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "fuzz/fuzz_check.h"

namespace openmrc::fuzz {
namespace {

constexpr std::uint32_t kMtu = 64;
constexpr std::uint64_t kCanary = 0xc5c5c5c5c5c5c5c5;
constexpr int kRoundsMax = 200;

wire::Ipv6Address address(std::uint16_t host) {
  return wire::Ipv6Address::of({0xfd00, 0, 0, 0, 0, 0, 0, host});
}
core::EndpointSettings settings(std::uint16_t host) {
  core::EndpointSettings made{};
  made.addresses = {address(host)};
  made.limits = {.queue_pairs = 64,
                 .memory_regions = 16,
                 .sends_outstanding = 1024,
                 .receives_outstanding = 64,
                 .early_immediates = 256,
                 .packets_in_flight = 4096};
  return made;
}
core::InitAttributes init_of(core::Endpoint& endpoint) {
  return {.domain = endpoint.create_protection_domain(),
          .ev_profile = endpoint.add_ev_profile(
              core::EvProfile::simple({.planes = 1, .evs_per_plane = 2, .seed = 1})),
          .cc_profile = endpoint.add_cc_profile(core::FixedWindowSettings{
              .window = ByteCount(1 << 20), .base_rtt = microseconds(10)})};
}

}  // namespace

MessagesWorld::MessagesWorld()
    : region_(std::make_unique<std::uint64_t[]>(kRegionSize / 8)),
      forbidden_(std::make_unique<std::uint64_t[]>(kRegionSize / 8)),
      host_(settings(1), 1),
      layer_(host_),
      peer_(settings(2), 2),
      init_(init_of(host_)),
      peer_init_(init_of(peer_)) {
  const auto region = [&](std::uint64_t* bytes, bool for_peers) {
    return *host_.register_memory({.domain = init_.domain,
                                   .address = kAddress,
                                   .length = kRegionSize,
                                   .bytes = reinterpret_cast<std::byte*>(bytes),
                                   .remote_write = for_peers,
                                   .remote_read = for_peers,
                                   .remote_atomic = for_peers});
  };
  std::fill_n(forbidden_.get(), kRegionSize / 8, kCanary);
  key_ = region(region_.get(), true);
  forbidden_key_ = region(forbidden_.get(), false);
  const messages::QueueOptions queue{.requests = 16, .segments = 2};
  shared_ = *layer_.create_shared_queue(queue);
  for (std::size_t pair = 0; pair < kPairs; ++pair) {
    messages::QueuePairOptions options{.sends = queue, .receives = queue};
    if (pair == 1) options.shared_queue = shared_;
    qpns_[pair] = *layer_.create_queue_pair(options);
    peer_qpns_[pair] = *peer_.create_queue_pair(&sink_);
    connect(pair);
  }
  settle();
}

void MessagesWorld::connect(std::size_t pair) {
  const core::ReadyToSendAttributes send{
      .first_psn = Psn(7), .mpr = 8, .max_wimm = 64, .exponential_retries = 3};
  const auto recv = [&](Qpn remote, std::uint16_t host) {
    return core::ReadyToRecvAttributes{.remote_qpn = remote,
                                       .remote_psn = Psn(7),
                                       .remote_addresses = {address(host)},
                                       .mtu = kMtu,
                                       .mpr_dest = 8,
                                       .max_wimm_dest = 64};
  };
  const Qpn qpn = qpns_[pair];
  const Qpn remote = peer_qpns_[pair];
  is_there_[pair] = true;
  FUZZ_CHECK(layer_.to_init(qpn, init_, {}));
  FUZZ_CHECK(layer_.to_ready_to_recv(qpn, now_, recv(remote, 2), {}));
  FUZZ_CHECK(layer_.to_ready_to_send(qpn, now_, send, {.depth = 4, .rnr_retry = 2}));
  FUZZ_CHECK(peer_.to_init(remote, peer_init_));
  FUZZ_CHECK(peer_.to_ready_to_recv(remote, now_, recv(qpn, 1)));
  FUZZ_CHECK(peer_.to_ready_to_send(remote, now_, send));
}

// ---- the peer ----

void MessagesWorld::peer_writes(std::size_t pair, core::WriteRequest request,
                                std::vector<std::byte> bytes) {
  sent_.push_back(std::move(bytes));
  request.data = wire::Payload::of_bytes(sent_.back());
  (void)peer_.post_write(peer_qpns_[pair], now_, request);
}

core::MessageHandler* MessagesWorld::handler(std::size_t pair) {
  const core::QueuePair* qp = is_there_[pair] ? host_.queue_pair(qpns_[pair]) : nullptr;
  const bool takes = qp != nullptr && qp->state == core::QueuePairState::kReadyToSend;
  return takes ? qp->connection.messages : nullptr;
}

void MessagesWorld::part(std::size_t pair, const core::MessageHandler::Part& part) {
  if (core::MessageHandler* to = handler(pair)) (void)to->on_part(part);
}

void MessagesWorld::delivery(std::size_t pair, const core::MessageHandler::Delivery& delivery) {
  core::MessageHandler* to = handler(pair);
  if (to == nullptr) return;
  FUZZ_CHECK(to->on_delivery(delivery) != core::MessageHandler::Verdict::kNotNow);
}

// ---- the application ----

std::array<messages::Segment, 2> MessagesWorld::remember(std::size_t pair, std::uint32_t length,
                                                         std::uint32_t first, bool is_receive) {
  first = std::min(first, length);
  Posted& made = posted_[next_id_];
  made = {.memory = {std::make_unique<std::byte[]>(first),
                     std::make_unique<std::byte[]>(length - first)},
          .length = length,
          .pair = pair,
          .is_receive = is_receive};
  return {messages::Segment{made.memory[0].get(), first},
          messages::Segment{made.memory[1].get(), length - first}};
}

void MessagesWorld::post_send(std::size_t pair, const Request& request) {
  if (!is_there_[pair]) return;
  const auto segments = remember(pair, request.length, request.first_piece, false);
  const bool posted = layer_
                          .post_send(qpns_[pair], {.id = next_id_,
                                                   .opcode = request.opcode,
                                                   .segments = segments,
                                                   .remote_address = request.remote_address,
                                                   .rkey = key_,
                                                   .fenced = (request.flags & 1) != 0,
                                                   .solicited = (request.flags & 2) != 0,
                                                   .copied = (request.flags & 4) != 0,
                                                   .keys_ok = (request.flags & 0xf8) != 0xf8})
                          .has_value();
  if (!posted) posted_.erase(next_id_);
  ++next_id_;
}

void MessagesWorld::post_receive(std::size_t pair, std::uint32_t length, bool keys_ok) {
  if (pair == 0 && !is_there_[0]) return;
  const auto segments = remember(pair, length, length / 3, true);
  const messages::ReceiveRequest request{.id = next_id_, .segments = segments, .keys_ok = keys_ok};
  const bool posted = (pair == 0 ? layer_.post_receive(qpns_[0], request)
                                 : layer_.post_shared_receive(shared_, request))
                          .has_value();
  if (!posted) posted_.erase(next_id_);
  ++next_id_;
}

void MessagesWorld::fail(std::size_t pair) {
  if (is_there_[pair]) FUZZ_CHECK(layer_.to_error(qpns_[pair], now_));
}

void MessagesWorld::destroy(std::size_t pair) {
  if (!is_there_[pair]) return;
  drain();
  FUZZ_CHECK(layer_.destroy_queue_pair(qpns_[pair]));
  is_there_[pair] = false;
  // Of shared receives nobody can say which it had taken.
  std::erase_if(posted_, [&](const auto& one) {
    return one.second.pair == pair && !(pair == 1 && one.second.is_receive);
  });
}

void MessagesWorld::deregister() {
  if (region_ == nullptr) return;
  FUZZ_CHECK(layer_.deregister_memory(key_));
  layer_.fail_readers(now_, key_);
  region_.reset();
}

// ---- time ----

void MessagesWorld::advance(Duration span) {
  now_ = now_ + span;
  host_.handle_timeout(now_);
  peer_.handle_timeout(now_);
  drain();
}

void MessagesWorld::drain() {
  while (const auto done = host_.poll_completion()) (void)layer_.handle_completion(*done);
  while (const auto event = host_.poll_event()) (void)layer_.handle_event(*event);
  layer_.progress(now_);
  while (const auto done = layer_.poll_completion()) {
    const auto at = posted_.find(done->id);
    FUZZ_CHECK(at != posted_.end());  // each once
    const bool is_sent = done->kind == messages::CompletionKind::kSent;
    FUZZ_CHECK(at->second.is_receive != is_sent);
    const bool has_bytes = done->kind == messages::CompletionKind::kReceived &&
                           done->status == messages::Status::kSuccess;
    FUZZ_CHECK(!has_bytes || done->length <= at->second.length);
    posted_.erase(at);  // nobody may come back to its memory
  }
  while (layer_.poll_event()) {
  }
}

bool MessagesWorld::exchange() {
  std::array<core::Transmit, 16> out;
  bool any = false;
  const auto carry = [&](core::Endpoint& from, core::Endpoint& to) {
    while (const std::size_t count = from.poll_transmit(now_, core::PlaneMask::all(),
                                                        core::Endpoint::Ports::kReused, out)) {
      any = true;
      for (std::size_t i = 0; i < count; ++i) {
        to.handle_packet(now_, out[i].plane, out[i].packet);
      }
    }
  };
  carry(host_, peer_);
  carry(peer_, host_);
  while (peer_.poll_completion()) {
  }
  while (peer_.poll_event()) {
  }
  return any;
}

void MessagesWorld::settle() {
  for (int rounds = 0; rounds < kRoundsMax; ++rounds) {
    drain();
    if (!exchange()) return;
  }
}

void MessagesWorld::check() {
  drain();
  FUZZ_CHECK(std::all_of(forbidden_.get(), forbidden_.get() + kRegionSize / 8,
                         [](std::uint64_t word) { return word == kCanary; }));
}

void MessagesWorld::finish() {
  for (std::size_t pair = 0; pair < kPairs; ++pair) {
    fail(pair);
    drain();
  }
  check();
  // What is left are shared receives that nobody took, or that went with their queue pair.
  FUZZ_CHECK(std::all_of(posted_.begin(), posted_.end(), [](const auto& one) {
    return one.second.pair == 1 && one.second.is_receive;
  }));
}

}  // namespace openmrc::fuzz
