// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/series/series_recorder.h"

#include <gtest/gtest.h>

#include <vector>

namespace openmrc::sim {
namespace {

constexpr Picoseconds at(std::int64_t n) { return Picoseconds(n); }
const DirectedLink kUp{.link = {.kind = fabric::LinkId::Kind::kUplink, .port = 1}, .upward = true};
const DirectedLink kDown{.link = {.kind = fabric::LinkId::Kind::kHost}, .upward = false};

// Samples up to `last`, as the engine takes them: one link has sent 10 bytes more each time, and
// its queue was deepest before the third.
Series record(const SeriesSettings& settings, std::int64_t last) {
  SeriesRecorder recorder(settings, at(1), 4);
  while (recorder.next() <= at(last)) {
    const std::int64_t time = recorder.next().raw();
    recorder.begin(recorder.next(), {.payload_bytes = static_cast<std::uint64_t>(100 * time)});
    recorder.add_host(fabric::HostIndex(3), {.transport = {.connections = 2}});
    recorder.add_link(kUp, {.sent_bytes = static_cast<std::uint64_t>(10 * time),
                            .queue_max_bytes = time == 3 ? 7u : 1u});
    recorder.add_link(kDown, {.sent_bytes = 5});
    recorder.end();
  }
  return recorder.take();
}

TEST(SeriesRecorder, KeepsWhatWasAskedFor) {
  const Series series = record({.hosts = {fabric::HostIndex(3)}, .links = {kUp}}, 3);
  EXPECT_EQ(series.times, (std::vector{at(1), at(2), at(3)}));
  ASSERT_EQ(series.hosts.size(), 1U);
  EXPECT_EQ(series.hosts[0].samples.size(), 3U);
  ASSERT_EQ(series.links.size(), 1U);
  EXPECT_EQ(series.links[0].key, kUp);
  EXPECT_EQ(series.links[0].samples[2].sent_bytes, 30U);
  EXPECT_EQ(series.fabric[1].transport.connections, 2U) << "the sum of its hosts";
  EXPECT_TRUE(record({}, 3).hosts.empty());
  EXPECT_TRUE(record({}, 3).links.empty());
}

TEST(SeriesRecorder, DoublesTheDistanceWhenItIsFull) {
  const Series series = record({.busiest = 2}, 9);
  EXPECT_EQ(series.every, at(4));
  EXPECT_EQ(series.times, (std::vector{at(4), at(8)}));
  EXPECT_EQ(series.fabric[1].payload_bytes, 800U);
  ASSERT_EQ(series.links.size(), 2U);
  EXPECT_EQ(series.links[0].samples[0].sent_bytes, 40U);
  EXPECT_EQ(series.links[0].samples[0].queue_max_bytes, 7U) << "of all that it stands for";
  EXPECT_EQ(series.links[0].samples[1].queue_max_bytes, 1U);
}

TEST(Series, IsTheSameWhateverThreadHadWhat) {
  const SeriesSettings settings{.hosts = {fabric::HostIndex(3)}, .busiest = 1};
  Series one = record(settings, 3);
  Series other = record(settings, 3);
  other.hosts.clear();
  other.links.clear();
  Series both = one;
  both.merge(Series(other));
  Series turned = other;
  turned.merge(std::move(one));
  both.finish(settings);
  turned.finish(settings);
  EXPECT_EQ(both, turned);
  EXPECT_EQ(both.fabric[0].payload_bytes, 200U);
  ASSERT_EQ(both.links.size(), 1U);
  EXPECT_EQ(both.links[0].key, kUp) << "the busiest";
}

TEST(Series, GoesToAnotherProcessAndBack) {
  const Series series = record({.hosts = {fabric::HostIndex(3)}, .busiest = 2}, 9);
  EXPECT_EQ(Series::from_bytes(series.to_bytes()), series);
}

TEST(Series, HasFewerSamplesOfManyThings) {
  EXPECT_EQ(series_samples_max(0), kSeriesSamplesMax);
  EXPECT_EQ(series_samples_max(1'000), 2'000U);
  EXPECT_EQ(series_samples_max(400'000) % 2, 0U);
  EXPECT_LT(series_samples_max(400'000), kSeriesSamplesMin);
}

}  // namespace
}  // namespace openmrc::sim
