// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/engine/host_bus.h"

namespace openmrc::sim {

void HostBus::on_time(Picoseconds now, Worker& worker) {
  if (latency_ == Picoseconds{}) return application_.on_time(now, worker);
  while (!notes_.empty() && notes_.front().at <= now) tell(notes_.pop(), worker);
  if (application_.wake_at() <= now) application_.on_time(now, worker);
  move_postings(now);
}

void HostBus::on_sent(Picoseconds now, std::uint32_t message, bool failed, Worker& worker) {
  if (latency_ == Picoseconds{}) return application_.on_sent(now, message, failed, worker);
  notes_.push({.at = now + latency_, .number = message, .failed = failed});
  next_ = std::min(next_, now + latency_);
}

void HostBus::on_received(Picoseconds now, std::uint32_t connection, std::uint32_t queue_pair,
                          MessageTag tag, Worker& worker) {
  if (latency_ == Picoseconds{}) {
    return application_.on_received(now, connection, queue_pair, tag, worker);
  }
  notes_.push({.at = now + latency_,
               .number = connection,
               .queue_pair = queue_pair,
               .tag = tag,
               .received = true});
  next_ = std::min(next_, now + latency_);
}

void HostBus::tell(const Note& note, Worker& worker) {
  if (note.received) {
    application_.on_received(note.at, note.number, note.queue_pair, note.tag, worker);
  } else {
    application_.on_sent(note.at, note.number, note.failed, worker);
  }
}

void HostBus::move_postings(Picoseconds now) {
  for (const Application::Posting& posting : application_.postings()) {
    posted_.push({.at = now + latency_, .posting = posting});
  }
  application_.postings().clear();
  while (!posted_.empty() && posted_.front().at <= now) at_nic_.push_back(posted_.pop().posting);
  next_ = notes_.empty() ? kNoTime : notes_.front().at;
  if (!posted_.empty()) next_ = std::min(next_, posted_.front().at);
}

}  // namespace openmrc::sim
