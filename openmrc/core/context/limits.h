// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "openmrc/base/time.h"

// Every limit of the core that is not a setting. The limits that are settings are in settings.h.
namespace openmrc::core {

// The unit in which windows of PSNs are stated (MRC 7.5.1): one step of MPR, "max PSN range".
inline constexpr std::int64_t kPsnsPerMpr = 128;

// MRC 7.4.1: timeout = 1.024 us x 2^n.
inline constexpr unsigned kTimeoutExponentMax = 24;
inline constexpr unsigned kLinearRetriesMax = 7;
inline constexpr unsigned kExponentialRetriesMax = 25;
inline constexpr unsigned kExponentialRetriesInfinite = 25;

// The largest payload of a packet; RoCE's largest is 4096, Ethernet's jumbo frames hold no more
// than this.
inline constexpr std::uint32_t kMtuMax = 8192;
inline constexpr std::uint32_t kMtuMin = 16;

// Acknowledgements, SACKs, NACKs and probes that wait for a port. What does not fit is
// dropped and counted: a flood costs this much memory, and the protocol recovers from losing any.
// Peers share it, see PeerShares. REL-89
inline constexpr std::size_t kControlQueueMax = 4096;
// Of these, as many are free for all; of the others nobody has more than are left.
inline constexpr std::size_t kControlUnshared = 256;

// Endpoint responses that wait for a port: what a flood of requests to queue pair 0x2 costs. They
// have a queue of their own, so that they do not push out the SACKs of connections (REL-90).
inline constexpr std::size_t kEndpointResponsesQueuedMax = 1024;

// EV probes of paths to one host whose answers are awaited; older ones are abandoned. Twice as many
// as an EV profile has paths. 12 bytes each, so 6 KiB for a host at the most.
inline constexpr std::size_t kProbesAwaitedMax = 512;

// Endpoint requests of the endpoint's owner whose answers are awaited, and for how long: beyond the
// one they are refused, after the other they are abandoned if their number is needed.
inline constexpr std::size_t kAskedMax = 512;
inline constexpr Duration kAskedAwaitedFor = seconds(1);

// Events that have not been fetched; further ones are dropped and counted (PATH-80).
inline constexpr std::size_t kEventsMax = 1024;

// Unreliable datagrams of a queue pair that wait for a port: there is memory for so many of its MTU
// from the beginning, 32 MiB at the most. And how many such queue pairs an endpoint has: it looks
// at all of them to find whose turn it is (UD-6).
inline constexpr std::size_t kDatagramQueueMax = 4096;
inline constexpr std::size_t kDatagramQueuePairsMax = 1024;

// A burst of at most so many packets sends its data before its control packets.
inline constexpr std::size_t kSmallBurst = 8;

// How many packets one queue pair may send before it is the next one's turn.
inline constexpr unsigned kBurstPerQueuePair = 8;

// How many paths a search for one that works tries at once.
inline constexpr unsigned kSearchWidth = 4;

// The longest burst on one path: what segmentation offload takes in one call.
inline constexpr unsigned kEvBurstMax = 64;

// Each reliability probe takes another path, and its answer several: where few paths are left, some
// come back. After so many without feedback it is the peer that is silent, and they become rarer.
// So many may be answered after a later one has left.
inline constexpr unsigned kProbesBeforeBackoff = 16;

// How many reliability probes may leave for one peer in a round trip, of all its queue pairs
// together. Ten thousand that hear nothing for a moment would otherwise answer the delay with more
// traffic than their data.
inline constexpr std::int64_t kProbesPerRoundTrip = 64;

// How many packets in flight one SACK may look at to find lost ones; the next looks at the rest.
inline constexpr unsigned kLossCandidatesPerSack = 64;

}  // namespace openmrc::core
