// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/core/endpoint/queue_pair_table.h"

#include <memory>
#include <utility>

namespace openmrc::core {
namespace {

// A number that was just freed is not given out again while packets to its last owner may still be
// in flight, if others are to be had (QP-13).
constexpr std::size_t kFreeNumbersMin = 1024;

}  // namespace

QueuePairTable::QueuePairTable(const Numbers& numbers, std::size_t limit)
    : first_(numbers.first), limit_(limit) {
  if (!numbers.secret) return;
  // Endpoints of one host have one secret, and each its own numbers.
  drawn_.emplace(derived(*numbers.secret, numbers.first.raw()));
  all_.resize(numbers.count);
  size_ = all_.size();
}

QueuePair* QueuePairTable::create() {
  if (used_ >= limit_) return nullptr;
  auto made = std::make_unique<QueuePair>();
  const QueuePairIndex index = drawn_ ? draw_free() : next_free();
  ++used_;
  all_[index] = std::move(made);
  all_[index]->connection.local = Qpn(first_.raw() + index);
  all_[index]->connection.index = index;
  return all_[index].get();
}

QueuePairIndex QueuePairTable::next_free() {
  if (all_.size() >= limit_ || free_.size() >= kFreeNumbersMin) return free_.pop();
  all_.emplace_back();
  size_ = all_.size();
  return static_cast<QueuePairIndex>(size_ - 1);
}

QueuePairIndex QueuePairTable::draw_free() {
  auto index = static_cast<QueuePairIndex>(drawn_->below(all_.size()));
  while (all_[index]) index = static_cast<QueuePairIndex>((index + 1) % all_.size());
  return index;
}

}  // namespace openmrc::core
