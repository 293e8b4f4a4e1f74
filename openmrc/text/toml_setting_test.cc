// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/text/toml_setting.h"

#include <gtest/gtest.h>

#include <string>

namespace openmrc::text {
namespace {

constexpr std::string_view kFile =
    "seed = 1\n[transport]\nevs = 4\n[[fault]]\nrate = '1 %'\n[[fault]]\nrate = '2 %'\n";

struct Changed {
  Table file;
  std::string error{};
};
Changed with(std::string_view setting) {
  Changed changed{.file = *parse_toml(kFile)};
  if (const auto applied = apply_setting(changed.file, setting); !applied) {
    changed.error = to_string(applied.error());
  }
  return changed;
}

const Value& section_value(const Table& file, std::string_view section, std::string_view key) {
  return file.find(section)->value.as<Table>()->find(key)->value;
}

TEST(TomlSetting, ReplacesAValue) {
  const Changed changed = with("transport.evs=256");
  EXPECT_EQ(changed.error, "");
  EXPECT_EQ(shown(section_value(changed.file, "transport", "evs")), "256");
  EXPECT_EQ(changed.file.find("transport")->value.as<Table>()->find("evs")->line, 0U);
  EXPECT_EQ(shown(with("seed = 7").file.find("seed")->value), "7");
}

TEST(TomlSetting, AddsWhatIsMissing) {
  const Changed changed = with("switches.ecn=false");
  EXPECT_EQ(changed.error, "");
  EXPECT_EQ(shown(section_value(changed.file, "switches", "ecn")), "false");
  EXPECT_EQ(shown(section_value(with("transport.burst=8").file, "transport", "burst")), "8");
}

TEST(TomlSetting, ReachesIntoListsByPlace) {
  const Changed changed = with("fault.1.rate=\"5 %\"");
  EXPECT_EQ(changed.error, "");
  const List& faults = *changed.file.find("fault")->value.as<List>();
  EXPECT_EQ(shown(faults[0].as<Table>()->find("rate")->value), "\"1 %\"");
  EXPECT_EQ(shown(faults[1].as<Table>()->find("rate")->value), "\"5 %\"");
}

TEST(TomlSetting, ReplacesWholeListsAndSections) {
  EXPECT_TRUE(with("fault=[]").file.find("fault")->value.as<List>()->empty());
  const Changed changed = with("transport={kind='rc'}");
  EXPECT_EQ(changed.file.find("transport")->value.as<Table>()->entries.size(), 1U);
}

TEST(TomlSetting, SaysWhatIsWrong) {
  EXPECT_EQ(with("transport.evs").error,
            "invalid setting 'transport.evs': expected KEY=VALUE, e.g. transport.evs=64");
  EXPECT_EQ(with("seed=1\nevs=2").error,
            "invalid setting 'seed=1\nevs=2': expected KEY=VALUE, e.g. transport.evs=64");
  EXPECT_EQ(with("workload.bytes=8 MiB").error,
            "workload.bytes: '8 MiB' is not a TOML value: a string needs quotes, e.g. \"8 MiB\"");
  EXPECT_EQ(with("seed=").error,
            "seed: '' is not a TOML value: a string needs quotes, e.g. \"8 MiB\"");
  EXPECT_EQ(with("fault.2.rate=0").error,
            "fault.2.rate: the list has 2 elements, numbered from 0, and no '2'");
  EXPECT_EQ(with("fault.rate=0").error,
            "fault.rate: the list has 2 elements, numbered from 0, and no 'rate'");
  EXPECT_EQ(with("seed.evs=0").error, "seed.evs: there is no 'evs' in 1");
  EXPECT_TRUE(with("a b=0").error.starts_with("a b: invalid TOML: ")) << with("a b=0").error;
}

}  // namespace
}  // namespace openmrc::text
