// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>

#include "openmrc/base/bytes.h"
#include "openmrc/datapath/arrival.h"

namespace openmrc::xdp {

// Where the UDP datagram lies in an Ethernet frame of IPv6, plain or in IPv6.
struct FrameParts {
  std::size_t outer_at = 0;  // IPv6 headers; one and the same if the packet is plain
  std::size_t inner_at = 0;
  ConstBytes datagram{};  // from BTH on, without what Ethernet has padded it with
};

// Nothing if it is no such frame. A trimmed packet may be shorter than its headers say.
std::optional<FrameParts> read_frame(ConstBytes frame);

// What a socket would report of the datagram, and what the network said in the outer header.
datapath::Arrival arrival_of(ConstBytes frame, const FrameParts& parts);

}  // namespace openmrc::xdp
