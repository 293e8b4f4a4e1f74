// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "openmrc/base/ids.h"
#include "openmrc/base/secret_numbers.h"
#include "openmrc/core/containers/growing_ring.h"
#include "openmrc/core/containers/pool.h"
#include "openmrc/core/endpoint/queue_pair.h"

namespace openmrc::core {

// The queue pairs of an endpoint, by number and by index, which is the number from the first on.
class QueuePairTable {
 public:
  struct Numbers {
    Qpn first;
    std::size_t count;  // at least as many as there may be queue pairs
    // SEC-1, SEC-7
    std::optional<SecretNumbers::Key> secret;  // to draw them from; otherwise they are in order
  };
  QueuePairTable(const Numbers& numbers, std::size_t limit);

  // A new one; null if there are as many as the limit (QP-12).
  [[nodiscard]] QueuePair* create();
  void release(QueuePairIndex index) {
    all_[index].reset();
    if (!drawn_) free_.push(index);
    --used_;
  }

  // Null if there is none.
  [[nodiscard]] QueuePair* find(Qpn qpn) const {
    const std::uint32_t index = qpn.raw() - first_.raw();
    if (index >= size_) return nullptr;
    QueuePair* qp = all_[index].get();
    return qp == nullptr || qp->destroyed ? nullptr : qp;
  }
  // The same, though it may be destroyed. Does not look at it.
  [[nodiscard]] const QueuePair* named(Qpn qpn) const {
    const std::uint32_t index = qpn.raw() - first_.raw();
    return index < size_ ? all_[index].get() : nullptr;
  }
  // Of a number that was given out: null if it is free now.
  [[nodiscard]] QueuePair* at(QueuePairIndex index) const { return all_[index].get(); }
  // Lets a PoolList link queue pairs.
  QueuePair& operator[](PoolIndex index) { return *all_[index]; }

 private:
  [[nodiscard]] QueuePairIndex next_free();
  [[nodiscard]] QueuePairIndex draw_free();

  Qpn first_;
  std::size_t limit_;
  std::size_t used_ = 0;
  std::vector<std::unique_ptr<QueuePair>> all_;
  std::size_t size_ = 0;              // of all_: a vector has to compute it, for every packet
  GrowingRing<QueuePairIndex> free_;  // in order, the longest free is used first
  std::optional<SecretNumbers> drawn_;
};

}  // namespace openmrc::core
