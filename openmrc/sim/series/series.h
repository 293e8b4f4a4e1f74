// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "openmrc/base/picoseconds.h"
#include "openmrc/fabric/fabric.h"
#include "openmrc/sim/result/result.h"

// What a run shows while it goes on: samples at equal distances. Integers only, and sums of what
// each node has, so a run has one series however many threads or processes made it.
namespace openmrc::sim {

struct DirectedLink {
  fabric::LinkId link{};
  bool upward = false;  // away from the host

  auto operator<=>(const DirectedLink&) const = default;
};

struct SeriesSettings {
  Picoseconds every{};                     // rounded up to whole windows of the simulation
  std::vector<fabric::HostIndex> hosts{};  // each with its outgoing connections; sorted
  std::vector<DirectedLink> links{};       // sorted
  std::uint32_t busiest = 0;               // and so many of all links, by bytes of the run
  [[nodiscard]] bool counts_links() const { return busiest > 0 || !links.empty(); }
};

// The congestion windows of one connection, or of many added up.
struct TransportSample {
  std::uint64_t connections = 0;  // in the sums and extremes below
  std::uint64_t window_bytes = 0;
  std::uint64_t window_min_bytes = ~std::uint64_t{0};
  std::uint64_t window_max_bytes = 0;
  std::uint64_t in_flight_bytes = 0;
  std::uint64_t rtt_ns = 0;
  std::uint64_t rtt_max_ns = 0;

  bool operator==(const TransportSample&) const = default;
  TransportSample& operator+=(const TransportSample& other);
};

// All of the network. What counts up does so from the start of the run.
struct FabricSample {
  TransportSample transport{};  // of connections with data in flight
  std::uint64_t payload_bytes = 0;
  std::uint64_t retransmissions = 0;
  std::uint64_t marked = 0;
  std::uint64_t trimmed = 0;
  std::uint64_t lost = 0;
  std::array<std::int64_t, kEvStates> ev_changes{};  // since all of them were GOOD

  bool operator==(const FabricSample&) const = default;
  FabricSample& operator+=(const FabricSample& other);
};

struct HostSample {
  TransportSample transport{};  // of outgoing connections with data in flight
  std::uint64_t payload_bytes = 0;
  std::uint64_t retransmissions = 0;

  bool operator==(const HostSample&) const = default;
};

struct ConnectionSample {
  TransportSample transport{};
  std::array<std::uint64_t, kEvStates> evs{};  // in each state

  bool operator==(const ConnectionSample&) const = default;
};

struct LinkSample {
  std::uint64_t sent_bytes = 0;
  std::uint64_t marked = 0;
  std::uint64_t trimmed = 0;
  std::uint64_t lost = 0;
  std::uint64_t queue_max_bytes = 0;  // since the sample before

  bool operator==(const LinkSample&) const = default;
};

template <class Key, class Sample>
struct SeriesOf {
  Key key{};
  std::vector<Sample> samples{};  // by time

  bool operator==(const SeriesOf&) const = default;
};

struct Connection {
  fabric::HostIndex from{};
  fabric::HostIndex to{};

  auto operator<=>(const Connection&) const = default;
};

struct Series {
  Picoseconds every{};    // not of the last, which is at the end of the run
  std::uint64_t evs = 0;  // of all connections
  std::int64_t host_link_bits_per_second = 0;
  std::int64_t uplink_bits_per_second = 0;
  std::vector<Picoseconds> times{};
  std::vector<FabricSample> fabric{};  // by time
  std::vector<SeriesOf<fabric::HostIndex, HostSample>> hosts{};
  std::vector<SeriesOf<Connection, ConnectionSample>> connections{};
  std::vector<SeriesOf<DirectedLink, LinkSample>> links{};

  bool operator==(const Series&) const = default;

  // Adds the part of other threads or processes, of the same run.
  void merge(Series&& part);
  // When all parts are there: sorts, and leaves the links that were asked for.
  void finish(const SeriesSettings& settings);

  [[nodiscard]] std::string to_bytes() const;
  static Series from_bytes(std::string_view bytes);
};

// With more samples the distance between them doubles.
inline constexpr std::size_t kSeriesSamplesMax = 4096;
// Of hosts, connections and links together: what a run may hold in memory for its series.
inline constexpr std::size_t kSeriesValuesMax = 2'000'000;
// Fewer samples than this show nothing.
inline constexpr std::size_t kSeriesSamplesMin = 64;

// Of a fabric, both directions.
std::uint64_t directed_links(const fabric::Fabric& fabric);

// How many samples there may be of so many things; less than kSeriesSamplesMin if they are too
// many.
std::size_t series_samples_max(std::uint64_t things);

}  // namespace openmrc::sim
