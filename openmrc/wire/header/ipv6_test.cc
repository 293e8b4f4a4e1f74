// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/wire/header/ipv6.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/support/hex.h"

namespace openmrc::wire {
namespace {

using test::check_header;
using test::from_hex;
using test::read_header;
using test::write_header;

constexpr std::string_view kGolden =
    "62af 1234"                                 // version 6; DSCP 10, ECT(0); flow label f1234
    "0040 11 40"                                // 64 bytes follow, UDP, hop limit 64
    "fd00 0001 0000 0000 0000 0000 0000 0001"   // fd00:1::1
    "fd00 0002 0000 0000 0000 0000 0000 0a0b";  // fd00:2::a0b

constexpr Ipv6 kHeader{.dscp = Dscp(10),
                       .ecn = Ecn::kCapable0,
                       .flow_label = 0xf1234,
                       .payload_length = 64,
                       .next_header = IpProtocol::kUdp,
                       .hop_limit = 64,
                       .source = Ipv6Address::of({0xfd00, 1, 0, 0, 0, 0, 0, 1}),
                       .destination = Ipv6Address::of({0xfd00, 2, 0, 0, 0, 0, 0, 0xa0b})};

std::string with_first_words(std::string_view words) {
  return std::string(words) + "fd000001000000000000000000000001 fd000002000000000000000000000a0b";
}

TEST(Ipv6, ReadsTheGoldenBytes) {
  EXPECT_TRUE(check_header<Ipv6>(kGolden));
  EXPECT_EQ(read_header<Ipv6>(kGolden), kHeader);
}

TEST(Ipv6, WritesTheGoldenBytes) { EXPECT_EQ(write_header(kHeader), from_hex(kGolden)); }

TEST(Ipv6, TellsTrafficClassAndFlowLabelApart) {
  const Ipv6 all_class = read_header<Ipv6>(with_first_words("6ff00000 00001140"));
  EXPECT_EQ(all_class.dscp, Dscp(63));
  EXPECT_EQ(all_class.ecn, Ecn::kCongested);
  EXPECT_EQ(all_class.flow_label, 0u);
  const Ipv6 all_label = read_header<Ipv6>(with_first_words("600fffff 00001140"));
  EXPECT_EQ(all_label.dscp, Dscp(0));
  EXPECT_EQ(all_label.ecn, Ecn::kNotCapable);
  EXPECT_EQ(all_label.flow_label, 0xfffffu);
}

// WIRE-10
TEST(Ipv6, MayCarryUdpOrIpv6OrARoutingHeader) {
  EXPECT_TRUE(check_header<Ipv6>(with_first_words("60000000 0040 11 40")));
  EXPECT_TRUE(check_header<Ipv6>(with_first_words("60000000 0040 29 40")));
  EXPECT_TRUE(check_header<Ipv6>(with_first_words("60000000 0040 2b 40")));
}

// WIRE-10
TEST(Ipv6, RejectsAnotherNextHeader) {
  EXPECT_EQ(check_header<Ipv6>(with_first_words("60000000 0040 06 40")),
            failure(Reject::kIpv6NextHeaderUnknown));
  EXPECT_EQ(check_header<Ipv6>(with_first_words("60000000 0040 00 40")),
            failure(Reject::kIpv6NextHeaderUnknown));
}

TEST(Ipv6, RejectsAnotherVersion) {
  EXPECT_EQ(check_header<Ipv6>(with_first_words("40000000 0040 11 40")),
            failure(Reject::kIpVersionUnknown));
}

}  // namespace
}  // namespace openmrc::wire
