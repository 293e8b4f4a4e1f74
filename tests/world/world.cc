// SPDX-License-Identifier: BSD-3-Clause
#include "tests/world/world.h"

#include <fmt/format.h>

#include <algorithm>

#include "openmrc/base/result.h"
#include "openmrc/wire/decode.h"
#include "tests/world/hosts.h"
#include "tests/world/shrink.h"
#include "tests/world/timeline.h"

namespace openmrc::test {
namespace {

constexpr std::uint64_t kRemoteBase = 0x7f00'0000'1000;  // what peers call the first byte
constexpr std::size_t kSourceSize = 1 << 16;
constexpr std::size_t kForbiddenSize = 4096;  // of memory that peers may not write to
constexpr std::size_t kHeldMax = 256;         // what a paused host's NIC keeps

// What one step may send: several times the largest window of all queue pairs. More is a loop.
constexpr std::uint64_t kPacketsPerStepMax = 100'000;

const char* name_of(Side side) { return side == Side::kA ? "A" : "B"; }

bool is_attacked(const WorldOptions& options) {
  return std::ranges::any_of(options.faults,
                             [](const Fault& fault) { return fault.kind == FaultKind::kOnPath; });
}

}  // namespace

World::World(const WorldOptions& options)
    : options_(options),
      rules_(is_attacked(options) ? Rules::kUnderAttack : Rules::kAll),
      rng_(Rng(options.seed).fork(0)),
      network_(options_),
      forger_(options_),
      burst_(8) {
  std::size_t longest = kSourceSize;
  for (const PlannedWrite& write : options_.writes) {
    longest = std::max<std::size_t>(longest, write.length);
  }
  source_.resize(longest + kSourceSize);
  std::uint64_t state = rng_.next();
  for (std::byte& byte : source_) {
    const auto value = static_cast<std::byte>(split_mix(state));
    byte = value == MemoryChecker::kUntouched ? std::byte{0} : value;
  }
  plan_writes();
  plan_actions();
  start_host(Side::kA);
  start_host(Side::kB);
  for (std::size_t i = 0; i < options_.queue_pairs; ++i) connect(i);
  for (Host& h : hosts_) h.ports = core::PlaneMask::first(options_.planes);
}

World::~World() = default;

void World::plan_writes() {
  std::array<std::size_t, 2> sizes{};
  for (const PlannedWrite& plan : options_.writes) sizes[index_of(other(plan.side))] += plan.length;
  for (const Side side : {Side::kA, Side::kB}) {
    host(side).memory =
        std::make_unique<MemoryChecker>(fmt::format("memory of {}", name_of(side)),
                                        std::max<std::size_t>(1, sizes[index_of(side)]));
    const auto forbidden = [&](const char* what) {
      auto memory = std::make_unique<MemoryChecker>(fmt::format("{} of {}", what, name_of(side)),
                                                    kForbiddenSize);
      memory->add_slice(ConstBytes(source_).first(kForbiddenSize));  // which nobody will post
      return memory;
    };
    host(side).foreign = forbidden("another domain");
    host(side).local = forbidden("local memory");
  }
  std::uint32_t immediate = 0;
  for (const PlannedWrite& plan : options_.writes) {
    const std::size_t from = rng_.below(kSourceSize);
    const std::size_t slice =
        host(other(plan.side)).memory->add_slice({source_.data() + from, plan.length});
    writes_.push_back({.plan = &plan, .slice = slice, .immediate = wire::Immediate(++immediate)});
  }
}

void World::plan_actions() {
  for (const Fault& fault : options_.faults) {
    if (fault.kind < FaultKind::kPortDown || is_by_chance(fault.kind)) continue;
    insert_by_time(actions_, Action{.at = fault.from, .fault = &fault, .begins = true});
    if (fault.kind != FaultKind::kRestart) {
      insert_by_time(actions_, Action{.at = fault.to, .fault = &fault, .begins = false});
    }
  }
}

void World::start_host(Side side) {
  Host& h = host(side);
  h.endpoint = std::make_unique<core::Endpoint>(
      core::EndpointSettings{.addresses = addresses_of(options_, side),
                             .sack = options_.sack,
                             .ev_burst = options_.ev_burst,
                             .reorder_floor = options_.reorder_floor,
                             .limits = small_limits()},
      rng_.next());
  h.ev_profile = h.endpoint->add_ev_profile(profile_of(options_));
  h.cc_profile = h.endpoint->add_cc_profile(options_.congestion);
  h.domain = h.endpoint->create_protection_domain();
  const MutableBytes region = h.memory->region();
  h.rkey = *h.endpoint->register_memory({.domain = h.domain,
                                         .address = kRemoteBase,
                                         .length = region.size(),
                                         .bytes = region.data()});
  // Their keys are near the one that peers know, and so are their addresses.
  (void)h.endpoint->register_memory({.domain = h.endpoint->create_protection_domain(),
                                     .address = kRemoteBase,
                                     .length = h.foreign->region().size(),
                                     .bytes = h.foreign->region().data()});
  (void)h.endpoint->register_memory({.domain = h.domain,
                                     .address = kRemoteBase,
                                     .length = h.local->region().size(),
                                     .bytes = h.local->region().data(),
                                     .remote_write = false});
  h.sending = sending_checker(side);
  h.qpns.assign(options_.queue_pairs, Qpn{});
  h.held.clear();
  ++h.incarnation;
}

std::unique_ptr<SendingChecker> World::sending_checker(Side side) const {
  return std::make_unique<SendingChecker>(fmt::format("host {}", name_of(side)), options_, rules_);
}

// The applications agree on a connection out of band, as they would over TCP.
void World::connect(std::size_t queue_pair) {
  std::array<Psn, 2> first;
  for (Psn& psn : first) {
    // Far from those of the connection before, which may still be in flight.
    last_psn_ += 0x200000 + static_cast<std::uint32_t>(rng_.below(0x1000));
    psn = options_.starts_near_wrap ? Psn(0xffffff - static_cast<std::uint32_t>(rng_.below(40)))
                                    : Psn(last_psn_);
    if (host(Side::kA).incarnation + host(Side::kB).incarnation > 2) psn = Psn(last_psn_);
  }
  for (const Side side : {Side::kA, Side::kB}) {
    Host& h = host(side);
    h.qpns[queue_pair] = *h.endpoint->create_queue_pair();
  }
  connect_side(Side::kA, queue_pair, first[0], first[1]);
  connect_side(Side::kB, queue_pair, first[1], first[0]);
  for (const Side side : {Side::kA, Side::kB}) post_receives(side, queue_pair);
}

void World::connect_side(Side side, std::size_t queue_pair, Psn own_psn, Psn remote_psn) {
  Host& h = host(side);
  const Qpn qpn = h.qpns[queue_pair];
  const auto worked = [](const Result<void, core::ModifyError>& result) {
    OPENMRC_CHECK(result.has_value(), "a world's connection can be made");
  };
  worked(h.endpoint->to_init(
      qpn, {.domain = h.domain, .ev_profile = h.ev_profile, .cc_profile = h.cc_profile}));
  core::ReadyToRecvAttributes recv = options_.recv;
  recv.remote_qpn = host(other(side)).qpns[queue_pair];
  recv.remote_psn = remote_psn;
  recv.remote_addresses = addresses_of(options_, other(side));
  if (options_.srv6) recv.path_overlay = path_overlay();
  worked(h.endpoint->to_ready_to_recv(qpn, now_, recv));
  core::ReadyToSendAttributes send = options_.send;
  send.first_psn = own_psn;
  worked(h.endpoint->to_ready_to_send(qpn, now_, send));
  h.sending->on_connected(qpn, own_psn);
  if (h.streams.size() <= queue_pair) {
    h.streams.emplace_back(fmt::format("{} queue pair {}", name_of(side), queue_pair),
                           *host(other(side)).memory, rules_);
  }
}

// One for every immediate that the other side may send.
void World::post_receives(Side side, std::size_t queue_pair) {
  Host& h = host(side);
  for (const Write& write : writes_) {
    if (!write.plan->immediate) continue;
    const auto posted = h.endpoint->post_receive(h.qpns[queue_pair], 1);
    OPENMRC_CHECK(posted.has_value(), "there is room for receives");
    host(other(side)).streams[queue_pair].receive_posted();
  }
}

// The process of `side` died and came back; its packets are still in flight. The other side's
// application gives up the old connections, and both make new ones.
void World::restart(Side side) {
  for (Host& h : hosts_) {
    for (StreamChecker& stream : h.streams) stream.abandoned();
  }
  Host& survivor = host(other(side));
  for (const Qpn qpn : survivor.qpns) survivor.endpoint->destroy_queue_pair(qpn);
  // With its last connection, what it knew of the paths to the other is gone.
  survivor.sending = sending_checker(other(side));
  survivor.sending->on_local_ports(survivor.ports);
  start_host(side);
  set_ports(side);
  for (std::size_t i = 0; i < options_.queue_pairs; ++i) connect(i);
}

// A port is up unless a fault says otherwise.
void World::set_ports(Side side) {
  Host& h = host(side);
  h.ports = core::PlaneMask::first(options_.planes);
  for (const Fault& fault : options_.faults) {
    const bool active = now_ >= Instant{} + fault.from && now_ < Instant{} + fault.to;
    const bool is_down = fault.kind == FaultKind::kPortDown || fault.kind == FaultKind::kUnwelcome;
    if (is_down && fault.side == side && active) {
      h.ports.remove(*fault.plane);
    }
  }
  for (std::size_t p = 0; p < options_.planes; ++p) {
    const Plane plane(static_cast<std::uint8_t>(p));
    h.endpoint->set_port(now_, plane, h.ports.has(plane));
  }
  h.sending->on_local_ports(h.ports);
}

void World::act(const Action& action) {
  const Fault& fault = *action.fault;
  const Side side = fault.side.value_or(Side::kA);
  Host& h = host(side);
  switch (fault.kind) {
    case FaultKind::kPortDown:
    case FaultKind::kUnwelcome: return set_ports(side);
    case FaultKind::kPause: h.paused = action.begins; return;
    case FaultKind::kRestart: return restart(side);
    case FaultKind::kDeny:
      return h.endpoint->set_ev_denied(now_, h.ev_profile, *fault.ev, action.begins);
    case FaultKind::kShrinkMpr:
      for (const Qpn qpn : h.qpns) {
        h.endpoint->offer_mpr(
            qpn, action.begins ? static_cast<std::uint8_t>(fault.amount) : options_.recv.mpr_dest);
      }
      return;
    case FaultKind::kPenalty:
      for (const Qpn qpn : h.qpns) {
        h.endpoint->set_receiver_penalty(
            qpn, action.begins ? static_cast<std::uint8_t>(fault.amount) : std::uint8_t{0},
            !action.begins);
      }
      return;
    default: return;
  }
}

void World::post(const Write& write) {
  const PlannedWrite& plan = *write.plan;
  Host& h = host(plan.side);
  MemoryChecker& target = *host(other(plan.side)).memory;
  const auto& slice = target.slice(write.slice);
  const auto id = static_cast<core::WorkId>(&write - writes_.data());
  const std::optional<wire::Immediate> immediate =
      plan.immediate ? std::optional(write.immediate) : std::nullopt;
  const auto posted = h.endpoint->post_write(h.qpns[plan.queue_pair], now_,
                                             {.id = id,
                                              .data = wire::Payload::of_bytes(slice.source),
                                              .remote_address = kRemoteBase + slice.offset,
                                              .rkey = host(other(plan.side)).rkey,
                                              .immediate = immediate});
  if (posted == failure(core::PostError::kState)) return;  // the connection has failed before
  OPENMRC_CHECK(posted.has_value(), "a world's writes can be posted");
  target.posted(write.slice);
  h.streams[plan.queue_pair].posted(
      {.id = id, .slice = write.slice, .length = plan.length, .immediate = immediate});
  last_progress_ = now_;
}

Instant World::next_event() {
  Instant next = network_.next_arrival().value_or(core::kNever);
  if (next_write_ < writes_.size()) {
    next = std::min(next, Instant{} + writes_[next_write_].plan->at);
  }
  if (next_action_ < actions_.size()) next = std::min(next, Instant{} + actions_[next_action_].at);
  for (const Side side : {Side::kA, Side::kB}) {
    const Host& h = host(side);
    if (h.paused) continue;
    next = std::min(next, h.endpoint->next_deadline().value_or(core::kNever));
    if (h.endpoint->wants_to_send()) next = std::min(next, network_.next_free_port(now_, side));
    if (!h.held.empty()) next = std::min(next, now_);
  }
  return next;
}

void World::step(Instant next) {
  now_ = std::max(now_, next);
  while (next_action_ < actions_.size() && Instant{} + actions_[next_action_].at <= now_) {
    act(actions_[next_action_++]);
  }
  while (next_write_ < writes_.size() && Instant{} + writes_[next_write_].plan->at <= now_) {
    post(writes_[next_write_++]);
  }
  while (auto delivery = network_.take_arrival(now_)) arrive(std::move(*delivery));
  for (const Side side : {Side::kA, Side::kB}) flush(side);
  std::uint64_t placed = 0;
  for (const Host& h : hosts_) placed += h.endpoint->counters().of(core::Count::kDataReceived);
  if (placed != placed_) last_progress_ = now_;
  placed_ = placed;
}

void World::arrive(Delivery&& delivery) {
  Host& h = host(delivery.to);
  if (!h.paused && h.held.empty()) {
    receive(delivery.to, delivery);
    network_.recycle(std::move(delivery));
  } else if (h.held.size() < kHeldMax) {
    h.held.push_back(std::move(delivery));
  }
}

void World::receive(Side side, const Delivery& delivery) {
  static const wire::WireSettings kSettings{};
  if (!wire::decode_ip_into(delivery.bytes, kSettings, decoded_)) return;  // corrupted
  Host& h = host(side);
  const wire::Body& body = decoded_.transport.body;
  if (delivery.forged) {
    // It is no feedback.
  } else if (const auto* sack = std::get_if<wire::Sack>(&body)) {
    h.sending->on_feedback(sack->destination_qp, decoded_);
  } else if (const auto* ack = std::get_if<wire::Acknowledge>(&body)) {
    h.sending->on_feedback(ack->destination_qp, decoded_);
  }
  h.endpoint->handle_packet(now_, delivery.plane, decoded_);
}

// Lets a host do all that it can do now.
void World::flush(Side side) {
  Host& h = host(side);
  if (h.paused) return;
  for (Delivery& delivery : h.held) receive(side, delivery);
  h.held.clear();
  h.endpoint->handle_timeout(now_);
  check_bounds(side);
  while (const auto event = h.endpoint->poll_event()) h.sending->on_event(*event);
  transmit(side);
  while (const auto completion = h.endpoint->poll_completion()) complete(side, *completion);
  const auto deadline = h.endpoint->next_deadline();
  if (deadline && *deadline <= now_) {
    verdict_.violation(fmt::format("host {}: a deadline that has passed", name_of(side)));
  }
}

void World::transmit(Side side) {
  Host& h = host(side);
  const auto ports =
      network_.limits_rate() ? core::Endpoint::Ports::kTakenOnce : core::Endpoint::Ports::kReused;
  for (std::uint64_t sent = 0; verdict_.ok();) {
    const std::size_t count =
        h.endpoint->poll_transmit(now_, network_.free_ports(now_, side), ports, burst_);
    for (std::size_t i = 0; i < count; ++i) {
      const core::Transmit& packet = burst_[i];
      if (observer_ != nullptr) observer_(observer_context_, now_, side, packet);
      ++packets_;
      const auto& profile = h.endpoint->ev_profile(h.ev_profile);
      const auto ev = profile.find(wire::ev_of(packet.packet));
      network_.send(now_, side, packet, ev);
      if (const auto forged = forger_.forge(now_, side, packet)) {
        network_.send(now_, side, *forged, ev, true);
      }
      const auto local_of = [&](Qpn remote) {
        const auto& remotes = host(other(side)).qpns;
        const auto at = std::find(remotes.begin(), remotes.end(), remote) - remotes.begin();
        return h.qpns[static_cast<std::size_t>(at)];
      };
      if (const auto* write = std::get_if<wire::RdmaWrite>(&packet.packet.transport.body)) {
        const Qpn local = local_of(write->destination_qp);
        h.sending->on_write(now_, *h.endpoint, local, packet, *write, verdict_);
      }
    }
    if (count == 0) return;
    sent += count;
    if (sent > kPacketsPerStepMax) {
      verdict_.violation(fmt::format("host {}: sends without end", name_of(side)));
    }
  }
}

void World::complete(Side side, const core::Completion& completion) {
  Host& h = host(side);
  const auto at = std::find(h.qpns.begin(), h.qpns.end(), completion.qpn) - h.qpns.begin();
  const auto queue_pair = static_cast<std::size_t>(at);
  if (queue_pair >= h.qpns.size()) return;  // of a connection that was given up
  last_progress_ = now_;
  if (completion.kind == core::WorkKind::kWrite) {
    if (completion.status != core::WorkStatus::kSuccess && !failure_is_excused()) {
      verdict_.violation(fmt::format("{} queue pair {}: work {} failed without need: {}",
                                     name_of(side), queue_pair, completion.id,
                                     core::name(completion.status)));
    }
    h.streams[queue_pair].on_write_completion(completion, verdict_);
  } else {
    host(other(side)).streams[queue_pair].on_receive_completion(completion, verdict_);
  }
}

// How long retries may go on: all intervals together, and then some.
Duration World::patience() const {
  const std::int64_t unit = std::int64_t{1024} << options_.send.timeout;
  const std::int64_t intervals =
      options_.send.linear_retries + (std::int64_t{2} << options_.send.exponential_retries);
  return Duration(unit * intervals * 2) + milliseconds(20);
}

// What somebody else may make a host keep.
void World::check_bounds(Side side) {
  const Host& h = host(side);
  constexpr std::size_t kEndpointsPerHost = 64;  // that can be told apart by RequestIds
  const core::Peer* peer = h.endpoint->peer_of(h.qpns[0]);
  if (peer != nullptr && peer->remote_statuses.size() > kEndpointsPerHost) {
    verdict_.violation(fmt::format("host {}: keeps {} port statuses of one peer", name_of(side),
                                   peer->remote_statuses.size()));
  }
}

bool World::failure_is_excused() const {
  return rules_ == Rules::kUnderAttack || excuses_failure(options_);
}

bool World::all_done() const {
  if (next_write_ < writes_.size() || next_action_ < actions_.size()) return false;
  return std::all_of(hosts_.begin(), hosts_.end(), [](const Host& h) {
    return std::all_of(h.streams.begin(), h.streams.end(),
                       [](const StreamChecker& stream) { return stream.all_done(); });
  });
}

void World::run_until(Instant until) {
  while (verdict_.ok()) {
    const Instant next = next_event();
    if (next > until) break;
    step(next);
  }
  now_ = std::max(now_, until);
}

WorldResult World::run() {
  step(now_);
  while (verdict_.ok() && !all_done()) {
    const Instant next = next_event();
    if (next == core::kNever) {
      verdict_.violation("work is left, and nothing more will happen");
      break;
    }
    if (next > last_progress_ + patience() && next_action_ == actions_.size() &&
        next_write_ == writes_.size()) {
      verdict_.violation("work is left, and neither done nor failed in time");
      break;
    }
    step(next);
  }
  finish();
  WorldResult result{.violation = verdict_.text(),
                     .when = now_ - Instant{},
                     .digest = network_.digest(),
                     .packets = packets_};
  for (const Side side : {Side::kA, Side::kB}) {
    result.counters[index_of(side)] = host(side).endpoint->counters();
    for (const StreamChecker& stream : host(side).streams) {
      result.writes_succeeded += stream.succeeded();
      result.writes_failed += stream.failed();
    }
  }
  return result;
}

void World::check_memory(const Host& h) {
  if (rules_ == Rules::kAll) {
    h.memory->check_all(verdict_);
  } else {
    h.memory->check_guards(verdict_);
  }
  h.foreign->check_all(verdict_);
  h.local->check_all(verdict_);
}

// What must hold at the end: memory, and nothing left in flight.
void World::finish() {
  for (const Side side : {Side::kA, Side::kB}) {
    Host& h = host(side);
    check_memory(h);
    const core::Peer* peer = h.endpoint->peer_of(h.qpns[0]);
    const bool quiet = std::all_of(h.qpns.begin(), h.qpns.end(), [&](Qpn qpn) {
      return h.endpoint->queue_pair(qpn)->requestor.window().empty();
    });
    if (verdict_.ok() && peer != nullptr && quiet && peer->in_flight != ByteCount(0)) {
      verdict_.violation(fmt::format("host {}: nothing in flight, yet {} bytes are counted",
                                     name_of(side), peer->in_flight.raw()));
    }
  }
}

WorldResult run_world(const WorldOptions& options) { return World(options).run(); }

WorldOptions shrink(WorldOptions options) {
  while (drop_elements(options, [](WorldOptions& o) -> auto& { return o.faults; }) ||
         drop_elements(options, [](WorldOptions& o) -> auto& { return o.writes; })) {
  }
  return options;
}

}  // namespace openmrc::test
