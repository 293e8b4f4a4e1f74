// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "openmrc/base/ids.h"
#include "openmrc/sim/rc/psn_window.h"
#include "openmrc/sim/workload/program.h"

namespace openmrc::sim {

// What a receiver with selective repeat holds: packets that have arrived ahead of others, and the
// messages that end with them.
class EarlyPackets {
 public:
  void add(Psn psn, std::optional<MessageTag> ends) {
    if (arrived_.has(psn.raw())) return;
    arrived_.set(psn.raw());
    if (ends) ends_.emplace_back(psn, *ends);
  }
  // Whether this one, which is the next, is here already; then it is taken out.
  bool take(Psn psn) {
    if (!arrived_.has(psn.raw())) return false;
    arrived_.clear(psn.raw());
    return true;
  }
  // Of the message that ends with this packet.
  std::optional<MessageTag> take_end(Psn psn) {
    const auto at =
        std::find_if(ends_.begin(), ends_.end(), [&](const auto& end) { return end.first == psn; });
    if (at == ends_.end()) return std::nullopt;
    const MessageTag tag = at->second;
    ends_.erase(at);
    return tag;
  }

 private:
  PsnWindow arrived_;
  std::vector<std::pair<Psn, MessageTag>> ends_;
};

}  // namespace openmrc::sim
