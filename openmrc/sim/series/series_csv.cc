// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/series/series_csv.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <iterator>
#include <string_view>
#include <type_traits>

#include "openmrc/fabric/names.h"

namespace openmrc::sim {
namespace {

// Figures of the transport, then those of the network.
constexpr std::string_view kHead =
    "time_ns,kind,name,goodput_bps,retransmits,connections,window_bytes,window_min_bytes,"
    "window_max_bytes,in_flight_bytes,rtt_ns,rtt_max_ns,evs_good,evs_skip,evs_suspect,"
    "evs_assumed_bad,evs_denied,sent_bps,utilisation,queue_max_bytes,marked,trimmed,lost\n";

using Text = std::back_insert_iterator<std::string>;

std::uint64_t rate(std::uint64_t bytes, Picoseconds time) {
  return static_cast<std::uint64_t>(
      std::llround(static_cast<double>(bytes) * 8 * kPicosecondsPerSecond / number(time)));
}

// Of means there are none without connections.
void put_transport(Text out, const TransportSample& sample) {
  const std::uint64_t n = sample.connections;
  if (n == 0) {
    fmt::format_to(out, ",0,,,,,,");
    return;
  }
  fmt::format_to(out, ",{},{},{},{},{},{},{}", n, sample.window_bytes / n, sample.window_min_bytes,
                 sample.window_max_bytes, sample.in_flight_bytes, sample.rtt_ns / n,
                 sample.rtt_max_ns);
}

template <class Numbers>
void put_numbers(Text out, const Numbers& numbers) {
  for (const auto number : numbers) fmt::format_to(out, ",{}", number);
}

constexpr std::string_view kNoEvs = ",,,,,";

// What stands before and after an interval.
template <class Sample>
struct Interval {
  const Sample& before;
  const Sample& after;
  Picoseconds width{};

  template <class Member>
  [[nodiscard]] std::uint64_t more(Member member) const {
    return after.*member - before.*member;
  }
};

void put_row(Text out, const Interval<FabricSample>& at, std::uint64_t evs) {
  fmt::format_to(out, "fabric,all,{},{}", rate(at.more(&FabricSample::payload_bytes), at.width),
                 at.more(&FabricSample::retransmissions));
  put_transport(out, at.after.transport);
  std::array<std::int64_t, kEvStates> states = at.after.ev_changes;
  states[0] += static_cast<std::int64_t>(evs);
  put_numbers(out, states);
  fmt::format_to(out, ",,,,{},{},{}\n", at.more(&FabricSample::marked),
                 at.more(&FabricSample::trimmed), at.more(&FabricSample::lost));
}

void put_row(Text out, const Interval<HostSample>& at, fabric::HostIndex host) {
  fmt::format_to(out, "host,{},{},{}", fabric::name_of(host),
                 rate(at.more(&HostSample::payload_bytes), at.width),
                 at.more(&HostSample::retransmissions));
  put_transport(out, at.after.transport);
  fmt::format_to(out, "{},,,,,,\n", kNoEvs);
}

void put_row(Text out, const Interval<ConnectionSample>& at, const Connection& connection) {
  fmt::format_to(out, "connection,{}>{},,", fabric::name_of(connection.from),
                 fabric::name_of(connection.to));
  put_transport(out, at.after.transport);
  put_numbers(out, at.after.evs);
  fmt::format_to(out, ",,,,,,\n");
}

void put_row(Text out, const Interval<LinkSample>& at, const DirectedLink& link,
             std::int64_t bits_per_second) {
  const std::uint64_t sent = rate(at.more(&LinkSample::sent_bytes), at.width);
  const auto ppm =
      std::llround(static_cast<double>(sent) * 1e6 / static_cast<double>(bits_per_second));
  fmt::format_to(out, "link,{},,,,,,,,,{},{},{}.{:06},{},{},{},{}\n", series_name(link), kNoEvs,
                 sent, ppm / 1'000'000, ppm % 1'000'000, at.after.queue_max_bytes,
                 at.more(&LinkSample::marked), at.more(&LinkSample::trimmed),
                 at.more(&LinkSample::lost));
}

// Calls `put` for the i-th sample of each thing.
template <class Key, class Sample, class Put>
void put_all(const std::vector<SeriesOf<Key, Sample>>& all, std::size_t i, Put&& put) {
  static const Sample kNothing{};
  for (const auto& one : all) {
    put(one.key, i == 0 ? kNothing : one.samples[i - 1], one.samples[i]);
  }
}

}  // namespace

std::string series_name(const DirectedLink& link) {
  return fabric::name_of(link.link) + (link.upward ? " up" : " down");
}

std::string write_series_csv(const Series& series) {
  std::string text(kHead);
  const auto out = std::back_inserter(text);
  static const FabricSample kNothing{};
  for (std::size_t i = 0; i < series.times.size(); ++i) {
    const Picoseconds width = series.times[i] - (i == 0 ? Picoseconds{} : series.times[i - 1]);
    const auto begin_row = [&] { fmt::format_to(out, "{},", series.times[i].raw() / 1000); };
    const auto put = [&](const auto& key, const auto& before, const auto& after, auto... more) {
      begin_row();
      put_row(out, Interval<std::decay_t<decltype(after)>>{before, after, width}, key, more...);
    };
    put(series.evs, i == 0 ? kNothing : series.fabric[i - 1], series.fabric[i]);
    put_all(series.hosts, i, put);
    put_all(series.connections, i, put);
    put_all(series.links, i, [&](const DirectedLink& link, const auto& before, const auto& after) {
      const bool host = link.link.kind == fabric::LinkId::Kind::kHost;
      put(link, before, after,
          host ? series.host_link_bits_per_second : series.uplink_bits_per_second);
    });
  }
  return text;
}

}  // namespace openmrc::sim
