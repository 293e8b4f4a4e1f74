// SPDX-License-Identifier: BSD-3-Clause
// Sends a SACK to itself with nothing but what is installed.
#include <cstddef>
#include <cstdio>
#include <variant>
#include <vector>

#include "openmrc/base/ids.h"
#include "openmrc/wire/decode.h"
#include "openmrc/wire/encode.h"
#include "openmrc/wire/packet.h"
#include "openmrc/wire/settings.h"

namespace wire = openmrc::wire;

int main() {
  const wire::Sack sent{.destination_qp = openmrc::Qpn(0x1234),
                        .seth = {.entropy = openmrc::Ev(0x2a),
                                 .cack_psn = openmrc::Psn(1'000),
                                 .sack_offset = 1,
                                 .sack_bitmap = 0b1010},
                        .cc_state = {}};
  const wire::Packet packet{.route = wire::Ipv6Route{}, .transport = {.body = sent}};
  const wire::WireSettings settings;

  std::vector<std::byte> bytes(wire::kHeadersSizeMax + 64);
  bytes.resize(wire::encode_packet(packet, settings, bytes));
  const auto received = wire::decode_ip(bytes, settings);
  if (!received) {
    std::fprintf(stderr, "not decoded: %s\n", wire::describe(received.error()).counter.data());
    return 1;
  }
  const auto* sack = std::get_if<wire::Sack>(&received->transport.body);
  if (sack == nullptr || *sack != sent) {
    std::fprintf(stderr, "what came back is not what was sent\n");
    return 1;
  }
  std::printf("SACK of %zu bytes for queue pair 0x%x: all up to PSN %u, and bitmap 0x%llx\n",
              bytes.size(), sack->destination_qp.raw(), sack->seth.cack_psn.raw(),
              static_cast<unsigned long long>(sack->seth.sack_bitmap));
}
