// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace openmrc::core {

// MRC 9.3.1: what is held of one path.
enum class EvState : std::uint8_t {
  kGood,        // carries data
  kSkip,        // was congested: passed over once
  kAssumedBad,  // lost a packet: disabled, probed in the background
  kDenied,      // the controller forbids it
};
inline constexpr std::size_t kEvStateCount = 4;

// What can happen to a path.
enum class EvInput : std::uint8_t {
  kMarked,       // a SACK says SKIP_ONCE: the packet met congestion
  kTrimmed,      // a NACK says that a switch on the way cut the packet
  kAlwaysSkip,   // a SACK says ALWAYS_SKIP: the responder holds the path for bad
  kLost,         // a packet vanished without a trace
  kRotation,     // the sender's rotation came by
  kProbeClean,   // enough probes were answered
  kProbeMarked,  // a probe was answered, and had met congestion
  kDeny,         // the controller's order
  kAllow,        // the controller takes it back
};
inline constexpr std::size_t kEvInputCount = 9;

constexpr std::string_view name(EvState state) {
  constexpr std::array<std::string_view, kEvStateCount> kNames{"GOOD", "SKIP", "ASSUMED_BAD",
                                                               "DENIED"};
  return kNames[static_cast<std::size_t>(state)];
}
constexpr std::string_view name(EvInput input) {
  constexpr std::array<std::string_view, kEvInputCount> kNames{
      "marked",      "trimmed",      "always-skip", "lost", "rotation",
      "probe-clean", "probe-marked", "deny",        "allow"};
  return kNames[static_cast<std::size_t>(input)];
}

// MRC 9.3.1, 11.2.2: the whole machine. What does not lead anywhere stays where it is: feedback
// that repeats or comes late is the rule, not the exception, when packets are sprayed.
//
// Congestion is not failure: no mark and no trim leads to ASSUMED_BAD, and a probe that was merely
// marked proves that the path works.
constexpr EvState next_state(EvState state, EvInput input) {
  using enum EvState;
  constexpr std::array<std::array<EvState, kEvInputCount>, kEvStateCount> kTable{{
      // marked      trimmed      always-skip  lost         rotation     probe-clean  probe-marked
      // deny        allow
      {kSkip, kSkip, kAssumedBad, kAssumedBad, kGood, kGood, kSkip, kDenied, kGood},
      {kSkip, kSkip, kAssumedBad, kAssumedBad, kGood, kSkip, kSkip, kDenied, kSkip},
      {kAssumedBad, kAssumedBad, kAssumedBad, kAssumedBad, kAssumedBad, kGood, kSkip, kDenied,
       kAssumedBad},
      {kDenied, kDenied, kDenied, kDenied, kDenied, kDenied, kDenied, kDenied, kGood},
  }};
  return kTable[static_cast<std::size_t>(state)][static_cast<std::size_t>(input)];
}

// Whether the path may be kept in rotation.
constexpr bool is_usable(EvState state) {
  return state == EvState::kGood || state == EvState::kSkip;
}

}  // namespace openmrc::core
