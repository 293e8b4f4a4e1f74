// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "openmrc/core/context/limits.h"
#include "openmrc/core/context/settings.h"
#include "openmrc/core/paths/ev_profile.h"
#include "openmrc/core/peer/peer_index.h"
#include "openmrc/wire/packet.h"

namespace openmrc::core {

// An EV probe of ours (MRC 7.4.7) that has not been answered.
struct AwaitedProbe {
  enum class Kind : std::uint8_t {
    kNothing,
    kBadEv,
    kReversePath,
    kPort,     // whether the peer's port is down, as it says
    kBaseRtt,  // how long the way is
  };
  Kind kind = Kind::kNothing;
  EvIndex ev{};
  wire::EndpointRequestId id{};
  PeerIndex peer = 0;
  std::uint32_t peer_serial = 0;
};
static_assert(sizeof(AwaitedProbe) <= 12, "a host may have kProbesAwaitedMax of them");

// The probes of one host whose answers are awaited, by number. An answer says which host it comes
// from, so each host has all the numbers there are. Holds the latest ones: at most
// kProbesAwaitedMax, and room for more is made only when they are really awaited (PATH-55, REL-93).
class AwaitedProbes {
 public:
  // Counts through the lower half of `ids`, from `first` on.
  explicit AwaitedProbes(std::uint16_t first, const RequestIds& ids = {})
      : ids_(ids), next_(first) {}

  // Gives it a number. What had the number before is abandoned, if it is still awaited.
  wire::EndpointRequestId add(AwaitedProbe probe) {
    probe.id = wire::EndpointRequestId(ids_.lower(next_++));
    while (slots_.empty() || (is_awaited(slot(probe.id)) && slots_.size() < kProbesAwaitedMax)) {
      grow();
    }
    slot(probe.id) = probe;
    return probe.id;
  }
  [[nodiscard]] const AwaitedProbe* find(wire::EndpointRequestId id) const {
    if (slots_.empty()) return nullptr;
    const AwaitedProbe& found = slots_[id.raw() % slots_.size()];
    return is_awaited(found) && found.id == id ? &found : nullptr;
  }
  // It has been answered; it is there.
  void remove(wire::EndpointRequestId id) { slot(id) = {}; }

 private:
  static constexpr std::size_t kSlotsFirst = 8;
  static_assert(kProbesAwaitedMax % kSlotsFirst == 0);

  static bool is_awaited(const AwaitedProbe& probe) {
    return probe.kind != AwaitedProbe::Kind::kNothing;
  }
  AwaitedProbe& slot(wire::EndpointRequestId id) { return slots_[id.raw() % slots_.size()]; }
  void grow() {
    const std::vector<AwaitedProbe> old = std::move(slots_);
    slots_.assign(std::max(kSlotsFirst, old.size() * 2), {});
    for (const AwaitedProbe& probe : old) {
      if (is_awaited(probe)) slot(probe.id) = probe;
    }
  }

  std::vector<AwaitedProbe> slots_;
  RequestIds ids_;
  std::uint16_t next_;
};

}  // namespace openmrc::core
