// SPDX-License-Identifier: BSD-3-Clause
// Mutated lines to everything that a server of mrc perf reads: each is understood or refused with a
// reason, none throws.
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "openmrc/base/rng.h"
#include "openmrc/host/exchange.h"
#include "openmrc/host/exchange_handshake.h"
#include "tools/mrc/perf/plan.h"

namespace openmrc::tools {
namespace {

constexpr std::size_t kLines = 20'000;
constexpr std::uint64_t kSeed = 13;

const std::array<std::string, 6>& good_lines() {
  static const std::array<std::string, 6> lines{
      to_json(PerfPlan{}),
      R"([{"openmrc":1,"kind":"queue pair","host":"h0","qpn":9,"psn":1,"addresses":["fd00::1"],)"
      R"("fabric_host":3,"mtu":4096,"mpr":8,"max_wimm":128}])",
      R"([{"openmrc":1,"kind":"memory region","address":4096,"length":65600,"rkey":257}])",
      R"({"error":"no room"})",
      R"({"openmrc_auth":1,"nonce":")" + std::string(64, 'a') + "\"}",
      R"({"openmrc_auth":1,"proof":")" + std::string(64, 'a') + "\"}",
  };
  return lines;
}

constexpr std::array<std::string_view, 14> kPieces{
    "\"x\"", "5",  "-1",      "1e99", "null", "true", "{}", "[]", "[[[[", "99999999999999999999",
    "0.5",   "\"", "\\u0000", "\xff"};

// One to four changes: a value of another type, a byte changed, a piece cut out or doubled.
std::string mutated(Rng& random) {
  std::string line = good_lines()[random.below(good_lines().size())];
  const std::uint64_t changes = 1 + random.below(4);
  for (std::uint64_t i = 0; i < changes && !line.empty(); ++i) {
    const std::size_t at = random.below(line.size());
    const std::size_t size = 1 + random.below(12);
    const std::size_t value = line.find(':', at);
    switch (random.below(5)) {
      case 0: line[at] = static_cast<char>(random.below(256)); break;
      case 1: line.erase(at, size); break;
      case 2: line.insert(at, line.substr(at, size)); break;
      case 3: line.insert(at, kPieces[random.below(kPieces.size())]); break;
      default:
        if (value == std::string::npos) break;
        line.replace(value + 1, line.find_first_of(",}", value) - value - 1,
                     kPieces[random.below(kPieces.size())]);
    }
  }
  return line;
}

template <class T>
bool has_reason(const Result<T, host::ExchangeError>& read) {
  return read || !read.error().what.empty();
}

Result<void, host::ExchangeError> check_plan(const std::string& line) {
  if (auto plan = plan_from(line); !plan) return failure(std::move(plan.error()));
  return {};
}

TEST(PerfLines, NeverThrow) {
  const host::ExchangeSecret secret("0123456789abcdef");
  const host::HandshakeSettings open{.lines = 3, .check_first = check_plan};
  const host::HandshakeSettings closed{.lines = 3, .secret = &secret, .check_first = {}};
  Rng random(kSeed);
  std::size_t understood = 0;
  for (std::size_t i = 0; i < kLines; ++i) {
    const std::string line = mutated(random);
    const auto plan = plan_from(line);
    if (plan) ++understood;
    ASSERT_TRUE(has_reason(plan)) << line;
    ASSERT_TRUE(has_reason(host::connection_infos_from(line))) << line;
    ASSERT_TRUE(has_reason(host::remote_memories_from(line))) << line;
    ASSERT_TRUE(has_reason(host::ServerHandshake(open, {}).take(line))) << line;
    ASSERT_TRUE(has_reason(host::ServerHandshake(closed, {}).take(line))) << line;
    (void)host::refusal_in(line);
  }
  EXPECT_GT(understood, kLines / 1000) << "mutations reach what lies behind the first check";
  EXPECT_LT(understood, kLines / 2);
}

TEST(PerfPlan, ComesBackAsItWas) {
  const PerfPlan plan{.test = PerfTest::kWriteLatency,
                      .size = 2,
                      .iterations = 7,
                      .seconds = 2.5,
                      .queue_pairs = 3,
                      .depth = 4,
                      .verify = true,
                      .both_ways = true,
                      .sleeps = true,
                      .all_sizes = true};
  EXPECT_EQ(plan_from(to_json(plan)), plan);
}

TEST(PerfPlan, IsRefusedWithAReason) {
  const std::pair<std::string, std::string_view> wrong[]{
      {R"({"openmrc_perf":"x"})", "openmrc_perf must be a whole number"},
      {R"({"openmrc_perf":1})", "incompatible mrc perf version"},
      {R"({"error":5})", "has no openmrc_perf"},
      {R"({"openmrc_perf":2,"test":"read-bw"})", "unknown test \"read-bw\""},
      {R"({"openmrc_perf":2,"test":"write-bw","size":0})", "size must be a whole number, 1 to"},
  };
  for (const auto& [line, reason] : wrong) {
    const auto plan = plan_from(line);
    ASSERT_FALSE(plan) << line;
    EXPECT_NE(to_string(plan.error()).find(reason), std::string::npos) << to_string(plan.error());
  }
}

TEST(PerfPlan, HasALimitOfMemory) {
  PerfPlan plan{.size = 32 << 20, .depth = 120, .verify = true};
  const auto refused = check_memory(plan, kMemoryMaxDefault);
  ASSERT_FALSE(refused);
  EXPECT_NE(to_string(refused.error()).find("--memory-max allows (1GiB)"), std::string::npos)
      << to_string(refused.error());
  EXPECT_TRUE(check_memory(plan, layout_of(plan).bytes()));
  plan.verify = false;
  EXPECT_TRUE(check_memory(plan, kMemoryMaxDefault));
  EXPECT_FALSE(check_memory(
      {.size = kMessageSizeMax, .queue_pairs = kQueuePairsMax, .depth = kDepthMax, .verify = true},
      std::uint64_t{1} << 40));
}

}  // namespace
}  // namespace openmrc::tools
