// SPDX-License-Identifier: BSD-3-Clause
#include "tests/world/message_judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>
#include <variant>

#include "openmrc/base/rng.h"
#include "tests/world/hosts.h"

namespace openmrc::test {
namespace {

using messages::Opcode;
using messages::Status;

constexpr std::size_t kWordSize = 8;

bool is_access(Wrong wrong) {
  return wrong == Wrong::kKey || wrong == Wrong::kReserved || wrong == Wrong::kDomain ||
         wrong == Wrong::kRight || wrong == Wrong::kBounds;
}
std::uint64_t word_at(ConstBytes bytes) {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes.data(), kWordSize);
  return word;
}
}  // namespace

void MessageJudge::broken(Side side, std::size_t queue_pair, const std::string& what) {
  verdict_.violation(
      fmt::format("{} queue pair {}: {}", side == Side::kA ? "A" : "B", queue_pair, what));
}

// ---- requests ----

void MessageJudge::request_posted(std::size_t index) {
  Request& request = requests_[index];
  Queue& q = queue(request.plan->side, request.plan->queue_pair);
  request.posted = true;
  if (request.plan->takes_receive()) {
    request.message = static_cast<std::int64_t>(q.messages.size());
    q.messages.push_back(index);
  }
  q.requests.push_back(index);
}

void MessageJudge::on_completion(Side side, std::size_t queue_pair,
                                 const messages::Completion& completion) {
  if (queue(side, queue_pair).destroyed) {
    return broken(side, queue_pair, "a completion of a queue pair that is gone");
  }
  if (completion.kind == messages::CompletionKind::kSent) {
    on_sent(side, queue_pair, completion);
  } else {
    on_received(side, queue_pair, completion);
  }
}

void MessageJudge::on_sent(Side side, std::size_t queue_pair,
                           const messages::Completion& completion) {
  Queue& q = queue(side, queue_pair);
  const auto index = static_cast<std::size_t>(completion.id);
  // What is before it has succeeded, and was not to say so.
  while (verdict_.ok() && q.completed < q.requests.size() && q.requests[q.completed] != index) {
    const std::size_t silent = q.requests[q.completed++];
    if (requests_[silent].plan->signaled || q.failed) {
      return broken(side, queue_pair,
                    fmt::format("request {} has no completion, and {} has",
                                requests_[silent].plan->number, index));
    }
    succeeds(side, queue_pair, silent);
  }
  if (!verdict_.ok()) return;
  if (q.completed == q.requests.size()) {
    return broken(side, queue_pair, fmt::format("a completion {} out of nowhere", index));
  }
  ++q.completed;
  const Request& request = requests_[index];
  if (completion.opcode != request.plan->opcode) {
    return broken(side, queue_pair, "a completion of another opcode");
  }
  if (completion.status != Status::kSuccess) {
    return fails(side, queue_pair, index, completion.status);
  }
  if (!request.plan->signaled) return broken(side, queue_pair, "a completion that nobody wanted");
  succeeds(side, queue_pair, index);
}

void MessageJudge::succeeds(Side side, std::size_t queue_pair, std::size_t index) {
  Queue& q = queue(side, queue_pair);
  Request& request = requests_[index];
  const PlannedRequest& plan = *request.plan;
  if (q.failed) return broken(side, queue_pair, "a success after a failure");
  if (plan.wrong != Wrong::kNothing) {
    return broken(side, queue_pair, fmt::format("request {} succeeds and is wrong", plan.number));
  }
  if (plan.is_write()) check_written(request);
  if (plan.is_read() || plan.is_atomic()) check_answer(q, request);
  const Queue& peer = queue(other(side), queue_pair);
  // Without bytes it may wait for a shared receive (MSG-23).
  const bool may_wait = options_.hosts[index_of(other(side))].shares_receives &&
                        (plan.opcode == Opcode::kWriteWithImmediate || request.bytes.empty());
  if (request.message >= 0 && !may_wait && !peer.destroyed && !peer.in_error &&
      peer.received <= static_cast<std::size_t>(request.message)) {
    broken(side, queue_pair, fmt::format("request {} was not received", plan.number));
  }
  take_back(request);
  ++succeeded_;
}

void MessageJudge::check_written(const Request& request) {
  if (request.was_placed) return;
  const Side peer = other(request.plan->side);
  if (!memory(peer).remote.holds(request.remote, request.bytes)) {
    broken(request.plan->side, request.plan->queue_pair,
           fmt::format("WRITE {} is complete, and its bytes are not there", request.plan->number));
  }
}

