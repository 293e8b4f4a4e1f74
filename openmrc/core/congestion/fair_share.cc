// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/core/congestion/fair_share.h"

#include <algorithm>

namespace openmrc::core {
namespace {

// The link is too narrow if more than one part in so many is trimmed. Less is what the first
// packets of a flow meet.
constexpr std::uint64_t kNarrowParts = 32;
// That is much: every other packet has to be sent twice.
constexpr std::uint64_t kMuchParts = 2;

// A penalty takes penalty / 128 of a window in a round trip; a quarter of what is too much.
constexpr std::uint64_t kPenaltyOne = 128;
constexpr std::uint64_t kPenaltyParts = 4;

}  // namespace

void FairShare::begin_epoch(Instant now, Duration length) {
  const bool is_narrow = senders_ > 0 && trimmed_ > received_ / kNarrowParts;
  equal_share_ = is_narrow ? received_ / senders_ : 0;
  much_trimmed_ = trimmed_ > received_ / kMuchParts;
  end_ = now + length;
  ++epoch_;
  received_ = 0;
  trimmed_ = 0;
  senders_ = 0;
}

void FairShare::begin_share(ReceivedShare& share) {
  const bool sent_before = share.epoch + 1 == epoch_;
  share = {.epoch = epoch_, .penalty = sent_before ? penalty_for(share.bytes) : std::uint8_t{0}};
  ++senders_;
}

std::uint8_t FairShare::penalty_for(std::uint64_t bytes) const {
  if (equal_share_ == 0) return 0;
  const bool is_small = equal_share_ < kSlack;
  if (bytes <= equal_share_ + kSlack) return is_small && much_trimmed_ ? 1 : 0;
  const std::uint64_t penalty = (bytes - equal_share_) * kPenaltyOne / bytes / kPenaltyParts;
  return static_cast<std::uint8_t>(std::clamp<std::uint64_t>(penalty, 1, kPenaltyMax));
}

}  // namespace openmrc::core
