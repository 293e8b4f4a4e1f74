// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "openmrc/wire/packet.h"
#include "tests/support/choices.h"

namespace openmrc::test {

// Any packet that a record can hold. Its payload refers to memory that lasts for the whole program.
wire::Packet arbitrary_packet(Choices& choices);

// The parts of it.
wire::Body arbitrary_body(Choices& choices);
wire::Body arbitrary_body_of(Choices& choices, wire::Opcode opcode);
wire::TrimmedWrite arbitrary_trimmed_write(Choices& choices);

// Equal in everything that travels; payloads are compared byte by byte.
bool same_packet(const wire::Packet& a, const wire::Packet& b);

}  // namespace openmrc::test
