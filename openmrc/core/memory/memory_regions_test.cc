// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/core/memory/memory_regions.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "openmrc/base/rng.h"

namespace openmrc::core {
namespace {

constexpr ProtectionDomain kDomain{7};
constexpr std::uint64_t kTop = std::numeric_limits<std::uint64_t>::max();

constexpr SecretNumbers::Key kSecret{1, 2};

// With keys that count and with keys that are drawn.
class MemoryRegionsTest : public testing::TestWithParam<std::optional<SecretNumbers::Key>> {
 protected:
  RKey add(const MemoryRegion& region) {
    const auto key = regions_.add(region);
    EXPECT_TRUE(key);
    return key.value_or(RKey{});
  }
  RKey add_at(std::uint64_t address, std::uint64_t length) {
    return add({.domain = kDomain, .address = address, .length = length, .bytes = memory_.data()});
  }
  [[nodiscard]] std::optional<AccessError> refusal(RKey key, std::uint64_t address,
                                                   std::uint64_t length) const {
    const auto found = regions_.find_writable(
        {.key = key, .domain = kDomain, .address = address, .length = length});
    return found ? std::nullopt : std::optional(found.error());
  }
  [[nodiscard]] std::byte* found(RKey key, std::uint64_t address, std::uint64_t length) const {
    const auto found = regions_.find_writable(
        {.key = key, .domain = kDomain, .address = address, .length = length});
    EXPECT_TRUE(found);
    return found.value_or(nullptr);
  }

