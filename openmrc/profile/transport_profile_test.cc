// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/profile/transport_profile.h"

#include <gtest/gtest.h>

namespace openmrc::profile {
namespace {

constexpr NetworkFigures kNetwork{
    .base_rtt = microseconds(10), .bits_per_second = 800'000'000'000, .trimming = true};

TEST(TransportProfile, PresetsDifferWhereSoftwareIsNotANic) {
  const TransportProfile nic = preset(Preset::kNic);
  const TransportProfile software = preset(Preset::kSoftware);
  EXPECT_EQ(nic.burst, 1);
  EXPECT_GT(software.burst, 1);
  EXPECT_EQ(nic.reorder_floor, Duration{});
  EXPECT_GT(software.reorder_floor, Duration{});
  EXPECT_TRUE(nic.congestion.nscc.measures_base_rtt);
  EXPECT_FALSE(software.congestion.nscc.measures_base_rtt);
}

TEST(TransportProfile, TheNetworkSaysWhatTheProfileDoesNot) {
  TransportProfile profile = preset(Preset::kNic);
  EXPECT_EQ(nscc_settings(profile, kNetwork).base_rtt, kNetwork.base_rtt);
  profile.congestion.base_rtt = microseconds(25);
  EXPECT_EQ(nscc_settings(profile, kNetwork).base_rtt, microseconds(25));
}

// CC-53
TEST(TransportProfile, TheBaseRttIsLearnedWhereNobodySaysIt) {
  TransportProfile profile = preset(Preset::kSoftware);
  const core::NsccSettings guess = nscc_settings(profile, {});
  EXPECT_TRUE(guess.learns_base_rtt);
  EXPECT_EQ(guess.base_rtt, kGuessedBaseRtt);
  EXPECT_FALSE(nscc_settings(profile, kNetwork).learns_base_rtt);
  profile.congestion.nscc.target_delay = microseconds(50);
  EXPECT_FALSE(nscc_settings(profile, {}).learns_base_rtt) << "it would not be 50 us any more";
  profile = preset(Preset::kSoftware);
  profile.congestion.base_rtt = kGuessedBaseRtt;
  EXPECT_FALSE(nscc_settings(profile, {}).learns_base_rtt);
}

TEST(TransportProfile, AFixedWindowIsRateTimesRoundTripUnlessGiven) {
  TransportProfile profile = preset(Preset::kNic);
  profile.congestion.algorithm = CongestionAlgorithm::kFixed;
  const auto window = [&] {
    return std::get<core::FixedWindowSettings>(congestion_settings(profile, kNetwork)).window;
  };
  EXPECT_EQ(window(), ByteCount(1'000'000));
  profile.congestion.window = ByteCount(65'536);
  EXPECT_EQ(window(), ByteCount(65'536));
  profile.congestion.window = ByteCount(1);
  EXPECT_GT(window(), ByteCount(4096)) << "one packet always fits";
}

TEST(TransportProfile, ASackCoversAtLeastABurst) {
  TransportProfile profile = preset(Preset::kSoftware);
  profile.burst = 8;
  profile.mtu = 4096;
  EXPECT_EQ(endpoint_settings(profile).sack.threshold_bytes, 8u * 4096);
  profile.burst = 1;
  EXPECT_EQ(endpoint_settings(profile).sack.threshold_bytes, profile.sack.threshold_bytes);
}

}  // namespace
}  // namespace openmrc::profile