void MessageJudge::check_answer(Queue& q, const Request& request) {
  if (request.plan->is_atomic()) return check_atomic(q, request);
  const PlacedMemory& local = memory(request.plan->side).local;
  std::size_t from = 0;
  for (const std::size_t place : request.local) {
    const std::size_t size = local.at(place).size();
    if (!local.holds(place, request.bytes.subspan(from, size))) {
      return broken(request.plan->side, request.plan->queue_pair,
                    fmt::format("READ {} brought other bytes", request.plan->number));
    }
    from += size;
  }
}

void MessageJudge::check_atomic(Queue& q, const Request& request) {
  const PlannedRequest& plan = *request.plan;
  const PlacedMemory& local = memory(plan.side).local;
  std::vector<std::byte> bytes;
  for (const std::size_t place : request.local) {
    const ConstBytes piece = local.at(place);
    bytes.insert(bytes.end(), piece.begin(), piece.end());
  }
  const std::uint64_t old = word_at(bytes);
  if (plan.on_shared_word) {
    if (!seen_[index_of(other(plan.side))].insert(old).second) {
      broken(plan.side, plan.queue_pair, fmt::format("{} was fetched twice", old));
    }
    return;
  }
  if (q.word_is_known && old != q.word) {
    broken(plan.side, plan.queue_pair,
           fmt::format("request {} fetched {} where {} was", plan.number, old, q.word));
  }
  if (plan.opcode == Opcode::kFetchAndAdd) q.word = old + plan.operand;
  if (plan.opcode == Opcode::kCompareAndSwap) q.word = old == plan.operand ? plan.swap : old;
}

// Its memory is the application's again.
void MessageJudge::take_back(Request& request) {
  request.done = true;
  for (const std::size_t place : request.local) memory(request.plan->side).local.take_back(place);
}

void MessageJudge::fails(Side side, std::size_t queue_pair, std::size_t index, Status status) {
  Queue& q = queue(side, queue_pair);
  Request& request = requests_[index];
  const PlannedRequest& plan = *request.plan;
  if (!is_excused(side, queue_pair, request, status)) {
    return broken(side, queue_pair,
                  fmt::format("request {} fails without need: {}", plan.number, name(status)));
  }
  q.failed = true;
  if (status != Status::kFlushed) q.has_reason = true;
  if (plan.is_atomic() && plan.on_shared_word) ++unknown_adds_[index_of(other(side))];
  if (plan.is_atomic() && !plan.on_shared_word) q.word_is_known = false;
  if (plan.is_read()) {
    std::size_t from = 0;
    for (const std::size_t place : request.local) {
      const std::size_t size = memory(side).local.at(place).size();
      if (!memory(side).local.may_become(place, request.bytes.subspan(from, size))) {
        return broken(side, queue_pair, fmt::format("READ {} brought other bytes", plan.number));
      }
      from += size;
    }
  }
  take_back(request);
  ++failed_;
}

// Whether anything may go wrong on a connection.
bool MessageJudge::may_fail(std::size_t queue_pair) {
  if (network_may_fail_ || queue_has_wrong_[queue_pair]) return true;
  return std::ranges::any_of(queues_, [&](const std::vector<Queue>& queues) {
    const Queue& q = queues[queue_pair];
    return q.ended_by_application || q.refused > 0 || q.failed;
  });
}

bool MessageJudge::has_late_receives(Side side) const {
  return std::ranges::any_of(options_.receives, [&](const PlannedReceive& receive) {
    return receive.side == side && receive.at > Duration{};
  });
}

bool MessageJudge::is_excused(Side side, std::size_t queue_pair, const Request& request,
                              Status status) {
  const Queue& q = queue(side, queue_pair);
  const Queue& peer = queue(other(side), queue_pair);
  const PlannedRequest& plan = *request.plan;
  // One is to blame, all others are flushed.
  if (q.has_reason && status != Status::kFlushed) return false;
  switch (status) {
    case Status::kSuccess: return true;
    case Status::kLocalLength:
    case Status::kLocalOperation: return false;
    case Status::kLocalProtection: return plan.wrong == Wrong::kLocalKey;
    case Status::kRemoteAccess: return is_access(plan.wrong);
    case Status::kRemoteInvalidRequest:
      return plan.wrong == Wrong::kUnaligned || (request.message >= 0 && peer.refused > 0);
    case Status::kRemoteOperation: return peer.refused > 0 || peer.in_error || peer.destroyed;
    case Status::kRnrRetryExceeded:
      return request.message >= 0 && has_late_receives(other(side)) &&
             options_.hosts[index_of(side)].requester.rnr_retry < messages::kRnrRetryForEver;
    case Status::kFlushed:
    case Status::kRetryExceeded: return may_fail(queue_pair);
  }
  return false;
}

