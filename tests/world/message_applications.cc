// SPDX-License-Identifier: BSD-3-Clause
// What the applications of a world of messages do, and what happens to their hosts.
#include <algorithm>

#include "openmrc/base/result.h"
#include "tests/world/message_world.h"

namespace openmrc::test {
namespace {

constexpr RKey kNoKey{0x12345678};

}  // namespace

void MessageWorld::act(const Action& action) {
  if (action.end != nullptr) return end(*action.end);
  if (action.ready_to_send) return to_ready_to_send(*action.ready_to_send);
  act(*action.fault, action.begins);
}

void MessageWorld::end(const PlannedEnd& end) {
  Host& h = host(end.side);
  const Qpn qpn = h.qpns[end.queue_pair];
  if (h.endpoint->state(qpn) == std::nullopt) return;
  drain(end.side);
  judge_.before_end(end.side, end.queue_pair);
  if (end.destroys) {
    if (!h.layer->destroy_queue_pair(qpn)) judge_.verdict().violation("it cannot be destroyed");
  } else {
    if (!h.layer->to_error(qpn, now_)) judge_.verdict().violation("it cannot go to ERROR");
    drain(end.side);
  }
  judge_.on_end(end.side, end.queue_pair, end.destroys);
}

// A port is up unless a fault says otherwise.
void MessageWorld::set_ports(Side side) {
  for (std::size_t p = 0; p < options_.network.planes; ++p) {
    const Plane plane(static_cast<std::uint8_t>(p));
    const bool is_down = std::ranges::any_of(options_.network.faults, [&](const Fault& fault) {
      const bool active = now_ >= Instant{} + fault.from && now_ < Instant{} + fault.to;
      const bool is_port =
          fault.kind == FaultKind::kPortDown || fault.kind == FaultKind::kUnwelcome;
      return is_port && active && fault.side == side && fault.plane == plane;
    });
    host(side).endpoint->set_port(now_, plane, !is_down);
  }
}

void MessageWorld::act(const Fault& fault, bool begins) {
  const Side side = fault.side.value_or(Side::kA);
  Host& h = host(side);
  switch (fault.kind) {
    case FaultKind::kPortDown:
    case FaultKind::kUnwelcome: return set_ports(side);
    case FaultKind::kPause: h.paused = begins; return;
    case FaultKind::kDeny: return h.endpoint->set_ev_denied(now_, h.ev_profile, *fault.ev, begins);
    case FaultKind::kShrinkMpr:
      for (const Qpn qpn : h.qpns) {
        h.endpoint->offer_mpr(
            qpn, begins ? static_cast<std::uint8_t>(fault.amount) : options_.network.recv.mpr_dest);
      }
      return;
    case FaultKind::kPenalty:
      for (const Qpn qpn : h.qpns) {
        h.endpoint->set_receiver_penalty(
            qpn, begins ? static_cast<std::uint8_t>(fault.amount) : std::uint8_t{0}, !begins);
      }
      return;
    default: return;
  }
}

// Posts what is due and finds room.
void MessageWorld::pump(Side side) {
  Host& h = host(side);
  while (!h.to_receive.empty() && Instant{} + options_.receives[h.to_receive.back()].at <= now_ &&
         post_receive(side, h.to_receive.back())) {
    h.to_receive.pop_back();
  }
  if (!h.ready_to_send) return;
  for (std::size_t i = 0; i < h.to_post.size(); ++i) {
    auto& left = h.to_post[i];
    while (!left.empty() && Instant{} + options_.requests[left.back()].at <= now_ &&
           post(side, i, left.back())) {
      left.pop_back();
    }
  }
}

bool MessageWorld::post(Side side, std::size_t queue_pair, std::size_t index) {
  Host& h = host(side);
  const Qpn qpn = h.qpns[queue_pair];
  if (h.endpoint->state(qpn) == std::nullopt) return true;  // it is gone
  const auto posted = h.layer->post_send(qpn, request_of(index));
  if (posted == failure(messages::PostError::kFull)) return false;
  OPENMRC_CHECK(posted.has_value(), "a world's requests can be posted");
  judge_.request_posted(index);
  if (options_.requests[index].copied) {
    for (const std::size_t place : judge_.requests()[index].local) {
      judge_.memory(side).local.take_back(place);
    }
  }
  last_progress_ = now_;
  return true;
}

messages::SendRequest MessageWorld::request_of(std::size_t index) {
  const MessageJudge::Request& request = judge_.requests()[index];
  const PlannedRequest& plan = *request.plan;
  PlacedMemory& local = judge_.memory(plan.side).local;
  PlacedMemory& remote = judge_.memory(other(plan.side)).remote;
  segments_.clear();
  for (const std::size_t place : request.local) {
    const MutableBytes bytes = local.at(place);
    segments_.push_back({bytes.data(), static_cast<std::uint32_t>(bytes.size())});
  }
  const Host& peer = host(other(plan.side));
  messages::SendRequest made{.id = index,
                             .opcode = plan.opcode,
                             .segments = segments_,
                             .rkey = peer.key,
                             .immediate = wire::Immediate(plan.number),
                             .operand = plan.on_shared_word ? 1 : plan.operand,
                             .swap = plan.swap,
                             .signaled = plan.signaled,
                             .fenced = plan.fenced,
                             .solicited = plan.solicited,
                             .copied = plan.copied,
                             .keys_ok = plan.wrong != Wrong::kLocalKey};
  if (!plan.is_send()) made.remote_address = kRemoteBase + remote.offset_in_region(request.remote);
  if (plan.wrong == Wrong::kKey) made.rkey = kNoKey;
  if (plan.wrong == Wrong::kReserved) made.rkey = core::kMessageKey;
  if (plan.wrong == Wrong::kDomain) made.rkey = peer.of_other_domain;
  if (plan.wrong == Wrong::kRight) made.rkey = peer.not_for_peers;
  if (plan.wrong == Wrong::kBounds)
    made.remote_address = kRemoteBase + (remote.region().size() + 7) / 8 * 8;
  if (plan.wrong == Wrong::kUnaligned) made.remote_address += 1;
  if (plan.wrong == Wrong::kDomain || plan.wrong == Wrong::kRight) {
    made.remote_address = kRemoteBase;
  }
  return made;
}

bool MessageWorld::post_receive(Side side, std::size_t index) {
  Host& h = host(side);
  const MessageJudge::Receive& receive = judge_.receives()[index];
  segments_.clear();
  for (const std::size_t place : receive.local) {
    const MutableBytes bytes = judge_.memory(side).local.at(place);
    segments_.push_back({bytes.data(), static_cast<std::uint32_t>(bytes.size())});
  }
  const messages::ReceiveRequest made{
      .id = index, .segments = segments_, .keys_ok = receive.plan->keys_ok};
  const Qpn qpn = h.qpns[receive.plan->queue_pair];
  if (!h.shared && h.endpoint->state(qpn) == std::nullopt) return true;  // it is gone
  const auto posted =
      h.shared ? h.layer->post_shared_receive(*h.shared, made) : h.layer->post_receive(qpn, made);
  OPENMRC_CHECK(posted.has_value(), "a world's receives can be posted");
  judge_.receive_posted(index);
  last_progress_ = now_;
  return true;
}

}  // namespace openmrc::test
