// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/host/host.h"

#include <fmt/core.h>
#include <sched.h>

#include <algorithm>
#include <iterator>
#include <utility>
#include <variant>

#include "openmrc/base/check.h"
#include "openmrc/datapath/capture.h"
#include "openmrc/datapath/fault.h"
#include "openmrc/datapath/slot.h"
#include "openmrc/host/longest_packet.h"
#include "openmrc/host/path_planning.h"
#include "openmrc/host/publisher.h"
#include "openmrc/host/random.h"
#include "openmrc/xdp/open.h"

namespace openmrc::host {
namespace {

// The first profiles of every shard are those of the configuration.
constexpr core::EvProfileId kOwnEvProfile(0);
constexpr core::CcProfileId kOwnCcProfile(0);

// How long whoever deregisters memory waits for peers that are reading it.
constexpr Duration kReadersWait = seconds(1);

// What a shard queues without more memory: some for each of a few hundred queue pairs.
constexpr std::size_t kQueuesReserved = 4096;

core::EndpointSettings endpoint_settings(const Config& config, const profile::PathPlan& paths,
                                         datapath::Slot slot, const SecretNumbers::Key& secret) {
  core::EndpointSettings settings = profile::endpoint_settings(config.transport);
  settings.queues_reserved = kQueuesReserved;
  for (const datapath::Port& port : config.ports) settings.addresses.push_back(port.address);
  settings.first_qpn = datapath::first_qpn(slot);
  settings.qpns = datapath::kQpnsPerSlot;
  settings.secret = secret;
  settings.request_ids = core::RequestIds::of_slot(slot.raw());
  settings.return_routes = paths.return_routes();
  return settings;
}

datapath::Settings datapath_settings(const Config& config) {
  wire::WireSettings wire = config.wire;
  wire.udp_port = config.transport.udp_port;
  return {.mode = config.mode,
          .ports = config.ports,
          .wire = wire,
          .send_icrc = config.send_icrc,
          .segments_max = config.segments_max,
          .receive_offload = config.receive_offload,
          .socket_buffer = config.socket_buffer};
}

datapath::FaultSettings faults_of(const Config& config, const core::EvProfile& profile) {
  const FaultConfig& from = *config.faults;
  datapath::FaultSettings to{
      .drop = from.drop, .duplicate = from.duplicate, .corrupt = from.corrupt, .seed = from.seed};
  if (from.plane) to.plane = Plane(static_cast<std::uint8_t>(*from.plane));
  if (from.ev && *from.ev < profile.size()) {
    to.ev = profile.entry(core::EvIndex(static_cast<std::uint8_t>(*from.ev))).ev;
  }
  return to;
}

// MSG-39: the last response of a READ may have arrived, and its acknowledgement not yet.
void wait_for_readers(Shard& shard, RKey key) {
  const Instant end = now() + kReadersWait;
  const auto is_read = [&] {
    return shard.look_at_messages(
        [&](const messages::Layer& layer) { return layer.is_read_from(key); });
  };
  while (is_read() && now() < end) {
    if (!shard.progress()) sched_yield();
  }
  shard.run_messages([&](messages::Layer& layer, Instant at) { layer.fail_readers(at, key); });
}

}  // namespace

Result<std::unique_ptr<Host>, Error> Host::open(Config config, EventSink watch, PortSink on_port) {
  auto paths = plan_paths(config);
  if (!paths) return failure(std::move(paths.error()));
  std::unique_ptr<Host> host(
      new Host(std::move(config), std::move(*paths), std::move(watch), std::move(on_port)));
  if (auto opened = host->open_shards(); !opened) return failure(std::move(opened.error()));
  host->start_publishing();
  return host;
}

Host::Host(Config config, profile::PathPlan paths, EventSink watch, PortSink on_port)
    : config_(std::move(config)),
      paths_(std::move(paths)),
      watch_(std::move(watch)),
      on_port_(std::move(on_port)) {}

// While there are shards to look at.
Host::~Host() { publisher_.reset(); }

// The back end, and around it what the configuration asks for: a capture sees what really leaves.
Result<std::unique_ptr<datapath::Datapath>, Error> Host::open_datapath(std::size_t shard) const {
  const datapath::Settings settings = datapath_settings(config_);
  auto datapath =
      settings.mode == datapath::Mode::kXdp ? xdp::open(settings) : datapath::open(settings);
  if (datapath && config_.capture) {
    const std::string file =
        shard == 0 ? *config_.capture : fmt::format("{}.{}", *config_.capture, shard);
    datapath = datapath::with_capture(std::move(*datapath), settings, {.file = file});
  }
  if (datapath && config_.faults) {
    datapath =
        datapath::with_faults(std::move(*datapath), faults_of(config_, *paths_.profiles()[0]));
  }
  return datapath;
}

bool Host::send_request(const core::DirectRequest& request) {
  return shards_.front()->run(
      [&](core::Endpoint& endpoint, Instant now) { return endpoint.send_request(now, request); });
}

Result<void, Error> Host::open_shards() {
  std::vector<std::string> interfaces;
  interfaces.reserve(config_.ports.size());
  for (const datapath::Port& port : config_.ports) interfaces.push_back(port.interface);
  const SecretNumbers::Key secret = random_key();
  for (std::size_t i = 0; i < config_.shards; ++i) {
    auto datapath = open_datapath(i);
    if (!datapath) return failure(std::move(datapath.error()));
    const datapath::Slot slot = (*datapath)->slot();
    auto links = LinkWatch::open(
        interfaces, longest_packet(config_.mode, ip_version(config_), config_.transport.mtu));
    if (!links) return failure(std::move(links.error()));
    auto shard = Shard::open({.endpoint = endpoint_settings(config_, paths_, slot, secret),
                              .seed = random_number(),
                              .progress = config_.progress,
                              // All have the same ports.
                              .on_port = i == 0 ? on_port_ : PortSink{}},
                             std::move(*datapath), std::move(*links),
                             [this](const core::Event& event) { on_event(event); });
    if (!shard) return failure(std::move(shard.error()));
    (*shard)->run([&](core::Endpoint& endpoint, Instant) {
      for (const auto& profile : paths_.profiles()) endpoint.add_ev_profile(profile);
      endpoint.add_cc_profile(profile::congestion_settings(config_.transport, {}));
      domain_ = endpoint.create_protection_domain();
    });
    shards_.push_back(std::move(*shard));
  }
  for (const auto& shard : shards_) shard->start();
  return {};
}

std::unique_ptr<CompletionQueue> Host::create_completion_queue() {
  const bool driven = config_.progress == Progress::kCaller;
  return std::make_unique<CompletionQueue>(driven ? shards_.front().get() : nullptr);
}

// Calls change(endpoint, now) in all shards, one change after the other, so that what it gives is
// the same in all of them.
template <class Change>
auto Host::change_all(Change change) {
  const std::lock_guard lock(shards_mutex_);
  auto first = shards_.front()->run(change);
  for (std::size_t i = 1; i < shards_.size(); ++i) {
    const auto other = shards_[i]->run(change);
    OPENMRC_CHECK(other == first, "shards have the same regions and profiles");
  }
  return first;
}

Result<std::unique_ptr<MemoryRegion>, Error> Host::register_memory(std::span<std::byte> bytes,
                                                                   const MemoryOptions& options) {
  const core::MemoryRegion region{
      .domain = options.domain.value_or(domain_),
      .address = options.address.value_or(reinterpret_cast<std::uint64_t>(bytes.data())),
      .length = bytes.size(),
      .bytes = bytes.data(),
      .remote_write = options.remote_write,
      .remote_read = options.remote_read,
      .remote_atomic = options.remote_atomic};
  // First what needs memory: a region that is registered has an owner.
  RemoteMemory info{.address = region.address, .length = region.length, .rkey = 0};
  std::unique_ptr<MemoryRegion> made(new MemoryRegion(*this, bytes, info));
  const auto key = change_all(
      [&](core::Endpoint& endpoint, Instant) { return endpoint.register_memory(region); });
  if (!key) {
    const bool full = key.error() == core::RegisterError::kTooManyRegions;
    return failure(Error{.what = full ? "the limit of memory regions is reached"
                                      : "the memory region is empty or exceeds the address space",
                         .remedy = full ? "deregister some" : ""});
  }
  made->remote_.rkey = key->raw();
  return made;
}

void Host::deregister(RKey key) {
  const std::lock_guard lock(shards_mutex_);
  for (const auto& shard : shards_) {
    shard->run_messages([&](messages::Layer& layer, Instant) { layer.deregister_memory(key); });
  }
  for (const auto& shard : shards_) wait_for_readers(*shard, key);
}

core::InitAttributes Host::init_attributes(ProtectionDomain domain) {
  return {.domain = domain, .ev_profile = kOwnEvProfile, .cc_profile = kOwnCcProfile};
}

core::ReadyToRecvAttributes Host::attributes_to(const Destination& peer,
                                                const ReceiveAttributes& attributes) const {
  const core::EvProfileId own(static_cast<std::uint32_t>(paths_.profile_to(peer.place)));
  return {.remote_qpn = attributes.remote_qpn,
          .remote_psn = attributes.remote_psn,
          .remote_addresses = peer.addresses,
          .path_overlay = paths_.overlay(peer.place),
          .ev_profile = attributes.ev_profile.value_or(own),
          .cc_profile = attributes.cc_profile,
          .mtu = attributes.mtu == 0 ? config_.transport.mtu
                                     : std::min(config_.transport.mtu, attributes.mtu),
          .mpr_dest = attributes.mpr_dest,
          .max_wimm_dest = attributes.max_wimm_dest,
          .dynamic_mpr = attributes.dynamic_mpr,
          .peer_sends_trim_nacks = attributes.peer_sends_trim_nacks,
          .places_in_order = attributes.places_in_order};
}

ProtectionDomain Host::create_protection_domain() {
  return change_all(
      [](core::Endpoint& endpoint, Instant) { return endpoint.create_protection_domain(); });
}

core::EvProfileId Host::add_ev_profile(const std::shared_ptr<const core::EvProfile>& profile) {
  return change_all(
      [&](core::Endpoint& endpoint, Instant) { return endpoint.add_ev_profile(profile); });
}

core::CcProfileId Host::add_cc_profile(const core::CongestionSettings& settings) {
  return change_all(
      [&](core::Endpoint& endpoint, Instant) { return endpoint.add_cc_profile(settings); });
}

void Host::set_ev_denied(core::EvProfileId profile, core::EvIndex ev, bool denied) {
  change_all([&](core::Endpoint& endpoint, Instant now) {
    endpoint.set_ev_denied(now, profile, ev, denied);
    return true;
  });
}

void Host::set_port_enabled(Plane plane, bool enabled) {
  for (const auto& shard : shards_) shard->set_port_enabled(plane, enabled);
}

Result<std::unique_ptr<QueuePair>, Error> Host::create_queue_pair(const QueuePairOptions& options) {
  OPENMRC_CHECK(options.writes != nullptr, "a queue pair has a completion queue");
  const std::size_t turn = options.shard.value_or(next_shard_.fetch_add(1)) % shards_.size();
  Shard& shard = *shards_[turn];
  // SEC-3
  const Psn psn(static_cast<std::uint32_t>(random_number() & 0xff'ffff));
  // First what needs memory: a queue pair that was created has an owner.
  std::unique_ptr<QueuePair> made(
      new QueuePair(*this, shard, Qpn{}, psn, options.domain.value_or(domain_)));
  const auto qpn =
      shard.run([](core::Endpoint& endpoint, Instant) { return endpoint.create_queue_pair(); });
  if (!qpn) {
    return failure(Error{.what = fmt::format("shard {} has reached its limit of queue pairs ({})",
                                             turn, config_.transport.limits.queue_pairs),
                         .remedy = "raise max_queue_pairs in openmrc.toml"});
  }
  made->qpn_ = *qpn;
  shard.attach(*qpn, options.writes,
               options.receives != nullptr ? options.receives : options.writes);
  return made;
}

std::vector<std::string> Host::notices() const {
  std::vector<std::string> all;
  for (const auto& shard : shards_) {
    shard->look_at_datapath([&](const datapath::Datapath& datapath) {
      for (const Error& notice : datapath.notices()) {
        const std::string text = to_string(notice);
        if (std::ranges::find(all, text) == all.end()) all.push_back(text);
      }
    });
  }
  for (const auto& shard : shards_) {
    if (const auto flood = shard->flood()) all.push_back(to_string(*flood));
  }
  std::ranges::move(small_ports(), std::back_inserter(all));
  return all;
}

// Ports that are left out because they lose large packets.
std::vector<std::string> Host::small_ports() const {
  const std::uint32_t needed =
      longest_packet(config_.mode, ip_version(config_), config_.transport.mtu);
  std::vector<std::string> notices;
  for (std::size_t i = 0; i < config_.ports.size(); ++i) {
    const std::string& interface = config_.ports[i].interface;
    const std::uint32_t mtu = shards_.front()->port_mtu(Plane(static_cast<std::uint8_t>(i)));
    if (mtu == 0 || mtu >= needed) continue;
    notices.push_back(
        fmt::format("{0} is not used: its MTU is {1}, and packets of mtu = {2} need {3}; ip link "
                    "set dev {0} mtu {3}, or a smaller mtu in openmrc.toml",
                    interface, mtu, config_.transport.mtu, needed));
  }
  return notices;
}

core::Counters Host::counters() const {
  core::Counters sum;
  for (const auto& shard : shards_) {
    const core::Counters counters =
        shard->look([](const core::Endpoint& endpoint) { return endpoint.counters(); });
    sum += counters;
  }
  return sum;
}

std::uint64_t Host::count_of(datapath::Count count) const {
  std::uint64_t sum = 0;
  for (const auto& shard : shards_) {
    sum += shard->look_at_datapath(
        [&](const datapath::Datapath& datapath) { return datapath.counters().of(count); });
  }
  return sum;
}

bool Host::help_shards() {
  bool any = false;
  for (const auto& shard : shards_) any = shard->help() || any;
  return any;
}

void Host::help() {
  using Then = PollBackoff::Then;
  const bool any = help_shards();
  const Instant at = now();
  const Then then = backoff_.polled(at, any);
  if (then == Then::kYield) {
    sched_yield();
    backoff_.yielded(at, now());
  } else if (then == Then::kWait) {
    const auto count = static_cast<std::int64_t>(shards_.size());
    for (const auto& shard : shards_) shard->sleep(PollBackoff::kWait / count);
    (void)backoff_.polled(now(), help_shards());
  }
}

void Host::on_event(const core::Event& event) {
  if (watch_) watch_(event);
  const std::lock_guard lock(events_mutex_);
  if (const auto* failed = std::get_if<core::Failure>(&event)) {
    failures_[failed->qpn.raw()] = *failed;
  } else if (const auto* answer = std::get_if<core::ProbeAnswer>(&event);
             answer != nullptr && answer->qpn != Qpn{}) {
    probe_answers_[answer->qpn.raw()].push_back(*answer);
  }
}

std::optional<std::string> Host::failure_text(Qpn qpn, const Destination& peer) const {
  const std::lock_guard lock(events_mutex_);
  const auto found = failures_.find(qpn.raw());
  if (found == failures_.end()) return std::nullopt;
  return describe(found->second, peer);
}

void Host::forget(Qpn qpn) {
  const std::lock_guard lock(events_mutex_);
  failures_.erase(qpn.raw());
  probe_answers_.erase(qpn.raw());
}

std::string Host::describe(const core::Failure& failed, const Destination& peer) const {
  std::string text = fmt::format("queue pair {:#x} to {} (its {:#x}): ", failed.qpn.raw(),
                                 peer.name, failed.remote_qpn.raw());
  if (failed.by_us) return text + "it sent an invalid request, and was rejected";
  if (failed.by_peer)
    return text + fmt::format("{} at PSN {:#x}", name(failed.status), failed.psn.raw());
  text += fmt::format("{} after {} tries of PSN {:#x}", name(failed.status), failed.retries,
                      failed.psn.raw());
  text += failed.last_heard == Instant{}
              ? "; nothing was ever received from it"
              : fmt::format("; last packet received {} ms ago",
                            (now() - failed.last_heard).raw() / 1'000'000);
  const auto ev = paths_.profiles()[paths_.profile_to(peer.place)]->find(failed.ev);
  if (failed.path_known && ev) {
    text += fmt::format("; last tried in plane {} by {}", failed.plane.raw(),
                        paths_.path_name(*ev, peer.place));
  }
  return text + fmt::format("; is the peer's process alive? (mrc ping {})", peer.name);
}

}  // namespace openmrc::host
