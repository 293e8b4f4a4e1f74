// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "openmrc/base/ids.h"
#include "openmrc/base/quantity.h"
#include "openmrc/base/time.h"
#include "openmrc/core/congestion/congestion.h"
#include "openmrc/core/context/settings.h"
#include "openmrc/core/paths/path_set.h"
#include "openmrc/profile/drawn_paths.h"
#include "openmrc/wire/field/constants.h"

// Everything that configures the protocol, in one place for everybody: a host reads it from the
// section [transport] of openmrc.toml, the simulator from that of a scenario. The core's settings,
// congestion control's and a queue pair's attributes are made from it and from nothing else.
namespace openmrc::profile {

// What the other values start from.
enum class Preset : std::uint8_t {
  kNic,       // a NIC: every packet by itself, times of microseconds
  kSoftware,  // a host with sockets: bursts, and threads that are late at times
};

enum class CongestionAlgorithm : std::uint8_t { kNscc, kFixed };

// MRC 7.4.1: 1.024 us x 2^timeout; so many tries at this distance, then each twice the last.
struct RetryOptions {
  std::uint8_t timeout = 0;
  std::uint8_t linear = 0;
  std::uint8_t exponential = 0;

  bool operator==(const RetryOptions&) const = default;
};

// NSCC's parameters (core::NsccSettings) where they shall not follow from the network.
struct NsccOptions {
  std::optional<Duration> target_delay{};
  std::optional<ByteCount> max_window{};
  std::optional<ByteCount> fi{};
  std::optional<ByteCount> eta{};
  std::optional<std::int32_t> fi_scale_q16{};
  std::optional<std::int32_t> gamma_q16{};
  std::optional<std::int32_t> max_md_jump_q16{};
  std::optional<ByteCount> adjust_bytes{};
  std::optional<Duration> adjust_period{};
  std::optional<bool> quick_adapt{};
  std::optional<unsigned> qa_gate{};
  std::optional<Duration> qa_threshold{};
  bool measures_base_rtt = true;

  bool operator==(const NsccOptions&) const = default;
};

struct CongestionOptions {
  CongestionAlgorithm algorithm = CongestionAlgorithm::kNscc;
  // Of the network; where they are not given, what the network itself tells (NetworkFigures).
  std::optional<Duration> base_rtt{};
  std::optional<std::int64_t> bits_per_second{};  // of all ports together
  std::optional<bool> trimming{};                 // whether switches trim
  std::optional<ByteCount> window{};              // kFixed; default rate x base_rtt
  NsccOptions nscc{};

  bool operator==(const CongestionOptions&) const = default;
};

struct TransportProfile {
  std::uint32_t mtu = 4096;  // payload bytes of a packet
  PathOptions paths{};
  core::PathPolicy path_policy = core::PathPolicy::kSpray;
  std::uint8_t burst = 1;  // packets that leave one after the other on one EV
  Duration reorder_floor{};
  ByteCount packet_weight_min{};
  core::SackSettings sack{};
  core::ProbeSettings probe{};
  RetryOptions retry{};
  std::uint8_t mpr = 32;  // PSNs in flight of a queue pair, in steps of 128
  bool dynamic_mpr = false;
  std::uint16_t max_wimm = 128;  // WRITEs with immediate that a queue pair holds
  PKey pkey = wire::kPKeyDefault;
  wire::UdpPort udp_port = wire::kUdpPortRoce;
  CongestionOptions congestion{};
  core::EndpointLimits limits{};

  bool operator==(const TransportProfile&) const = default;
};

[[nodiscard]] TransportProfile preset(Preset preset);
[[nodiscard]] std::string_view name_of(Preset preset);

// Of hosts with sockets; one that is longer is learned (CC-53).
inline constexpr Duration kGuessedBaseRtt = microseconds(200);

// What a network is like where the profile does not say it.
struct NetworkFigures {
  std::optional<Duration> base_rtt{};             // nobody knows it: see kGuessedBaseRtt
  std::int64_t bits_per_second = 10'000'000'000;  // of all ports together
  bool trimming = false;
};

// Addresses, first queue pair number, request ids and return routes are the caller's to add.
[[nodiscard]] core::EndpointSettings endpoint_settings(const TransportProfile& profile);
[[nodiscard]] core::CongestionSettings congestion_settings(const TransportProfile& profile,
                                                           const NetworkFigures& network);
// The same where NSCC is asked for, whatever `congestion.algorithm` says.
[[nodiscard]] core::NsccSettings nscc_settings(const TransportProfile& profile,
                                               const NetworkFigures& network);
// Both ends with this profile; the peer's numbers and addresses are the caller's to add.
[[nodiscard]] core::ReadyToRecvAttributes recv_attributes(const TransportProfile& profile);
[[nodiscard]] core::ReadyToSendAttributes send_attributes(const TransportProfile& profile);

}  // namespace openmrc::profile
