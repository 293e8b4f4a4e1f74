// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "openmrc/base/picoseconds.h"
#include "openmrc/base/result.h"
#include "openmrc/fabric/fabric.h"
#include "openmrc/profile/transport_profile.h"
#include "openmrc/sim/result/result.h"
#include "openmrc/sim/scenario/faults.h"
#include "openmrc/sim/workload/workload.h"
#include "openmrc/text/file_error.h"

namespace openmrc::sim {

// MRC in every NIC: openmrc/core as it is.
struct MrcTransport {
  profile::TransportProfile profile = profile::preset(profile::Preset::kNic);
  std::uint32_t queue_pairs = 1;  // between two hosts; a message is split over them
  bool hints = false;             // senders know how many send to the same host
  // Several hosts can be told exactly which paths to use (fabric::PathChoice::path), all planes
  // alike.
  struct FixedPaths {
    std::uint32_t host = 0;
    std::vector<std::uint16_t> uplinks{};
  };
  std::vector<FixedPaths> fixed_paths{};
};

// What a sender of RoCEv2 retransmits when a packet is lost.
enum class Recovery : std::uint8_t {
  kGoBackN,   // it and all behind it
  kSelective  // it alone
};

// What people have today: RoCEv2 reliable connections. One path by hash, go-back-N, DCQCN.
struct RcTransport {
  std::uint32_t mtu = 4096;  // payload bytes of a packet
  std::uint32_t queue_pairs = 1;
  bool dcqcn = true;
  // How long routing takes to leave a dead link or switch. Until then flows that hash there stall.
  Picoseconds reroute_after{1'000'000'000};  // 1 ms
  // For an acknowledgement: one of RoCE's steps of 4.096 us x 2^n, here the one next to 1 ms.
  Picoseconds timeout{1'048'576'000};
  Recovery recovery = Recovery::kGoBackN;
  // With selective repeat: so many packets may overtake one before it counts as lost. None: as the
  // switches' balancing has it.
  std::optional<std::uint32_t> reordering{};
  std::uint32_t retries = 7;  // after so many timeouts in a row the next one breaks the queue pair
};

using TransportSettings = std::variant<MrcTransport, RcTransport>;

// How a T0, or a T1 below T2s, chooses the uplink of a packet whose sender has not. Not for MRC.
enum class Balancing : std::uint8_t {
  kEcmp,      // by a hash of its flow
  kAdaptive,  // the one that will be free first
  kSpray,     // any
};

struct SwitchSettings {
  bool trimming = true;
  bool ecn = true;
  bool pfc = false;             // pause the sender of a port whose packets fill the buffer
  std::uint32_t bdp_bytes = 0;  // of a plane's link; 0: from speed and unloaded round trip
  // Overrides of the thresholds that follow from it; 0: none.
  std::uint32_t ecn_min_bytes = 0;
  std::uint32_t ecn_max_bytes = 0;
  std::uint32_t queue_bytes = 0;
  bool ecn_on_last_hop = false;
  // The same by time: as much as leaves the port in so long.
  Picoseconds ecn_min_time{};
  Picoseconds ecn_max_time{};
  Picoseconds queue_time{};
  bool by_link_speed = false;  // derived thresholds follow each link's speed, not the host links'
  std::uint32_t ecn_share_max_billionths = 1'000'000'000;  // that is marked at the upper threshold
  // One buffer for all ports of a switch; 0: each has its own.
  std::uint32_t buffer_bytes = 0;
  std::uint32_t alpha_percent = 100;      // a queue may have so much of what is free
  std::uint32_t pfc_alpha_percent = 100;  // and so may what came by one link, before it is paused
  std::uint32_t headroom_bytes = 0;       // of each link, with PFC; 0: derived
  Balancing balancing = Balancing::kEcmp;
  Picoseconds latency{};  // from where a packet comes in to the queue where it leaves
  bool cut_through = false;
};

struct NicSettings {
  Picoseconds send_latency{};     // from the decision to send a packet to its first bit on the wire
  Picoseconds receive_latency{};  // from its last bit to the transport
  Picoseconds pcie_latency{};     // between a program and its NIC, each way
};

struct Scenario {
  std::string name{};   // of its file
  std::string title{};  // what it shows
  std::string text{};   // what to look at
  std::uint64_t seed = 1;
  fabric::Shape shape{};
  TransportSettings transport{};
  SwitchSettings switches{};
  NicSettings nics{};
  WorkloadSettings workload{};
  std::vector<LinkFault> faults;  // everything random drawn
  std::vector<FaultNote> fault_notes;
  Picoseconds time_limit{};                // the run ends here at the latest; 0: when all is done
  Picoseconds bucket_width{};              // of the time series; 0: chosen
  Picoseconds port_detection{10'000'000};  // how long a NIC takes to see its link go or come

  [[nodiscard]] std::uint32_t mtu() const;  // payload bytes of a packet
};

// Why EVs do not fit the planes of a fabric.
[[nodiscard]] Result<void, std::string> check_evs(const profile::PathOptions& paths,
                                                  std::uint32_t planes);

// What a run has in place of what its file says.
struct ScenarioOverrides {
  std::optional<std::uint64_t> seed{};
  std::vector<std::string> settings{};  // KEY=VALUE, see text/toml_setting.h
};

// The text of a scenario file (TOML). `read_file` gives the text of a file that the scenario names,
// such as a traffic file, or an error. Everything that is wrong with the file is reported.
using ReadFile = std::function<Result<std::string, std::string>(const std::string& path)>;
Result<Scenario, std::vector<text::FileError>> parse_scenario(
    std::string_view text, std::string_view name, const ReadFile& read_file,
    const ScenarioOverrides& overrides = {});

}  // namespace openmrc::sim
