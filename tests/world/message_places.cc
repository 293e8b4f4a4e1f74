// SPDX-License-Identifier: BSD-3-Clause
// Where the judge of messages puts what the applications send, read and receive.
#include <fmt/format.h>

#include <algorithm>

#include "openmrc/base/rng.h"
#include "tests/world/hosts.h"
#include "tests/world/message_judge.h"

namespace openmrc::test {
namespace {

constexpr std::size_t kWordSize = 8;
constexpr std::size_t kForbiddenSize = 64;

MessageJudge::Memory memory_of(const char* name) {
  return {.remote = PlacedMemory(fmt::format("memory of {}", name)),
          .local = PlacedMemory(fmt::format("local memory of {}", name)),
          .forbidden = PlacedMemory(fmt::format("forbidden memory of {}", name))};
}

}  // namespace

MessageJudge::MessageJudge(const MessageWorldOptions& options)
    : options_(options),
      network_may_fail_(excuses_failure(options.network)),
      memory_{memory_of("A"), memory_of("B")},
      queue_has_wrong_(options.network.queue_pairs) {
  for (auto& queues : queues_) queues.resize(options.network.queue_pairs);
  for (const Side side : {Side::kA, Side::kB}) {
    for (std::size_t i = 0; i < options.network.queue_pairs; ++i) {
      words_[index_of(side)].push_back(memory(side).remote.add(kWordSize, kWordSize));
    }
    shared_word_[index_of(side)] = memory(side).remote.add(kWordSize, kWordSize);
    (void)memory(side).forbidden.add(kForbiddenSize);
  }
  requests_.reserve(options.requests.size());
  for (const PlannedRequest& plan : options.requests) plan_request(plan);
  for (const PlannedReceive& plan : options.receives) {
    Receive receive{.plan = &plan};
    for (const std::uint32_t piece : plan.pieces) {
      receive.local.push_back(memory(plan.side).local.add(piece));
      receive.size += piece;
    }
    receives_.push_back(std::move(receive));
  }
  for (Memory& one : memory_) {
    one.remote.allocate();
    one.local.allocate();
    one.forbidden.allocate();
  }
  fill_memory();
}

void MessageJudge::plan_request(const PlannedRequest& plan) {
  Request request{.plan = &plan};
  PlacedMemory& local = memory(plan.side).local;
  PlacedMemory& remote = memory(other(plan.side)).remote;
  for (const std::uint32_t piece : plan.pieces) request.local.push_back(local.add(piece));
  const std::size_t length = plan.length();
  Rng rng(options_.network.seed + plan.number);
  request.bytes = pattern().subspan(rng.below(pattern().size() - length), length);
  if (plan.is_write()) request.remote = remote.add(length);
  if (plan.is_read()) {
    const auto write = std::ranges::find_if(requests_, [&](const Request& before) {
      return before.plan->number == plan.reads && before.bytes.size() == length;
    });
    if (write != requests_.end()) {
      request.bytes = write->bytes;
      request.remote = write->remote;
    } else {
      request.remote = remote.add(length);
    }
  }
  if (plan.is_atomic()) {
    const std::size_t peer = index_of(other(plan.side));
    request.bytes = {};
    request.remote = plan.on_shared_word ? shared_word_[peer] : words_[peer][plan.queue_pair];
  }
  if (plan.wrong != Wrong::kNothing) queue_has_wrong_[plan.queue_pair] = true;
  requests_.push_back(std::move(request));
}

// Sources, what is only read, and words.
void MessageJudge::fill_memory() {
  for (const Side side : {Side::kA, Side::kB}) {
    PlacedMemory& remote = memory(side).remote;
    for (const std::size_t word : words_[index_of(side)]) {
      std::ranges::fill(remote.at(word), std::byte{});
    }
    std::ranges::fill(remote.at(shared_word_[index_of(side)]), std::byte{});
  }
  for (const Request& request : requests_) {
    const Side side = request.plan->side;
    if (request.plan->is_read()) {
      const bool is_written = std::ranges::any_of(requests_, [&](const Request& one) {
        return one.plan->is_write() && one.plan->side == side && one.remote == request.remote;
      });
      if (!is_written) {
        std::ranges::copy(request.bytes, memory(other(side)).remote.at(request.remote).begin());
      }
      continue;
    }
    if (request.plan->is_atomic()) continue;
    std::size_t from = 0;
    for (const std::size_t place : request.local) {
      const MutableBytes to = memory(side).local.at(place);
      std::ranges::copy(request.bytes.subspan(from, to.size()), to.begin());
      from += to.size();
    }
  }
}

}  // namespace openmrc::test
