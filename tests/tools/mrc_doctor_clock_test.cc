// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "tools/mrc/doctor/clock.h"

namespace openmrc::tools::doctor {
namespace {

// A clock of 30 ns whose process is preempted for 1 ms at every 250th reading.
Instant read_on_a_busy_machine() {
  static std::int64_t time_ns = 0;
  static int readings = 0;
  time_ns += ++readings % 250 == 0 ? 1'000'000 : 30;
  return Instant(time_ns);
}

Instant read_by_system_call() {
  static std::int64_t time_ns = 0;
  return Instant(time_ns += 700);
}

TEST(DoctorClock, LoadDoesNotCount) {
  EXPECT_EQ(reading_time_ns(read_on_a_busy_machine), 30);
  EXPECT_EQ(judge_clock("tsc", 30).grade, Grade::kOk);
}

TEST(DoctorClock, ASlowOneIsFound) {
  EXPECT_EQ(reading_time_ns(read_by_system_call), 700);
  const Finding slow = judge_clock("hpet", 700);
  EXPECT_EQ(slow.grade, Grade::kWarn);
  EXPECT_EQ(slow.found, "hpet, read in 700 ns: slow, and each burst reads it");
  EXPECT_NE(slow.remedy.find("clocksource=tsc"), std::string::npos) << slow.remedy;
}

TEST(DoctorClock, TheSourceInUseIsNotAdvised) {
  const Finding slow = judge_clock("tsc", 700);
  EXPECT_EQ(slow.grade, Grade::kWarn);
  EXPECT_EQ(slow.remedy.find("clocksource=tsc"), std::string::npos) << slow.remedy;
  EXPECT_FALSE(slow.remedy.empty());
}

}  // namespace
}  // namespace openmrc::tools::doctor
