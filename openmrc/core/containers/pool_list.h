// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "openmrc/core/containers/pool.h"

namespace openmrc::core {

// A first-in first-out list through the `next` member of pool elements: eight bytes when empty. An
// element is on at most one list. The pool is an argument, so that a list costs no pointer to it.
class PoolList {
 public:
  [[nodiscard]] bool empty() const { return first_ == kNoElement; }
  [[nodiscard]] PoolIndex first() const { return first_; }
  [[nodiscard]] PoolIndex last() const { return last_; }

  template <class Pool>
  void push_back(Pool& pool, PoolIndex index) {
    pool[index].next = kNoElement;
    if (empty()) {
      first_ = index;
    } else {
      pool[last_].next = index;
    }
    last_ = index;
  }

  // The caller knows that there is one.
  template <class Pool>
  PoolIndex pop_front(Pool& pool) {
    const PoolIndex index = first_;
    first_ = pool[index].next;
    if (first_ == kNoElement) last_ = kNoElement;
    return index;
  }

  // Behind `before`, or in front of all when `before` is kNoElement.
  template <class Pool>
  void insert_after(Pool& pool, PoolIndex before, PoolIndex index) {
    if (before == last_) return push_back(pool, index);
    PoolIndex& link = before == kNoElement ? first_ : pool[before].next;
    pool[index].next = link;
    link = index;
  }

 private:
  PoolIndex first_ = kNoElement;
  PoolIndex last_ = kNoElement;
};

}  // namespace openmrc::core
