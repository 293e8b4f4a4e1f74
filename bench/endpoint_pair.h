// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "openmrc/base/check.h"
#include "openmrc/base/ids.h"
#include "openmrc/base/time.h"
#include "openmrc/core/congestion/nscc.h"
#include "openmrc/core/endpoint/endpoint.h"
#include "openmrc/wire/field/ip_address.h"

// The network that the benchmarks of the core assume, and how they connect queue pairs over it.
namespace openmrc::bench {

inline constexpr std::size_t kPlanes = 8;
inline constexpr std::size_t kEvsPerPlane = 32;
inline constexpr std::uint32_t kMtu = 4096;
inline constexpr Duration kBaseRtt = microseconds(12);
inline constexpr std::int64_t kLinkBitsPerSecond = 800'000'000'000;
// How long the link takes for one packet of 4 KiB and its headers.
inline constexpr std::int64_t kPacketPicoseconds =
    4184 * 8 * 1'000'000'000'000 / kLinkBitsPerSecond;

enum class Side : std::uint16_t { kRequestor = 0xfd0a, kResponder = 0xfd0b };

// Host `number` on a side, in each plane.
inline std::vector<wire::Ipv6Address> addresses_of(Side side, std::uint32_t number) {
  std::vector<wire::Ipv6Address> addresses;
  for (std::uint16_t plane = 0; plane < kPlanes; ++plane) {
    addresses.push_back(wire::Ipv6Address::of({static_cast<std::uint16_t>(side), plane, 0, 0, 0, 0,
                                               static_cast<std::uint16_t>(number >> 16),
                                               static_cast<std::uint16_t>(number)}));
  }
  return addresses;
}

// Profile 0 of each kind: 256 EVs, and NSCC with its defaults for this network, which trims.
inline core::InitAttributes add_profiles(core::Endpoint& endpoint) {
  const auto nscc = core::nscc_defaults({.mtu = ByteCount(kMtu),
                                         .base_rtt = kBaseRtt,
                                         .link_bits_per_second = kLinkBitsPerSecond,
                                         .trimming = true});
  const auto evs =
      core::EvProfile::simple({.planes = kPlanes, .evs_per_plane = kEvsPerPlane, .seed = 1});
  return {.domain = endpoint.create_protection_domain(),
          .ev_profile = endpoint.add_ev_profile(evs),
          .cc_profile = endpoint.add_cc_profile(nscc)};
}

struct ConnectionPlan {
  core::InitAttributes init{};
  Qpn remote_qpn{};
  std::vector<wire::Ipv6Address> remote_addresses{};
  std::uint8_t mpr = 8;
  std::uint8_t timeout = core::ReadyToSendAttributes{}.timeout;
};

// Brings a new queue pair to RTS.
inline void connect(core::Endpoint& endpoint, Qpn qpn, const ConnectionPlan& plan) {
  const bool done =
      endpoint.to_init(qpn, plan.init) &&
      endpoint.to_ready_to_recv(qpn, Instant{},
                                {.remote_qpn = plan.remote_qpn,
                                 .remote_addresses = plan.remote_addresses,
                                 .mtu = kMtu,
                                 .mpr_dest = plan.mpr}) &&
      endpoint.to_ready_to_send(qpn, Instant{}, {.mpr = plan.mpr, .timeout = plan.timeout});
  OPENMRC_CHECK(done, "a queue pair connects");
}

inline Qpn create(core::Endpoint& endpoint) {
  const auto qpn = endpoint.create_queue_pair();
  OPENMRC_CHECK(qpn.has_value(), "there is room for a queue pair");
  return *qpn;
}

// Memory without bytes: peers may write there, and nothing is copied.
inline RKey register_anything(core::Endpoint& endpoint, core::ProtectionDomain domain) {
  const auto key = endpoint.register_memory({.domain = domain, .length = std::uint64_t{1} << 40});
  OPENMRC_CHECK(key.has_value(), "memory is registered");
  return *key;
}

// Nothing was lost, dropped or repeated: otherwise the figures are of something else.
inline void check_clean(const core::Endpoint& endpoint) {
  for (std::size_t i = 0; i < core::kCounterTable.size(); ++i) {
    const std::string_view name = core::kCounterTable[i].name;
    if (!name.starts_with("retransmits_") && !name.starts_with("drop_")) continue;
    const std::uint64_t count = endpoint.counters().of(static_cast<core::Count>(i));
    OPENMRC_CHECK(count == 0, name.data());
  }
}

}  // namespace openmrc::bench
