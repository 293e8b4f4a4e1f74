// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

#include "tests/world/world.h"

namespace openmrc::test {
namespace {

// SEC-7
TEST(World, IsAFunctionOfItsSeed) {
  std::set<std::uint64_t> digests;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const WorldResult once = run_world(random_world(seed));
    const WorldResult again = run_world(random_world(seed));
    EXPECT_EQ(once.digest, again.digest) << "seed " << seed;
    EXPECT_EQ(once.when, again.when);
    EXPECT_EQ(once.packets, again.packets);
    digests.insert(once.digest);
  }
  EXPECT_EQ(digests.size(), 50u) << "different seeds make different worlds";
}

// Each kind of fault alone, made frequent, breaks no rule; and the faults are real: what they do
// shows in the counters.
class EachFault : public ::testing::TestWithParam<int> {};

// MRC 7.4.8, 7.5.1, 7.5.3, 8, 9.3.1
TEST_P(EachFault, AloneBreaksNoRule) {
  const auto kind = static_cast<FaultKind>(GetParam());
  std::size_t worlds_with_it = 0;
  for (std::uint64_t seed = 1; seed <= 1500; ++seed) {
    WorldOptions options = random_world(seed);
    std::erase_if(options.faults, [kind](const Fault& fault) { return fault.kind != kind; });
    if (options.faults.empty()) continue;
    ++worlds_with_it;
    const WorldResult result = run_world(options);
    ASSERT_EQ(result.violation.value_or("none"), "none")
        << "seed " << seed << " with only " << name(kind) << "\n"
        << describe(options);
  }
  EXPECT_GT(worlds_with_it, 50u);
}

INSTANTIATE_TEST_SUITE_P(World, EachFault,
                         ::testing::Range(0, static_cast<int>(FaultKind::kOnPath)));

// Somebody on the path can do what he likes to a connection that he sees, and nothing else: no
// other memory is written, nothing completes twice or without having been posted, what is kept is
// bounded, and everything ends. mrc-chaos --on-path runs more of them.
// MRC 6.3
TEST(OnPath, TouchesNothingButItsConnection) {
  std::size_t failed = 0;
  std::size_t succeeded = 0;
  for (std::uint64_t seed = 1; seed <= 1500; ++seed) {
    const WorldOptions options = attacked_world(seed);
    const WorldResult result = run_world(options);
    ASSERT_EQ(result.violation.value_or("none"), "none") << "seed " << seed << "\n"
                                                         << describe(options);
    failed += result.writes_failed;
    succeeded += result.writes_succeeded;
  }
  EXPECT_GT(failed, 500u) << "he is not harmless";
  EXPECT_GT(succeeded, 1000u);
}

// 4,000 packets, as many in flight as the responder offers: 1,024, or 128 as long as a fault lasts.
WorldOptions shrinking_world(const std::vector<Fault>& faults) {
  WorldOptions options;
  options.seed = 3;
  options.congestion =
      core::FixedWindowSettings{.window = ByteCount(100'000'000), .base_rtt = microseconds(12)};
  options.recv.mtu = 1024;
  options.recv.dynamic_mpr = true;
  options.writes = {{.length = 4000 * 1024}};
  options.faults = faults;
  return options;
}

// MRC 7.5.1: what is in flight when the window shrinks is taken, nothing leaves beyond the window
// once it is known (SendingChecker), and it grows again.
TEST(World, AWindowShrinksInMidFlightWithoutALossAndGrowsAgain) {
  const auto took = [](const std::vector<Fault>& faults) {
    const WorldResult result = run_world(shrinking_world(faults));
    EXPECT_EQ(result.violation.value_or("none"), "none");
    EXPECT_EQ(result.writes_succeeded, 1U);
    EXPECT_EQ(result.counters[0].of(core::Count::kDataSent), 4000U) << "none was sent twice";
    EXPECT_EQ(result.counters[1].of(core::Count::kNacksSent), 0U);
    return result.when;
  };
  constexpr Duration kRoundTrip = microseconds(10);  // at the least
  constexpr Duration kUntil = microseconds(150);
  EXPECT_LT(took({}), kRoundTrip * 8);
  const Duration with_fault = took({{.kind = FaultKind::kShrinkMpr,
                                     .from = microseconds(8),
                                     .to = kUntil,
                                     .side = Side::kB,
                                     .amount = 1}});
  EXPECT_GT(with_fault, kUntil + kRoundTrip) << "it shrank";
  EXPECT_LT(with_fault, kRoundTrip * ((4000 - 1024) / 128)) << "it grew again";
}

// A judge that never speaks would prove nothing: make each of the worst things happen.
TEST(Judges, SeeMemoryThatNobodyWrote) {
  Verdict verdict;
  MemoryChecker memory("memory", 64);
  const std::vector<std::byte> source(64, std::byte{1});
  memory.posted(memory.add_slice(source));
  memory.check_all(verdict);
  EXPECT_TRUE(verdict.ok());
  EXPECT_FALSE(memory.is_complete(0));
  memory.region()[5] = std::byte{2};
  memory.check_all(verdict);
  EXPECT_FALSE(verdict.ok());
}

TEST(Judges, SeeAWriteThatWasNeverPosted) {
  Verdict verdict;
  MemoryChecker memory("memory", 64);
  const std::vector<std::byte> source(64, std::byte{1});
  memory.add_slice(source);
  memory.region()[5] = std::byte{1};
  memory.check_all(verdict);
  EXPECT_FALSE(verdict.ok());
}

TEST(Judges, SeeMemoryBeyondTheRegion) {
  Verdict verdict;
  MemoryChecker memory("memory", 64);
  memory.region().data()[64] = std::byte{0};
  memory.check_all(verdict);
  EXPECT_FALSE(verdict.ok());
}

struct Stream {
  MemoryChecker memory{"memory", 8};
  std::vector<std::byte> source = std::vector<std::byte>(4, std::byte{1});
  StreamChecker stream{"stream", memory};
  Verdict verdict;

