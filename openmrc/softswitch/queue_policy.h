// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>

#include "openmrc/wire/field/dscp.h"
#include "openmrc/wire/trim.h"

// What a switch port decides about a packet: pure functions of a few numbers, used by the switch
// that handles bytes and by the simulator, which keeps its queues in another form.
namespace openmrc::softswitch {

// MRC 8 (CC-47): two classes of traffic. Acknowledgements and trimmed packets go before data.
enum class QueueClass : std::uint8_t { kData, kControl };

// How a packet is treated.
struct Treatment {
  QueueClass queue = QueueClass::kData;
  bool trimmable = false;
  bool trimmed = false;  // by a switch before this one

  bool operator==(const Treatment&) const = default;
};

// MRC 8 (CC-48): a packet is treated as its DSCP says. One that means nothing here is data.
constexpr Treatment treatment_of(const wire::DscpMap& map, wire::Dscp dscp) {
  const bool trimmed = map.trim_place(dscp).has_value();
  const wire::TrafficClass traffic_class = map.traffic_class(dscp);
  const bool control = trimmed || traffic_class == wire::TrafficClass::kControl;
  return {.queue = control ? QueueClass::kControl : QueueClass::kData,
          .trimmable = traffic_class == wire::TrafficClass::kTrimmable ||
                       traffic_class == wire::TrafficClass::kTrimmableRetransmission,
          .trimmed = trimmed};
}

// A share of the packets, in parts of 2^32.
inline constexpr std::uint64_t kEveryPacket = std::uint64_t{1} << 32;
constexpr std::uint64_t mark_share(std::uint32_t billionths) {
  return kEveryPacket * billionths / 1'000'000'000;
}

// One egress port. Bytes are those of packets on the wire.
struct QueuePolicy {
  std::uint32_t ecn_min_bytes = 0;                   // marking begins
  std::uint32_t ecn_max_bytes = 0;                   // every packet is marked; 0: no marking at all
  std::uint64_t ecn_share_max = kEveryPacket;        // is marked just below ecn_max_bytes
  std::uint32_t data_max_bytes = 0;                  // beyond it data is trimmed, or dropped
  std::uint32_t control_max_bytes = 0;               // beyond it control is dropped
  bool trims = true;                                 // or drops
  wire::TrimPlace place = wire::TrimPlace::kOnPath;  // how trimmed packets are marked
  wire::MarkedHeaders headers = wire::MarkedHeaders::kAll;  // where marks are put

  bool operator==(const QueuePolicy&) const = default;
};

// The recommended thresholds, by the bytes that a plane's links hold in a round trip (UET
// recommends 0.2 and 0.8 for ECN, 1.0 for trimming, 1.5 on the last hop, 1.0 for control).
// MRC 8 (CC-51): no ECN marks on the last hop, where leaving the path would not help.
constexpr QueuePolicy recommended_policy(std::uint32_t bdp_bytes, wire::TrimPlace place) {
  const bool last = place == wire::TrimPlace::kLastHop;
  return {.ecn_min_bytes = last ? 0 : bdp_bytes / 5,
          .ecn_max_bytes = last ? 0 : bdp_bytes / 5 * 4,
          .data_max_bytes = last ? bdp_bytes + bdp_bytes / 2 : bdp_bytes,
          .control_max_bytes = bdp_bytes,
          .trims = true,
          .place = place};
}

enum class Verdict : std::uint8_t {
  kQueue,
  kTrim,         // cut it down to its headers and queue those as control
  kDropData,     // full, and the packet or the port does not trim
  kDropControl,  // full of control
};

// Whether so many bytes more keep within a limit.
constexpr bool has_room(std::uint32_t waiting, std::uint32_t size, std::uint32_t max_bytes) {
  return std::uint64_t{waiting} + size <= max_bytes;
}

// What becomes of a packet that arrives and finds so many bytes waiting.
constexpr Verdict judge_arrival(const QueuePolicy& policy, QueueClass queue, bool trimmable,
                                std::uint32_t size, std::uint32_t trimmed_size,
                                std::uint32_t data_waiting, std::uint32_t control_waiting) {
  if (queue == QueueClass::kControl) {
    return has_room(control_waiting, size, policy.control_max_bytes) ? Verdict::kQueue
                                                                     : Verdict::kDropControl;
  }
  if (has_room(data_waiting, size, policy.data_max_bytes)) return Verdict::kQueue;
  if (!trimmable || !policy.trims) return Verdict::kDropData;
  return has_room(control_waiting, trimmed_size, policy.control_max_bytes) ? Verdict::kTrim
                                                                           : Verdict::kDropControl;
}

// Whether a data packet that leaves might be marked; if not, no random number is needed.
// `data_waiting` includes the packet.
constexpr bool may_mark_congestion(const QueuePolicy& policy, std::uint32_t data_waiting) {
  return policy.ecn_max_bytes != 0 && data_waiting > policy.ecn_min_bytes;
}

// Whether it is: never up to the first threshold, always from the second on, in between with a
// probability that rises evenly to `ecn_share_max`. `random` is evenly spread over all values.
constexpr bool marks_congestion(const QueuePolicy& policy, std::uint32_t data_waiting,
                                std::uint32_t random) {
  if (!may_mark_congestion(policy, data_waiting)) return false;
  if (data_waiting >= policy.ecn_max_bytes) return true;
  const std::uint64_t above = data_waiting - policy.ecn_min_bytes;
  const std::uint64_t span = policy.ecn_max_bytes - policy.ecn_min_bytes;
  return random * span < above * policy.ecn_share_max;
}

// Which queue sends next when both have something: control first, but not more than half of the
// bytes, so that a flood of trimmed packets does not stop the data (UET allows at most half).
//
// The credit is how many bytes control may still send before it is data's turn. Control is chosen
// only while there is some, and data only while there is none; so it stays between kCreditMax and
// minus one packet. While both wait, control gets ahead of data by at most kCreditMax and a packet,
// and data of control by no more either if no packet is longer than kCreditMax.
class FairShare {
 public:
  [[nodiscard]] constexpr QueueClass next() const {
    return credit_ > 0 ? QueueClass::kControl : QueueClass::kData;
  }
  // After a packet of `queue` has been chosen while the other waited.
  constexpr void charge(QueueClass queue, std::uint32_t size) {
    const auto bytes = static_cast<std::int32_t>(size);
    credit_ =
        std::min(kCreditMax, queue == QueueClass::kControl ? credit_ - bytes : credit_ + bytes);
  }

 private:
  // A few packets' worth: a queue that had nothing to send does not save up its turns.
  static constexpr std::int32_t kCreditMax = 16'384;
  std::int32_t credit_ = kCreditMax;
};

}  // namespace openmrc::softswitch
