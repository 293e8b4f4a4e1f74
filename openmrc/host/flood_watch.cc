// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/host/flood_watch.h"

#include <fmt/core.h>

#include <array>

namespace openmrc::host {
namespace {

using core::Count;

// What peers that follow the protocol rarely cause.
constexpr std::array kWatched{
    Count::kDropNoQueuePair, Count::kDropState,         Count::kDropPKey,
    Count::kDropSource,      Count::kDropConnectionId,  Count::kDropSackUnsent,
    Count::kDropSackOld,     Count::kDropSackEv,        Count::kDropSackBytes,
    Count::kDropAckUnsent,   Count::kDropNackUnsent,    Count::kDropMsn,
    Count::kDropUnknownPeer, Count::kDropEndpointFlood, Count::kDropResponseUnknown,
    Count::kDropAckOld,      Count::kDropControlShare,  Count::kDropQKey,
};

}  // namespace

void FloodWatch::look(Instant now, const core::Counters& counters) {
  // The first look is after an unknown time.
  const bool is_first = looked_at_ == Instant{};
  looked_at_ = now;
  for (const Count count : kWatched) {
    const std::uint64_t packets = counters.of(count) - before_.of(count);
    if (is_first || packets <= kPacketsMax) continue;
    if (!worst_ || packets > worst_->packets) worst_ = Flood{.counter = count, .packets = packets};
  }
  before_ = counters;
}

std::string to_string(const FloodWatch::Flood& flood) {
  const core::CounterInfo& info = core::describe(flood.counter);
  return fmt::format(
      "{} packets within {} ms were {} (counter {}); let only hosts of the fabric send to the UDP "
      "port of MRC",
      flood.packets, FloodWatch::kInterval.raw() / 1'000'000, info.text, info.name);
}

}  // namespace openmrc::host
