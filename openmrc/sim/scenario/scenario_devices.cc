// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/scenario/scenario_devices.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

namespace openmrc::sim {
namespace {

using text::Field;
using text::TableReader;

enum class DevicePreset : std::uint8_t { kIdeal, kFitted };

constexpr std::array<std::string_view, 2> kPresets{"ideal", "fitted"};
constexpr std::array<std::string_view, 3> kBalancings{"ecmp", "adaptive", "spray"};

// More than any device takes, and little enough that times and sizes derived from it have room.
constexpr Picoseconds kLatencyMax{100'000'000};

// No switch holds back packets for longer, or has more memory or a bolder threshold.
constexpr Picoseconds kThresholdMax{100'000'000'000};
constexpr std::uint64_t kBufferMax = std::uint64_t{1} << 30;
constexpr std::uint64_t kAlphaPercentMax = 12'800;

// Packets are kept by the window of time in which they arrive, for each node. A window is as long
// as the shortest way between two devices.
constexpr std::int64_t kWaysRatioMax = 1'000;

constexpr Picoseconds ns(std::int64_t n) { return Picoseconds(n * 1'000); }

// Fitted to the latencies that were published of MRC (5.09 us in a T0, 6.54 us across T1, 2 bytes,
// 8 x 100G), with wires of 15 ns to hosts and 150 ns between switches. Only two sums follow from
// these: a switch and a wire between switches; and both NICs with their PCIe. How they are shared
// out is assumed.
void fit(Scenario& scenario) {
  scenario.switches.cut_through = true;
  scenario.switches.latency = ns(565);
  scenario.nics = {
      .send_latency = ns(1'235), .receive_latency = ns(1'235), .pcie_latency = ns(1'000)};
}

// A threshold can be given by its size or by its time.
void read_threshold(TableReader& section, std::string_view name, std::uint32_t& bytes,
                    Picoseconds& time) {
  const std::string by_bytes = fmt::format("{}_bytes", name);
  const std::string by_time = fmt::format("{}_time", name);
  section.read(Field::bytes(by_bytes, bytes));
  section.read(Field::duration(by_time, time, Picoseconds{}, kThresholdMax));
  if (bytes != 0 && time > Picoseconds{}) {
    section.error(by_time, fmt::format("cannot be given beside {}", by_bytes));
  }
}

void read_buffer(TableReader& section, SwitchSettings& switches) {
  section.read(Field::bytes("buffer_bytes", switches.buffer_bytes, 0, kBufferMax));
  section.read(Field::whole("alpha_percent", switches.alpha_percent, 1, kAlphaPercentMax));
  section.read(Field::whole("pfc_alpha_percent", switches.pfc_alpha_percent, 1, kAlphaPercentMax));
  section.read(Field::bytes("headroom_bytes", switches.headroom_bytes, 0, kBufferMax));
  for (const std::string_view key : {"alpha_percent", "pfc_alpha_percent", "headroom_bytes"}) {
    if (section.has(key) && switches.buffer_bytes == 0) {
      section.error(key, "needs buffer_bytes, a buffer that the ports share");
    }
  }
}

void read_switches(TableReader& section, SwitchSettings& switches) {
  section.read(Field::flag("trimming", switches.trimming));
  section.read(Field::flag("ecn", switches.ecn));
  section.read(Field::flag("pfc", switches.pfc));
  section.read(Field::bytes("bdp_bytes", switches.bdp_bytes));
  read_threshold(section, "ecn_min", switches.ecn_min_bytes, switches.ecn_min_time);
  read_threshold(section, "ecn_max", switches.ecn_max_bytes, switches.ecn_max_time);
  read_threshold(section, "queue", switches.queue_bytes, switches.queue_time);
  section.read(Field::share("ecn_max_share", switches.ecn_share_max_billionths));
  section.read(Field::flag("by_link_speed", switches.by_link_speed));
  read_buffer(section, switches);
  section.read(Field::flag("ecn_on_last_hop", switches.ecn_on_last_hop));
  section.read(Field::duration("latency", switches.latency, Picoseconds{}, kLatencyMax));
  section.read(Field::flag("cut_through", switches.cut_through));
  section.read(Field::word("balancing", switches.balancing, kBalancings));
  section.finish();
  if (switches.ecn_max_bytes != 0 && switches.ecn_min_bytes > switches.ecn_max_bytes) {
    section.error("ecn_min_bytes", "must not be above ecn_max_bytes");
  }
  if (switches.ecn_max_time > Picoseconds{} && switches.ecn_min_time > switches.ecn_max_time) {
    section.error("ecn_min_time", "must not be above ecn_max_time");
  }
}

void read_nics(TableReader& section, NicSettings& nics) {
  section.read(Field::duration("send_latency", nics.send_latency, Picoseconds{}, kLatencyMax));
  section.read(
      Field::duration("receive_latency", nics.receive_latency, Picoseconds{}, kLatencyMax));
  section.read(Field::duration("pcie_latency", nics.pcie_latency, Picoseconds{}, kLatencyMax));
  section.finish();
}

}  // namespace

void read_devices(TableReader& file, Scenario& scenario) {
  auto preset = DevicePreset::kIdeal;
  file.read(Field::word("devices", preset, kPresets));
  if (preset == DevicePreset::kFitted) fit(scenario);
  if (TableReader* section = file.section("switches")) read_switches(*section, scenario.switches);
  if (TableReader* section = file.section("nics")) read_nics(*section, scenario.nics);
}

void check_devices(TableReader& file, const Scenario& scenario) {
  const SwitchSettings& switches = scenario.switches;
  if (switches.balancing != Balancing::kEcmp &&
      std::holds_alternative<MrcTransport>(scenario.transport)) {
    file.error("switches", "balancing is for kind = \"rc\": MRC chooses the paths of its packets");
  }
  const NicSettings& nics = scenario.nics;
  const Picoseconds added = std::max(nics.send_latency + switches.latency, nics.receive_latency);
  const Picoseconds wire = picoseconds(scenario.shape.host_link_delay);
  const Picoseconds between = picoseconds(scenario.shape.uplink_delay) + switches.latency;
  const Picoseconds shortest =
      std::min({wire + nics.send_latency + switches.latency, wire + nics.receive_latency, between});
  if (added <= shortest * kWaysRatioMax) return;
  file.error("nics", fmt::format("the slowest device is more than {} times as slow as the shortest "
                                 "way between two others",
                                 kWaysRatioMax));
}

}  // namespace openmrc::sim
