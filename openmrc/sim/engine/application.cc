// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/engine/application.h"

#include <algorithm>

#include "openmrc/base/check.h"

namespace openmrc::sim {

Application::Application(std::unique_ptr<Program> program, fabric::HostIndex host,
                         const Connections& connections, std::uint32_t queue_pairs)
    : program_(std::move(program)),
      host_(host),
      outgoing_(connections.outgoing(host)),
      incoming_(connections.incoming(host)),
      queue_pairs_(queue_pairs) {
  for (std::uint32_t i = 0; i < outgoing_.size(); ++i) by_host_.emplace_back(outgoing_[i].other, i);
  std::sort(by_host_.begin(), by_host_.end());
  if (queue_pairs_ > 1) {
    reassembly_.resize(incoming_.size());
    for (Reassembly& sender : reassembly_) sender.received.resize(queue_pairs_);
  }
  if (program_ == nullptr) {
    done_at_ = Picoseconds{};
  } else {
    wake_at_ = Picoseconds{};
  }
}

std::uint32_t Application::connection_to(fabric::HostIndex host) const {
  const auto at =
      std::lower_bound(by_host_.begin(), by_host_.end(), std::pair(host, std::uint32_t{0}));
  OPENMRC_CHECK(at != by_host_.end() && at->first == host,
                "a program sends only to the destinations that its workload named");
  return at->second;
}

void Application::on_time(Picoseconds now, Worker& worker) {
  wake_at_ = kNoTime;
  program_->on_time(now, requests_);
  do_requests(now, worker);
}

void Application::on_sent(Picoseconds now, std::uint32_t message, bool failed, Worker& worker) {
  Message& sent = messages_[message];
  sent.failed = sent.failed || failed;
  if (--sent.parts_left > 0) return;
  const Message done = sent;
  free_messages_.push_back(message);
  record(done, now, worker);
  if (done.failed) return;  // the program waits for it for ever, and the run says so
  program_->on_sent(now, outgoing_[done.connection].other, done.tag, requests_);
  do_requests(now, worker);
}

void Application::on_received(Picoseconds now, std::uint32_t connection, std::uint32_t queue_pair,
                              MessageTag tag, Worker& worker) {
  if (queue_pairs_ == 1) return deliver(now, connection, tag, worker);
  Reassembly& from = reassembly_[connection];
  const std::uint64_t place = from.received[queue_pair]++ - from.delivered;
  if (place == from.tags.size()) from.tags.push_back(tag);
  while (*std::min_element(from.received.begin(), from.received.end()) > from.delivered) {
    const MessageTag whole = from.tags.front();
    from.tags.erase(from.tags.begin());
    ++from.delivered;
    deliver(now, connection, whole, worker);
  }
}

void Application::deliver(Picoseconds now, std::uint32_t connection, MessageTag tag,
                          Worker& worker) {
  if (program_ == nullptr) return;
  program_->on_received(now, incoming_[connection].other, tag, requests_);
  do_requests(now, worker);
}

void Application::do_requests(Picoseconds now, Worker& worker) {
  for (const Send& wanted : requests_.sends) send(now, wanted, worker);
  for (const StepMark& mark : requests_.steps) {
    worker.stats.add_step({.begin = mark.begin, .end = mark.end, .hosts = 1}, mark.step);
  }
  if (requests_.wake_at != kNoTime) wake_at_ = std::max(requests_.wake_at, now);
  requests_.sends.clear();
  requests_.steps.clear();
  requests_.wake_at = kNoTime;
  if (!done() && program_->done()) done_at_ = now;
}

void Application::send(Picoseconds now, const Send& send, Worker& worker) {
  OPENMRC_CHECK(send.bytes > 0, "a message has at least one byte");
  std::uint32_t index = 0;
  if (free_messages_.empty()) {
    index = static_cast<std::uint32_t>(messages_.size());
    messages_.emplace_back();
  } else {
    index = free_messages_.back();
    free_messages_.pop_back();
  }
  // Each queue pair carries a part of every message, so a short message is made of single bytes.
  const std::uint64_t bytes = std::max<std::uint64_t>(send.bytes, queue_pairs_);
  Message& message = messages_[index];
  message = {.connection = connection_to(send.to),
             .tag = send.tag,
             .bytes = bytes,
             .start = now,
             .parts_left = queue_pairs_};
  worker.stats.totals.message_bytes_posted += bytes;
  std::uint64_t left = bytes;
  for (std::uint32_t i = 0; i < queue_pairs_; ++i) {
    const std::uint64_t part = left / (queue_pairs_ - i);
    left -= part;
    postings_.push_back({.connection = message.connection,
                         .queue_pair = i,
                         .bytes = part,
                         .tag = send.tag,
                         .message = index});
  }
}

void Application::record(const Message& message, Picoseconds end, Worker& worker) const {
  worker.stats.flows.push_back({.from = host_.raw(),
                                .to = outgoing_[message.connection].other.raw(),
                                .tag = message.tag,
                                .failed = message.failed,
                                .bytes = message.bytes,
                                .start = message.start,
                                .end = message.failed ? kNoTime : end});
  Totals& totals = worker.stats.totals;
  if (message.failed) ++totals.messages_failed;
  if (!message.failed && end != kNoTime) totals.message_bytes_completed += message.bytes;
}

void Application::finish(Worker& worker) {
  for (const Message& message : messages_) {
    if (message.parts_left > 0) record(message, kNoTime, worker);
  }
}

}  // namespace openmrc::sim
