// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/core/requestor/retransmission_list.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "openmrc/base/rng.h"

namespace openmrc::core {
namespace {

std::vector<SentRef> all_of(SentPool& pool, const RetransmissionList& list) {
  std::vector<SentRef> all;
  for (SentRef at = list.oldest(); at != kNoSent; at = sent_packet(pool, at).after) {
    all.push_back(at);
  }
  return all;
}

TEST(RetransmissionList, KeepsTheOrderWhateverLeaves) {
  SentPool pool(64);
  const SentRef first = pool.take() * 64;
  RetransmissionList list;
  std::vector<SentRef> model;
  Rng rng(3);
  for (int i = 0; i < 20'000; ++i) {
    const SentRef ref = first + static_cast<SentRef>(rng.below(64));
    const auto found = std::ranges::find(model, ref);
    if (found == model.end()) {
      list.append(pool, ref, sent_packet(pool, ref));
      model.push_back(ref);
    } else {
      list.remove(pool, sent_packet(pool, ref));
      model.erase(found);
    }
    ASSERT_EQ(all_of(pool, list), model) << i;
  }
}

}  // namespace
}  // namespace openmrc::core