// ---- the end ----

void MessageJudge::on_end(Side side, std::size_t queue_pair, bool destroyed) {
  Queue& q = queue(side, queue_pair);
  if (!q.in_error && !may_fail(queue_pair)) {
    broken(side, queue_pair, "it fails without need");
  }
  // Those that succeeded and were not to say so.
  while (!destroyed && !q.failed && q.completed < q.requests.size() &&
         !requests_[q.requests[q.completed]].plan->signaled) {
    succeeds(side, queue_pair, q.requests[q.completed++]);
  }
  if (!destroyed &&
      (q.completed < q.requests.size() ||
       std::ranges::any_of(q.receives, [&](std::size_t i) { return !receives_[i].done; }))) {
    broken(side, queue_pair, "it is in ERROR, and not all is flushed");
  }
  if (destroyed) {
    q.destroyed = true;
    for (std::size_t i = q.completed; i < q.requests.size(); ++i) {
      Request& left = requests_[q.requests[i]];
      if (left.plan->on_shared_word) ++unknown_adds_[index_of(other(side))];
      take_back(left);
    }
    q.completed = q.requests.size();
    q.word_is_known = false;
    for (const std::size_t i : q.receives) {
      if (!receives_[i].done) take_back(receives_[i]);
    }
  }
  if (std::exchange(q.in_error, true)) return;
  // Nothing that the peer wrote on this connection arrives any more.
  for (const std::size_t index : queue(other(side), queue_pair).requests) {
    Request& request = requests_[index];
    if (!request.plan->is_write() || request.plan->wrong != Wrong::kNothing) continue;
    PlacedMemory& remote = memory(side).remote;
    if (!remote.may_become(request.remote, request.bytes)) {
      return broken(side, queue_pair, "memory holds what nobody wrote there");
    }
    request.was_placed = remote.holds(request.remote, request.bytes);
    remote.take_back(request.remote);
  }
}

bool MessageJudge::all_done() const {
  return std::ranges::all_of(queues_, [](const std::vector<Queue>& queues) {
    return std::ranges::all_of(queues,
                               [](const Queue& q) { return q.completed == q.requests.size(); });
  });
}

// The words that were added to.
void MessageJudge::check_words() {
  for (const Side side : {Side::kA, Side::kB}) {
    const PlacedMemory& remote = memory(side).remote;
    for (std::size_t i = 0; i < options_.network.queue_pairs; ++i) {
      const Queue& q = queue(other(side), i);
      if (q.word_is_known && !q.failed && word_at(remote.at(words_[index_of(side)][i])) != q.word) {
        broken(side, i, "its word is not what was made of it");
      }
    }
    const std::uint64_t sum = word_at(remote.at(shared_word_[index_of(side)]));
    const std::uint64_t known = seen_[index_of(side)].size();
    if (sum < known || sum > known + unknown_adds_[index_of(side)]) {
      broken(side, 0, fmt::format("{} fetch-and-adds made {}", known, sum));
    }
  }
}

void MessageJudge::finish() {
  if (!verdict_.ok()) return;
  check_words();
  for (const Memory& one : memory_) {
    one.remote.check(verdict_);
    one.local.check(verdict_);
    one.forbidden.check(verdict_);
    if (!one.forbidden.holds(0, {})) verdict_.violation("forbidden memory was written");
  }
  for (const Request& request : requests_) {
    const PlannedRequest& plan = *request.plan;
    const PlacedMemory& remote = memory(other(plan.side)).remote;
    if (!plan.is_write() || remote.is_taken_back(request.remote)) continue;
    const ConstBytes bytes =
        request.posted && plan.wrong == Wrong::kNothing ? request.bytes : ConstBytes{};
    if (!remote.may_become(request.remote, bytes)) {
      broken(plan.side, plan.queue_pair, "memory holds what nobody wrote there");
    }
  }
  for (const Side side : {Side::kA, Side::kB}) {
    for (std::size_t i = 0; i < options_.network.queue_pairs; ++i) {
      const Queue& q = queue(side, i);
      if (!may_fail(i) && !q.in_error && queue(other(side), i).received != q.messages.size()) {
        broken(side, i, "a message was not received");
      }
    }
  }
}

}  // namespace openmrc::test
