// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/core/endpoint/request_limiter.h"

#include <gtest/gtest.h>

namespace openmrc::core {
namespace {

constexpr SecretNumbers::Key kKey{1, 2};

wire::Ipv6Address source(std::uint8_t number) {
  wire::Ipv6Address address;
  address.bytes[15] = std::byte{number};
  return address;
}

class Limiter : public testing::Test {
 protected:
  // How many of `count` requests at once are allowed.
  int allowed(const wire::Ipv6Address& from, int count) {
    int sum = 0;
    for (int i = 0; i < count; ++i) sum += limiter_.allows(from, now_) ? 1 : 0;
    return sum;
  }

  RequestLimiter limiter_{kKey};
  Instant now_{seconds(1000).raw()};
};

// SEC-19
TEST_F(Limiter, AllowsABurstAndThenOneInEachInterval) {
  EXPECT_EQ(allowed(source(1), 5000), static_cast<int>(RequestLimiter::kBurst));
  now_ = now_ + RequestLimiter::kInterval - nanoseconds(1);
  EXPECT_EQ(allowed(source(1), 1000), 0);
  now_ = now_ + nanoseconds(1);
  EXPECT_EQ(allowed(source(1), 1000), 1);
  now_ = now_ + RequestLimiter::kInterval * 10;
  EXPECT_EQ(allowed(source(1), 1000), 10);
  now_ = now_ + seconds(60);
  EXPECT_EQ(allowed(source(1), 5000), static_cast<int>(RequestLimiter::kBurst)) << "not more";
}

// SEC-19
TEST_F(Limiter, OneSourceDoesNotTakeFromAnother) {
  (void)allowed(source(1), 5000);
  EXPECT_EQ(allowed(source(2), 10), 10);
}

// However many sources there seem to be.
TEST_F(Limiter, AllSourcesTogetherAreLimited) {
  int sum = 0;
  for (unsigned i = 0; i < 1u << 16; ++i) {
    wire::Ipv6Address from = source(static_cast<std::uint8_t>(i));
    from.bytes[14] = static_cast<std::byte>(i >> 8);
    sum += allowed(from, 100);
  }
  EXPECT_EQ(sum, static_cast<int>(RequestLimiter::kBuckets * RequestLimiter::kBurst));
}

}  // namespace
}  // namespace openmrc::core
