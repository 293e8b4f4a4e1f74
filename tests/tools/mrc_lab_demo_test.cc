// SPDX-License-Identifier: BSD-3-Clause
// What `mrc lab demo` shows, and what it says of a timeline.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <sstream>
#include <string>
#include <vector>

#include "tools/mrc/lab/demo/conclusion.h"
#include "tools/mrc/lab/demo/screen.h"
#include "tools/mrc/lab/demo/timeline.h"

namespace openmrc::lab {
namespace {

constexpr std::int64_t kMs = 1'000'000;

DemoFrame frame_with_a_cut_plane() {
  return {.seconds = 4.04,
          .plane_gbps = {0.2, 0.1, 0},
          .plane_is_cut = {false, false, true},
          .link_gbps = 0.2,
          .happening = "plane 2 is cut"};
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

TEST(DemoScreen, DrawsABarForEachPlaneAndOneForAll) {
  EXPECT_EQ(picture_of(frame_with_a_cut_plane(), 48, false),
            "   4.0 s   plane 2 is cut\n"
            "\n"
            "  plane 0  ####################  0.20 Gb/s\n"
            "  plane 1  ##########            0.10 Gb/s\n"
            "  plane 2                        0.00 Gb/s  CUT\n"
            "  all      ##########            0.30 Gb/s\n");
}

TEST(DemoScreen, FitsIntoNarrowTerminalsAndDoesNotGrowWithoutEnd) {
  DemoFrame frame = frame_with_a_cut_plane();
  frame.happening = "all cables of plane 2 are pulled";
  for (const std::size_t width : {30U, 40U, 80U, 300U}) {
    const std::string picture = picture_of(frame, width, false);
    EXPECT_NE(picture.find("0.00 Gb/s  CUT\n"), std::string::npos);
    for (const std::string& line : lines_of(picture)) {
      EXPECT_LT(line.size(), std::min<std::size_t>(width, 100)) << line;
    }
  }
}

TEST(DemoScreen, BreaksTextBetweenWords) {
  EXPECT_EQ(wrapped("one two three", 80), "one two three\n");
  EXPECT_EQ(wrapped("one two three", 7), "one two\nthree\n");
  EXPECT_EQ(wrapped("one two three", 6), "one\ntwo\nthree\n");
  EXPECT_EQ(wrapped("  one two", 6), "  one\ntwo\n");
  EXPECT_EQ(wrapped("  seventeen two", 6), "  seventeen\ntwo\n");
  EXPECT_EQ(wrapped("", 6), "\n");
}

TEST(DemoScreen, ColoursOnlyOnRequest) {
  EXPECT_EQ(picture_of(frame_with_a_cut_plane(), 80, false).find('\x1b'), std::string::npos);
  EXPECT_NE(picture_of(frame_with_a_cut_plane(), 80, true).find("\x1b[31m"), std::string::npos);
}

TEST(DemoScreen, HasALineForLogs) {
  EXPECT_EQ(line_of(frame_with_a_cut_plane()),
            "   4 s   p0 0.20  p1 0.10  p2 0.00 CUT  all 0.30 Gb/s\n");
}

// 1 Gb/s, from `cut` on nothing for `gap`, then 0.75 Gb/s; a sample each millisecond for 3 s.
ArrivalTimeline timeline_with_a_gap(std::int64_t cut, std::int64_t gap) {
  std::vector<ArrivalTimeline::Sample> samples;
  std::uint64_t bytes = 0;
  for (std::int64_t ms = 0; ms <= 3000; ++ms) {
    samples.push_back({.time_ns = ms * kMs, .bytes = bytes});
    if (ms < cut) bytes += 125'000;
    if (ms >= cut + gap) bytes += 93'750;
  }
  return ArrivalTimeline(std::move(samples));
}

TEST(ArrivalTimeline, KnowsTheRateBetweenSamples) {
  const ArrivalTimeline timeline = timeline_with_a_gap(1000, 50);
  EXPECT_NEAR(timeline.bits_per_second(100 * kMs, 900 * kMs), 1e9, 1);
  EXPECT_NEAR(timeline.bits_per_second(100 * kMs + 300'000, 101 * kMs - 300'000), 1e9, 1);
  EXPECT_NEAR(timeline.bits_per_second(1000 * kMs, 1050 * kMs), 0, 1);
  EXPECT_NEAR(timeline.bits_per_second(2900 * kMs, 4000 * kMs), 0.75e9 / 11, 1) << "beyond its end";
}

TEST(ArrivalTimeline, SaysWhenARateIsReachedToStay) {
  EXPECT_EQ(timeline_with_a_gap(1000, 0).reached_after(1000 * kMs, 0.74e9), Duration{});
  // The last of the 20 ms that count are whole when 19 ms of them are behind the gap.
  EXPECT_EQ(timeline_with_a_gap(1000, 50).reached_after(1000 * kMs, 0.74e9), milliseconds(50));
  EXPECT_EQ(timeline_with_a_gap(1000, 50).reached_after(1000 * kMs, 0.8e9), std::nullopt);
}

TEST(ArrivalTimeline, NeedsAFileWithSamples) {
  EXPECT_FALSE(ArrivalTimeline::read("/dev/null").has_value());
}

DemoResult with_goodput(double before_gbps, double during_gbps) {
  return {.planes = 4,
          .cut_plane = 2,
          .link_gbps = 0.2,
          .before_gbps = before_gbps,
          .during_gbps = during_gbps,
          .left_after = milliseconds(3),
          .back_after = {},
          .verified_messages = 12345};
}

TEST(DemoConclusion, SaysWhatTheCutCost) {
  EXPECT_EQ(conclusion_of(with_goodput(0.77, 0.58)),
            "4 planes carried 0.77 Gb/s. Plane 2 was cut: less than 4 ms later the other 3 carried "
            "what they can, 0.58 Gb/s. It came back: more than 2 s later all carried 0.77 Gb/s "
            "again. 12,345 messages of 64 KiB were compared byte by byte, and none was lost or "
            "wrong.");
}

TEST(DemoConclusion, SaysThatTheLinksWereNotTheLimit) {
  EXPECT_EQ(conclusion_of(with_goodput(0.70, 0.58)).find("The processors"), std::string::npos);
  EXPECT_NE(conclusion_of(with_goodput(0.54, 0.58))
                .find("The processors of this machine were the limit, not the links (0.80 Gb/s)"),
            std::string::npos);
}

}  // namespace
}  // namespace openmrc::lab
