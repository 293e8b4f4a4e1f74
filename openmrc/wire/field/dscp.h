// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>

#include "openmrc/base/strong.h"

namespace openmrc::wire {

using Dscp = Strong<struct DscpTag, std::uint8_t, 6>;

// The two low bits of the traffic class (RFC 3168).
enum class Ecn : std::uint8_t { kNotCapable = 0, kCapable1 = 1, kCapable0 = 2, kCongested = 3 };

// How the network shall treat a packet, as its sender says it (MRC 8).
enum class TrafficClass : std::uint8_t {
  // WIRE-30
  kUnknown,                  // received with a DSCP that means nothing here; sent as DSCP 0
  kControl,                  // SACK, NACK, ACK, endpoint response: high priority, never trimmed
  kNoTrim,                   // data that a full queue drops
  kTrimmable,                // data that a full queue cuts down to its headers
  kTrimmableRetransmission,  // the same, for retransmissions
};

// Where a switch trimmed a packet. At the last hop it is the receiver that is overloaded, and the
// path is not to blame.
enum class TrimPlace : std::uint8_t { kOnPath, kLastHop };

// Which DSCP means what: a setting of the deployment. The values must differ from each other.
// WIRE-29
struct DscpMap {
  Dscp control{46};
  Dscp no_trim{8};
  Dscp trimmable{10};
  Dscp trimmable_retransmission{12};
  Dscp trimmed{14};
  Dscp trimmed_last_hop{22};

  bool operator==(const DscpMap&) const = default;

  [[nodiscard]] constexpr Dscp of(TrafficClass traffic_class) const {
    switch (traffic_class) {
      case TrafficClass::kControl: return control;
      case TrafficClass::kNoTrim: return no_trim;
      case TrafficClass::kTrimmable: return trimmable;
      case TrafficClass::kTrimmableRetransmission: return trimmable_retransmission;
      case TrafficClass::kUnknown: break;
    }
    return Dscp(0);
  }
  [[nodiscard]] constexpr Dscp of(TrimPlace place) const {
    return place == TrimPlace::kLastHop ? trimmed_last_hop : trimmed;
  }

  [[nodiscard]] constexpr TrafficClass traffic_class(Dscp dscp) const {
    if (dscp == trimmable) return TrafficClass::kTrimmable;
    if (dscp == control) return TrafficClass::kControl;
    if (dscp == no_trim) return TrafficClass::kNoTrim;
    if (dscp == trimmable_retransmission) return TrafficClass::kTrimmableRetransmission;
    return TrafficClass::kUnknown;
  }
  [[nodiscard]] constexpr std::optional<TrimPlace> trim_place(Dscp dscp) const {
    if (dscp == trimmed) return TrimPlace::kOnPath;
    if (dscp == trimmed_last_hop) return TrimPlace::kLastHop;
    return std::nullopt;
  }
};

// The traffic class byte of IPv6 and the type of service byte of IPv4.
constexpr std::uint8_t traffic_byte(Dscp dscp, Ecn ecn) {
  return static_cast<std::uint8_t>(unsigned{dscp.raw()} << 2 | static_cast<unsigned>(ecn));
}
constexpr Dscp dscp_of(std::uint8_t traffic_byte) {
  return Dscp(static_cast<std::uint8_t>(traffic_byte >> 2));
}
constexpr Ecn ecn_of(std::uint8_t traffic_byte) { return static_cast<Ecn>(traffic_byte & 3); }

}  // namespace openmrc::wire
