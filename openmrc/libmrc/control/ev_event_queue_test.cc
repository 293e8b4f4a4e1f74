// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/libmrc/control/ev_event_queue.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <span>

#include "openmrc/agent/profiles/test_profiles.h"
#include "openmrc/libmrc/control/control_attributes.h"

namespace openmrc::libmrc {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)

EvEvent event(std::uint8_t value, std::uint64_t lost = 0) {
  return {.id = kProfile, .seen = {ev({value}, 1), MRC_CTL_EV_ASSUMED_BAD}, .lost = lost};
}

TEST(EvEventQueue, GivesWhatWasPutInOrder) {
  EvEventQueue queue(4);
  EXPECT_TRUE(queue.push(event(1)));
  EXPECT_TRUE(queue.push(event(2)));
  std::array<mrc_ctl_ev_event, 4> got{};
  EXPECT_EQ(queue.take(std::as_writable_bytes(std::span(got)), sizeof got[0]), 2);
  EXPECT_EQ(got[0].profile_id, kProfile.raw());
  EXPECT_EQ(key_of(got[0].ev), ev({1}, 1));
  EXPECT_EQ(got[1].ev.val[0], 2);
  EXPECT_EQ(got[1].state, MRC_CTL_EV_ASSUMED_BAD);
  EXPECT_EQ(queue.take(std::as_writable_bytes(std::span(got)), sizeof got[0]), 0);
}

TEST(EvEventQueue, CountsWhatItLost) {
  EvEventQueue queue(1);
  EXPECT_TRUE(queue.push(event(1)));
  EXPECT_FALSE(queue.push(event(2)));
  EXPECT_FALSE(queue.push(event(3, 5)));
  std::array<mrc_ctl_ev_event, 1> got{};
  const auto bytes = std::as_writable_bytes(std::span(got));
  ASSERT_EQ(queue.take(bytes, sizeof got[0]), 1);
  EXPECT_EQ(got[0].drop_count, 0u);
  EXPECT_TRUE(queue.push(event(4)));
  ASSERT_EQ(queue.take(bytes, sizeof got[0]), 1);
  EXPECT_EQ(got[0].drop_count, 7u) << "two here, five on the way";
  EXPECT_TRUE(queue.push(event(5)));
  ASSERT_EQ(queue.take(bytes, sizeof got[0]), 1);
  EXPECT_EQ(got[0].drop_count, 0u);
}

TEST(EvEventQueue, OldProgramsHaveSmallerEvents) {
  EXPECT_EQ(ev_event_size(0), 56);
  EXPECT_EQ(ev_event_size(MRC_API_VER(1, 0, 1)), 56);
  EXPECT_EQ(ev_event_size(MRC_API_VER(1, 0, 0)), 48);
  EvEventQueue queue(4);
  queue.push(event(1));
  queue.push(event(2));
  queue.push(event(3));
  std::array<std::byte, 2 * kEvEventSize100 + 10> bytes{};
  EXPECT_EQ(queue.take(bytes, kEvEventSize100), 2);
  EXPECT_EQ(bytes[kEvEventSize100 + offsetof(mrc_ctl_ev_event, ev)], std::byte{2});
  EXPECT_EQ(bytes.back(), std::byte{0}) << "nothing behind the last whole one";
}

}  // namespace
}  // namespace openmrc::libmrc
