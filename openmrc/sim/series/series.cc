// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/series/series.h"

#include <algorithm>
#include <iterator>

#include "openmrc/base/check.h"
#include "openmrc/sim/result/plain_bytes.h"

namespace openmrc::sim {
namespace {

template <class Key, class Sample>
void put_series(std::string& bytes, const std::vector<SeriesOf<Key, Sample>>& all) {
  put_plain(bytes, all.size());
  for (const auto& one : all) {
    put_plain(bytes, one.key);
    put_plain(bytes, one.samples);
  }
}

template <class Key, class Sample>
void take_series(std::string_view& bytes, std::vector<SeriesOf<Key, Sample>>& all) {
  std::size_t count = 0;
  take_plain(bytes, count);
  OPENMRC_CHECK(count <= bytes.size() / sizeof(Key), "the series of another process is whole");
  all.resize(count);
  for (auto& one : all) {
    take_plain(bytes, one.key);
    take_plain(bytes, one.samples);
  }
}

template <class T>
void append(std::vector<T>& to, std::vector<T>&& from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

constexpr auto kByKey = [](const auto& a, const auto& b) { return a.key < b.key; };

std::uint64_t sent_bytes_of(const SeriesOf<DirectedLink, LinkSample>& link) {
  return link.samples.empty() ? 0 : link.samples.back().sent_bytes;
}

}  // namespace

TransportSample& TransportSample::operator+=(const TransportSample& other) {
  connections += other.connections;
  window_bytes += other.window_bytes;
  window_min_bytes = std::min(window_min_bytes, other.window_min_bytes);
  window_max_bytes = std::max(window_max_bytes, other.window_max_bytes);
  in_flight_bytes += other.in_flight_bytes;
  rtt_ns += other.rtt_ns;
  rtt_max_ns = std::max(rtt_max_ns, other.rtt_max_ns);
  return *this;
}

FabricSample& FabricSample::operator+=(const FabricSample& other) {
  transport += other.transport;
  payload_bytes += other.payload_bytes;
  retransmissions += other.retransmissions;
  marked += other.marked;
  trimmed += other.trimmed;
  lost += other.lost;
  for (std::size_t i = 0; i < kEvStates; ++i) ev_changes[i] += other.ev_changes[i];
  return *this;
}

void Series::merge(Series&& part) {
  OPENMRC_CHECK(times == part.times, "all parts of a run are sampled at the same times");
  for (std::size_t i = 0; i < fabric.size(); ++i) fabric[i] += part.fabric[i];
  append(hosts, std::move(part.hosts));
  append(connections, std::move(part.connections));
  append(links, std::move(part.links));
}

void Series::finish(const SeriesSettings& settings) {
  std::ranges::sort(hosts, kByKey);
  std::ranges::sort(connections, kByKey);
  // Those that were named come first, then the busiest.
  const auto is_named = [&](const auto& link) {
    return std::ranges::binary_search(settings.links, link.key);
  };
  std::ranges::sort(links, [&](const auto& a, const auto& b) {
    if (is_named(a) != is_named(b)) return is_named(a);
    if (sent_bytes_of(a) != sent_bytes_of(b)) return sent_bytes_of(a) > sent_bytes_of(b);
    return a.key < b.key;
  });
  const auto named = static_cast<std::size_t>(std::ranges::count_if(links, is_named));
  links.resize(std::min(links.size(), named + settings.busiest));
  std::ranges::sort(links, kByKey);
}

std::string Series::to_bytes() const {
  std::string bytes;
  put_plain(bytes, every);
  put_plain(bytes, times);
  put_plain(bytes, fabric);
  put_series(bytes, hosts);
  put_series(bytes, connections);
  put_series(bytes, links);
  return bytes;
}

Series Series::from_bytes(std::string_view bytes) {
  Series series;
  take_plain(bytes, series.every);
  take_plain(bytes, series.times);
  take_plain(bytes, series.fabric);
  take_series(bytes, series.hosts);
  take_series(bytes, series.connections);
  take_series(bytes, series.links);
  return series;
}

std::uint64_t directed_links(const fabric::Fabric& fabric) {
  const fabric::Shape& shape = fabric.shape();
  const std::uint64_t of_t0s = std::uint64_t{shape.racks} * (shape.hosts_per_rack + shape.uplinks);
  return 2 * shape.planes * (of_t0s + std::uint64_t{fabric.t1s()} * shape.t1_uplinks);
}

std::size_t series_samples_max(std::uint64_t things) {
  const std::size_t most = kSeriesValuesMax / std::max<std::uint64_t>(things, 1);
  return std::min(most, kSeriesSamplesMax) / 2 * 2;
}

}  // namespace openmrc::sim
