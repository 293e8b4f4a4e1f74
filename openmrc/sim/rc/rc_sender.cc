// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/rc/rc_sender.h"

#include <algorithm>

#include "openmrc/base/check.h"
#include "openmrc/sim/rc/rc_packet.h"

namespace openmrc::sim {
namespace {

wire::MessagePart part_of(bool first, bool last, MessageTag tag) {
  const wire::Immediate immediate(tag);
  if (first) return last ? wire::MessagePart::only(immediate) : wire::MessagePart::first();
  return last ? wire::MessagePart::last(immediate) : wire::MessagePart::middle();
}

}  // namespace

RcSender::RcSender(const Settings& settings, Qpn destination_qp)
    : settings_(&settings), dcqcn_(settings.dcqcn), destination_qp_(destination_qp) {
  if (settings.recovery == Recovery::kSelective) {
    repeat_ = std::make_unique<SelectiveRepeat>(settings.reordering);
  }
}

void RcSender::post(std::uint64_t bytes, MessageTag tag, std::uint32_t message) {
  OPENMRC_DCHECK(bytes > 0, "a message has at least one byte");
  const auto packets = static_cast<std::int64_t>((bytes + settings_->mtu - 1) / settings_->mtu);
  messages_.push_back(
      {.first = end_, .packets = packets, .bytes = bytes, .tag = tag, .message = message});
  end_ = end_ + packets;
}

wire::RdmaWrite RcSender::packet_at(UnwrappedPsn psn) const {
  const auto after = std::upper_bound(
      messages_.begin(), messages_.end(), psn,
      [](UnwrappedPsn wanted, const Message& message) { return wanted < message.first; });
  const Message& message = *(after - 1);
  const std::int64_t number = psn - message.first;
  const std::uint64_t left = message.bytes - static_cast<std::uint64_t>(number) * settings_->mtu;
  const bool last = number + 1 == message.packets;
  return {.destination_qp = destination_qp_,
          .psn = psn.wrapped(),
          .ack_request = last || psn.raw() % kAckEvery == kAckEvery - 1,
          .retransmission = psn < sent_,
          .part = part_of(number == 0, last, message.tag),
          .payload = wire::Payload::of_length(
              static_cast<std::uint32_t>(std::min<std::uint64_t>(left, settings_->mtu)))};
}

wire::RdmaWrite RcSender::take_packet(Picoseconds now) {
  OPENMRC_DCHECK(has_packet() && next_send_at_ <= now, "there is a packet, and its time has come");
  const bool repeats = repeats_next();
  const UnwrappedPsn psn = repeats ? repeat_->take_packet() : next_;
  wire::RdmaWrite write = packet_at(psn);
  if (repeats) {
    write.ack_request = true;
  } else {
    next_ = next_ + 1;
    sent_ = std::max(sent_, next_);
  }
  if (write.ack_request) {
    if (deadline_ == kNoTime) deadline_ = now + settings_->timeout;
    asked_ = repeats ? std::max(asked_, psn + 1) : next_;
  }
  const std::uint32_t size = rc_data_size(write.part, write.payload.size());
  next_send_at_ = now + serialisation_time(size, dcqcn_.rate(now));
  dcqcn_.on_sent(now, size);
  return write;
}

void RcSender::on_ack(Picoseconds now, Psn psn) {
  acknowledge_before(now, acknowledged_.nearest(psn) + 1);
}

void RcSender::on_nak(Picoseconds now, Psn psn) {
  const UnwrappedPsn missing = acknowledged_.nearest(psn);
  if (missing < acknowledged_) return;  // it was overtaken by an acknowledgement
  acknowledge_before(now, missing);
  go_back();
}

void RcSender::on_selective(Picoseconds now, Psn psn, Psn arrived) {
  acknowledge_before(now, acknowledged_.nearest(psn) + 1);
  const UnwrappedPsn ahead = acknowledged_.nearest(arrived);
  if (repeat_ != nullptr && ahead >= acknowledged_) repeat_->on_arrived(ahead);
}

void RcSender::acknowledge_before(Picoseconds now, UnwrappedPsn end) {
  if (end <= acknowledged_) return;
  OPENMRC_DCHECK(end <= sent_, "only what was sent can arrive");
  if (repeat_ != nullptr) repeat_->on_acknowledged(acknowledged_, end);
  acknowledged_ = end;
  next_ = std::max(next_, end);
  timeouts_ = 0;
  deadline_ = asked_ > end ? now + settings_->timeout : kNoTime;
}

void RcSender::go_back() {
  next_ = asked_ = acknowledged_;
  deadline_ = kNoTime;
}

void RcSender::on_timeout() {
  failed_ = timeouts_ == settings_->retries;
  ++timeouts_;
  if (repeat_ == nullptr) return go_back();
  repeat_->on_timeout(acknowledged_, sent_);
  asked_ = acknowledged_;
  deadline_ = kNoTime;
}

std::optional<RcSender::Done> RcSender::take_done() {
  if (messages_.empty()) return std::nullopt;
  const Message& oldest = messages_.front();
  const bool arrived = oldest.first + oldest.packets <= acknowledged_;
  if (!arrived && !failed_) return std::nullopt;
  const Done done{.message = oldest.message, .failed = !arrived};
  messages_.erase(messages_.begin());
  return done;
}

}  // namespace openmrc::sim
