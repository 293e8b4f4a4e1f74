// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/core/endpoint/awaited_requests.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>

namespace openmrc::core {
namespace {

using Kind = AwaitedRequest::Kind;

// MRC 7.3
TEST(AwaitedRequests, FindsARequestByItsNumberUntilItIsAnswered) {
  AwaitedRequests awaited(0xffff);
  const auto first = awaited.add({.kind = Kind::kBadEv, .peer = 7});
  const auto second = awaited.add({.kind = Kind::kPortStatus, .peer = 8});
  EXPECT_EQ(second.raw(), 0) << "numbers wrap";
  ASSERT_NE(awaited.find(first), nullptr);
  EXPECT_EQ(awaited.find(first)->peer, 7U);
  awaited.remove(first);
  EXPECT_EQ(awaited.find(first), nullptr);
  EXPECT_EQ(awaited.find(second)->peer, 8U);
}

TEST(AwaitedRequests, KnowsNothingBeforeTheFirst) {
  const AwaitedRequests awaited(0);
  EXPECT_EQ(awaited.find(wire::EndpointRequestId(0)), nullptr);
}

// MRC 7.3
TEST(AwaitedRequests, HoldsTheLatestAndGivesUpTheOldestBeyondTheLimit) {
  AwaitedRequests awaited(0);
  for (std::uint32_t i = 0; i < kEndpointRequestsAwaitedMax + 1; ++i) {
    (void)awaited.add({.kind = Kind::kBadEv, .peer = i});
  }
  EXPECT_EQ(awaited.find(wire::EndpointRequestId(0)), nullptr);
  for (std::uint16_t i = 1; i < kEndpointRequestsAwaitedMax + 1; ++i) {
    ASSERT_NE(awaited.find(wire::EndpointRequestId(i)), nullptr) << i;
    EXPECT_EQ(awaited.find(wire::EndpointRequestId(i))->peer, i);
  }
}

TEST(AwaitedRequests, PutsARequestAgainUnderItsNumber) {
  AwaitedRequests awaited(5);
  const auto id = awaited.add({.kind = Kind::kPortStatus, .peer = 1});
  awaited.put({.kind = Kind::kPortStatus, .id = id, .peer = 2});
  EXPECT_EQ(awaited.find(id)->peer, 2U);
}

// MRC 7.3
TEST(AwaitedRequests, CountsWithinTheNumbersOfItsSlot) {
  AwaitedRequests awaited(0xfffe, RequestIds::of_slot(5));
  std::set<std::uint16_t> ids;
  for (std::uint32_t i = 0; i < 1024; ++i) {
    const auto id = awaited.add({.kind = Kind::kBadEv, .peer = i});
    EXPECT_EQ(id.raw() >> 10, 5);
    ids.insert(id.raw());
  }
  EXPECT_EQ(ids.size(), 1024U);
  EXPECT_EQ(awaited.add({.kind = Kind::kBadEv}).raw(), 5 << 10 | 0x3fe) << "they wrap";
}

}  // namespace
}  // namespace openmrc::core
