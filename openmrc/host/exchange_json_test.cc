// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/host/exchange_json.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "openmrc/host/clock.h"
#include "openmrc/text/file_limits.h"

namespace openmrc::host {
namespace {

struct Thing {
  std::uint8_t number = 0;
  bool flag = false;
  double seconds = 0;
  std::string text;

  bool operator==(const Thing&) const = default;
};

Result<Thing, ExchangeError> read_thing(std::string_view line) {
  const nlohmann::json json = parse_line(line);
  ObjectReader reader(json, "the thing");
  Thing thing;
  reader.take("number", thing.number, {1, 100});
  reader.take("flag", thing.flag);
  reader.take("seconds", thing.seconds, 1e6);
  reader.take("text", thing.text, 5);
  return reader.finish(thing);
}

TEST(ObjectReader, TakesEachKindOfValue) {
  EXPECT_EQ(read_thing(R"({"number":7,"flag":true,"seconds":1.5,"text":"abc"})"),
            (Thing{.number = 7, .flag = true, .seconds = 1.5, .text = "abc"}));
  EXPECT_EQ(read_thing(R"({"number":7,"flag":true,"seconds":2,"text":""})")->seconds, 2);
}

TEST(ObjectReader, RefusesEveryWrongType) {
  const std::pair<std::string, std::string_view> wrong[]{
      {R"({"number":"x","flag":true,"seconds":1,"text":""})", "number must be a whole number"},
      {R"({"number":0,"flag":true,"seconds":1,"text":""})", "number must be a whole number, 1 to"},
      {R"({"number":1e1,"flag":true,"seconds":1,"text":""})", "number must be a whole number"},
      {R"({"number":{},"flag":true,"seconds":1,"text":""})", "number must be a whole number"},
      {R"({"number":7,"flag":1,"seconds":1,"text":""})", "flag must be true or false"},
      {R"({"number":7,"flag":null,"seconds":1,"text":""})", "flag must be true or false"},
      {R"({"number":7,"flag":true,"seconds":-1,"text":""})", "seconds must be a number, 0 to"},
      {R"({"number":7,"flag":true,"seconds":"1","text":""})", "seconds must be a number, 0 to"},
      {R"({"number":7,"flag":true,"seconds":1e400,"text":""})", "is no JSON object"},
      {R"({"number":7,"flag":true,"seconds":1,"text":5})", "text must be a text of at most 5"},
      {R"({"number":7,"flag":true,"seconds":1,"text":"abcdef"})", "text must be a text of at most"},
      {R"({"number":7,"flag":true,"seconds":1})", "the thing has no text"},
      {R"({"number":7,"flag":true,"seconds":1,"text":"","x":1})", "has 5 keys, of which 4"},
      {"7", "the thing is no JSON object"},
      {"", "the thing is no JSON object"},
      {"{\"number\":7\xff}", "the thing is no JSON object"},
  };
  for (const auto& [line, reason] : wrong) {
    const auto thing = read_thing(line);
    ASSERT_FALSE(thing) << line;
    EXPECT_NE(to_string(thing.error()).find(reason), std::string::npos) << line << "\n"
                                                                        << to_string(thing.error());
  }
}

TEST(ObjectReader, LetsNoControlCharactersThrough) {
  const auto thing = read_thing(R"({"number":7,"flag":true,"seconds":1,"text":"\u001b[2J\n"})");
  ASSERT_TRUE(thing) << to_string(thing.error());
  EXPECT_EQ(thing->text, "?[2J?");
}

TEST(ParseLine, EndsAtALimitOfDepth) {
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[') + "1" + std::string(depth, ']');
  };
  EXPECT_FALSE(parse_line(nested(text::kJsonNestingMax)).is_discarded());
  for (const std::size_t depth : {text::kJsonNestingMax + 1, kExchangeLineMax / 2}) {
    EXPECT_TRUE(parse_line(nested(depth)).is_discarded()) << depth;
    EXPECT_TRUE(parse_line(nested(depth).substr(0, depth)).is_discarded()) << depth;
  }
}

// A parser that looks through a container after each of its elements would take hours: one object
// whose keys are compared with all others, or the queue pairs of a large request.
TEST(ParseLine, TakesTimeInProportionToTheLength) {
  std::string keys = "{";
  for (int i = 0; keys.size() < 2'000'000; ++i) keys += fmt::format("\"{:x}\":0,", i);
  keys.back() = '}';
  std::string objects = "[";
  while (objects.size() < 2'000'000) objects += "{},";
  objects.back() = ']';
  for (const std::string& line : {keys, objects}) {
    const Instant begin = now();
    EXPECT_FALSE(connection_info_from(line));
    EXPECT_LT(now() - begin, seconds(20)) << "some hundred milliseconds";
  }
}

}  // namespace
}  // namespace openmrc::host
