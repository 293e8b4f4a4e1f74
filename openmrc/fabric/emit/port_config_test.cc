// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/fabric/emit/port_config.h"

#include <gtest/gtest.h>

#include <string>

namespace openmrc::fabric {
namespace {

TEST(PortConfig, ColumnsAreReadByTheirNames) {
  const auto ports = parse_port_config(
      "# name  lanes    alias  index  speed  other\n"
      "Ethernet0  1,2  Eth1/1  1  100000  x\n"
      "\n"
      "# a comment\n"
      "Ethernet4  3,4  Eth1/2\n");
  ASSERT_TRUE(ports);
  EXPECT_EQ(ports->size(), 2U);
  using Fields = PortConfig::mapped_type;
  EXPECT_EQ(ports->at("Ethernet0"),
            (Fields{{"lanes", "1,2"}, {"alias", "Eth1/1"}, {"index", "1"}, {"speed", "100000"}}));
  EXPECT_EQ(ports->at("Ethernet4"), (Fields{{"lanes", "3,4"}, {"alias", "Eth1/2"}}));
}

TEST(PortConfig, MistakesAreNamedWithTheirLine) {
  const auto error = [](const std::string& text) { return parse_port_config(text).error(); };
  EXPECT_EQ(error("Ethernet0 1\n").line, 1U);
  EXPECT_EQ(error("# name lanes\nEthernet0 1\nEthernet0 2\n").line, 3U);
  EXPECT_EQ(error("# name lanes\nEthernet0 \"1\n").line, 2U);
  EXPECT_EQ(error("").message, "names no port");
  EXPECT_FALSE(parse_port_config(std::string(kPortConfigBytesMax + 1, 'x')));
}

}  // namespace
}  // namespace openmrc::fabric
