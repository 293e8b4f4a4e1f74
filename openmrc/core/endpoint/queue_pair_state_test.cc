// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/core/endpoint/queue_pair_state.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "tests/support/golden.h"

namespace openmrc::core {
namespace {

using enum QueuePairState;
using enum QueuePairInput;

std::vector<QueuePairState> states() {
  std::vector<QueuePairState> all;
  for (std::size_t i = 0; i < kQueuePairStateCount; ++i) {
    all.push_back(static_cast<QueuePairState>(i));
  }
  return all;
}
std::vector<QueuePairInput> inputs() {
  std::vector<QueuePairInput> all;
  for (std::size_t i = 0; i < kQueuePairInputCount; ++i) {
    all.push_back(static_cast<QueuePairInput>(i));
  }
  return all;
}

// One line for each input, one column for each state; a dash where the step is not allowed.
std::string matrix() {
  std::string text = fmt::format("{:10}", "");
  for (const QueuePairState state : states()) text += fmt::format("{:7}", name(state));
  text.erase(text.find_last_not_of(' ') + 1);
  text += '\n';
  for (const QueuePairInput input : inputs()) {
    std::string line = fmt::format("{:10}", name(input));
    for (const QueuePairState state : states()) {
      const auto next = next_state(state, input);
      line += fmt::format("{:7}", next ? name(*next) : "-");
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

TEST(QueuePairState, TheMachineIsAsRecorded) {
  test::expect_golden(matrix(), "queue_pair_states.txt");
}

// MRC 6.1 (QP-1)
TEST(QueuePairState, TheWayUpHasNoShortCuts) {
  EXPECT_EQ(next_state(kReset, kToInit), kInit);
  EXPECT_EQ(next_state(kInit, kToReadyToRecv), kReadyToRecv);
  EXPECT_EQ(next_state(kReadyToRecv, kToReadyToSend), kReadyToSend);
  for (const QueuePairState state : states()) {
    EXPECT_EQ(next_state(state, kToInit).has_value(), state == kReset) << name(state);
    EXPECT_EQ(next_state(state, kToReadyToRecv).has_value(), state == kInit) << name(state);
    EXPECT_EQ(next_state(state, kToReadyToSend).has_value(), state == kReadyToRecv) << name(state);
  }
}

// MRC 6.1 (QP-2)
TEST(QueuePairState, EveryStateCanBeLeftForResetAndError) {
  for (const QueuePairState state : states()) {
    EXPECT_EQ(next_state(state, kToReset), kReset) << name(state);
    EXPECT_EQ(next_state(state, kToError), kError) << name(state);
  }
}

// QP-2
TEST(QueuePairState, OnlyResetLeadsOutOfError) {
  for (const QueuePairInput input : inputs()) {
    const auto next = next_state(kError, input);
    if (next && next != kError) {
      EXPECT_EQ(input, kToReset);
    }
  }
}

// QP-3
TEST(QueuePairState, TheProtocolReachesOnlyWhatKnowsItsPeer) {
  for (const QueuePairState state : states()) {
    EXPECT_EQ(next_state(state, kFatal).has_value(), answers_requests(state)) << name(state);
  }
  EXPECT_EQ(next_state(kReadyToSend, kFatal), kError);
  EXPECT_EQ(next_state(kReadyToRecv, kFatal), kError);
}

// MRC 6.1 (QP-18)
TEST(QueuePairState, AnswersRequestsFromReadyToReceiveOn) {
  EXPECT_FALSE(answers_requests(kReset));
  EXPECT_FALSE(answers_requests(kInit));
  EXPECT_TRUE(answers_requests(kReadyToRecv));
  EXPECT_TRUE(answers_requests(kReadyToSend));
  EXPECT_FALSE(answers_requests(kError));
}

TEST(QueuePairState, NamesAreDifferent) {
  std::set<std::string_view> names;
  for (const QueuePairState state : states()) EXPECT_TRUE(names.insert(name(state)).second);
  for (const QueuePairInput input : inputs()) EXPECT_TRUE(names.insert(name(input)).second);
  EXPECT_FALSE(names.contains(""));
}

}  // namespace
}  // namespace openmrc::core
