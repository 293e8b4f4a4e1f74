// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/wire/header/ethernet.h"

#include <gtest/gtest.h>

#include "tests/support/hex.h"

namespace openmrc::wire {
namespace {

constexpr std::string_view kGolden =
    "02aabbccddee"  // destination 02:aa:bb:cc:dd:ee
    "024466882211"  // source 02:44:66:88:22:11
    "86dd";         // IPv6

TEST(Ethernet, WritesTheGoldenBytes) {
  const Ethernet ethernet{.destination = MacAddress(0x02aabbccddee),
                          .source = MacAddress(0x024466882211),
                          .type = EtherType::kIpv6};
  EXPECT_EQ(test::write_header(ethernet), test::from_hex(kGolden));
}

TEST(Ethernet, ReadsTheGoldenBytes) {
  test::with_view<Ethernet>(kGolden, [](EthernetView view) {
    EXPECT_EQ(view.get<EthernetLayout::Destination>(), 0x02aabbccddeeu);
    EXPECT_EQ(view.get<EthernetLayout::Source>(), 0x024466882211u);
    EXPECT_EQ(view.get<EthernetLayout::Type>(), 0x86dd);
  });
}

TEST(Ethernet, IsFourteenBytesLong) { EXPECT_EQ(EthernetView::kSize, 14u); }

}  // namespace
}  // namespace openmrc::wire
