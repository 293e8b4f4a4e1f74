// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/datapath/steering.h"

#include <fmt/core.h>
#include <linux/filter.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>

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

// Fails with errno.
Result<FileDescriptor, int> bind_name(const SlotAddress& address) {
  FileDescriptor socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket.is_open()) return failure(errno);
  const auto* name = reinterpret_cast<const sockaddr*>(address.get());
  if (::bind(socket.get(), name, address.size()) != 0) return failure(errno);
  return socket;
}

Error name_error(int error_number) {
  return {.what = with_reason("cannot bind an abstract UNIX socket", error_number), .remedy = {}};
}

constexpr int kJoinTries = 2000;
constexpr timespec kJoinPause{.tv_sec = 0, .tv_nsec = 1'000'000};

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

SlotAddress SlotAddress::of(wire::UdpPort port, Slot slot) {
  return SlotAddress(fmt::format("openmrc.{}.{}", port.raw(), slot.raw()));
}

SlotAddress SlotAddress::of_lock(wire::UdpPort port) {
  return SlotAddress(fmt::format("openmrc.{}.join", port.raw()));
}

SlotAddress::SlotAddress(std::string_view name) : length_(name.size()) {
  address_.sun_family = AF_UNIX;
  std::ranges::copy(name, address_.sun_path + 1);
}

Result<JoinLock, Error> JoinLock::take(wire::UdpPort port) {
  const SlotAddress name = SlotAddress::of_lock(port);
  for (int i = 0; i < kJoinTries; ++i) {
    auto socket = bind_name(name);
    if (socket) return JoinLock(*std::move(socket));
    if (socket.error() != EADDRINUSE) return failure(name_error(socket.error()));
    ::nanosleep(&kJoinPause, nullptr);
  }
  return failure(Error{
      .what =
          fmt::format("another process has been joining UDP port {} for two seconds", port.raw()),
      .remedy = fmt::format("`ss -xap | grep {}` names it", name.text())});
}

Result<SlotClaim, Error> claim_slot(wire::UdpPort port, const JoinLock&) {
  for (std::size_t i = 0; i < kSlots; ++i) {
    const Slot slot(static_cast<std::uint8_t>(i));
    auto socket = bind_name(SlotAddress::of(port, slot));
    if (!socket && socket.error() == EADDRINUSE) continue;
    if (!socket) return failure(name_error(socket.error()));
    const int on = 1;  // so that the kernel says who passes a packet on
    if (::setsockopt(socket->get(), SOL_SOCKET, SO_PASSCRED, &on, sizeof on) != 0) {
      return failure(Error{.what = with_reason("SO_PASSCRED is refused", errno), .remedy = {}});
    }
    return SlotClaim{.slot = slot, .socket = *std::move(socket)};
  }
  return failure(Error{
      .what = fmt::format("UDP port {} is shared by {} shards already, and has room for no more",
                          port.raw(), kSlots),
      .remedy = "use fewer shards or processes, or another UDP port"});
}

}  // namespace openmrc::datapath
