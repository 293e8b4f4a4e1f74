// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "openmrc/sim/series/series.h"

namespace openmrc::sim {

// Takes the samples of one thread's nodes. Nodes are asked in the same order each time.
class SeriesRecorder {
 public:
  // `samples_max` is even.
  SeriesRecorder(const SeriesSettings& settings, Picoseconds every, std::size_t samples_max)
      : settings_(settings), next_(every), samples_max_(samples_max) {
    series_.every = every;
  }

  // When the next sample is due.
  [[nodiscard]] Picoseconds next() const { return next_; }
  // When the last one was taken; 0: none was.
  [[nodiscard]] Picoseconds last() const {
    return series_.times.empty() ? Picoseconds{} : series_.times.back();
  }

  // A sample of time `when`; what is added belongs to it until its end.
  void begin(Picoseconds when, const FabricSample& counts);
  void add_host(fabric::HostIndex host, const HostSample& sample);
  void add_connection(const Connection& connection, const ConnectionSample& sample);
  void add_link(const DirectedLink& link, const LinkSample& sample);
  void end();

  [[nodiscard]] bool wants(fabric::HostIndex host) const;
  [[nodiscard]] bool wants(const DirectedLink& link) const;

  [[nodiscard]] Series take() { return std::move(series_); }

 private:
  void halve();

  const SeriesSettings& settings_;
  Picoseconds next_;
  std::size_t samples_max_;
  Series series_;
  // Which of the series is next in this sample.
  std::size_t host_ = 0;
  std::size_t connection_ = 0;
  std::size_t link_ = 0;
};

}  // namespace openmrc::sim
