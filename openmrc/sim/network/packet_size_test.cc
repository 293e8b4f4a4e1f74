// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/network/packet_size.h"

#include <gtest/gtest.h>

#include "openmrc/wire/encode.h"

namespace openmrc::sim {
namespace {

wire::Packet packet_of(const wire::Body& body) {
  wire::Packet packet;
  packet.route = wire::Ipv6Route{.encapsulation = wire::SrEncapsulation{}};
  packet.transport.body = body;
  return packet;
}

// The simulator counts the bytes that the encoder would write.
TEST(PacketSize, IsWhatTheEncoderWritesAndWhatEthernetAdds) {
  wire::RdmaWrite write{.part = wire::MessagePart::middle(),
                        .sent = wire::TxTimestamp{},
                        .payload = wire::Payload::of_length(4096)};
  wire::RdmaWrite last = write;
  last.part = wire::MessagePart::last(wire::Immediate(1));
  last.payload = wire::Payload::of_length(77);
  const wire::Body bodies[] = {write,
                               last,
                               wire::Acknowledge{},
                               wire::Sack{},
                               wire::Nack{},
                               wire::ReliabilityProbe{},
                               wire::EndpointRequest{},
                               wire::EndpointResponse{}};
  for (const wire::Body& body : bodies) {
    EXPECT_EQ(size_on_wire(body), wire::encoded_size(packet_of(body)) + kEthernetOverhead)
        << "body " << body.index();
  }
  EXPECT_EQ(size_on_wire(write), 4096U + 40 + 40 + 8 + 12 + 4 + 4 + 16 + 4 + 38);
}

}  // namespace
}  // namespace openmrc::sim
