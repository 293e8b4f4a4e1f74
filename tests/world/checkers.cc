// SPDX-License-Identifier: BSD-3-Clause
#include "tests/world/checkers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace openmrc::test {

MemoryChecker::MemoryChecker(std::string name, std::size_t size)
    : name_(std::move(name)), bytes_(size + 2 * kGuard, kUntouched) {}

std::size_t MemoryChecker::add_slice(ConstBytes source) {
  slices_.push_back({.offset = used_, .source = source});
  used_ += source.size();
  return slices_.size() - 1;
}

bool MemoryChecker::is_complete(std::size_t slice) const {
  const Slice& s = slices_[slice];
  return std::memcmp(bytes_.data() + kGuard + s.offset, s.source.data(), s.source.size()) == 0;
}

namespace {

bool untouched(std::byte b) { return b == MemoryChecker::kUntouched; }

}  // namespace

void MemoryChecker::check_guards(Verdict& verdict) const {
  if (!std::all_of(bytes_.begin(), bytes_.begin() + kGuard, untouched) ||
      !std::all_of(bytes_.end() - kGuard, bytes_.end(), untouched)) {
    verdict.violation(name_ + ": memory outside the region was written");
  }
}

void MemoryChecker::check_all(Verdict& verdict) const {
  check_guards(verdict);
  for (const Slice& slice : slices_) {
    const std::byte* at = bytes_.data() + kGuard + slice.offset;
    for (std::size_t i = 0; i < slice.source.size(); ++i) {
      if (untouched(at[i]) || (slice.posted && at[i] == slice.source[i])) continue;
      return verdict.violation(fmt::format(
          "{}: byte {} of the region holds what nobody wrote there", name_, slice.offset + i));
    }
  }
}

void StreamChecker::on_write_completion(const core::Completion& completion, Verdict& verdict) {
  if (completed_ >= posted_.size()) {
    return verdict.violation(name_ + ": a completion for nothing that was posted");
  }
  const Posted& expected = posted_[completed_++];
  if (completion.id != expected.id) {
    return verdict.violation(fmt::format("{}: completion of work {} where {} was next", name_,
                                         completion.id, expected.id));
  }
  if (completion.status != core::WorkStatus::kSuccess) {
    ++failed_;
    return;
  }
  ++succeeded_;
  if (failed_ > 0) return verdict.violation(name_ + ": success after a failure");
  if (rules_ == Rules::kAll && !memory_->is_complete(expected.slice)) {
    verdict.violation(fmt::format("{}: work {} complete, its data not", name_, expected.id));
  }
}

void StreamChecker::on_receive_completion(const core::Completion& completion, Verdict& verdict) {
  if (receives_ == 0) {
    return verdict.violation(name_ + ": a completion for no receive that was posted");
  }
  --receives_;
  if (completion.status != core::WorkStatus::kSuccess || rules_ == Rules::kUnderAttack) return;
  while (received_ < posted_.size() && !posted_[received_].immediate) ++received_;
  if (received_ >= posted_.size()) {
    return verdict.violation(name_ + ": an immediate that was not sent");
  }
  const Posted& expected = posted_[received_++];
  if (completion.immediate != *expected.immediate || completion.length != expected.length) {
    return verdict.violation(fmt::format("{}: immediate {} where {} was next", name_,
                                         completion.immediate.raw(), expected.immediate->raw()));
  }
  for (std::size_t i = 0; i < received_; ++i) {
    if (!memory_->is_complete(posted_[i].slice)) {
      return verdict.violation(
          fmt::format("{}: immediate delivered before the data of an earlier write", name_));
    }
  }
}

void StreamChecker::abandoned() {
  posted_.clear();
  completed_ = 0;
  receives_ = 0;
  received_ = 0;
  failed_ = 0;
}

SendingChecker::SendingChecker(std::string name, const WorldOptions& options, Rules rules)
    : name_(std::move(name)), options_(&options), rules_(rules) {}

void SendingChecker::on_connected(Qpn local, Psn first_psn) {
  const UnwrappedPsn before = UnwrappedPsn(first_psn.raw()) - 1;
  flows_[local.raw()] = {.acknowledged = before,
                         .sent = before,
                         .range = options_->send.mpr * core::kPsnsPerMpr,
                         .counted = 0};
}

void SendingChecker::on_feedback(Qpn local, const wire::Packet& packet) {
  const auto flow = flows_.find(local.raw());
  if (flow == flows_.end()) return;
  std::optional<Psn> psn;
  const auto* sack = std::get_if<wire::Sack>(&packet.transport.body);
  if (sack != nullptr) {
    psn = sack->seth.cack_psn;
  } else if (const auto* ack = std::get_if<wire::Acknowledge>(&packet.transport.body)) {
    if (ack->aeth.syndrome == wire::AckSyndrome::kAck) psn = ack->psn;
  }
  if (!psn) return;
  const UnwrappedPsn heard = flow->second.acknowledged.nearest(*psn);
  if (heard > flow->second.sent) return;  // left over from an earlier connection
  if (sack != nullptr && options_->recv.dynamic_mpr) {
    take_window(flow->second, *sack, heard > flow->second.acknowledged);
  }
  flow->second.acknowledged = std::max(flow->second.acknowledged, heard);
}

