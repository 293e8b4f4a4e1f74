// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "openmrc/fabric/fabric.h"
#include "openmrc/sim/workload/workload.h"

namespace openmrc::sim {

// Who is connected to whom: one connection for each pair of sender and receiver that the workload
// names. A host's connections are numbered: first those by which it sends, then those by which it
// receives, in the order of the senders. So each end knows the other's number by arithmetic.
class Connections {
 public:
  // One end's view of a connection.
  struct End {
    fabric::HostIndex other{};
    std::uint32_t number = 0;  // that the other end has for it
  };

  Connections(const Workload& workload, std::uint32_t hosts);

  [[nodiscard]] std::span<const End> outgoing(fabric::HostIndex host) const {
    return part(outgoing_, outgoing_begin_, host);
  }
  [[nodiscard]] std::span<const End> incoming(fabric::HostIndex host) const {
    return part(incoming_, incoming_begin_, host);
  }
  [[nodiscard]] std::size_t size() const { return outgoing_.size(); }

 private:
  static std::span<const End> part(const std::vector<End>& ends,
                                   const std::vector<std::uint32_t>& begins,
                                   fabric::HostIndex host) {
    const std::uint32_t begin = begins[host.raw()];
    return std::span(ends).subspan(begin, begins[host.raw() + 1] - begin);
  }

  std::vector<std::uint32_t> outgoing_begin_;
  std::vector<std::uint32_t> incoming_begin_;
  std::vector<End> outgoing_;
  std::vector<End> incoming_;
};

}  // namespace openmrc::sim
