// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/core/paths/ev_state.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "tests/support/golden.h"

namespace openmrc::core {
namespace {

using enum EvState;
using enum EvInput;

std::vector<EvState> states() {
  std::vector<EvState> all;
  for (std::size_t i = 0; i < kEvStateCount; ++i) all.push_back(static_cast<EvState>(i));
  return all;
}
std::vector<EvInput> inputs() {
  std::vector<EvInput> all;
  for (std::size_t i = 0; i < kEvInputCount; ++i) all.push_back(static_cast<EvInput>(i));
  return all;
}

// One line for each input, one column for each state; a dot where nothing changes.
std::string matrix() {
  std::string text = fmt::format("{:14}", "");
  for (const EvState state : states()) text += fmt::format("{:13}", name(state));
  text.erase(text.find_last_not_of(' ') + 1);
  text += '\n';
  for (const EvInput input : inputs()) {
    std::string line = fmt::format("{:14}", name(input));
    for (const EvState state : states()) {
      const EvState next = next_state(state, input);
      line += fmt::format("{:13}", next == state ? "." : name(next));
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

// PATH-14, PATH-15, PATH-16, PATH-17, PATH-18, PATH-19, PATH-20, PATH-21, PATH-22, PATH-23, PATH-24
TEST(EvState, TheMachineIsAsRecorded) { test::expect_golden(matrix(), "ev_states.txt"); }

// MRC 9.3.1 (PATH-14, PATH-15, PATH-20)
TEST(EvState, CongestionIsSkippedOnce) {
  EXPECT_EQ(next_state(kGood, kMarked), kSkip);
  EXPECT_EQ(next_state(kGood, kTrimmed), kSkip);
  EXPECT_EQ(next_state(kSkip, kRotation), kGood);
  // MRC 11.2.2: more of it does not extend it.
  EXPECT_EQ(next_state(kSkip, kMarked), kSkip);
  EXPECT_EQ(next_state(kSkip, kTrimmed), kSkip);
}

// MRC 9.3.1 (PATH-22)
TEST(EvState, CongestionIsNotFailure) {
  for (const EvState state : {kGood, kSkip}) {
    for (const EvInput input : {kMarked, kTrimmed, kRotation, kProbeClean, kProbeMarked, kAllow}) {
      EXPECT_TRUE(is_usable(next_state(state, input))) << name(state) << " " << name(input);
    }
  }
}

// MRC 9.3.1 (PATH-16, PATH-18)
TEST(EvState, LossAndTheRespondersWordAreFailure) {
  for (const EvState state : {kGood, kSkip, kSuspect, kAssumedBad}) {
    EXPECT_EQ(next_state(state, kLost), kAssumedBad) << name(state);
    EXPECT_EQ(next_state(state, kAlwaysSkip), kAssumedBad) << name(state);
  }
}

// A packet that is missing may be late (PATH-17, PATH-19).
TEST(EvState, WhatIsMissingMakesAPathSuspectUntilItTurnsUpOrAProbeTells) {
  EXPECT_EQ(next_state(kGood, kMissing), kSuspect);
  EXPECT_EQ(next_state(kSkip, kMissing), kSuspect);
  EXPECT_FALSE(is_usable(kSuspect));
  EXPECT_EQ(next_state(kSuspect, kLate), kGood);
  EXPECT_EQ(next_state(kSuspect, kProbeClean), kGood);
  EXPECT_EQ(next_state(kSuspect, kLost), kAssumedBad);
  EXPECT_EQ(next_state(kAssumedBad, kMissing), kAssumedBad);
}

// MRC 9.3.1 (PATH-21)
TEST(EvState, OnlyProbesBringAFailedPathBack) {
  for (const EvInput input : inputs()) {
    const EvState next = next_state(kAssumedBad, input);
    EXPECT_EQ(is_usable(next), input == kProbeClean || input == kProbeMarked) << name(input);
  }
  EXPECT_EQ(next_state(kAssumedBad, kProbeClean), kGood);
  EXPECT_EQ(next_state(kAssumedBad, kProbeMarked), kSkip);
}

// MRC 9.3.1 (PATH-23, PATH-24)
TEST(EvState, OnlyTheControllerDeniesAndAllows) {
  for (const EvState state : states()) {
    for (const EvInput input : inputs()) {
      const EvState next = next_state(state, input);
      if (input == kDeny) {
        EXPECT_EQ(next, kDenied) << name(state);
      } else if (state == kDenied) {
        EXPECT_EQ(next, input == kAllow ? kGood : kDenied) << name(input);
      } else {
        EXPECT_NE(next, kDenied) << name(state) << " " << name(input);
      }
    }
  }
}

// Feedback repeats when packets are sprayed.
TEST(EvState, HearingTheSameAgainChangesNothing) {
  for (const EvState state : states()) {
    for (const EvInput input : inputs()) {
      const EvState once = next_state(state, input);
      EXPECT_EQ(next_state(once, input), once) << name(state) << " " << name(input);
    }
  }
}

// PATH-25
TEST(EvState, GoodAndSkipAreUsable) {
  EXPECT_TRUE(is_usable(kGood));
  EXPECT_TRUE(is_usable(kSkip));
  EXPECT_FALSE(is_usable(kAssumedBad));
  EXPECT_FALSE(is_usable(kDenied));
}

TEST(EvState, NamesAreDifferent) {
  std::set<std::string_view> names;
  for (const EvState state : states()) EXPECT_TRUE(names.insert(name(state)).second);
  for (const EvInput input : inputs()) EXPECT_TRUE(names.insert(name(input)).second);
  EXPECT_FALSE(names.contains(""));
}

}  // namespace
}  // namespace openmrc::core
