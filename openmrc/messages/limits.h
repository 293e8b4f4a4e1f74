// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "openmrc/base/time.h"

// Every limit of the message layer that is not an option of a queue pair.
namespace openmrc::messages {

// The longest message, as in InfiniBand.
inline constexpr std::uint32_t kMessageMax = 1u << 31;
// Pieces of memory that one request may name. UCX asks for 6 without looking.
inline constexpr std::size_t kSegmentsMax = 16;
// Requests that a queue of one queue pair, or a shared receive queue, may hold.
inline constexpr std::size_t kWorkMax = 1u << 16;
// READs and atomic operations of a queue pair that wait for their response (MSG-30): what the other
// end must have room for.
inline constexpr std::uint8_t kDepthMax = 16;
// Responses that were sent and not yet acknowledged. A peer that keeps to its depth has far fewer:
// so many PSNs are in a window (MSG-33).
inline constexpr std::size_t kResponsesMax = 2048;
// Of a shared receive queue, what one sender is promised at the most (MSG-22).
inline constexpr std::int64_t kSharedCreditMax = 64;
// Gathered into one piece when it is no longer than this: a second packet costs more than a copy.
inline constexpr std::uint32_t kGatherMax = 8192;
// CREDITs of a queue pair in flight; the next one says more.
inline constexpr unsigned kCreditsInFlightMax = 2;
// The same where the peer waits for one. They are acknowledged in order, so that they stay in
// flight behind a SEND of our own that waits for a receive; still far fewer than PSNs are in a
// window.
inline constexpr unsigned kNeededCreditsMax = 512;
// ASKs of a queue pair in flight: one for each answer that `rnr_retry` can count, and some.
inline constexpr unsigned kAsksInFlightMax = 16;
// How often a sender that waits for ever asks whether there are receives: only to notice that its
// peer is gone (MSG-26).
inline constexpr Duration kAskEvery = milliseconds(100);

// How long a sender that gives up waits with it, so that the peer's last word is acknowledged: its
// queue pair is not to fail for that (MSG-25).
inline constexpr Duration kGiveUpAfter = milliseconds(1);

// Programs of InfiniBand exchange no such attributes, so all queue pairs with messages have these:
// immediates that a responder holds, and its window.
inline constexpr std::uint16_t kImmediatesMax = 1024;
inline constexpr std::uint8_t kMpr = 8;

}  // namespace openmrc::messages
