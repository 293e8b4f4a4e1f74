// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "openmrc/base/ids.h"
#include "openmrc/core/containers/pool.h"
#include "openmrc/core/peer/turn.h"
#include "openmrc/wire/packet.h"

namespace openmrc::core {

// For programs that watch memory (MSG-45): packets that have arrived before others that were sent
// earlier are held, and placed after them.
class PlacementOrder {
 public:
  // Of a window of so many PSNs. Allocates.
  explicit PlacementOrder(std::int64_t range);

  // All queue pairs share the room, and no peer has more of it than it leaves to others (MSG-46).
  [[nodiscard]] static bool has_room(const Turn& turn);
  // There is room.
  void hold(const Turn& turn, const wire::RdmaWrite& write, UnwrappedPsn psn);
  // Places those from `first` up to `end`. Returns the first that cannot be placed any more: its
  // memory has been deregistered meanwhile (MSG-47).
  [[nodiscard]] std::optional<UnwrappedPsn> place(const Turn& turn, UnwrappedPsn first,
                                                  UnwrappedPsn end);
  void forget(Context& context, const Connection& connection);

 private:
  PoolIndex& at(UnwrappedPsn psn) {
    return by_psn_[static_cast<std::size_t>(psn.raw()) & (by_psn_.size() - 1)];
  }
  void give_back(Context& context, const Connection& connection, PoolIndex& held);

  std::vector<PoolIndex> by_psn_;  // as far as the window reaches; kNoElement: not held
  std::size_t count_ = 0;
};

}  // namespace openmrc::core
