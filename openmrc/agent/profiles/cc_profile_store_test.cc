// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/agent/profiles/cc_profile_store.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <limits>

namespace openmrc::libmrc {
namespace {

constexpr auto kOffline = MRC_CTL_PROFILE_OFFLINE;
constexpr auto kOnline = MRC_CTL_PROFILE_ONLINE;
constexpr auto kInit = MRC_CTL_PROFILE_INIT;
constexpr CcProfileId kId{5};

// All zero but for one factor.
mrc_ctl_cc_nscc_cfg config_with(float mrc_ctl_cc_nscc_cfg::* factor, float value) {
  mrc_ctl_cc_nscc_cfg config{};
  config.*factor = value;
  return config;
}

TEST(CcProfileStore, LivesStepByStep) {
  CcProfileStore store(4);
  const auto modify = [&](const CcProfileChange& change) {
    return store.modify(kId, change).error;
  };
  EXPECT_EQ(modify({.state = kOffline}), EINVAL) << "no algorithm";
  EXPECT_EQ(modify({.state = kOnline, .algorithm = kNsccName}), EINVAL) << "two steps";
  EXPECT_EQ(modify({.state = kOffline, .algorithm = "reno"}), EINVAL);
  EXPECT_EQ(modify({.state = kOffline, .algorithm = kNsccName}), 0);
  EXPECT_EQ(modify({.state = kOnline}), EINVAL) << "no configuration";
  EXPECT_EQ(modify({.state = kOnline, .config = config_with(&mrc_ctl_cc_nscc_cfg::eta, 9)}), 0);
  EXPECT_EQ(store.find(kId).config->eta, 9);
  EXPECT_EQ(modify({.config = mrc_ctl_cc_nscc_cfg{}}), EINVAL) << "ONLINE";
  EXPECT_EQ(modify({.algorithm = ""}), EINVAL) << "ONLINE";
  EXPECT_EQ(modify({.state = kInit}), EINVAL) << "two steps";
  EXPECT_EQ(modify({.state = kOffline, .expected_state = kOffline}), EINVAL);
  EXPECT_EQ(modify({.state = kOffline, .expected_state = kOnline}), 0);
  EXPECT_EQ(modify({.state = kInit}), 0);
  EXPECT_TRUE(store.all().empty());
}

TEST(CcProfileStore, NoAlgorithmNeedsNoConfiguration) {
  CcProfileStore store(4);
  EXPECT_EQ(store.modify(kId, {.state = kOffline, .algorithm = ""}).error, 0);
  EXPECT_EQ(store.modify(kId, {.config = mrc_ctl_cc_nscc_cfg{}}).error, EINVAL);
  EXPECT_EQ(store.modify(kId, {.state = kOnline}).error, 0);
}

TEST(CcProfileStore, AnotherAlgorithmTakesTheConfigurationWithIt) {
  CcProfileStore store(4);
  store.modify(kId, {.state = kOffline, .algorithm = kNsccName, .config = mrc_ctl_cc_nscc_cfg{}});
  EXPECT_EQ(store.modify(kId, {.algorithm = ""}).error, 0);
  EXPECT_FALSE(store.find(kId).config.has_value());
}

TEST(CcProfileStore, FactorsAreNumbersInTheirRange) {
  CcProfileStore store(4);
  store.modify(kId, {.state = kOffline, .algorithm = kNsccName});
  const auto with = [&](float mrc_ctl_cc_nscc_cfg::* factor, float value) {
    return store.modify(kId, {.config = config_with(factor, value)}).error;
  };
  EXPECT_EQ(with(&mrc_ctl_cc_nscc_cfg::eta, -1), EINVAL);
  EXPECT_EQ(with(&mrc_ctl_cc_nscc_cfg::fi, std::numeric_limits<float>::quiet_NaN()), EINVAL);
  EXPECT_EQ(with(&mrc_ctl_cc_nscc_cfg::fi_scale, std::numeric_limits<float>::infinity()), EINVAL);
  EXPECT_EQ(with(&mrc_ctl_cc_nscc_cfg::gamma, 1.5F), EINVAL);
  EXPECT_EQ(with(&mrc_ctl_cc_nscc_cfg::max_md_jump, 1.5F), EINVAL);
  EXPECT_EQ(with(&mrc_ctl_cc_nscc_cfg::gamma, 0.8F), 0);
}

TEST(CcProfileStore, StaysOnlineWhileItIsUsed) {
  CcProfileStore store(4);
  store.modify(kId, {.state = kOffline, .algorithm = ""});
  EXPECT_EQ(store.use(kId).error, EINVAL) << "not ONLINE";
  store.modify(kId, {.state = kOnline});
  EXPECT_EQ(store.use(kId).error, 0);
  EXPECT_EQ(store.modify(kId, {.state = kOffline}).error, EBUSY);
  store.release(kId);
  EXPECT_EQ(store.modify(kId, {.state = kOffline}).error, 0);
}

TEST(CcProfileStore, KnowsNoOtherStates) {
  CcProfileStore store(4);
  store.modify(kId, {.state = kOffline, .algorithm = ""});
  store.modify(kId, {.state = kOnline});
  EXPECT_EQ(store.modify(kId, {.state = static_cast<mrc_ctl_profile_state>(3)}).error, EINVAL);
}

}  // namespace
}  // namespace openmrc::libmrc
