// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "openmrc/base/result.h"
#include "openmrc/datapath/datapath.h"
#include "openmrc/datapath/error.h"
#include "openmrc/wire/field/ip_version.h"
#include "openmrc/wire/settings.h"

namespace openmrc::datapath {

// How packets leave the host.
enum class Mode : std::uint8_t {
  kUdp,   // ordinary UDP to the peer's address; the EV is source port and, of IPv6, flow label
  kUsid,  // ordinary UDP to a uSID carrier: the exact path, without privileges
  kSrv6,  // IPv6 in IPv6 to a uSID carrier, as NICs send it; needs CAP_NET_RAW
  kXdp,   // the same as whole frames, past the network stack (openmrc/xdp)
};

// In the order of the enumerators.
inline constexpr std::array<std::string_view, 4> kModeNames{"udp", "usid", "srv6", "xdp"};
static_assert(static_cast<std::size_t>(Mode::kXdp) == kModeNames.size() - 1);
constexpr std::string_view name_of(Mode mode) { return kModeNames[static_cast<std::size_t>(mode)]; }

// Whether packets have an outer header.
constexpr bool encapsulates(Mode mode) { return mode == Mode::kSrv6 || mode == Mode::kXdp; }

struct Port {
  std::string interface{};      // sockets are bound to it; empty: to the address alone
  wire::Ipv6Address address{};  // the host's own in this plane
};

struct Settings {
  Mode mode = Mode::kUdp;
  std::vector<Port> ports{};  // by plane
  wire::WireSettings wire{};
  bool send_icrc = true;  // false: zero instead, for peers that do not look at it
  // Packets of one EV that stand side by side in a burst leave with one call, cut apart by the
  // kernel or the NIC; so many at most. 1: no segmentation offload, as over IPv4 with an ICRC.
  std::size_t segments_max = 16;
  bool receive_offload = true;                  // let the kernel join packets of one flow (UDP_GRO)
  std::size_t socket_buffer = 4 * 1024 * 1024;  // bytes to ask for, in each direction
};

// All ports are of one.
inline wire::IpVersion ip_version(const Settings& settings) {
  return wire::version_of(settings.ports.front().address);
}

// What every back end does first: checks the settings, and raises the limit of open files.
[[nodiscard]] Result<void, Error> prepare(const Settings& settings);

// The back end for a mode with sockets, in the first free slot: several shards, also of several
// processes, share the ports. Says what the kernel cannot do rather than doing without.
Result<std::unique_ptr<Datapath>, Error> open(const Settings& settings);

}  // namespace openmrc::datapath
