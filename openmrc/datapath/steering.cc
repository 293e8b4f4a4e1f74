// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/datapath/steering.h"

#include <linux/filter.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>

#include "openmrc/datapath/sockets.h"
#include "openmrc/wire/field/opcode.h"
#include "openmrc/wire/header/bth.h"
#include "openmrc/wire/header/erth.h"

namespace openmrc::datapath {
namespace {

// Where the program finds the fields of the BTH; it sees the bytes behind the UDP header.
constexpr std::uint32_t kOpcodeAt = 0;
constexpr std::uint32_t kQpnHighByteAt = 5;
constexpr std::uint32_t kPsnLowHalfAt = 10;
static_assert(wire::BthLayout::DestinationQp::kOffset == kQpnHighByteAt * 8);
static_assert(wire::BthLayout::PacketSeq::kEnd == kPsnLowHalfAt * 8 + 16);

// Beyond every group of sockets: the kernel then chooses by a hash of addresses and ports.
constexpr std::uint32_t kAnySocket = 0xffffffff;

constexpr std::uint32_t raw(wire::Opcode opcode) { return static_cast<std::uint32_t>(opcode); }

}  // namespace

std::optional<Slot> owner_of(ConstBytes datagram) {
  const auto bth = wire::BthView::over(datagram);
  if (!bth) return std::nullopt;
  const std::uint8_t opcode = bth->get<wire::BthLayout::OpcodeByte>();
  if (!wire::is_defined_opcode(opcode)) return std::nullopt;  // nobody's; will be rejected by name
  if (opcode == raw(wire::Opcode::kEndpointRequest)) return std::nullopt;
  if (opcode == raw(wire::Opcode::kEndpointResponse)) {
    return slot_of(wire::EndpointRequestId(
        static_cast<std::uint16_t>(bth->get<wire::BthLayout::PacketSeq>() & 0xffff)));
  }
  return slot_of(Qpn(bth->get<wire::BthLayout::DestinationQp>()));
}

bool is_endpoint_request(ConstBytes datagram) {
  if (datagram.size() < wire::kBthSize) return false;
  const wire::BthView bth(datagram.first<wire::kBthSize>());
  return bth.get<wire::BthLayout::OpcodeByte>() == raw(wire::Opcode::kEndpointRequest);
}

Result<void, Error> attach_steering(int socket) {
  auto program = std::to_array<sock_filter>({
      BPF_STMT(BPF_LD | BPF_B | BPF_ABS, kOpcodeAt),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, raw(wire::Opcode::kEndpointRequest), 2, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, raw(wire::Opcode::kEndpointResponse), 2, 0),
      BPF_JUMP(BPF_JMP | BPF_JA, 4, 0, 0),
      BPF_STMT(BPF_RET | BPF_K, kAnySocket),
      BPF_STMT(BPF_LD | BPF_H | BPF_ABS, kPsnLowHalfAt),
      BPF_STMT(BPF_ALU | BPF_RSH | BPF_K, kRequestIdSlotShift),
      BPF_STMT(BPF_RET | BPF_A, 0),
      BPF_STMT(BPF_LD | BPF_B | BPF_ABS, kQpnHighByteAt),
      BPF_STMT(BPF_ALU | BPF_RSH | BPF_K, 8 - kSlotBits),
      BPF_STMT(BPF_RET | BPF_A, 0),
  });
  const sock_fprog attached{.len = program.size(), .filter = program.data()};
  if (::setsockopt(socket, SOL_SOCKET, SO_ATTACH_REUSEPORT_CBPF, &attached, sizeof attached) == 0) {
    return {};
  }
  return failure(Error{.what = with_reason("cannot attach the program that steers packets", errno),
                       .remedy = "this needs Linux 4.5 or later"});
}

}  // namespace openmrc::datapath
