// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/engine/connections.h"

namespace openmrc::sim {

Connections::Connections(const Workload& workload, std::uint32_t hosts)
    : outgoing_begin_(hosts + 1), incoming_begin_(hosts + 1) {
  for (std::uint32_t host = 0; host < hosts; ++host) {
    for (const fabric::HostIndex to : workload.destinations(fabric::HostIndex(host))) {
      outgoing_.push_back({.other = to, .number = 0});
      ++incoming_begin_[to.raw() + 1];
    }
    outgoing_begin_[host + 1] = static_cast<std::uint32_t>(outgoing_.size());
  }
  for (std::uint32_t host = 0; host < hosts; ++host) {
    incoming_begin_[host + 1] += incoming_begin_[host];
  }
  incoming_.resize(outgoing_.size());
  std::vector<std::uint32_t> filled(hosts);
  for (std::uint32_t host = 0; host < hosts; ++host) {
    for (std::uint32_t i = outgoing_begin_[host]; i < outgoing_begin_[host + 1]; ++i) {
      End& end = outgoing_[i];
      const std::uint32_t to = end.other.raw();
      const std::uint32_t sends = outgoing_begin_[to + 1] - outgoing_begin_[to];
      const std::uint32_t place = filled[to]++;
      end.number = sends + place;
      incoming_[incoming_begin_[to] + place] = {.other = fabric::HostIndex(host),
                                                .number = i - outgoing_begin_[host]};
    }
  }
}

}  // namespace openmrc::sim
