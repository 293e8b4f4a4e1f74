// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/core/endpoint/queue_pair_table.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace openmrc::core {
namespace {

constexpr SecretNumbers::Key kSecret{1, 2};
constexpr Qpn kFirst{0x40000};
constexpr std::size_t kNumbers = 1u << 18;

std::vector<Qpn> make(QueuePairTable& table, int count) {
  std::vector<Qpn> numbers;
  for (int i = 0; i < count; ++i) numbers.push_back(table.create()->connection.local);
  return numbers;
}

// SEC-7
TEST(QueuePairTable, GivesNumbersInOrderWithoutASecret) {
  QueuePairTable table({.first = kFirst, .count = 10, .secret = {}}, 10);
  EXPECT_EQ(make(table, 3), (std::vector{Qpn(0x40000), Qpn(0x40001), Qpn(0x40002)}));
}

// A number in a hundred quarters of the range: what is drawn is anywhere in it (SEC-1).
TEST(QueuePairTable, DrawsNumbersFromTheWholeRangeWithASecret) {
  QueuePairTable table({.first = kFirst, .count = kNumbers, .secret = kSecret}, 1000);
  std::set<Qpn> different;
  std::vector<int> quarters(4);
  for (const Qpn qpn : make(table, 1000)) {
    different.insert(qpn);
    ASSERT_GE(qpn, kFirst);
    ++quarters.at((qpn.raw() - kFirst.raw()) / (kNumbers / 4));
    EXPECT_EQ(table.find(qpn)->connection.local, qpn);
  }
  EXPECT_EQ(different.size(), 1000u);
  for (const int count : quarters) EXPECT_NEAR(count, 250, 60);
}

// SEC-1
TEST(QueuePairTable, TablesWithDifferentSecretsGiveDifferentNumbers) {
  QueuePairTable one({.first = kFirst, .count = kNumbers, .secret = kSecret}, 10);
  QueuePairTable other({.first = kFirst, .count = kNumbers, .secret = SecretNumbers::Key{1, 3}},
                       10);
  EXPECT_NE(make(one, 10), make(other, 10));
}

TEST(QueuePairTable, HoldsAsManyAsItsLimitUnderAnyNumbers) {
  for (const bool is_drawn : {false, true}) {
    const auto secret = is_drawn ? std::optional(kSecret) : std::nullopt;
    QueuePairTable table({.first = kFirst, .count = 100, .secret = secret}, 100);
    const std::vector<Qpn> numbers = make(table, 100);
    EXPECT_EQ(std::set(numbers.begin(), numbers.end()).size(), 100u);
    EXPECT_EQ(table.create(), nullptr);
    table.release(table.find(numbers[50])->connection.index);
    EXPECT_EQ(table.find(numbers[50]), nullptr);
    EXPECT_EQ(table.create()->connection.local, numbers[50]) << "the only one that is free";
  }
}

}  // namespace
}  // namespace openmrc::core
