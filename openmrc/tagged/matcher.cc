// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/tagged/matcher.h"

#include <algorithm>
#include <utility>

namespace openmrc::tagged {
namespace {

bool contains(std::span<const int> ranks, int rank) {
  return std::ranges::find(ranks, rank) != ranks.end();
}

// Takes the first that fits out of the list.
template <class T, class Fits>
std::optional<T> take_first(std::list<T>& list, Fits fits) {
  const auto found = std::ranges::find_if(list, fits);
  if (found == list.end()) return std::nullopt;
  T taken = std::move(*found);
  list.erase(found);
  return taken;
}

}  // namespace

std::optional<Arrival> Matcher::take_arrival(std::uint64_t tag, std::span<const int> from) {
  const auto queue = queues_.find(tag);
  if (queue == queues_.end()) return std::nullopt;
  auto taken = take_first(queue->second.arrivals,
                          [&](const Arrival& one) { return contains(from, one.from); });
  if (taken && taken->header.kind == Kind::kAnnounce) --announced_[taken->from];
  drop_if_empty(tag);
  return taken;
}

void Matcher::keep(Arrival arrival) {
  if (arrival.header.kind == Kind::kAnnounce) ++announced_[arrival.from];
  queues_[arrival.header.tag].arrivals.push_back(std::move(arrival));
}

std::optional<Receive> Matcher::take_receive(std::uint64_t tag, int from) {
  const auto queue = queues_.find(tag);
  if (queue == queues_.end()) return std::nullopt;
  auto taken = take_first(queue->second.receives,
                          [&](const Receive& one) { return contains(one.from, from); });
  drop_if_empty(tag);
  return taken;
}

void Matcher::wait(std::uint64_t tag, Receive receive) {
  queues_[tag].receives.push_back(std::move(receive));
}

void Matcher::forget(const Buffer& buffer) {
  for (auto& [tag, queue] : queues_) {
    queue.receives.remove_if([&](const Receive& one) { return one.buffer == &buffer; });
  }
  std::erase_if(queues_, [](const auto& entry) {
    return entry.second.receives.empty() && entry.second.arrivals.empty();
  });
}

std::vector<int> Matcher::awaited(const Buffer& buffer) const {
  std::vector<int> ranks;
  for (const auto& [tag, queue] : queues_) {
    for (const Receive& one : queue.receives) {
      if (one.buffer == &buffer) ranks.insert(ranks.end(), one.from.begin(), one.from.end());
    }
  }
  std::ranges::sort(ranks);
  ranks.erase(std::ranges::unique(ranks).begin(), ranks.end());
  return ranks;
}

bool Matcher::awaits_only(int rank) const {
  return std::ranges::any_of(queues_, [&](const auto& entry) {
    return std::ranges::any_of(entry.second.receives, [&](const Receive& one) {
      return std::ranges::all_of(one.from, [&](int from) { return from == rank; });
    });
  });
}

std::size_t Matcher::announced(int rank) const {
  const auto found = announced_.find(rank);
  return found == announced_.end() ? 0 : found->second;
}

void Matcher::drop_if_empty(std::uint64_t tag) {
  const auto queue = queues_.find(tag);
  if (queue->second.arrivals.empty() && queue->second.receives.empty()) queues_.erase(queue);
}

}  // namespace openmrc::tagged
