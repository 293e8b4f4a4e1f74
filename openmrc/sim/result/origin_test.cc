// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/result/origin.h"

#include <gtest/gtest.h>

#include <string>

#include "openmrc/sim/report/sample_results.h"
#include "openmrc/sim/result/result_json.h"

namespace openmrc::sim {
namespace {

Origin sample_origin() {
  return {.program = "mrc 1.2",
          .inputs = {.name = "two racks",
                     .scenario = "seed = 1\n[fabric]\n# \"quoted\"\n",
                     .settings = {"fabric.planes=4", "workload.bytes=\"8 MiB\""},
                     .seed = 7,
                     .transport = "rc",
                     .host_config = "[transport]\n",
                     .files = {{"t.cm", "Nodes 2\n"}}}};
}

std::string replaced(std::string text, std::string_view old, std::string_view fresh) {
  const std::size_t at = text.find(old);
  EXPECT_NE(at, std::string::npos) << old;
  return text.replace(at, old.size(), fresh);
}

std::string error_of(const std::string& text) {
  const auto origin = read_origin(text);
  return origin ? "none" : origin.error();
}

TEST(Origin, ComesBackFromTheFile) {
  const Origin origin = sample_origin();
  const std::string file = write_result_json(sample_result(), &origin);
  const auto back = read_origin(file);
  ASSERT_TRUE(back) << back.error();
  EXPECT_EQ(*back, origin);
  EXPECT_EQ(*read_result_json(file), sample_result());
}

TEST(Origin, IsOneLineOfTheFile) {
  const Origin origin = sample_origin();
  const std::string file = write_result_json(sample_result(), &origin);
  const std::string line = "\"origin\": " + origin_json(origin) + ",\n";
  EXPECT_EQ(replaced(file, line, ""), write_result_json(sample_result()));
}

TEST(Origin, NeedNotBeThere) {
  const auto origin = read_origin(write_result_json(sample_result()));
  ASSERT_TRUE(origin) << origin.error();
  EXPECT_EQ(*origin, std::nullopt);
}

TEST(Origin, OfChangedInputsIsRefused) {
  const std::string file = "{\"origin\":" + origin_json(sample_origin()) + "}";
  EXPECT_EQ(error_of(replaced(file, "\"fabric.planes=4\"", "\"fabric.planes=8\"")),
            "\"sha256\" of its \"origin\" does not fit the \"inputs\": the file was changed");
}

TEST(Origin, ThatIsNotOneIsRefusedByName) {
  const std::string file = "{\"origin\":" + origin_json(sample_origin()) + "}";
  EXPECT_EQ(error_of("{"), "this is not JSON");
  EXPECT_EQ(error_of("[]"), "this is not JSON");
  EXPECT_EQ(error_of("{\"origin\":5}"), "\"origin\": \"inputs\" is missing or invalid");
  const auto wrong = [](const char* name) {
    return "\"origin\": \"" + std::string(name) + "\" is missing or invalid";
  };
  EXPECT_EQ(error_of(replaced(file, "\"seed\":7", "\"seed\":-7")), wrong("seed"));
  EXPECT_EQ(error_of(replaced(file, "\"seed\":7", "\"seed\":18446744073709551615")), wrong("seed"));
  EXPECT_EQ(error_of(replaced(file, "\"Nodes 2\\n\"", "2")), wrong("files"));
  EXPECT_EQ(error_of(replaced(file, "\"fabric.planes=4\"", "4")), wrong("settings"));
  EXPECT_EQ(error_of(replaced(file, "\"program\"", "\"programme\"")), wrong("program"));
}

TEST(Origin, CommandCanBeTyped) {
  EXPECT_EQ(command_of(sample_origin().inputs),
            "mrc sim run 'two racks.toml' --transport rc --host-config openmrc.toml --set "
            "fabric.planes=4 --set 'workload.bytes=\"8 MiB\"' --seed 7");
  EXPECT_EQ(command_of({.name = "a", .settings = {"title='it'"}}),
            "mrc sim run a.toml --set 'title='\\''it'\\''' --seed 1");
}

TEST(Origin, HashTellsInputsApart) {
  const RunInputs one = sample_origin().inputs;
  RunInputs other = one;
  other.seed = 8;
  EXPECT_EQ(inputs_hash(one), inputs_hash(sample_origin().inputs));
  EXPECT_NE(inputs_hash(one), inputs_hash(other));
}

}  // namespace
}  // namespace openmrc::sim
