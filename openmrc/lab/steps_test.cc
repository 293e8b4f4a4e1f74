// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/lab/steps.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace openmrc::lab {
namespace {

namespace fs = std::filesystem;

TEST(LabSteps, AreShownAsAShellScript) {
  EXPECT_EQ(script_of(Step{{"ip", "netns", "add", "mrc-try-h0"}, {}}), "ip netns add mrc-try-h0\n");
  EXPECT_EQ(script_of(Step{{"ip", "-batch", "-"}, {"link set dev lo up", "rule"}}),
            "ip -batch - <<'END'\nlink set dev lo up\nrule\nEND\n");
  EXPECT_EQ(script_of(Step{{"echo", "it's", "", "a b", "$HOME"}, {}}),
            "echo 'it'\\''s' '' 'a b' '$HOME'\n");
}

TEST(LabSteps, FilesToo) {
  EXPECT_EQ(script_of(File{"/run/a/b", "one\n"}),
            "mkdir -p /run/a\ncat > /run/a/b <<'END'\none\nEND\n");
}

TEST(LabSteps, TheirInputIsWhatTheProgramReads) {
  EXPECT_TRUE(run(Step{{"grep", "-q", "^two$"}, {"one", "two"}}));
  EXPECT_FALSE(run(Step{{"grep", "-q", "^three$"}, {"one", "two"}}));
}

TEST(LabSteps, AFailureNamesTheProgramAndTheLine) {
  const auto failed = run(
      Step{{"sh", "-c", "echo 'Error: no. Command failed -:2' >&2; exit 1"}, {"first", "second"}});
  ASSERT_FALSE(failed);
  EXPECT_NE(failed.error().find("'second'"), std::string::npos) << failed.error();
  EXPECT_NE(failed.error().find("Error: no."), std::string::npos) << failed.error();
  const auto absent = run(Step{{"no-such-program"}, {}});
  ASSERT_FALSE(absent);
  EXPECT_NE(absent.error().find("no-such-program"), std::string::npos) << absent.error();
}

TEST(LabSteps, AStageFailsIfAStepDoes) {
  const Step good{{"true"}, {}};
  const Step bad{{"false"}, {}};
  EXPECT_TRUE(run(Stage(9, good)));
  Stage stage(9, good);
  stage[5] = bad;
  EXPECT_FALSE(run(stage));
}

TEST(LabSteps, AFileIsWrittenWithItsFolders) {
  const fs::path folder =
      fs::temp_directory_path() / ("openmrc-lab-test-" + std::to_string(getpid()));
  const fs::path path = folder / "a" / "b.txt";
  EXPECT_TRUE(write(File{path, "text\n"}));
  std::ifstream file(path);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), "text\n");
  fs::remove_all(folder);
  EXPECT_FALSE(write(File{"/proc/no/such/file", "text"}));
}

// A daemon that kept the lock of its lab would keep the lab from being removed.
TEST(LabSteps, ADaemonInheritsNothing) {
  const int fd = open("/dev/null", O_RDONLY);
  ASSERT_GT(fd, STDERR_FILENO);
  const std::string inherited = "/proc/self/fd/" + std::to_string(fd);
  Step step{.arguments = {"test", "-e", inherited}};
  EXPECT_TRUE(run(step)) << "others keep what is open";
  step.leaves_daemon = true;
  EXPECT_FALSE(run(step));
  close(fd);
}

}  // namespace
}  // namespace openmrc::lab
