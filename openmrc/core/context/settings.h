// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "openmrc/base/ids.h"
#include "openmrc/base/quantity.h"
#include "openmrc/base/secret_numbers.h"
#include "openmrc/base/time.h"
#include "openmrc/core/memory/memory_regions.h"
#include "openmrc/core/paths/path_health.h"
#include "openmrc/core/paths/path_set.h"
#include "openmrc/core/paths/return_routes.h"
#include "openmrc/wire/field/constants.h"
#include "openmrc/wire/field/ip_address.h"

namespace openmrc::core {

using EvProfileId = Strong<struct EvProfileIdTag, std::uint32_t>;
using CcProfileId = Strong<struct CcProfileIdTag, std::uint32_t>;

// MRC 7.5.2 (REL-15): when a responder reports. The defaults are those of Ultra Ethernet.
struct SackSettings {
  std::uint32_t threshold_bytes = 16 * 1024;  // of payload since the last SACK
  std::uint32_t packet_bytes_min = 1024;      // what a smaller packet counts as
  bool operator==(const SackSettings&) const = default;
};

// The numbers of endpoint requests (MRC 7.3), which answers repeat. Endpoints that share a UDP port
// tell by them whose an answer is: each has the numbers with the same upper bits. All endpoints of
// a network leave equally many low bits to count with; see docs/protocol/choices.md.
//
// The lower half of an endpoint's numbers is for probes of paths to peers, and counted for each
// host by itself; the upper half for all other requests.
struct RequestIds {
  std::uint16_t base = 0;          // the upper bits; the others are zero
  std::uint16_t counted = 0xffff;  // ones in the low bits that count

  // Ones in the bits that count within a half.
  [[nodiscard]] constexpr std::uint16_t in_half() const { return counted >> 1; }
  [[nodiscard]] constexpr std::uint16_t lower(std::size_t number) const {
    return static_cast<std::uint16_t>(base | (number & in_half()));
  }
  [[nodiscard]] constexpr std::uint16_t upper(std::size_t number) const {
    return static_cast<std::uint16_t>(lower(number) | (in_half() + 1));
  }

  // The numbers of endpoint `slot` of up to 64: bits 15 to 10 are the slot.
  static constexpr RequestIds of_slot(std::uint8_t slot) {
    return {.base = static_cast<std::uint16_t>(slot << 10), .counted = 0x3ff};
  }
};

// What a process allows its endpoint to use.
struct EndpointLimits {
  std::size_t queue_pairs = 1u << 17;
  std::size_t memory_regions = 1u << 16;
  std::size_t sends_outstanding = 1u << 20;     // of all queue pairs together
  std::size_t receives_outstanding = 1u << 20;  // the same
  std::size_t early_immediates = 1u << 16;      // arrived before what they wait for
  std::size_t held_packets = 1u << 12;          // the same, of queue pairs that place in order
  std::size_t packets_in_flight = 1u << 20;
  bool operator==(const EndpointLimits&) const = default;
};

struct EndpointSettings {
  // MRC 11.5: the local address in each plane; as many planes as addresses. An IPv4 address is
  // written as ::ffff:a.b.c.d.
  std::vector<wire::Ipv6Address> addresses{};
  Qpn first_qpn = kFirstUsableQpn;  // numbers are given out from here on
  std::size_t qpns = 0;             // how many; 0: as many as there may be queue pairs
  // From which queue pair numbers and keys are drawn, so that nobody can guess them; endpoints with
  // the same secret give regions the same keys. Without it they are given out in order, for
  // simulations.
  std::optional<SecretNumbers::Key> secret{};
  PKey pkey = wire::kPKeyDefault;
  wire::UdpPort udp_port = wire::kUdpPortRoce;
  SackSettings sack{};
  ProbeSettings probe{};
  RequestIds request_ids{};
  // How many packets in a row take one EV, 1 to kEvBurstMax: with segmentation offload they leave
  // in one system call. 1 is pure spraying.
  std::uint8_t ev_burst = 1;
  PathPolicy path_policy = PathPolicy::kSpray;
  // Nothing is declared lost before something has arrived that was sent so much later. For hosts
  // that are at times late by more than the network ever is.
  Duration reorder_floor{};
  // What a smaller packet takes of the congestion window. For software, to which every packet costs
  // about the same: a window full of tiny ones would be thousands, and each of them late.
  ByteCount packet_weight_min{};
  // For answers to hosts that are no peers; null: to their address, by whatever route it has.
  std::shared_ptr<const ReturnRoutes> return_routes{};
  EndpointLimits limits{};
  // Deadlines, control packets, events and completions, so many of each, for which there is memory
  // from the beginning.
  std::size_t queues_reserved = 0;
};

// MRC 10.1.2 (QP-5, QP-10; Table 10-1): attributes of a queue pair, step by step.
struct InitAttributes {
  ProtectionDomain domain{};
  EvProfileId ev_profile{};
  CcProfileId cc_profile{};
  bool remote_write = true;  // the peer may write to the memory of the domain
};

struct ReadyToRecvAttributes {
  Qpn remote_qpn{};
  Psn remote_psn{};                                   // of the peer's first request
  std::vector<wire::Ipv6Address> remote_addresses{};  // one for each plane
  // MRC 9.3.5: bits to add to the outer address of every SRv6 path: the destination's own uSIDs.
  wire::Ipv6Address path_overlay{};
  // Instead of INIT's: paths may depend on the destination.
  std::optional<EvProfileId> ev_profile{};
  std::optional<CcProfileId> cc_profile{};
  std::uint32_t mtu = 4096;             // payload bytes of a packet
  std::uint8_t mpr_dest = kMprDefault;  // window that we offer as responder
  std::uint16_t max_wimm_dest = 128;    // WRITEs with immediate that we hold
  bool dynamic_mpr = false;             // both peers agreed to it
  bool peer_sends_trim_nacks = true;
  // Packets are placed in the order in which they were sent, for programs that watch memory.
  bool places_in_order = false;

  static constexpr std::uint8_t kMprDefault = 8;
};

struct ReadyToSendAttributes {
  Psn first_psn{};
  std::uint8_t mpr = ReadyToRecvAttributes::kMprDefault;  // window that the peer offers
  std::uint16_t max_wimm = 128;                           // what the peer holds
  // MRC 7.4.1: 1.024 us x 2^timeout; so many tries at this distance, then each twice the last.
  std::uint8_t timeout = 8;
  std::uint8_t linear_retries = 7;
  std::uint8_t exponential_retries = 14;  // 25: for ever
  // How many hosts will send to this peer at once, as far as the application knows: the first
  // window is its share of an equal division.
  std::uint32_t senders = 1;
};

}  // namespace openmrc::core
