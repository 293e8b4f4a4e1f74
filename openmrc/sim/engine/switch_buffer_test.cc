// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/engine/switch_buffer.h"

#include <gtest/gtest.h>

#include <optional>

namespace openmrc::sim {
namespace {

constexpr std::uint32_t kPorts = 4;
using Change = SwitchBuffer::Change;

class SwitchBufferTest : public testing::Test {
 protected:
  SwitchBufferTest() {
    scenario_.shape = {.planes = 1, .racks = 2, .hosts_per_rack = 2, .uplinks = 2};
    scenario_.switches.buffer_bytes = 100'000;
  }
  // Asked when a window has ended.
  static Change judge(SwitchBuffer& buffer) {
    buffer.end_window();
    return buffer.judge_sender(0);
  }
  SwitchBuffer make() {
    network_.emplace(scenario_);
    return {*network_, true, kPorts};
  }

  Scenario scenario_;
  std::optional<Network> network_;
};

TEST_F(SwitchBufferTest, IsNotThereByDefault) {
  scenario_.switches = {};
  const SwitchBuffer buffer = make();
  EXPECT_FALSE(buffer.counts());
  EXPECT_FALSE(buffer.is_shared());
}

TEST_F(SwitchBufferTest, GivesAQueueAlphaTimesWhatIsFree) {
  scenario_.switches.alpha_percent = 50;
  SwitchBuffer buffer = make();
  EXPECT_EQ(buffer.queue_max_bytes(), 50'000U);
  buffer.add(0, 20'000, true);
  EXPECT_EQ(buffer.queue_max_bytes(), 40'000U);
  buffer.add(1, 10'000, false);
  EXPECT_EQ(buffer.queue_max_bytes(), 40'000U) << "control has room of its own";
  buffer.remove(0, 20'000, true);
  EXPECT_EQ(buffer.queue_max_bytes(), 50'000U);
  buffer.add(0, 100'000, true);
  EXPECT_EQ(buffer.queue_max_bytes(), 0U);
}

TEST_F(SwitchBufferTest, ShowsEveryPortTheSameOfTheOthers) {
  SwitchBuffer buffer = make();
  buffer.begin_window();
  buffer.begin_port();
  buffer.add(0, 30'000, true);
  EXPECT_EQ(buffer.queue_max_bytes(), 70'000U);
  buffer.begin_port();
  EXPECT_EQ(buffer.queue_max_bytes(), 100'000U) << "as the first one found it";
  buffer.begin_window();
  buffer.begin_port();
  EXPECT_EQ(buffer.queue_max_bytes(), 70'000U);
}

TEST_F(SwitchBufferTest, PausesASenderBeforeItsHeadroomIsUsedUp) {
  scenario_.switches.pfc = true;
  scenario_.switches.pfc_alpha_percent = 25;
  scenario_.switches.headroom_bytes = 10'000;
  SwitchBuffer buffer = make();  // 60,000 bytes are shared
  buffer.add(0, 12'000, true);
  EXPECT_EQ(judge(buffer), Change::kNone);
  EXPECT_TRUE(buffer.has_room(0, 4'000)) << "beyond a quarter of 48,000";
  buffer.add(0, 4'000, true);
  EXPECT_EQ(judge(buffer), Change::kPause);
  EXPECT_EQ(judge(buffer), Change::kNone) << "it is told once";
  EXPECT_TRUE(buffer.has_room(0, 6'000));
  EXPECT_FALSE(buffer.has_room(0, 6'001)) << "the headroom is full";
  EXPECT_TRUE(buffer.has_room(1, 4'000)) << "others have theirs";
  buffer.remove(0, 4'000, true);
  EXPECT_EQ(judge(buffer), Change::kNone) << "half of the limit is not reached";
  buffer.remove(0, 8'000, true);
  EXPECT_EQ(judge(buffer), Change::kResume);
}

TEST_F(SwitchBufferTest, LeavesHalfOfItToBeShared) {
  scenario_.switches.pfc = true;
  scenario_.switches.headroom_bytes = 1 << 20;
  SwitchBuffer buffer = make();
  buffer.add(0, 50'000, true);
  EXPECT_TRUE(buffer.has_room(0, 12'500));
  EXPECT_FALSE(buffer.has_room(0, 12'501));
}

}  // namespace
}  // namespace openmrc::sim
