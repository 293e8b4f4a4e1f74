// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "openmrc/base/bytes.h"

// Frames as packet sockets give them: what the sending kernel leaves to the hardware of a NIC,
// which a veth pair does not have, is still to be done.
namespace openmrc::lab {

// What the kernel puts in front of a frame: virtio_net_hdr, whose header is not C++.
struct Offload {
  static constexpr std::uint8_t kNeedsChecksum = 1;  // of `flags`
  static constexpr std::uint8_t kNoBurst = 0;        // of `gso_type`
  static constexpr std::uint8_t kUdpBurst = 5;       // VIRTIO_NET_HDR_GSO_UDP_L4

  std::uint8_t flags;
  std::uint8_t gso_type;
  std::uint16_t hdr_len;
  std::uint16_t gso_size;
  std::uint16_t csum_start;
  std::uint16_t csum_offset;
};
static_assert(sizeof(Offload) == 10);

// Writes the checksum of a frame, if that was left to the hardware.
void complete_checksum(const Offload& offload, std::span<std::byte> frame);

// Gives out the frames that hardware would put on the cable: the datagrams of a UDP burst over IPv6
// (UDP_SEGMENT) one by one, and any other frame as it is. A frame is valid during the call.
void for_each_frame(const Offload& offload, std::span<std::byte> frame,
                    const std::function<void(ConstBytes)>& take);

}  // namespace openmrc::lab
