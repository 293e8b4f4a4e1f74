// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/series/series_recorder.h"

#include <algorithm>

#include "openmrc/base/check.h"

namespace openmrc::sim {
namespace {

// The first sample finds out which series there are.
template <class Key, class Sample>
void add_sample(std::vector<SeriesOf<Key, Sample>>& all, std::size_t& place, const Key& key,
                const Sample& sample) {
  if (place == all.size()) all.push_back({.key = key});
  OPENMRC_CHECK(all[place].key == key, "nodes are asked in the same order each time");
  all[place++].samples.push_back(sample);
}

// Leaves the second of each two.
template <class T>
void leave_seconds(std::vector<T>& samples) {
  for (std::size_t i = 1; i < samples.size(); i += 2) samples[i / 2] = samples[i];
  samples.resize(samples.size() / 2);
}

}  // namespace

void SeriesRecorder::begin(Picoseconds when, const FabricSample& counts) {
  host_ = connection_ = link_ = 0;
  series_.times.push_back(when);
  series_.fabric.push_back(counts);
}

void SeriesRecorder::end() {
  if (series_.times.size() == samples_max_) halve();
  next_ = series_.every * static_cast<std::int64_t>(series_.times.size() + 1);
}

void SeriesRecorder::add_host(fabric::HostIndex host, const HostSample& sample) {
  series_.fabric.back().transport += sample.transport;
  if (wants(host)) add_sample(series_.hosts, host_, host, sample);
}

void SeriesRecorder::add_connection(const Connection& connection, const ConnectionSample& sample) {
  add_sample(series_.connections, connection_, connection, sample);
}

void SeriesRecorder::add_link(const DirectedLink& link, const LinkSample& sample) {
  if (wants(link)) add_sample(series_.links, link_, link, sample);
}

bool SeriesRecorder::wants(fabric::HostIndex host) const {
  return std::ranges::binary_search(settings_.hosts, host);
}

bool SeriesRecorder::wants(const DirectedLink& link) const {
  return settings_.busiest > 0 || std::ranges::binary_search(settings_.links, link);
}

void SeriesRecorder::halve() {
  leave_seconds(series_.times);
  leave_seconds(series_.fabric);
  for (auto& host : series_.hosts) leave_seconds(host.samples);
  for (auto& connection : series_.connections) leave_seconds(connection.samples);
  for (auto& link : series_.links) {
    for (std::size_t i = 1; i < link.samples.size(); i += 2) {
      link.samples[i].queue_max_bytes =
          std::max(link.samples[i].queue_max_bytes, link.samples[i - 1].queue_max_bytes);
    }
    leave_seconds(link.samples);
  }
  series_.every = series_.every * 2;
}

}  // namespace openmrc::sim
