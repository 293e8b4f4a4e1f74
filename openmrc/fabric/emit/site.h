// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "openmrc/base/result.h"
#include "openmrc/base/time.h"
#include "openmrc/fabric/fabric.h"
#include "openmrc/text/file_error.h"
#include "openmrc/wire/field/dscp.h"

// What a fabric file does not say and the configuration of real devices needs: what ports are
// called, the platform, thresholds of queues. docs/guide/operate.md explains the file.
namespace openmrc::fabric {

// Formats that configuration is written in.
enum class EmitKind : std::uint8_t {
  kIproute2,
  kFrr,    // 10.3 and later, with static SIDs
  kFrr84,  // 8.4 of Debian 12: its static routes, and SIDs by iproute2
  kSonic,
  kCumulus,
  kEos,
  kContainerlab,
};
std::string_view name_of(EmitKind kind);
std::optional<EmitKind> emit_kind_named(std::string_view name);
std::vector<std::string> emit_kind_names();

// The names of a group of ports: number n has {port} = first + n / lanes x step and
// {lane} = first_lane + n % lanes.
struct PortNames {
  std::string name{};
  std::uint32_t first = 0;
  std::uint32_t step = 1;
  std::uint32_t lanes = 1;
  std::uint32_t first_lane = 0;

  [[nodiscard]] std::string of(std::uint32_t number) const;

  bool operator==(const PortNames&) const = default;
};

// What the ends of a cable are called.
enum class LinkAddresses : std::uint8_t {
  kLinkLocal,  // fe80::1 above and fe80::2 below
  kUnique,     // a /127 of the fabric's own for each cable (RFC 6164)
};

enum class Neighbours : std::uint8_t {
  kPlanned,     // MAC addresses follow from the plan; no discovery is needed
  kDiscovered,  // NICs and switches keep theirs
};

// Queues of a switch port, and when they mark and trim. A threshold of 0 follows from the rate of
// the links and base_rtt.
struct QueueSettings {
  Duration base_rtt = microseconds(10);
  std::uint64_t ecn_min_bytes = 0;
  std::uint64_t ecn_max_bytes = 0;
  std::uint32_t mark_percent = 100;  // at ecn_max
  std::uint64_t trim_bytes = 0;
  std::uint64_t trim_last_hop_bytes = 0;
  std::uint32_t trim_size = 256;  // what is left of a trimmed packet
  std::uint32_t no_trim_queue = 1;
  std::uint32_t data_queue = 3;
  std::uint32_t trimmed_queue = 4;
  std::uint32_t control_queue = 6;

  bool operator==(const QueueSettings&) const = default;
};

struct SonicSettings {
  std::string hwsku{};
  std::string platform{};
  std::string port_config{};  // the platform's port_config.ini, from the site file's folder
  std::string pool = "egress_lossy_pool";
  std::uint64_t pool_bytes = 0;  // 0: the pool is the platform's own

  bool operator==(const SonicSettings&) const = default;
};

struct ContainerlabSettings {
  std::string name = "openmrc";
  std::string switch_image = "debian:12";
  std::string host_image = "debian:12";

  bool operator==(const ContainerlabSettings&) const = default;
};

enum class HostMode : std::uint8_t { kUdp, kUsid, kSrv6, kXdp };
std::string_view name_of(HostMode mode);

struct Site {
  std::uint32_t mtu = 9000;
  bool inner_routes = true;  // also routes for packets that name no path
  LinkAddresses link_addresses = LinkAddresses::kLinkLocal;
  Neighbours neighbours = Neighbours::kPlanned;
  PortNames host_ports{.name = "p{port}"};
  PortNames t0_downlinks{.name = "down{port}"};
  PortNames t0_uplinks{.name = "up{port}"};
  PortNames t1_downlinks{.name = "down{port}"};
  HostMode host_mode = HostMode::kSrv6;
  bool host_trimming = false;
  QueueSettings queues{};
  SonicSettings sonic{};
  ContainerlabSettings containerlab{};

  bool operator==(const Site&) const = default;
};

// What holds where a site file says nothing, or where there is none.
Site default_site(EmitKind kind, const Fabric& fabric);

// Everything that is wrong with the file is reported.
Result<Site, std::vector<text::FileError>> parse_site_toml(std::string_view text, EmitKind kind,
                                                           const Fabric& fabric);

// Whether devices of this kind can be configured so, by the limits that are known of them. Each
// error is a sentence.
std::vector<std::string> check_site(EmitKind kind, const Fabric& fabric, const Site& site);

// The thresholds in force, by what a plane's links hold in a round trip (UET recommends 0.2 and 0.8
// of it for ECN, 1.0 for trimming, 1.5 on the last hop).
struct QueueThresholds {
  std::uint64_t ecn_min_bytes = 0;
  std::uint64_t ecn_max_bytes = 0;
  std::uint64_t trim_bytes = 0;
  std::uint64_t trim_last_hop_bytes = 0;

  bool operator==(const QueueThresholds&) const = default;
};
QueueThresholds thresholds_of(const Fabric& fabric, const QueueSettings& queues);

}  // namespace openmrc::fabric
