// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/base/check.h"

#include <gtest/gtest.h>

namespace openmrc {
namespace {

TEST(Check, PassesWhenTheConditionHolds) { OPENMRC_CHECK(1 + 1 == 2, "arithmetic"); }

TEST(CheckDeathTest, NamesTheConditionAndTheReason) {
  const int window = 3;
  EXPECT_DEATH(OPENMRC_CHECK(window < 3, "window is too wide"),
               "check_test.cc:.*check failed: window < 3: window is too wide");
}

}  // namespace
}  // namespace openmrc
