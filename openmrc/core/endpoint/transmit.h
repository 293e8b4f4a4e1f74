// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "openmrc/base/ids.h"
#include "openmrc/wire/packet.h"

namespace openmrc::core {

// A packet to be sent, and the port to send it from.
struct Transmit {
  wire::Packet packet;
  Plane plane;
};

// What became of a control packet whose turn it was.
enum class ControlSent : std::uint8_t {
  kYes,
  kNoPort,   // there is a way, but its ports are busy
  kDropped,  // nobody wants it any more, or there is no way
};

}  // namespace openmrc::core
