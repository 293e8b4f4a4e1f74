// SPDX-License-Identifier: BSD-3-Clause
// Colours of what `mrc` prints: for terminals of people who want them.
#include <gtest/gtest.h>
#include <pty.h>
#include <unistd.h>

#include <cstdlib>

#include "tools/mrc/colour.h"

namespace openmrc::tools {
namespace {

// A terminal that nobody looks at.
class Terminal {
 public:
  Terminal() { open_ = openpty(&master_, &slave_, nullptr, nullptr, nullptr) == 0; }
  ~Terminal() {
    if (open_) close(master_), close(slave_);
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  [[nodiscard]] bool is_open() const { return open_; }
  [[nodiscard]] int descriptor() const { return slave_; }

 private:
  int master_ = -1;
  int slave_ = -1;
  bool open_ = false;
};

class WantsColour : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(terminal_.is_open());
    unsetenv("NO_COLOR");
    setenv("TERM", "xterm", 1);
  }
  Terminal terminal_;
};

TEST_F(WantsColour, OnATerminal) { EXPECT_TRUE(wants_colour(terminal_.descriptor())); }

TEST_F(WantsColour, NotInAFileOrPipe) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  EXPECT_FALSE(wants_colour(ends[1]));
  close(ends[0]);
  close(ends[1]);
}

TEST_F(WantsColour, NotIfTheUserHasSaidSo) {
  setenv("NO_COLOR", "1", 1);
  EXPECT_FALSE(wants_colour(terminal_.descriptor()));
  setenv("NO_COLOR", "0", 1);
  EXPECT_FALSE(wants_colour(terminal_.descriptor())) << "whatever its value";
  setenv("NO_COLOR", "", 1);
  EXPECT_TRUE(wants_colour(terminal_.descriptor())) << "empty is as not there";
}

TEST_F(WantsColour, NotIfTheTerminalHasNone) {
  setenv("TERM", "dumb", 1);
  EXPECT_FALSE(wants_colour(terminal_.descriptor()));
}

TEST(Painted, PutsTheTextBetweenCodes) {
  EXPECT_EQ(painted("cut", Colour::kBad, true), "\x1b[31mcut\x1b[0m");
  EXPECT_EQ(painted("head", Colour::kStrong, true), "\x1b[1mhead\x1b[0m");
  EXPECT_EQ(painted("cut", Colour::kBad, false), "cut");
}

}  // namespace
}  // namespace openmrc::tools
