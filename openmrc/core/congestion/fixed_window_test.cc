// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/core/congestion/fixed_window.h"

#include <gtest/gtest.h>

#include "openmrc/core/congestion/congestion.h"

namespace openmrc::core {
namespace {

constexpr FixedWindowSettings kFixed{.window = ByteCount(300'000), .base_rtt = microseconds(10)};

NsccSettings nscc_settings() {
  return nscc_defaults({.mtu = ByteCount(4'096),
                        .base_rtt = microseconds(10),
                        .link_bits_per_second = 400'000'000'000,
                        .trimming = true});
}

// All kinds of bad news.
template <class Control>
void congest(Control& control) {
  for (int i = 0; i < 200; ++i) {
    const Instant now(20'000 * i);
    control.on_sack({.now = now,
                     .newly_received = ByteCount(4'096),
                     .congested = true,
                     .rtt = microseconds(100),
                     .in_flight = ByteCount(100'000),
                     .receiver_penalty = 10});
    control.on_trim({.now = now, .size = ByteCount(4'096), .in_flight = ByteCount(100'000)});
    control.on_loss({.now = now, .size = ByteCount(4'096), .in_flight = ByteCount(100'000)});
  }
}

// CC-46
TEST(FixedWindow, IsNotMovedByAnything) {
  FixedWindow fixed(kFixed);
  congest(fixed);
  EXPECT_EQ(fixed.window(), kFixed.window);
  EXPECT_EQ(fixed.base_rtt(), kFixed.base_rtt);
  EXPECT_EQ(fixed.rtt(), kFixed.base_rtt);
}

// CC-46
TEST(CongestionControl, IsFixedIfSetSo) {
  CongestionControl control(kFixed);
  EXPECT_EQ(control.window(), kFixed.window);
  congest(control);
  EXPECT_EQ(control.window(), kFixed.window);
  EXPECT_EQ(control.base_rtt(), kFixed.base_rtt);
  EXPECT_EQ(control.rtt(), kFixed.base_rtt);
}

TEST(CongestionControl, IsNsccIfSetSo) {
  CongestionControl control(nscc_settings());
  EXPECT_EQ(control.window(), ByteCount(750'000));
  EXPECT_EQ(control.base_rtt(), microseconds(10));
  EXPECT_EQ(control.rtt(), microseconds(10));
  congest(control);
  EXPECT_LT(control.window(), ByteCount(750'000 / 8));
  EXPECT_EQ(control.base_rtt(), microseconds(10));
  EXPECT_GT(control.rtt(), microseconds(10));
}

// CC-8
TEST(CongestionControl, ShowsTheWindowOfItsAlgorithmAfterEverySignal) {
  CongestionControl control(nscc_settings());
  Nscc nscc(nscc_settings());
  const LossSignal loss{.now = Instant(1), .size = ByteCount(4'096), .in_flight = {}};
  control.on_loss(loss);
  nscc.on_loss(loss);
  EXPECT_EQ(control.window(), nscc.window());
  const TrimSignal trim{.now = Instant(2), .size = ByteCount(4'096), .in_flight = {}};
  control.on_trim(trim);
  nscc.on_trim(trim);
  EXPECT_EQ(control.window(), nscc.window());
  const SackSignal sack{.now = Instant(20'000),
                        .newly_received = ByteCount(100'000),
                        .rtt = microseconds(11),
                        .in_flight = {}};
  control.on_sack(sack);
  nscc.on_sack(sack);
  EXPECT_EQ(control.window(), nscc.window());
}

// Settings are values, so a destination can start over, or with another algorithm.
TEST(CongestionControl, CanBeReplaced) {
  CongestionControl control(nscc_settings());
  congest(control);
  control = CongestionControl(kFixed);
  EXPECT_EQ(control.window(), kFixed.window);
}

}  // namespace
}  // namespace openmrc::core