  std::array<std::byte, 4096> memory_{};
  MemoryRegions regions_{100, GetParam()};
};
INSTANTIATE_TEST_SUITE_P(Keys, MemoryRegionsTest, testing::Values(std::nullopt, kSecret),
                         [](const auto& keys) { return keys.param ? "Drawn" : "Counted"; });

TEST_P(MemoryRegionsTest, FindsTheByteThatAnAddressNames) {
  const RKey key = add_at(0x7f0000001000, 4096);
  EXPECT_EQ(found(key, 0x7f0000001000, 1), memory_.data());
  EXPECT_EQ(found(key, 0x7f0000001000, 4096), memory_.data());
  EXPECT_EQ(found(key, 0x7f0000001fff, 1), memory_.data() + 4095);
  EXPECT_EQ(found(key, 0x7f0000001100, 256), memory_.data() + 0x100);
}

TEST_P(MemoryRegionsTest, ARegionWithoutBytesIsCheckedTheSame) {
  const RKey key = add({.domain = kDomain, .address = 1'000, .length = 10});
  EXPECT_EQ(found(key, 1'005, 5), nullptr);
  EXPECT_EQ(refusal(key, 1'005, 6), AccessError::kOutOfBounds);
}

// MRC 6.3 (QP-32)
TEST_P(MemoryRegionsTest, RefusesWhatLiesOutside) {
  const RKey key = add_at(1'000, 100);
  EXPECT_EQ(refusal(key, 999, 1), AccessError::kOutOfBounds);
  EXPECT_EQ(refusal(key, 999, 2), AccessError::kOutOfBounds);
  EXPECT_EQ(refusal(key, 1'100, 1), AccessError::kOutOfBounds);
  EXPECT_EQ(refusal(key, 1'099, 2), AccessError::kOutOfBounds);
  EXPECT_EQ(refusal(key, 1'000, 101), AccessError::kOutOfBounds);
  EXPECT_EQ(refusal(key, 0, kTop), AccessError::kOutOfBounds);
}

// MRC 6.3 (QP-32): address and length come from the peer.
TEST_P(MemoryRegionsTest, RefusesWhatOnlyFitsWhenAddressesWrap) {
  const RKey low = add_at(0, 100);
  const RKey middle = add_at(1'000, 100);
  const RKey high = add_at(kTop - 100, 100);
  for (const RKey key : {low, middle, high}) {
    for (const std::uint64_t address :
         {std::uint64_t{0}, std::uint64_t{50}, std::uint64_t{1'050}, kTop - 50, kTop}) {
      for (const std::uint64_t length : {kTop, kTop - 49, kTop - 1'049, std::uint64_t{1} << 63}) {
        EXPECT_EQ(refusal(key, address, length), AccessError::kOutOfBounds)
            << key.raw() << " " << address << " " << length;
      }
    }
  }
  EXPECT_EQ(refusal(high, kTop, 1), AccessError::kOutOfBounds);
  EXPECT_EQ(refusal(low, kTop, 2), AccessError::kOutOfBounds);
  EXPECT_EQ(found(high, kTop - 1, 1), memory_.data() + 99);
}

// MRC 6.3 (QP-32)
TEST_P(MemoryRegionsTest, AQueuePairOfAnotherDomainIsRefused) {
  const RKey key = add_at(0, 100);
  const auto access = regions_.find_writable(
      {.key = key, .domain = ProtectionDomain(8), .address = 0, .length = 1});
  EXPECT_TRUE(access == failure(AccessError::kOtherDomain));
}

// MRC 6.3 (QP-32)
TEST_P(MemoryRegionsTest, MemoryThatPeersMayNotWriteToIsRefused) {
  const RKey key = add({.domain = kDomain, .address = 0, .length = 100, .remote_write = false});
  EXPECT_EQ(refusal(key, 0, 1), AccessError::kNotWritable);
}

TEST_P(MemoryRegionsTest, NoKeyIsZeroAndZeroOpensNothing) {
  EXPECT_EQ(refusal(RKey(0), 0, 1), AccessError::kUnknownKey);
  for (int i = 0; i < 100; ++i) EXPECT_NE(add_at(0, 1), RKey(0));
  EXPECT_EQ(refusal(RKey(0), 0, 1), AccessError::kUnknownKey);
  EXPECT_FALSE(regions_.remove(RKey(0)));
}

TEST_P(MemoryRegionsTest, KeysThatWereNeverGivenOpenNothing) {
  std::set<RKey> keys;
  for (int i = 0; i < 20; ++i) keys.insert(add_at(0, 100));
  EXPECT_EQ(keys.size(), 20u);
  const auto opens = [&](RKey key) { return !refusal(key, 0, 1).has_value(); };
  for (std::uint32_t raw = 0; raw < 1u << 16; ++raw) {
    ASSERT_EQ(opens(RKey(raw)), keys.contains(RKey(raw))) << raw;
    for (const RKey near : keys) {
      const RKey key(near.raw() ^ raw);
      ASSERT_EQ(opens(key), keys.contains(key)) << key.raw();
    }
  }
  EXPECT_EQ(refusal(RKey(RKey::kMax), 0, 1), AccessError::kUnknownKey);
  EXPECT_FALSE(regions_.remove(RKey(RKey::kMax)));
}

TEST_P(MemoryRegionsTest, AKeyOpensNothingAfterItsRegionIsGone) {
  const RKey key = add_at(0, 100);
  EXPECT_TRUE(regions_.remove(key));
  EXPECT_EQ(refusal(key, 0, 1), AccessError::kUnknownKey);
  EXPECT_FALSE(regions_.remove(key));
}

// SEC-2
TEST_P(MemoryRegionsTest, TheKeyOfARegionThatIsGoneDoesNotOpenItsSuccessors) {
  const RKey first = add_at(0, 100);
  RKey last = first;
  for (int i = 0; i < 254; ++i) {
    ASSERT_TRUE(regions_.remove(last));
    const RKey successor = add_at(0, 100);
    ASSERT_NE(successor, last);
    ASSERT_EQ(refusal(first, 0, 1), AccessError::kUnknownKey) << "successor " << i;
    ASSERT_EQ(refusal(last, 0, 1), AccessError::kUnknownKey) << "successor " << i;
    last = successor;
  }
}

TEST_P(MemoryRegionsTest, RefusesToRegisterWhatIsNoRegion) {
  const auto refuses = [&](std::uint64_t address, std::uint64_t length, RegisterError error) {
    return regions_.add({.address = address, .length = length}) == failure(error);
  };
  EXPECT_TRUE(refuses(5, 0, RegisterError::kEmpty));
  EXPECT_TRUE(refuses(kTop, 1, RegisterError::kAddressWraps));
  EXPECT_TRUE(refuses(1, kTop, RegisterError::kAddressWraps));
  EXPECT_TRUE(regions_.add({.address = 0, .length = kTop}));
}

TEST_P(MemoryRegionsTest, HoldsAsManyAsItsLimit) {
  std::vector<RKey> keys;
  for (int i = 0; i < 100; ++i) keys.push_back(add_at(0, 1));
  EXPECT_TRUE(regions_.add({.address = 0, .length = 1}) == failure(RegisterError::kTooManyRegions));
  EXPECT_TRUE(regions_.remove(keys[50]));
  EXPECT_TRUE(regions_.add({.address = 0, .length = 1}));
  EXPECT_FALSE(regions_.add({.address = 0, .length = 1}));
}

// What one key shows of others: nothing of their tags, 25 bits here (SEC-2).
TEST(SecretKeys, AreDifferentInAnotherEndpointAndSpreadOverAllBits) {
  constexpr int kKeys = 100;
  MemoryRegions one(kKeys, kSecret);
  MemoryRegions other(kKeys, SecretNumbers::Key{1, 3});
  std::set<RKey> keys;
  std::array<int, 32> ones{};
  for (int i = 0; i < kKeys; ++i) {
    for (MemoryRegions* regions : {&one, &other}) {
      const RKey key = *regions->add({.address = 0, .length = 1});
      keys.insert(key);
      for (std::size_t bit = 0; bit < ones.size(); ++bit)
        ones[bit] += (key.raw() >> bit & 1) != 0 ? 1 : 0;
    }
  }
  EXPECT_EQ(keys.size(), 2u * kKeys);
  for (const int count : ones) EXPECT_NEAR(count, kKeys, kKeys / 2);
}

// The rule in numbers so small that nothing wraps.
Result<std::byte*, AccessError> written_to(const MemoryRegion& region,
                                           const MemoryRegions::Access& access) {
  if (region.domain != access.domain) return failure(AccessError::kOtherDomain);
  if (!region.remote_write) return failure(AccessError::kNotWritable);
  if (access.address < region.address ||
      access.address + access.length > region.address + region.length) {
    return failure(AccessError::kOutOfBounds);
  }
  return region.bytes + (access.address - region.address);
}

TEST_P(MemoryRegionsTest, AgreesWithAMap) {
  std::map<RKey, MemoryRegion> model;
  std::vector<RKey> ever;
  Rng rng(1);
  for (int i = 0; i < 5'000; ++i) {
    if (rng.chance({11, 20})) {
      const MemoryRegion region{
          .domain = ProtectionDomain(static_cast<std::uint32_t>(rng.below(2))),
          .address = rng.below(64),
          .length = rng.between(1, 64),
          .bytes = memory_.data() + rng.below(100),
          .remote_write = rng.chance({3, 4})};
      const auto key = regions_.add(region);
      ASSERT_EQ(key.has_value(), model.size() < 100);
      if (key) {
        ASSERT_TRUE(model.emplace(*key, region).second);
        ever.push_back(*key);
      }
    } else if (!ever.empty()) {
      const RKey key = ever[rng.below(ever.size())];
      ASSERT_EQ(regions_.remove(key), model.erase(key) > 0);
    }
    if (ever.empty()) continue;
    const MemoryRegions::Access access{
        .key = ever[ever.size() - 1 - rng.below(std::min<std::size_t>(ever.size(), 150))],
        .domain = ProtectionDomain(static_cast<std::uint32_t>(rng.below(2))),
        .address = rng.below(130),
        .length = rng.below(70)};
    const auto known = model.find(access.key);
    Result<std::byte*, AccessError> expected = failure(AccessError::kUnknownKey);
    if (known != model.end()) expected = written_to(known->second, access);
    ASSERT_TRUE(regions_.find_writable(access) == expected) << "step " << i;
  }
}

}  // namespace
}  // namespace openmrc::core
