// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/experiment/axes.h"

#include <gtest/gtest.h>

namespace openmrc::sim {
namespace {

using Texts = std::vector<std::string>;

TEST(Axes, AreWhatDiffers) {
  const FoundAxes found =
      find_axes({{"a", "mrc", {"fabric.planes=4", "workload.bytes = \"8 MiB\"", "seed=1", "x=1"}},
                 {"a", "rc", {"fabric.planes=8", "fabric.planes=4", "seed=2", "x=1"}}});
  EXPECT_EQ(found.axes, (Texts{"transport", "workload.bytes"}));
  EXPECT_EQ(found.values, (std::vector<Texts>{{"mrc", "8 MiB"}, {"rc", "-"}}));
}

TEST(Axes, AreNoneIfNothingDiffers) {
  EXPECT_EQ(find_axes({}).axes, Texts{});
  const FoundAxes found = find_axes({{"a", "mrc", {}}, {"a", "mrc", {}}});
  EXPECT_EQ(found.axes, Texts{});
  EXPECT_EQ(found.values, (std::vector<Texts>{{}, {}}));
}

TEST(Axes, TakeAnythingForASetting) {
  const FoundAxes found = find_axes({{"a", "mrc", {"", "=", "key", "k='"}}, {"b", "mrc", {}}});
  EXPECT_EQ(found.axes, (Texts{"scenario", "", "key", "k"}));
  EXPECT_EQ(found.values[0], (Texts{"a", "", "", "'"}));
  EXPECT_EQ(found.values[1], (Texts{"b", "-", "-", "-"}));
}

}  // namespace
}  // namespace openmrc::sim
