// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace openmrc::core {

// MRC 6.1, 10.1: the life of a queue pair, as InfiniBand's reliable connection has it.
enum class QueuePairState : std::uint8_t {
  kReset,        // just made, or made anew
  kInit,         // has its protection domain and profiles; receives may be posted
  kReadyToRecv,  // RTR: knows its peer; answers requests
  kReadyToSend,  // RTS: sends requests as well
  kError,        // nothing more moves; everything posted is given back as flushed
};
inline constexpr std::size_t kQueuePairStateCount = 5;

enum class QueuePairInput : std::uint8_t {
  kToReset,
  kToInit,
  kToReadyToRecv,
  kToReadyToSend,
  kToError,  // by the application
  kFatal,    // by the protocol: retries exhausted, a NAK received or sent
};
inline constexpr std::size_t kQueuePairInputCount = 6;

constexpr std::string_view name(QueuePairState state) {
  constexpr std::array<std::string_view, kQueuePairStateCount> kNames{"RESET", "INIT", "RTR", "RTS",
                                                                      "ERROR"};
  return kNames[static_cast<std::size_t>(state)];
}
constexpr std::string_view name(QueuePairInput input) {
  constexpr std::array<std::string_view, kQueuePairInputCount> kNames{
      "to-reset", "to-init", "to-rtr", "to-rts", "to-error", "fatal"};
  return kNames[static_cast<std::size_t>(input)];
}

// MRC 6.1: nothing when the step is not allowed. Every state can be left for RESET and ERROR; the
// way up has no short cuts (QP-1, QP-2).
constexpr std::optional<QueuePairState> next_state(QueuePairState state, QueuePairInput input) {
  using enum QueuePairState;
  switch (input) {
    case QueuePairInput::kToReset: return kReset;
    case QueuePairInput::kToInit: return state == kReset ? std::optional(kInit) : std::nullopt;
    case QueuePairInput::kToReadyToRecv:
      return state == kInit ? std::optional(kReadyToRecv) : std::nullopt;
    case QueuePairInput::kToReadyToSend:
      return state == kReadyToRecv ? std::optional(kReadyToSend) : std::nullopt;
    case QueuePairInput::kToError: return kError;
    case QueuePairInput::kFatal:
      // Nothing that a peer does reaches a queue pair that knows no peer (QP-3).
      return state == kReadyToRecv || state == kReadyToSend ? std::optional(kError) : std::nullopt;
  }
  return std::nullopt;
}

constexpr bool answers_requests(QueuePairState state) {
  return state == QueuePairState::kReadyToRecv || state == QueuePairState::kReadyToSend;
}

}  // namespace openmrc::core
