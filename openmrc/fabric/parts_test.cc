// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/fabric/parts.h"

#include <gtest/gtest.h>

#include <string>

namespace openmrc::fabric {
namespace {

const std::string kText = R"(currency = "EUR"
prices_from = "a test"
[switch]
tbps = 51.2
watts = 913
price = 200_000
[[cable]]
name = "copper"
optical = false
gbps = 800
reach_m = 2
watts = 0.1
end_price = 0
price = 200
[[cable]]
name = "optics"
optical = true
gbps = 800
reach_m = 100
watts = 17
end_price = 1250
price = 100
[floor]
hosts_per_cabinet = 16
switches_per_cabinet = 12
racks_per_line = 8
cabinet_m = 0.6
line_m = 2.4
in_cabinet_m = 2
to_tray_m = 2.5
)";

std::string replaced(const std::string& what, const std::string& by) {
  std::string text = kText;
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), by);
}

// All that is wrong, a line each.
std::string errors_of(const std::string& text) {
  const auto parts = parse_parts_toml(text);
  EXPECT_FALSE(parts) << text;
  return parts ? "" : to_string(parts.error());
}

TEST(Parts, AreReadFromAFile) {
  const auto parts = parse_parts_toml(kText);
  ASSERT_TRUE(parts) << to_string(parts.error());
  EXPECT_EQ(parts->currency, "EUR");
  EXPECT_EQ(parts->switch_part.tbps, 51.2);
  EXPECT_EQ(parts->switch_part.price, 200'000);
  ASSERT_EQ(parts->cables.size(), 2U);
  EXPECT_EQ(parts->cables[0].watts, 0.1);
  EXPECT_EQ(parts->cables[1].end_price, 1250);
  EXPECT_EQ(&parts->optics(), &parts->cables[1]);
  EXPECT_EQ(parts->floor.switches_per_cabinet, 12U);
  EXPECT_EQ(parts->floor.to_tray_m, 2.5);
}

TEST(Parts, WhatIsMissingIsNamed) {
  for (const std::string line : {"tbps = 51.2\n", "watts = 0.1\n", "reach_m = 100\n",
                                 "currency = \"EUR\"\n", "line_m = 2.4\n", "optical = true\n"}) {
    const std::string key = line.substr(0, line.find(' '));
    EXPECT_NE(errors_of(replaced(line, "")).find(key), std::string::npos) << key;
  }
  EXPECT_NE(errors_of("").find("switch"), std::string::npos);
}

TEST(Parts, WhatCannotBeIsRefused) {
  for (const std::string wrong : {"-1", "0", "nan", "inf", "\"much\"", "true", "1e13"}) {
    EXPECT_NE(errors_of(replaced("reach_m = 2", "reach_m = " + wrong)).find("reach_m"),
              std::string::npos)
        << wrong;
  }
  EXPECT_TRUE(parse_parts_toml(replaced("watts = 0.1", "watts = 0"))) << "nothing is possible";
  EXPECT_NE(errors_of(replaced("racks_per_line = 8", "racks_per_line = 0")).find("racks_per_line"),
            std::string::npos);
}

TEST(Parts, UnknownKeysAndNoOpticsAreErrors) {
  EXPECT_NE(errors_of(replaced("watts = 913", "watts = 913\nwats = 1")).find("wats"),
            std::string::npos);
  EXPECT_NE(errors_of(replaced("optical = true", "optical = false")).find("optical = true"),
            std::string::npos);
}

TEST(Parts, AllMistakesAreReportedAtOnce) {
  std::string text = replaced("tbps = 51.2", "tbps = -1");
  text.replace(text.find("line_m = 2.4"), 12, "line_m = -24");
  const std::string errors = errors_of(text);
  EXPECT_NE(errors.find("tbps"), std::string::npos) << errors;
  EXPECT_NE(errors.find("line_m"), std::string::npos) << errors;
}

}  // namespace
}  // namespace openmrc::fabric