  Stream() {
    for (core::WorkId id = 0; id < 2; ++id) {
      const std::size_t slice = memory.add_slice(source);
      stream.posted({.id = id, .slice = slice, .length = 4, .immediate = wire::Immediate(7)});
      stream.receive_posted();
    }
  }
  void arrive() { std::fill(memory.region().begin(), memory.region().end(), std::byte{1}); }
};

TEST(Judges, SeeACompletionWithoutData) {
  Stream s;
  s.stream.on_write_completion({.id = 0}, s.verdict);
  EXPECT_FALSE(s.verdict.ok());
}

TEST(Judges, SeeCompletionsOutOfOrderAndTwice) {
  Stream s;
  s.arrive();
  s.stream.on_write_completion({.id = 1}, s.verdict);
  EXPECT_FALSE(s.verdict.ok());
  Stream t;
  t.arrive();
  for (const core::WorkId id : {0u, 1u, 1u}) t.stream.on_write_completion({.id = id}, t.verdict);
  EXPECT_FALSE(t.verdict.ok());
}

TEST(Judges, SeeAnImmediateBeforeItsData) {
  Stream s;
  s.stream.on_receive_completion(
      {.kind = core::WorkKind::kReceive, .length = 4, .immediate = wire::Immediate(7)}, s.verdict);
  EXPECT_FALSE(s.verdict.ok());
}

// What must hold whoever is on the path.
TEST(Judges, SeeUnderAttackThatAReceiveCompletesTwice) {
  MemoryChecker memory{"memory", 8};
  StreamChecker stream("stream", memory, Rules::kUnderAttack);
  Verdict verdict;
  stream.receive_posted();
  const core::Completion anything{.kind = core::WorkKind::kReceive, .length = 99};
  stream.on_receive_completion(anything, verdict);
  EXPECT_TRUE(verdict.ok());
  stream.on_receive_completion(anything, verdict);
  EXPECT_FALSE(verdict.ok());
}

}  // namespace
}  // namespace openmrc::test
