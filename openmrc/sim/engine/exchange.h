// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "openmrc/sim/network/network.h"
#include "openmrc/sim/network/packet.h"

namespace openmrc::sim {

// A packet for a node of another process.
struct RemotePacket {
  NodeIndex node = 0;
  Picoseconds at{};
  Packet packet{};    // its `content` means nothing to the other process
  Content content{};  // nothing for PFC
};
static_assert(std::is_trivially_copyable_v<RemotePacket>);

// Several processes that run one simulation, each with its share of the nodes. All of them call
// each function at the same point of the run.
class Exchange {
 public:
  virtual ~Exchange() = default;

  [[nodiscard]] virtual std::size_t ranks() const = 0;
  [[nodiscard]] virtual std::size_t rank() const = 0;

  // Sends `outgoing[r]` to rank r; `incoming` gets what the others sent to this one.
  virtual void trade(const std::vector<std::vector<RemotePacket>>& outgoing,
                     std::vector<RemotePacket>& incoming) = 0;
  // The least, or the sum, of what all of them give.
  virtual std::int64_t least(std::int64_t value) = 0;
  virtual std::uint64_t sum(std::uint64_t value) = 0;
  // Rank 0 gets the texts of all, in order of rank; the others nothing.
  virtual std::vector<std::string> gather(const std::string& text) = 0;
};

}  // namespace openmrc::sim
