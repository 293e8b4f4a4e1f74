// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace openmrc::core {

// MRC 9.3.1: what is held of one path. SUSPECT is ours: MRC has the step from GOOD to ASSUMED_BAD
// alone, but a packet that is late says less than one that is lost.
enum class EvState : std::uint8_t {
  kGood,        // carries data
  kSkip,        // was congested: passed over for some turns
  kSuspect,     // a packet is missing: out of rotation until a probe tells
  kAssumedBad,  // failed: disabled, probed in the background
  kDenied,      // the controller forbids it
};
inline constexpr std::size_t kEvStateCount = 5;

// What can happen to a path.
enum class EvInput : std::uint8_t {
  kMarked,      // a SACK says SKIP_ONCE: the packet met congestion (PATH-14)
  kTrimmed,     // a NACK says that a switch on the way cut the packet (PATH-15)
  kAlwaysSkip,  // a SACK says ALWAYS_SKIP: the responder holds the path for bad (PATH-16)
  kMissing,     // a packet is declared lost; it may be late (PATH-17)
  // PATH-18
  kLost,         // packets vanished without a trace, or a probe did after a packet was missing
  kLate,         // what had been missing has arrived (PATH-19)
  kRotation,     // it has missed its turns (PATH-20)
  kProbeClean,   // enough probes were answered (PATH-21)
  kProbeMarked,  // a probe was answered, and had met congestion (PATH-22)
  kDeny,         // the controller's order (PATH-23)
  kAllow,        // the controller takes it back (PATH-24)
};
inline constexpr std::size_t kEvInputCount = 11;

constexpr std::string_view name(EvState state) {
  constexpr std::array<std::string_view, kEvStateCount> kNames{"GOOD", "SKIP", "SUSPECT",
                                                               "ASSUMED_BAD", "DENIED"};
  return kNames[static_cast<std::size_t>(state)];
}
constexpr std::string_view name(EvInput input) {
  constexpr std::array<std::string_view, kEvInputCount> kNames{
      "marked",   "trimmed",     "always-skip",  "missing", "lost", "late",
      "rotation", "probe-clean", "probe-marked", "deny",    "allow"};
  return kNames[static_cast<std::size_t>(input)];
}

// MRC 9.3.1, 11.2.2: the whole machine. What does not lead anywhere stays where it is: feedback
// that repeats or comes late is the rule, not the exception, when packets are sprayed.
//
// Congestion is not failure: no mark and no trim leads to ASSUMED_BAD, and a probe that was merely
// marked proves that the path works.
constexpr EvState next_state(EvState state, EvInput input) {
  using enum EvState;
  constexpr EvState kBad = kAssumedBad;
  constexpr std::array<std::array<EvState, kEvInputCount>, kEvStateCount> kTable{{
      // marked, trimmed, always-skip, missing, lost, late,
      // rotation, probe-clean, probe-marked, deny, allow
      {kSkip, kSkip, kBad, kSuspect, kBad, kGood,  //
       kGood, kGood, kSkip, kDenied, kGood},
      {kSkip, kSkip, kBad, kSuspect, kBad, kSkip,  //
       kGood, kSkip, kSkip, kDenied, kSkip},
      {kSuspect, kSuspect, kBad, kSuspect, kBad, kGood,  //
       kSuspect, kGood, kSkip, kDenied, kSuspect},
      {kBad, kBad, kBad, kBad, kBad, kBad,  //
       kBad, kGood, kSkip, kDenied, kBad},
      {kDenied, kDenied, kDenied, kDenied, kDenied, kDenied,  //
       kDenied, kDenied, kDenied, kDenied, kGood},
  }};
  return kTable[static_cast<std::size_t>(state)][static_cast<std::size_t>(input)];
}

// Whether the path may be kept in rotation (PATH-25).
constexpr bool is_usable(EvState state) {
  return state == EvState::kGood || state == EvState::kSkip;
}

}  // namespace openmrc::core
