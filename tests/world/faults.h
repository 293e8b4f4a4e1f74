// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "openmrc/base/ids.h"
#include "openmrc/base/rng.h"
#include "openmrc/base/time.h"
#include "openmrc/core/paths/ev_profile.h"

namespace openmrc::test {

// What can go wrong. Those of the first group happen to packets, by chance; those of the second are
// states of the network or of a host that begin and end.
enum class FaultKind : std::uint8_t {
  kLoss,         // a packet vanishes
  kBurstLoss,    // so do the `amount` that follow it on its plane
  kReorder,      // it takes up to `amount` ns longer
  kDuplicate,    // it arrives twice, the second up to `amount` ns later
  kCorrupt,      // some of its bits flip
  kTrim,         // a switch on the way cuts it
  kTrimLastHop,  // the last switch cuts it
  kMark,         // it is marked by ECN

  kBlackHole,  // everything on the plane or EV vanishes, in one direction or both
  kSlowPath,   // everything on the plane or EV takes `amount` ns longer
  kPortDown,   // the port of `side` is down, and its endpoint knows
  kPause,      // the endpoint of `side` does nothing; what arrives waits
  kRestart,    // the endpoint of `side` is made anew at the beginning
  kDeny,       // the controller of `side` denies the EV
  kUnwelcome,  // the port of `side` is disabled; its link still carries what is sent to it
  kShrinkMpr,  // the responder of `side` offers a window of `amount` steps
  kPenalty,    // the responder of `side` asks for a penalty of `amount`
  kForge,      // somebody sends packets in the name of `side`; `amount` is a Forgery
  kOnPath,     // somebody on the path drops, delays, repeats and changes packets, see OnPath
};
inline constexpr std::size_t kFaultKindCount = 19;
inline constexpr FaultKind kFirstState = FaultKind::kBlackHole;

// What a forger, who otherwise knows all that is in a host's packets, does not know, or what he
// sends instead.
enum class Forgery : std::uint8_t {
  kQueuePair,
  kSource,
  kPartition,
  kConnection,
  kPortStatus,  // a port status, with the right source
  kResponse,    // the answer to some endpoint request
  kCount,  // an acknowledgement of packets in flight; he guesses the count of messages, wrongly
};
inline constexpr std::size_t kForgeryCount = 7;

std::string_view name(FaultKind kind);
// Whether it happens to single packets, by chance.
constexpr bool is_by_chance(FaultKind kind) {
  return kind < kFirstState || kind == FaultKind::kForge || kind == FaultKind::kOnPath;
}

// One of the two hosts. As a direction: that of the packets it sends.
enum class Side : std::uint8_t { kA, kB };
constexpr Side other(Side side) { return side == Side::kA ? Side::kB : Side::kA; }
constexpr std::size_t index_of(Side side) { return static_cast<std::size_t>(side); }

// One fault: what, when, to whom, how much. What is left open is anything.
struct Fault {
  FaultKind kind{};
  Duration from{};
  Duration to = Duration(std::numeric_limits<std::int64_t>::max());
  std::optional<Side> side{};
  std::optional<Plane> plane{};
  std::optional<core::EvIndex> ev{};
  Ratio chance{1, 1};
  std::int64_t amount = 0;
};

std::string to_string(const Fault& fault);

}  // namespace openmrc::test
