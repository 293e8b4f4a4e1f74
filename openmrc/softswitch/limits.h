// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "openmrc/base/strong.h"

namespace openmrc::softswitch {

// A port of a switch, counted from 0.
using PortIndex = Strong<struct PortIndexTag, std::uint16_t>;

// The published fabrics have 512; a T0 of the largest that can be described has 512 hosts and 1024
// uplinks.
inline constexpr std::size_t kPortsMax = 2048;

// A jumbo frame as Ethernet switches know it; what is longer is dropped. Each buffer is as long.
inline constexpr std::size_t kPacketSizeMax = 9216;

// 576 MiB of buffers: more than the switch chips of today have.
inline constexpr std::size_t kBuffersMax = 65'536;

// A prefix for every host or every rack that a switch of a fabric knows, and room for others.
inline constexpr std::size_t kPrefixesMax = 4096;

}  // namespace openmrc::softswitch
