// SPDX-License-Identifier: BSD-3-Clause
#include "tests/world/message_world.h"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>
#include <set>
#include <utility>

#include "openmrc/base/result.h"
#include "openmrc/wire/decode.h"
#include "tests/world/hosts.h"
#include "tests/world/shrink.h"
#include "tests/world/timeline.h"

namespace openmrc::test {
namespace {

constexpr std::size_t kHeldMax = 256;
constexpr std::size_t kSegments = 4;
constexpr std::uint64_t kPacketsPerStepMax = 100'000;
constexpr unsigned kRoundsMax = 200;  // of work that a host has at one moment
constexpr std::array kSides{Side::kA, Side::kB};

// Otherwise nobody would know when it ends.
MessageWorldOptions with_last_signaled(MessageWorldOptions options) {
  std::set<std::pair<Side, std::size_t>> seen;
  for (PlannedRequest& request : std::views::reverse(options.requests)) {
    if (seen.emplace(request.side, request.queue_pair).second) request.signaled = true;
  }
  return options;
}

bool is_by_host(FaultKind kind) { return kind >= FaultKind::kPortDown && !is_by_chance(kind); }

}  // namespace

MessageWorld::MessageWorld(const MessageWorldOptions& options)
    : options_(with_last_signaled(options)),
      rng_(Rng(options.network.seed).fork(0)),
      network_(options_.network),
      judge_(options_),
      burst_(8) {
  for (auto& psns : psns_) {
    for (std::size_t i = 0; i < options_.network.queue_pairs; ++i) {
      const auto random = static_cast<std::uint32_t>(rng_.below(40));
      psns.push_back(Psn(options_.network.starts_near_wrap ? 0xffffff - random : random));
    }
  }
  plan_actions();
  for (const Side side : kSides) start_host(side);
  for (const Side side : kSides) {
    for (std::size_t i = 0; i < options_.network.queue_pairs; ++i) connect(side, i);
  }
}

void MessageWorld::plan_actions() {
  for (const Fault& fault : options_.network.faults) {
    if (!is_by_host(fault.kind)) continue;
    insert_by_time(actions_, Action{.at = fault.from, .fault = &fault, .begins = true});
    insert_by_time(actions_, Action{.at = fault.to, .fault = &fault, .begins = false});
  }
  for (const PlannedEnd& end : options_.ends) {
    insert_by_time(actions_, Action{.at = end.at, .end = &end});
  }
  for (const Side side : kSides) {
    insert_by_time(actions_, Action{.at = options_.hosts[index_of(side)].ready_to_send_after,
                                    .ready_to_send = side});
  }
}

void MessageWorld::start_host(Side side) {
  Host& h = host(side);
  const WorldOptions& network = options_.network;
  const MessageHostOptions& options = options_.hosts[index_of(side)];
  core::EndpointLimits limits = small_limits();
  if (options.is_small) limits.sends_outstanding = 1;
  h.endpoint = std::make_unique<core::Endpoint>(
      core::EndpointSettings{.addresses = addresses_of(network, side),
                             .sack = network.sack,
                             .ev_burst = network.ev_burst,
                             .reorder_floor = network.reorder_floor,
                             .limits = limits},
      rng_.next());
  h.layer = std::make_unique<messages::Layer>(*h.endpoint);
  h.ev_profile = h.endpoint->add_ev_profile(profile_of(network));
  h.cc_profile = h.endpoint->add_cc_profile(network.congestion);
  h.domain = h.endpoint->create_protection_domain();
  const auto register_it = [&](core::ProtectionDomain domain, MutableBytes bytes, bool for_peers) {
    return *h.endpoint->register_memory({.domain = domain,
                                         .address = kRemoteBase,
                                         .length = bytes.size(),
                                         .bytes = bytes.data(),
                                         .remote_write = for_peers,
                                         .remote_read = for_peers,
                                         .remote_atomic = for_peers});
  };
  MessageJudge::Memory& memory = judge_.memory(side);
  h.key = register_it(h.domain, memory.remote.region(), true);
  h.of_other_domain =
      register_it(h.endpoint->create_protection_domain(), memory.forbidden.region(), true);
  h.not_for_peers = register_it(h.domain, memory.forbidden.region(), false);

  h.to_post.resize(network.queue_pairs);
  for (std::size_t i = options_.requests.size(); i > 0; --i) {
    const PlannedRequest& plan = options_.requests[i - 1];
    if (plan.side == side) h.to_post[plan.queue_pair].push_back(i - 1);
  }
  std::size_t receives = 1;
  for (std::size_t i = options_.receives.size(); i > 0; --i) {
    if (options_.receives[i - 1].side == side) h.to_receive.push_back(i - 1);
  }
  receives += h.to_receive.size();
  const messages::QueueOptions receiving{.requests = receives, .segments = kSegments};
  messages::QueuePairOptions pair{.sends = {.requests = options.sends, .segments = kSegments},
                                  .receives = receiving};
  if (options.shares_receives) {
    h.shared = *h.layer->create_shared_queue(receiving);
    pair.shared_queue = h.shared;
  }
  for (std::size_t i = 0; i < network.queue_pairs; ++i) {
    h.qpns.push_back(*h.layer->create_queue_pair(pair));
  }
}

void MessageWorld::connect(Side side, std::size_t queue_pair) {
  Host& h = host(side);
  const Qpn qpn = h.qpns[queue_pair];
  core::ReadyToRecvAttributes recv = options_.network.recv;
  recv.remote_qpn = host(other(side)).qpns[queue_pair];
  recv.remote_psn = psns_[index_of(other(side))][queue_pair];
  recv.remote_addresses = addresses_of(options_.network, other(side));
  if (options_.network.srv6) recv.path_overlay = path_overlay();
  recv.places_in_order = (queue_pair + index_of(side)) % 2 == 0;
  messages::ResponderAttributes responder = options_.hosts[index_of(side)].responder;
  responder.answers = options_.network.send;
  const bool done =
      h.layer->to_init(
          qpn, {.domain = h.domain, .ev_profile = h.ev_profile, .cc_profile = h.cc_profile}, {}) &&
      h.layer->to_ready_to_recv(qpn, now_, recv, responder);
  OPENMRC_CHECK(done, "a world's connection can be made");
}

void MessageWorld::to_ready_to_send(Side side) {
  Host& h = host(side);
  h.ready_to_send = true;
  for (std::size_t i = 0; i < h.qpns.size(); ++i) {
    core::ReadyToSendAttributes send = options_.network.send;
    send.first_psn = psns_[index_of(side)][i];
    // Those that have ended meanwhile stay as they are.
    (void)h.layer->to_ready_to_send(h.qpns[i], now_, send,
                                    options_.hosts[index_of(side)].requester);
  }
}

// ---- time ----

Instant MessageWorld::next_event() {
  Instant next = network_.next_arrival().value_or(core::kNever);
  if (next_action_ < actions_.size()) next = std::min(next, Instant{} + actions_[next_action_].at);
  for (const Side side : kSides) {
    const Host& h = host(side);
    const auto consider = [&](Duration at) {
      if (Instant{} + at > now_) next = std::min(next, Instant{} + at);
    };
    if (!h.to_receive.empty()) consider(options_.receives[h.to_receive.back()].at);
    for (const auto& left : h.to_post) {
      if (!left.empty()) consider(options_.requests[left.back()].at);
    }
    if (h.paused) continue;
    next = std::min(next, h.endpoint->next_deadline().value_or(core::kNever));
    next = std::min(next, h.layer->next_deadline().value_or(core::kNever));
    if (h.endpoint->wants_to_send()) next = std::min(next, network_.next_free_port(now_, side));
    if (!h.held.empty()) next = std::min(next, now_);
  }
  return next;
}

void MessageWorld::step(Instant next) {
  now_ = std::max(now_, next);
  while (next_action_ < actions_.size() && Instant{} + actions_[next_action_].at <= now_) {
    act(actions_[next_action_++]);
  }
  for (const Side side : kSides) pump(side);
  while (auto delivery = network_.take_arrival(now_)) {
    Host& h = host(delivery->to);
    if (!h.paused && h.held.empty()) {
      receive(delivery->to, *delivery);
      network_.recycle(std::move(*delivery));
    } else if (h.held.size() < kHeldMax) {
      h.held.push_back(std::move(*delivery));
    }
  }
  for (const Side side : kSides) flush(side);
}

void MessageWorld::receive(Side side, const Delivery& delivery) {
  static const wire::WireSettings kSettings{};
  if (!wire::decode_ip_into(delivery.bytes, kSettings, decoded_)) return;  // corrupted
  host(side).endpoint->handle_packet(now_, delivery.plane, decoded_);
}

// Lets a host do all that it can do now.
void MessageWorld::flush(Side side) {
  Host& h = host(side);
  if (h.paused) return;
  for (Delivery& delivery : h.held) receive(side, delivery);
  h.held.clear();
  // What the layer posts may be due at once; but not for ever.
  for (unsigned rounds = 0; judge_.verdict().ok(); ++rounds) {
    h.endpoint->handle_timeout(now_);
    const bool came = drain(side);
    pump(side);
    const bool sent = transmit(side);
    const Instant due = std::min(h.endpoint->next_deadline().value_or(core::kNever),
                                 h.layer->next_deadline().value_or(core::kNever));
    if (!came && !sent && due > now_) return;
    if (rounds == kRoundsMax) judge_.verdict().violation("a host that does not come to rest");
  }
}

std::optional<std::size_t> MessageWorld::queue_pair_of(Side side, Qpn qpn) {
  const auto& qpns = host(side).qpns;
  const auto at = static_cast<std::size_t>(std::ranges::find(qpns, qpn) - qpns.begin());
  return at < qpns.size() ? std::optional(at) : std::nullopt;
}

bool MessageWorld::drain(Side side) {
  Host& h = host(side);
  while (const auto done = h.endpoint->poll_completion()) (void)h.layer->handle_completion(*done);
  while (const auto event = h.endpoint->poll_event()) (void)h.layer->handle_event(*event);
  h.layer->progress(now_);
  bool any = false;
  while (const auto done = h.layer->poll_completion()) {
    any = true;
    last_progress_ = now_;
    if (const auto qp = queue_pair_of(side, done->qpn)) judge_.on_completion(side, *qp, *done);
  }
  while (const auto event = h.layer->poll_event()) {
    if (event->kind != messages::EventKind::kFailed) continue;
    any = true;
    if (const auto qp = queue_pair_of(side, event->qpn)) judge_.on_end(side, *qp, false);
  }
  return any;
}

bool MessageWorld::transmit(Side side) {
  Host& h = host(side);
  const auto ports =
      network_.limits_rate() ? core::Endpoint::Ports::kTakenOnce : core::Endpoint::Ports::kReused;
  std::uint64_t sent = 0;
  while (const std::size_t count =
             h.endpoint->poll_transmit(now_, network_.free_ports(now_, side), ports, burst_)) {
    for (std::size_t i = 0; i < count; ++i) {
      const auto ev = h.endpoint->ev_profile(h.ev_profile).find(wire::ev_of(burst_[i].packet));
      network_.send(now_, side, burst_[i], ev);
    }
    sent += count;
    if (sent > kPacketsPerStepMax) {
      judge_.verdict().violation("it sends without end");
      break;
    }
  }
  packets_ += sent;
  return sent > 0;
}

bool MessageWorld::all_done() {
  if (next_action_ < actions_.size()) return false;
  for (const Host& h : hosts_) {
    if (!h.to_receive.empty()) return false;
    if (std::ranges::any_of(h.to_post, [](const auto& left) { return !left.empty(); })) {
      return false;
    }
  }
  return judge_.all_done();
}

// How long nothing may come of it: all retries of the core, and questions whether the peer lives.
Duration MessageWorld::patience() const {
  const core::ReadyToSendAttributes& send = options_.network.send;
  const std::int64_t unit = std::int64_t{1024} << send.timeout;
  const std::int64_t intervals =
      send.linear_retries + (std::int64_t{2} << send.exponential_retries);
  return Duration(unit * intervals * 2) + milliseconds(400);
}

WorldResult MessageWorld::run() {
  step(now_);
  while (judge_.verdict().ok() && !all_done()) {
    const Instant next = next_event();
    if (next == core::kNever) {
      judge_.verdict().violation("work is left, and nothing more will happen");
      break;
    }
    if (next > last_progress_ + patience() && next_action_ == actions_.size()) {
      judge_.verdict().violation("work is left, and neither done nor failed in time");
      break;
    }
    step(next);
  }
  judge_.finish();
  WorldResult result{.violation = judge_.verdict().text(),
                     .when = now_ - Instant{},
                     .digest = network_.digest(),
                     .packets = packets_,
                     .writes_succeeded = judge_.succeeded(),
                     .writes_failed = judge_.failed()};
  for (const Side side : kSides) {
    result.counters[index_of(side)] = host(side).endpoint->counters();
  }
  return result;
}

WorldResult run_world(const MessageWorldOptions& options) { return MessageWorld(options).run(); }

MessageWorldOptions shrink(MessageWorldOptions options) {
  using Options = MessageWorldOptions;
  while (drop_elements(options, [](Options& o) -> auto& { return o.network.faults; }) ||
         drop_elements(options, [](Options& o) -> auto& { return o.ends; }) ||
         drop_elements(options, [](Options& o) -> auto& { return o.requests; })) {
  }
  return options;
}

}  // namespace openmrc::test