void SendingChecker::take_window(Flow& flow, const wire::Sack& sack, bool progress) const {
  const std::uint32_t more =
      (sack.cc_state.received_units - flow.counted) & wire::kReceivedUnitsMask;
  if (more > wire::kReceivedUnitsMask / 2) return;  // an older one
  const std::int64_t offered =
      std::min(sack.seth.mpr * core::kPsnsPerMpr, options_->send.mpr * core::kPsnsPerMpr);
  flow.range = progress || more > 0 ? offered : std::min(flow.range, offered);
  flow.counted = sack.cc_state.received_units;
}

void SendingChecker::on_event(const core::Event& event) {
  const auto* change = std::get_if<core::EvChange>(&event);
  if (change == nullptr) return;
  if (core::is_usable(change->after)) {
    out_of_use_.erase(change->ev.raw());
  } else {
    out_of_use_[change->ev.raw()] = change->after;
  }
}

void SendingChecker::on_write(Instant now, const core::Endpoint& endpoint, Qpn local,
                              const core::Transmit& transmit, const wire::RdmaWrite& write,
                              Verdict& verdict) {
  if (rules_ == Rules::kAll) check_psn(local, write, verdict);
  check_window(now, endpoint, local, write, verdict);
  check_path(endpoint, local, transmit, verdict);
  if (options_->port_bits_per_second == 0) check_balance(endpoint, local, transmit.plane, verdict);
}

// MRC 7.5.1 (REL-2).
void SendingChecker::check_psn(Qpn local, const wire::RdmaWrite& write, Verdict& verdict) {
  Flow& flow = flows_[local.raw()];
  const UnwrappedPsn psn = flow.sent.nearest(write.psn);
  if (psn - flow.acknowledged > flow.range) {
    verdict.violation(fmt::format("{}: PSN {} is {} beyond what is acknowledged; allowed are {}",
                                  name_, psn.raw(), psn - flow.acknowledged, flow.range));
  }
  if (psn > flow.sent + 1) verdict.violation(name_ + ": a PSN was left out");
  if (psn <= flow.sent && !write.retransmission) {
    verdict.violation(name_ + ": a retransmission that does not say so");
  }
  flow.sent = std::max(flow.sent, psn);
}

// MRC 8 (CC-2). One packet is allowed whatever the window is if nothing else is in the network.
void SendingChecker::check_window(Instant now, const core::Endpoint& endpoint, Qpn local,
                                  const wire::RdmaWrite& write, Verdict& verdict) {
  const core::Peer* peer = endpoint.peer_of(local);
  const ByteCount packet_max(write.payload.size() + 128);
  const bool is_alone =
      peer->in_flight <= packet_max || now - last_write_ >= peer->congestion.base_rtt();
  if (peer->in_flight > peer->congestion.window() && !is_alone) {
    verdict.violation(fmt::format("{}: {} bytes in flight, window {}", name_, peer->in_flight.raw(),
                                  peer->congestion.window().raw()));
  }
  last_write_ = now;
}

// MRC 9.3.1, 11.5 (PATH-25): only good paths carry data, each from the port of its plane.
void SendingChecker::check_path(const core::Endpoint& endpoint, Qpn local,
                                const core::Transmit& transmit, Verdict& verdict) {
  const Ev ev = wire::ev_of(transmit.packet);
  if (out_of_use_.contains(ev.raw())) {
    verdict.violation(fmt::format("{}: data on EV {:#x}, which is {}", name_, ev.raw(),
                                  core::name(out_of_use_[ev.raw()])));
  }
  const core::Peer* peer = endpoint.peer_of(local);
  const auto index = peer->paths.profile().find(ev);
  if (!index || peer->paths.profile().entry(*index).plane != transmit.plane) {
    verdict.violation(name_ + ": data on a path that is not in the profile");
  }
}

// MRC 9.3.2: planes are loaded equally, as long as the same ones can be used. With bursts, which
// end early when there is nothing to send, they are only on average.
void SendingChecker::check_balance(const core::Endpoint& endpoint, Qpn local, Plane plane,
                                   Verdict& verdict) {
  if (options_->ev_burst > 1) return;
  const core::Peer* peer = endpoint.peer_of(local);
  const core::PlaneMask usable = peer->paths.planes() & peer->remote_ports & local_ports_;
  if (usable != usable_before_) since_change_.fill(0);
  usable_before_ = usable;
  ++since_change_[plane.raw()];
  std::int64_t most = 0;
  std::int64_t least = since_change_[plane.raw()];
  for (std::size_t p = 0; p < options_->planes; ++p) {
    if (!usable.has(Plane(static_cast<std::uint8_t>(p)))) continue;
    most = std::max(most, since_change_[p]);
    least = std::min(least, since_change_[p]);
  }
  // One may be ahead by the packet that was sent when the set changed.
  if (most - least > 2) {
    verdict.violation(fmt::format("{}: planes are loaded {} to {}", name_, least, most));
  }
}

}  // namespace openmrc::test
