// SPDX-License-Identifier: BSD-3-Clause
// What the judge of messages says of receives.
#include <fmt/format.h>

#include <algorithm>

#include "tests/world/message_judge.h"

namespace openmrc::test {

using messages::CompletionKind;
using messages::Opcode;
using messages::Status;

void MessageJudge::receive_posted(std::size_t index) {
  Receive& receive = receives_[index];
  receive.posted = true;
  if (options_.hosts[index_of(receive.plan->side)].shares_receives) return;
  queue(receive.plan->side, receive.plan->queue_pair).receives.push_back(index);
}

void MessageJudge::on_received(Side side, std::size_t queue_pair,
                               const messages::Completion& completion) {
  const auto index = static_cast<std::size_t>(completion.id);
  if (index >= receives_.size() || !receives_[index].posted || receives_[index].done) {
    return broken(side, queue_pair, "a receive completes that there is not");
  }
  Receive& receive = receives_[index];
  check_order(side, queue_pair, index);
  Queue& q = queue(side, queue_pair);
  switch (completion.status) {
    case Status::kSuccess: check_message(side, queue_pair, receive, completion); break;
    case Status::kLocalLength:
    case Status::kLocalProtection:
      check_refused(side, queue_pair, receive, completion.status);
      break;
    case Status::kFlushed:
      check_unfinished(side, queue_pair, receive, q.received + q.refused + q.flushed);
      ++q.flushed;
      break;
    default:
      broken(side, queue_pair, fmt::format("a receive ends with {}", name(completion.status)));
  }
  if (verdict_.ok()) take_back(receive);
}

// In the order of posting: of its own all, of a shared queue those that it took.
void MessageJudge::check_order(Side side, std::size_t queue_pair, std::size_t index) {
  Queue& q = queue(side, queue_pair);
  const bool shared = options_.hosts[index_of(side)].shares_receives;
  const std::size_t done = q.received + q.refused + q.flushed;
  const bool is_next = shared ? !q.last_receive || *q.last_receive < index
                              : done < q.receives.size() && q.receives[done] == index;
  if (!is_next) broken(side, queue_pair, fmt::format("receive {} is not the next", index));
  q.last_receive = index;
}

void MessageJudge::check_message(Side side, std::size_t queue_pair, const Receive& receive,
                                 const messages::Completion& completion) {
  Queue& q = queue(side, queue_pair);
  const Queue& sender = queue(other(side), queue_pair);
  if (q.flushed + q.refused > 0) return broken(side, queue_pair, "a message after the end");
  if (q.received >= sender.messages.size()) {
    return broken(side, queue_pair, "a message that nobody sent");
  }
  const std::size_t sent = sender.messages[q.received++];
  const Request& request = requests_[sent];
  const PlannedRequest& plan = *request.plan;
  const auto says = [&](bool right, const char* what) {
    if (!right) broken(side, queue_pair, fmt::format("message {}: {}", plan.number, what));
  };
  const bool is_write = plan.opcode == Opcode::kWriteWithImmediate;
  says(plan.wrong == Wrong::kNothing, "it is wrong, and received");
  says(completion.kind == (is_write ? CompletionKind::kReceivedWrite : CompletionKind::kReceived),
       "of another kind");
  says(completion.length == request.bytes.size(), "of another length");
  says(completion.solicited == plan.solicited, "not solicited as it should be");
  const auto immediate =
      plan.opcode == Opcode::kSend ? std::nullopt : std::optional(wire::Immediate(plan.number));
  says(completion.immediate == immediate, "another immediate");
  says(is_write || receive.plan->keys_ok || request.bytes.empty(), "in memory with a wrong key");
  says(is_write || request.bytes.size() <= receive.size, "it does not fit");
  if (!verdict_.ok()) return;
  ConstBytes left = is_write ? ConstBytes{} : request.bytes;
  for (const std::size_t place : receive.local) {
    const std::size_t size = std::min(left.size(), memory(side).local.at(place).size());
    says(memory(side).local.holds(place, left.first(size)), "other bytes");
    left = left.subspan(size);
  }
  check_before(other(side), queue_pair, sent);
}

// What was sent before has been placed; what a fence waits for is complete.
void MessageJudge::check_before(Side sender, std::size_t queue_pair, std::size_t sent) {
  Queue& q = queue(sender, queue_pair);
  while (q.placed < q.requests.size()) {
    const std::size_t index = q.requests[q.placed++];
    const Request& before = requests_[index];
    const Opcode opcode = before.plan->opcode;
    if ((opcode == Opcode::kWrite || opcode == Opcode::kWriteWithImmediate) &&
        before.plan->wrong == Wrong::kNothing) {
      check_written(before);
    }
    if (index == sent) break;
  }
  if (!requests_[sent].plan->fenced) return;
  for (const std::size_t index : q.requests) {
    if (index == sent) break;
    const Request& before = requests_[index];
    if (!before.done && before.plan->is_read()) check_answer(q, before);
  }
}

void MessageJudge::check_refused(Side side, std::size_t queue_pair, const Receive& receive,
                                 Status status) {
  Queue& q = queue(side, queue_pair);
  const Queue& sender = queue(other(side), queue_pair);
  if (q.received >= sender.messages.size()) {
    return broken(side, queue_pair, "a refusal of nothing");
  }
  const Request& request = requests_[sender.messages[q.received]];
  const bool is_right = status == Status::kLocalProtection
                            ? !receive.plan->keys_ok && !request.bytes.empty()
                            : request.bytes.size() > receive.size;
  if (!is_right || request.plan->opcode == Opcode::kWriteWithImmediate) {
    return broken(
        side, queue_pair,
        fmt::format("message {} is refused without need: {}", request.plan->number, name(status)));
  }
  check_unfinished(side, queue_pair, receive, q.received);
  ++q.refused;
}

// It may have some bytes of the message that would have been its own.
void MessageJudge::check_unfinished(Side side, std::size_t queue_pair, const Receive& receive,
                                    std::size_t message) {
  const Queue& sender = queue(other(side), queue_pair);
  ConstBytes left;
  if (message < sender.messages.size() && receive.plan->keys_ok) {
    const Request& request = requests_[sender.messages[message]];
    if (request.plan->opcode != Opcode::kWriteWithImmediate) left = request.bytes;
  }
  for (const std::size_t place : receive.local) {
    const std::size_t size = std::min(left.size(), memory(side).local.at(place).size());
    if (!memory(side).local.may_become(place, left.first(size))) {
      return broken(side, queue_pair, "a receive has bytes that are not its own");
    }
    left = left.subspan(size);
  }
}

void MessageJudge::take_back(Receive& receive) {
  receive.done = true;
  for (const std::size_t place : receive.local) memory(receive.plan->side).local.take_back(place);
}

}  // namespace openmrc::test
