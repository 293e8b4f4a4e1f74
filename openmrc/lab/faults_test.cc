// SPDX-License-Identifier: BSD-3-Clause
// What faults do to a network needs root and is tested by tools.mrc_lab; this is what is known
// without.
#include "openmrc/lab/faults.h"

#include <gtest/gtest.h>

#include <array>
#include <set>
#include <string>

#include "openmrc/lab/layout.h"
#include "openmrc/lab/test_spec.h"

namespace openmrc::lab {
namespace {

Spec no_such_lab() {
  Spec spec = small_lab();
  spec.name = "no_such_lab";
  return spec;
}

TEST(LabFaults, EveryConditionHasItsName) {
  std::set<std::string_view> names;
  for (const Condition condition :
       {Condition::kUp, Condition::kCut, Condition::kPortDown, Condition::kLossy,
        Condition::kSilent, Condition::kFlapping, Condition::kMissing}) {
    EXPECT_TRUE(names.insert(name_of(condition)).second) << name_of(condition);
  }
}

TEST(LabFaults, LinksOfALabThatIsNotThereAreMissing) {
  const LinkStates states = states_of(no_such_lab());
  EXPECT_EQ(states.size(), all_links(no_such_lab().fabric()).size());
  for (const auto& [link, state] : states) {
    EXPECT_EQ(state.condition, Condition::kMissing) << name_of(link);
  }
}

TEST(LabFaults, AFailureNamesTheNamespace) {
  const std::array links{fabric::LinkId{fabric::LinkId::Kind::kHost, Plane(1), 0, 0}};
  const auto cut = inflict(no_such_lab(), links, {.kind = Fault::Kind::kCut});
  ASSERT_FALSE(cut);
  EXPECT_NE(cut.error().find("mrc-no_such_lab-p1.t0-0"), std::string::npos) << cut.error();
  const auto port = inflict(no_such_lab(), links, {.kind = Fault::Kind::kPort});
  ASSERT_FALSE(port);
  EXPECT_NE(port.error().find("mrc-no_such_lab-h0"), std::string::npos) << port.error();
}

TEST(LabFaults, SleepsUntilATimeThatHasPassed) {
  const std::int64_t before = monotonic_ns();
  sleep_until(before);
  EXPECT_GE(monotonic_ns(), before);
}

}  // namespace
}  // namespace openmrc::lab
