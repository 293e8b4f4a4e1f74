// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/text/table_reader.h"

#include <gtest/gtest.h>

namespace openmrc::text {
namespace {

struct Settings {
  std::string name{};
  std::uint32_t evs = 4;
  std::uint32_t burst = 1;
  std::uint32_t retries = 7;
  std::vector<std::uint32_t> ports{};
};

// Two groups of fields that share a section, as those of a file and of a profile do.
std::vector<Field> file_fields(Settings& settings) {
  std::vector<Field> fields;
  Section(fields, "").text("name", settings.name);
  Section(fields, "paths").whole("burst", settings.burst, 1, 8);
  Section(fields, "retry").whole("retries", settings.retries, 0, 7);
  return fields;
}
std::vector<Field> profile_fields(Settings& settings) {
  std::vector<Field> fields;
  Section(fields, "paths").whole("evs", settings.evs, 1, 256);
  return fields;
}

std::string read(std::string_view text, Settings& settings) {
  TomlReader reader(text);
  reader.top().read(file_fields(settings));
  reader.top().read(profile_fields(settings));
  reader.top().for_each_table("port", [&](TableReader& port) {
    std::uint32_t number = 0;
    port.require("number");
    port.read(Field::whole("number", number, 1, 9));
    settings.ports.push_back(number);
  });
  if (reader.is_toml()) reader.top().finish();
  return to_string(reader.diagnostics().take());
}

std::string errors_of(std::string_view text) {
  Settings settings;
  return read(text, settings);
}

TEST(TableReader, ReadsGroupsOfFieldsFromOneFile) {
  Settings settings;
  EXPECT_EQ(read("name = \"h0\"\n[paths]\nevs = 16\nburst = 2\n[[port]]\nnumber = 1\n[[port]]\n"
                 "number = 2\n",
                 settings),
            "");
  EXPECT_EQ(settings.name, "h0");
  EXPECT_EQ(settings.evs, 16U);
  EXPECT_EQ(settings.burst, 2U);
  EXPECT_EQ(settings.retries, 7U) << "the default of a key that is not there";
  EXPECT_EQ(settings.ports, (std::vector<std::uint32_t>{1, 2}));
}

TEST(TableReader, ReportsEverythingInTheOrderOfTheFile) {
  EXPECT_EQ(errors_of("nam = \"h0\"\n"
                      "[paths]\n"
                      "evs = 257\n"
                      "burst = \"two\"\n"
                      "colour = 1\n"
                      "[[port]]\n"
                      "[retyr]\n"),
            "line 1: unknown key 'nam': did you mean 'name'?\n"
            "line 3: paths.evs: must be between 1 and 256, not 257\n"
            "line 4: paths.burst: must be a whole number, not \"two\"\n"
            "line 5: paths: unknown key 'colour': valid here: 'burst', 'evs'\n"
            "line 6: port.number: is missing\n"
            "line 7: unknown section [retyr]: did you mean [retry]?");
}

TEST(TableReader, SaysWhereAMisplacedKeyBelongs) {
  EXPECT_EQ(errors_of("evs = 2\n"), "line 1: unknown key 'evs': it belongs in [paths]");
  EXPECT_EQ(errors_of("[paths]\nname = \"h0\"\n"),
            "line 2: paths: unknown key 'name': it belongs at the top, before the first section");
  EXPECT_EQ(errors_of("retries = 2\n"), "line 1: unknown key 'retries': it belongs in [retry]")
      << "the file does not have the section";
}

TEST(TableReader, NamesEveryPlaceWhereAKeyBelongs) {
  TomlReader reader("seed = 1\n");
  std::uint32_t value = 0;
  std::vector<Field> fields;
  Section(fields, "paths").whole("seed", value);
  Section(fields, "faults").whole("seed", value);
  reader.top().read(fields);
  reader.top().finish();
  EXPECT_EQ(to_string(reader.diagnostics().take()),
            "line 1: unknown key 'seed': it belongs in [faults] or in [paths]");
}

TEST(TableReader, RequiresSectionsAndSkipsWhatDependsOnAnError) {
  TomlReader reader("[workload]\nkind = 'juggling'\nballs = 3\n");
  EXPECT_EQ(reader.top().require_section("fabric"), nullptr);
  TableReader* workload = reader.top().require_section("workload");
  ASSERT_NE(workload, nullptr);
  workload->skip_rest();
  reader.top().finish();
  reader.top().finish();
  EXPECT_EQ(to_string(reader.diagnostics().take()), "[fabric] is missing");
}

TEST(TableReader, SectionsAndListsMustBeWrittenAsSuch) {
  EXPECT_EQ(errors_of("paths = 3\n"),
            "line 1: paths: is a section: write [paths] and its keys below");
  EXPECT_EQ(errors_of("[[paths]]\nevs = 3\n"),
            "line 1: paths: is a single section: write [paths], not [[paths]]");
  EXPECT_EQ(errors_of("[port]\nnumber = 1\n"),
            "line 1: port: is a list of tables: write [[port]] once for each");
}

TEST(TableReader, TextThatIsNotTomlIsTheOnlyError) {
  const std::string error = errors_of("name = \"h0\"\n[paths\n");
  EXPECT_TRUE(error.starts_with("line 2: invalid TOML: ")) << error;
  EXPECT_EQ(error.find('\n'), std::string::npos) << error;
}

TEST(TableReader, KeysAreThereOnce) {
  const std::string error = errors_of("[paths]\nevs = 2\nevs = 3\n");
  EXPECT_TRUE(error.starts_with("line 3: invalid TOML: ")) << error;
}

TEST(TableReader, ListsHaveElementsWithLines) {
  TomlReader reader("sizes = [\n\"1KiB\",\n\"many\",\n7]\none = 3\n");
  TableReader& top = reader.top();
  std::vector<std::uint64_t> sizes;
  for (const Value* value : top.elements("sizes")) {
    std::uint64_t bytes = 0;
    if (top.read_value(Field::bytes("sizes", bytes), *value)) sizes.push_back(bytes);
  }
  EXPECT_EQ(sizes, (std::vector<std::uint64_t>{1024, 7}));
  EXPECT_EQ(top.elements("one").size(), 1U);
  EXPECT_TRUE(top.elements("none").empty());
  EXPECT_FALSE(top.ok());
  EXPECT_EQ(to_string(reader.diagnostics().take()),
            "line 3: sizes: invalid size 'many': expected e.g. 64KiB");
}

TEST(Diagnostics, KnowsKeysAndWhetherTheyAreValid) {
  TomlReader reader("[paths]\nevs = 0\nburst = 2\n");
  Settings settings;
  reader.top().read(file_fields(settings));
  reader.top().read(profile_fields(settings));
  Diagnostics& diagnostics = reader.diagnostics();
  EXPECT_TRUE(diagnostics.has("paths"));
  EXPECT_TRUE(diagnostics.has("paths.evs"));
  EXPECT_FALSE(diagnostics.is_valid("paths.evs"));
  EXPECT_TRUE(diagnostics.is_valid("paths.burst"));
  EXPECT_FALSE(diagnostics.is_valid("name"));
  EXPECT_EQ(diagnostics.line_of("paths.burst"), 3U);
  diagnostics.error("paths.window", "is missing");
  diagnostics.error("paths.burst", "does not fit");
  EXPECT_EQ(to_string(diagnostics.take()),
            "line 1: paths.window: is missing\n"
            "line 2: paths.evs: must be between 1 and 256, not 0\n"
            "line 3: paths.burst: does not fit");
}

TEST(FileError, NamesTheFileAsCompilersDo) {
  EXPECT_EQ(to_string(FileError{.line = 3, .key = "paths.evs", .message = "is odd"}),
            "line 3: paths.evs: is odd");
  EXPECT_EQ(to_string(FileError{.line = 3, .message = "is odd", .file = "a.toml"}),
            "a.toml:3: is odd");
  EXPECT_EQ(to_string(FileError{.message = "cannot be read", .file = "a.toml"}),
            "a.toml: cannot be read");
}

}  // namespace
}  // namespace openmrc::text
