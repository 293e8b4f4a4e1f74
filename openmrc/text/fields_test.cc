// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/text/fields.h"

#include <gtest/gtest.h>

#include <array>
#include <optional>

#include "openmrc/text/field_value.h"

namespace openmrc::text {
namespace {

enum class Mode : std::uint8_t { kSlow, kFast };
constexpr std::array<std::string_view, 2> kModes{"slow", "fast"};

struct Settings {
  std::uint8_t evs = 8;
  std::uint16_t key = 0xffff;
  Duration timeout = milliseconds(5);
  Picoseconds delay{};
  std::size_t window = 65'536;
  std::int64_t rate = 10'000'000'000;
  std::int64_t link = 400'000'000'000;
  double drop = 0;
  std::uint32_t loss = 0;
  bool trimming = true;
  std::string name = "h0";
  Mode mode = Mode::kFast;
  std::optional<std::uint32_t> plane{};
};

std::vector<Field> fields_of(Settings& settings) {
  std::vector<Field> fields;
  Section section(fields, "test");
  section.whole("evs", settings.evs, 1, 16).description = "Entropy values.";
  section.hex("key", settings.key, 0, 0xffff);
  section.duration("timeout", settings.timeout, microseconds(1), seconds(1));
  section.duration("delay", settings.delay);
  section.bytes("window", settings.window, 1024, 1 << 20);
  section.rate("rate", settings.rate, 1'000'000, 1'000'000'000'000);
  section.gbps("link", settings.link, 1'000'000'000'000'000);
  section.share("drop", settings.drop);
  section.share("loss", settings.loss);
  section.flag("trimming", settings.trimming);
  section.text("name", settings.name);
  section.word("mode", settings.mode, kModes);
  section.whole("plane", settings.plane).otherwise = "all";
  return fields;
}

class Fields : public ::testing::Test {
 protected:
  Field& field(std::string_view name) { return *std::ranges::find(fields_, name, &Field::name); }
  // Empty if it was right.
  template <class T>
  std::string set(std::string_view name, T value) {
    const auto result = set_field(field(name), Value{.data = value, .line = 1});
    return result ? "" : result.error();
  }
  std::string set(std::string_view name, const char* value) {
    return set(name, std::string(value));
  }
  std::string set(std::string_view name, int value) { return set(name, std::int64_t{value}); }

  Settings settings_;
  std::vector<Field> fields_ = fields_of(settings_);
};

TEST_F(Fields, SetTheMembersOfAnyStruct) {
  EXPECT_EQ(set("evs", 16), "");
  EXPECT_EQ(set("key", 0x1234), "");
  EXPECT_EQ(set("timeout", "2.5ms"), "");
  EXPECT_EQ(set("delay", "0.5ns"), "");
  EXPECT_EQ(set("window", "4KiB"), "");
  EXPECT_EQ(set("rate", "25gbit"), "");
  EXPECT_EQ(set("link", 12.5), "");
  EXPECT_EQ(set("drop", 0.001), "");
  EXPECT_EQ(set("loss", "0.1 %"), "");
  EXPECT_EQ(set("trimming", false), "");
  EXPECT_EQ(set("name", "h1"), "");
  EXPECT_EQ(set("mode", "slow"), "");
  EXPECT_EQ(set("plane", 3), "");
  EXPECT_EQ(settings_.evs, 16);
  EXPECT_EQ(settings_.key, 0x1234);
  EXPECT_EQ(settings_.timeout, microseconds(2'500));
  EXPECT_EQ(settings_.delay, Picoseconds(500));
  EXPECT_EQ(settings_.window, 4'096U);
  EXPECT_EQ(settings_.rate, 25'000'000'000);
  EXPECT_EQ(settings_.link, 12'500'000'000);
  EXPECT_EQ(settings_.drop, 0.001);
  EXPECT_EQ(settings_.loss, 1'000'000U);
  EXPECT_FALSE(settings_.trimming);
  EXPECT_EQ(settings_.name, "h1");
  EXPECT_EQ(settings_.mode, Mode::kSlow);
  EXPECT_EQ(settings_.plane, 3U);
}

TEST_F(Fields, ZeroAndBytesNeedNoUnit) {
  EXPECT_EQ(set("delay", 0), "");
  EXPECT_EQ(set("window", 2'000), "");
  EXPECT_EQ(settings_.window, 2'000U);
}

TEST_F(Fields, WrongTypesAreNamed) {
  EXPECT_EQ(set("evs", "eight"), "must be a whole number, not \"eight\"");
  EXPECT_EQ(set("evs", 8.5), "must be a whole number, not 8.5");
  EXPECT_EQ(set("timeout", 5), "must be a duration with its unit, e.g. \"10ms\", not 5");
  EXPECT_EQ(set("window", true), "must be a number of bytes or a size, e.g. \"64KiB\", not true");
  EXPECT_EQ(set("rate", 10), "must be a rate with its unit, e.g. \"10gbit\", not 10");
  EXPECT_EQ(set("link", "fast"), "must be a number, not \"fast\"");
  EXPECT_EQ(set("trimming", 1), "must be true or false, not 1");
  EXPECT_EQ(set("name", List{}), "must be a string in quotes, not a list");
  EXPECT_EQ(set("mode", Table{}), "must be one of \"slow\", \"fast\", not a table");
  EXPECT_EQ(set("mode", "medium"), "must be one of \"slow\", \"fast\", not \"medium\"");
}

TEST_F(Fields, ValuesOutOfRangeAreNamed) {
  EXPECT_EQ(set("evs", 17), "must be between 1 and 16, not 17");
  EXPECT_EQ(set("evs", -1), "must be between 1 and 16, not -1");
  EXPECT_EQ(set("evs", 256 + 8), "must be between 1 and 16, not 264");
  EXPECT_EQ(set("timeout", "2s"), "must be between \"1us\" and \"1s\", not \"2s\"");
  EXPECT_EQ(set("window", 5), "must be between \"1KiB\" and \"1MiB\", not 5");
  EXPECT_EQ(set("window", -5), "must be between \"1KiB\" and \"1MiB\", not -5");
  EXPECT_EQ(set("plane", std::int64_t{1} << 32),
            "must be between 0 and 4294967295, not 4294967296");
  EXPECT_EQ(set("name", ""), "must not be empty; remove the key instead");
  for (const double gbps : {0.0, -1.0, 1e7, std::numeric_limits<double>::infinity()}) {
    EXPECT_TRUE(set("link", gbps).starts_with("must be above 0 and at most 1000000, not "));
  }
  EXPECT_NE(set("link", std::numeric_limits<double>::quiet_NaN()), "");
  EXPECT_EQ(settings_.evs, 8) << "a wrong value changes nothing";
}

TEST_F(Fields, ErrorsOfUnitsAreTheMessage) {
  EXPECT_EQ(set("timeout", "5 parsecs"), "invalid duration '5 parsecs': expected e.g. 5s or 500ms");
  EXPECT_EQ(set("timeout", "1.5ns"), "invalid duration '1.5ns': not a whole number of nanoseconds");
  EXPECT_EQ(set("window", "many"), "invalid size 'many': expected e.g. 64KiB");
}

TEST_F(Fields, SharesAreExact) {
  EXPECT_EQ(set("loss", 1e-10), "must have at most 9 decimals, not 1e-10");
  EXPECT_EQ(set("drop", 1.5),
            "must be a number between 0 and 1 or a percentage, e.g. \"20%\", not 1.5");
  EXPECT_EQ(set("drop", "1.5%"), "");
  EXPECT_EQ(settings_.drop, 0.015);
}

TEST_F(Fields, DescribeThemselves) {
  EXPECT_EQ(field("evs").full_name(), "test.evs");
  EXPECT_EQ(field("evs").description, "Entropy values.");
  EXPECT_EQ(range_text(field("evs")), "1 to 16");
  EXPECT_EQ(range_text(field("timeout")), "\"1us\" to \"1s\"");
  EXPECT_EQ(range_text(field("mode")), "\"slow\", \"fast\"");
  EXPECT_EQ(range_text(field("drop")), "0 to 1");
  EXPECT_EQ(range_text(field("link")), "above 0, at most 1000000");
  EXPECT_EQ(range_text(field("name")), "");
  EXPECT_EQ(type_text(field("timeout")), "duration");
  EXPECT_EQ(type_text(field("delay")), "duration");
}

TEST_F(Fields, KnowTheirDefaults) {
  EXPECT_EQ(default_text(field("evs")), "8");
  EXPECT_EQ(default_text(field("key")), "0xffff");
  EXPECT_EQ(default_text(field("timeout")), "\"5ms\"");
  EXPECT_EQ(default_text(field("window")), "\"64KiB\"");
  EXPECT_EQ(default_text(field("link")), "400");
  EXPECT_EQ(default_text(field("drop")), "0");
  EXPECT_EQ(default_text(field("trimming")), "true");
  EXPECT_EQ(default_text(field("name")), "\"h0\"");
  EXPECT_EQ(default_text(field("mode")), "\"fast\"");
  EXPECT_EQ(default_text(field("plane")), "all");
}

TEST(FieldRange, OfTheWholeTypeHasNoUpperEnd) {
  std::uint64_t seed = 1;
  const Field field = Field::whole("seed", seed);
  EXPECT_EQ(range_text(field), "0 or more");
  EXPECT_EQ(set_field(field, Value{.data = std::int64_t{-1}}).error(), "must be 0 or more, not -1");
}

}  // namespace
}  // namespace openmrc::text
