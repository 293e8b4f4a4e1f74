// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/agent/durable_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>

#include "openmrc/agent/agent_state_file.h"
#include "openmrc/agent/profiles/test_profiles.h"

namespace openmrc::libmrc {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMost = 1000;

struct DurableFile : ::testing::Test {
  DurableFile() { fs::create_directories(folder); }
  ~DurableFile() override { fs::remove_all(folder); }

  void write(const std::string& text) const { std::ofstream(file) << text; }
  [[nodiscard]] std::string load_error() const {
    ProfileStore store({.planes = 2}, test::own_evs(2));
    const auto loaded = load_state(file, store);
    return loaded ? "" : loaded.error().what + "; " + loaded.error().remedy;
  }

  fs::path folder = fs::path(::testing::TempDir()) / ("durable-" + std::to_string(::getpid()));
  fs::path file = folder / "mrcd.json";
};

TEST_F(DurableFile, IsReplacedAsAWhole) {
  const fs::path below = folder / "one" / "two" / "mrcd.json";
  EXPECT_EQ(read_file(below, kMost).value(), std::nullopt);
  EXPECT_TRUE(replace_file(below, "one"));
  EXPECT_TRUE(replace_file(below, "two"));
  EXPECT_EQ(read_file(below, kMost).value(), "two");
  EXPECT_FALSE(fs::exists(below.string() + ".new"));
}

TEST_F(DurableFile, AFailureNamesTheFileTheReasonAndTheFix) {
  const auto replaced = replace_file("/proc/no/such/folder", "x");
  ASSERT_FALSE(replaced);
  EXPECT_NE(replaced.error().error, 0);
  EXPECT_NE(replaced.error().what.find("/proc/no cannot be created: "), std::string::npos)
      << replaced.error().what;
  EXPECT_NE(replaced.error().remedy.find("--state"), std::string::npos);
  EXPECT_FALSE(check_replaceable("/proc/no/such/folder"));
  EXPECT_TRUE(check_replaceable(file));
}

TEST_F(DurableFile, AFailureLeavesTheOldTextAndNoRemains) {
  fs::create_directories(file / "in-the-way");
  EXPECT_FALSE(replace_file(file, "x"));
  EXPECT_TRUE(fs::is_directory(file));
  EXPECT_FALSE(fs::exists(file.string() + ".new"));
}

TEST_F(DurableFile, ALinkStaysALink) {
  const fs::path real = folder / "real.json";
  ASSERT_TRUE(replace_file(real, "old"));
  fs::create_symlink(real, file);
  EXPECT_TRUE(replace_file(file, "new"));
  EXPECT_TRUE(fs::is_symlink(file));
  EXPECT_EQ(read_file(real, kMost).value(), "new");
  EXPECT_EQ(read_file(file, kMost).value(), "new");
}

TEST_F(DurableFile, OnlyWhatIsNotThereIsNoFailure) {
  EXPECT_EQ(load_error(), "");
  fs::create_symlink(file, file);
  EXPECT_NE(load_error().find("mrcd.json is a symbolic link to no file: Too many levels"),
            std::string::npos)
      << load_error();
  EXPECT_FALSE(replace_file(file, "x"));
  fs::remove(file);
  fs::create_symlink(folder / "nowhere", file);
  EXPECT_NE(load_error().find("No such file"), std::string::npos) << load_error();
  fs::remove(file);
  fs::create_directory(file);
  EXPECT_NE(load_error().find("is not a regular file"), std::string::npos) << load_error();
  fs::remove(file);
  ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);
  EXPECT_NE(load_error().find("is not a regular file"), std::string::npos) << load_error();
}

TEST_F(DurableFile, AStateThatCannotBeUsedIsAnErrorWithAFix) {
  write("");
  EXPECT_EQ(load_error(), file.string() +
                              ": the file is empty; restore it from a backup, or move "
                              "it away to begin without profiles");
  write("{");
  EXPECT_NE(load_error(), "");
  write(std::string(1'000'000, '['));
  EXPECT_NE(load_error().find("nested more than 32 deep"), std::string::npos) << load_error();
  EXPECT_EQ(read_file(file, kMost).error().error, EFBIG);
}

TEST_F(DurableFile, WhatWasSavedIsLoaded) {
  test::TestDevice device(2);
  device.make_format(MRC_CTL_EV_FMT_MODE_STEV, {16, 16});
  ASSERT_TRUE(save_state(file, device.store).ok());
  ProfileStore again({.planes = 2}, test::own_evs(2));
  const auto loaded = load_state(file, again);
  ASSERT_TRUE(loaded);
  EXPECT_TRUE(loaded->found);
  EXPECT_EQ(state_text(again), state_text(device.store));
  const Outcome outcome = save_state("/proc/mrcd.json", device.store);
  EXPECT_NE(outcome.error, 0);
  EXPECT_NE(outcome.why.find("not changed, because it cannot be saved: /proc/mrcd.json.new"),
            std::string::npos)
      << outcome.why;
}

}  // namespace
}  // namespace openmrc::libmrc
