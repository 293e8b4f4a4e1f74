// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "openmrc/base/result.h"
#include "openmrc/base/time.h"
#include "openmrc/datapath/open.h"
#include "openmrc/fabric/fabric.h"
#include "openmrc/fabric/usid_plan.h"
#include "openmrc/profile/transport_profile.h"
#include "openmrc/text/file_error.h"
#include "openmrc/wire/settings.h"

// One host's configuration: openmrc.toml. docs/guide/configuration.md has every key.
namespace openmrc::host {

// Who makes progress when the application does not call.
enum class Progress : std::uint8_t {
  kSleep,   // a thread for each shard, which sleeps until something happens
  kPoll,    // a thread for each shard, which never sleeps: lowest delay, a core each
  kCaller,  // nobody: polling and waiting for completions is what moves packets
};

// Where this host stands in a fabric of our addressing plan (fabric/usid_plan.h).
struct FabricPlace {
  fabric::Shape shape{};
  fabric::HostIndex host{};
  std::uint32_t block = fabric::kUsidBlockDefault;
};

// A host outside of a fabric whose addresses belong together: who knows one of them knows all.
struct KnownPeer {
  std::string name{};
  std::vector<wire::Ipv6Address> addresses{};  // by plane

  bool operator==(const KnownPeer&) const = default;
};

// For tests: the fault decorator.
struct FaultConfig {
  double drop = 0;                       // part of the packets sent that vanish
  double duplicate = 0;                  // part that is sent twice
  double corrupt = 0;                    // part in which a bit is flipped
  std::optional<std::uint32_t> plane{};  // only there
  std::optional<std::uint32_t> ev{};     // only on this EV, by its place in the profile
  std::uint64_t seed = 1;
};

// The node's agent, mrcd.
struct AgentConfig {
  std::string listen{};  // ADDRESS:PORT of its pages over HTTP; empty: none
};

// What monitoring sees.
struct MetricsConfig {
  bool publish = true;    // this process's counters to the agent
  bool processes = true;  // series for each process, beside those of the host
};

// The mapper of the node's agent (openmrc/mapper).
struct MapperConfig {
  bool enabled = false;
  std::uint32_t rounds_per_second = 10;
  Duration timeout = milliseconds(250);
  double least_loss = 1e-4;
  Duration hold = seconds(1);
  std::uint16_t udp_port = 18517;
  bool deny = false;  // EVs of links that are bad
};

// Queue pairs of verbs.
struct VerbsConfig {
  bool in_order_placement = true;  // for programs that watch memory
};

struct Config {
  std::string name{};                   // of the host, as peers and messages call it
  std::vector<datapath::Port> ports{};  // by plane; all of one IP version
  std::vector<KnownPeer> peers{};
  std::optional<FabricPlace> fabric{};  // kUsid and kSrv6 need it
  profile::TransportProfile transport = profile::preset(profile::Preset::kSoftware);
  datapath::Mode mode = datapath::Mode::kUdp;
  Progress progress = Progress::kSleep;
  bool send_icrc = true;  // false: zero, which saves time between peers that do not look at it
  bool receive_offload = true;
  wire::WireSettings wire{};  // DSCP, whether the ICRC is checked; UDP port as in `transport`
  std::uint16_t exchange_port = 18515;  // TCP, where connections are arranged
  Duration exchange_timeout = seconds(10);
  std::size_t shards = 1;
  std::size_t segments_max = 16;
  std::size_t socket_buffer = 4 * 1024 * 1024;
  std::optional<std::string> capture{};  // a pcapng file of all packets
  std::optional<FaultConfig> faults{};
  VerbsConfig verbs{};
  AgentConfig agent{};
  MetricsConfig metrics{};
  MapperConfig mapper{};
  std::filesystem::path file{};  // where it was read from
};

// Of the ports' addresses.
inline wire::IpVersion ip_version(const Config& config) {
  return config.ports.empty() ? wire::IpVersion::kV6
                              : wire::version_of(config.ports.front().address);
}

using ConfigError = text::FileError;

// Everything that is wrong with it, not only the first.
Result<Config, std::vector<ConfigError>> parse_config(std::string_view text);
// The file that is named, or else $OPENMRC_CONFIG, or else /etc/openmrc/openmrc.toml.
Result<Config, std::vector<ConfigError>> load_config(
    const std::optional<std::filesystem::path>& file);
// Whether somebody wants this host to have one: the variable is set, or that file is there.
bool is_configured();

// A key as the reference shows it.
struct ConfigKey {
  std::string section{};  // empty: at the top
  std::string name{};
  std::string type{};
  std::string default_text{};
  std::string range{};
  std::string description{};  // a sentence; may be empty
};
std::vector<ConfigKey> config_keys();

}  // namespace openmrc::host
