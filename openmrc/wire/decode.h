// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include "openmrc/base/bytes.h"
#include "openmrc/base/result.h"
#include "openmrc/wire/field/reject.h"
#include "openmrc/wire/packet.h"
#include "openmrc/wire/settings.h"

// Bytes to records. The bytes may come from any host: every length is checked, and whatever is not
// a packet comes back as the reason why. The payload of a decoded packet refers to the bytes given.
namespace openmrc::wire {

// An Ethernet frame.
Result<Packet, Reject> decode_frame(ConstBytes frame, const WireSettings& settings);

// An IP packet, IPv4 or IPv6, plain or encapsulated. Bytes behind the end that the IP header names
// (Ethernet padding) are ignored.
Result<Packet, Reject> decode_ip(ConstBytes packet, const WireSettings& settings);

// The same for whoever decodes a burst into records of its own: the record is not built and copied,
// it is filled. If the packet is rejected, `into` holds a valid packet of no meaning.
[[nodiscard]] Result<void, Reject> decode_ip_into(ConstBytes packet, const WireSettings& settings,
                                                  Packet& into);

// What a UDP socket delivers: BTH to ICRC. Does not check the ICRC, which covers headers that are
// not here. `trimmed` says whether, and where, the packet was trimmed; its DSCP tells.
Result<Transport, Reject> decode_transport(ConstBytes udp_payload,
                                           std::optional<TrimPlace> trimmed);

}  // namespace openmrc::wire
