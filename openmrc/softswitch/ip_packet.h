// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "openmrc/base/bytes.h"
#include "openmrc/softswitch/counters.h"
#include "openmrc/softswitch/queue_policy.h"
#include "openmrc/wire/field/dscp.h"

// What a switch reads in an IP packet, and what it changes in one. It looks at the outermost IP
// header, and behind it only where something is to be found there.
namespace openmrc::softswitch {

// treatment_of, for every DSCP: this is asked of every packet.
class Treatments {
 public:
  explicit Treatments(const wire::DscpMap& map);
  [[nodiscard]] Treatment of(wire::Dscp dscp) const { return by_dscp_[dscp.raw()]; }

 private:
  std::array<Treatment, std::size_t{wire::Dscp::kMax} + 1> by_dscp_{};
};

// A packet whose IP header has been checked.
struct IpPacket {
  ConstBytes bytes{};  // from the IP header to the end that it states
  Treatment treatment{};
  bool is_ipv6 = false;
  std::uint8_t hops_left = 0;  // hop limit or time to live
};

// Bytes behind the end that the header states (Ethernet padding) are left out. A packet that is
// shorter than it states has been damaged, unless it has been trimmed by a switch that leaves the
// lengths as they are.
[[nodiscard]] Dropped read_ip_packet(ConstBytes received, const Treatments& treatments,
                                     IpPacket& packet);

// The same for all packets of a flow: addresses, the flow label of IPv6, UDP ports.
std::uint64_t flow_hash(const IpPacket& packet, std::uint64_t seed);

// What becomes of the destination address on the way through.
enum class Rewrite : std::uint8_t {
  kNone,
  kShift,        // the switch's own uSID is dropped
  kNextSegment,  // the segment of the routing header takes its place; that header has been checked
};

// Makes the packet one that has passed this switch: one hop less, and the new destination.
void pass(MutableBytes packet, Rewrite rewrite);

// Marks a packet that waited in a queue too long, and says whether it did: one that is not capable
// of ECN, or marked already, stays as it is. The outermost header decides.
bool mark_congested(MutableBytes packet, wire::MarkedHeaders headers = wire::MarkedHeaders::kAll);

}  // namespace openmrc::softswitch
