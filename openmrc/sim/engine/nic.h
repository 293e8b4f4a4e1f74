// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>

#include "openmrc/sim/engine/worker.h"
#include "openmrc/sim/network/network.h"
#include "openmrc/sim/series/link_counts.h"
#include "openmrc/sim/series/series_recorder.h"

namespace openmrc::sim {

// The ports of a host, one in each plane. A port has no queue: the transport decides what leaves
// when the port is free.
class Nic {
 public:
  Nic(const Network& network, fabric::HostIndex host);

  [[nodiscard]] fabric::HostIndex host() const { return host_; }

  // A bit for each plane whose port can begin to send at `now`.
  [[nodiscard]] std::uint32_t free_ports(Picoseconds now) const {
    std::uint32_t mask = 0;
    for (std::uint32_t plane = 0; plane < planes_; ++plane) {
      mask |= static_cast<std::uint32_t>(ports_[plane].free_at <= now) << plane;
    }
    return mask;
  }
  // When the next port that is busy at `now` is free; kNoTime if none is busy.
  [[nodiscard]] Picoseconds next_free(Picoseconds now) const;

  // PFC: a paused port is busy until it is resumed.
  void pause(Plane plane, bool paused, Picoseconds now);

  // The packet leaves by the port of its plane, which is free. `path` is how it goes on to another
  // rack: fabric::PathChoice::path or kAnyPath.
  void send(const Packet& packet, std::uint16_t path, Picoseconds now, const Window& window,
            Worker& worker);

  void count_links() { counts_.start(planes_); }
  void sample_links(SeriesRecorder& series);

 private:
  struct Port {
    Picoseconds free_at{};
    Picoseconds paused_until_free{};  // what free_at was when the pause began
    LinkFaults::Index fault = LinkFaults::kNone;
    std::uint32_t drawn = 0;
  };
  [[nodiscard]] fabric::LinkId link_of(std::uint32_t plane) const;
  [[nodiscard]] bool survives(Port& port, const Packet& packet, Picoseconds now,
                              Picoseconds arrival, Worker& worker) const;

  const Network& network_;
  fabric::HostIndex host_;
  std::uint32_t planes_;
  std::uint32_t rack_;
  std::uint32_t downlink_;
  std::unique_ptr<Port[]> ports_;
  LinkCounts counts_;
};

}  // namespace openmrc::sim
