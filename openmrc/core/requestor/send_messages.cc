// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/core/requestor/send_messages.h"

namespace openmrc::core {

void SendMessages::post(Context& context, PoolIndex message) {
  list_.push_back(context.messages, message);
  if (current_ != kNoElement) return;
  current_ = message;
  offset_ = 0;
}

bool SendMessages::awaits_acknowledgement(const Context& context, UnwrappedPsn oldest) const {
  if (list_.empty() || completed_ >= sent_) return false;
  const SendMessage& first = context.messages[list_.first()];
  return first.first_psn + first.packets <= oldest.raw();
}

// Its count alone proves nothing: it may be left over from an earlier connection of the same
// number, so each message must also end at or before its PSN (REL-72).
std::int64_t SendMessages::completed_by(const Context& context, std::int64_t count,
                                        UnwrappedPsn psn) const {
  std::int64_t completed = 0;
  for (PoolIndex at = list_.first(); completed < count; ++completed) {
    const SendMessage& message = context.messages[at];
    if (message.first_psn + message.packets > psn.raw() + 1) break;
    at = message.next;
  }
  return completed;
}

void SendMessages::complete_first(Context& context, Qpn local, WorkStatus status, Flush how) {
  ++completed_;
  const PoolIndex index = list_.pop_front(context.messages);
  const SendMessage& message = context.messages[index];
  if (message.has_immediate && immediates_open_ > 0) --immediates_open_;
  if (how == Flush::kComplete) {
    context.completions.push({.id = message.id,
                              .qpn = local,
                              .kind = WorkKind::kWrite,
                              .status = status,
                              .length = message.length});
  }
  context.messages.give_back(index);
}

void SendMessages::flush(Context& context, Qpn local, UnwrappedPsn psn, WorkStatus status,
                         Flush how) {
  bool named_one = false;
  while (!list_.empty()) {
    const SendMessage& message = context.messages[list_.first()];
    // What has not begun has no PSN; if it comes to that, the first in line failed to begin.
    const bool begun = completed_ < begun_;
    const bool named = !named_one && (!begun || psn.raw() < message.first_psn + message.packets);
    named_one = named_one || named;
    complete_first(context, local, named ? status : WorkStatus::kFlushed, how);
  }
  current_ = kNoElement;
}

}  // namespace openmrc::core
