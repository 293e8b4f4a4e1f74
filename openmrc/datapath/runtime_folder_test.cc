// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/datapath/runtime_folder.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

namespace openmrc::datapath {
namespace {

class RuntimeFolder : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_NE(::mkdtemp(base_.data()), nullptr); }
  void TearDown() override {
    ::unsetenv("OPENMRC_RUNTIME_DIR");
    std::filesystem::remove_all(base_);
  }
  [[nodiscard]] std::string path() const { return base_ + "/slots"; }
  void expect_refused(std::string_view reason) const {
    const auto made = make_private_folder(path());
    ASSERT_FALSE(made);
    EXPECT_NE(to_string(made.error()).find(reason), std::string::npos) << to_string(made.error());
    EXPECT_NE(made.error().remedy.find("OPENMRC_RUNTIME_DIR"), std::string::npos);
  }

  std::string base_ = ::testing::TempDir() + "openmrc-XXXXXX";
};

TEST_F(RuntimeFolder, IsMadeForItsOwnerAlone) {
  ASSERT_TRUE(make_private_folder(path()));
  struct stat made{};
  ASSERT_EQ(::stat(path().c_str(), &made), 0);
  EXPECT_EQ(made.st_mode & 07777, 0700u);
  EXPECT_TRUE(make_private_folder(path())) << "and is used again";
}

TEST_F(RuntimeFolder, IsRefusedIfOthersMayUseIt) {
  for (const mode_t mode : {0777u, 0750u, 0701u}) {
    ASSERT_EQ(::mkdir(path().c_str(), 0700), 0);
    ASSERT_EQ(::chmod(path().c_str(), mode), 0);
    expect_refused("is open to other users");
    ::rmdir(path().c_str());
  }
}

TEST_F(RuntimeFolder, IsRefusedIfItIsAnotherUsers) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root, to give a folder away";
  ASSERT_EQ(::mkdir(path().c_str(), 0700), 0);
  ASSERT_EQ(::chown(path().c_str(), 65534, 65534), 0);
  expect_refused("belongs to user 65534");
}

TEST_F(RuntimeFolder, IsNoLinkAndNoFile) {
  ASSERT_EQ(::symlink("/", path().c_str()), 0);
  expect_refused("cannot use");
}

TEST_F(RuntimeFolder, IsTheOneNamedInTheEnvironment) {
  ::setenv("OPENMRC_RUNTIME_DIR", path().c_str(), 1);
  EXPECT_EQ(runtime_folder(), path());
}

}  // namespace
}  // namespace openmrc::datapath
