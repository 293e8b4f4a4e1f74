// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>

#include "openmrc/mapper/probe_load.h"
#include "tools/mrc/map/text.h"

namespace openmrc::tools {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array kLosses{1.0, 1e-2, 1e-3, 1e-4, 1e-5};

struct Line {
  const char* name;
  const char* key;
  double packets_per_second;
};

std::array<Line, 6> lines_of(const mapper::ProbeLoad& load) {
  return {{{"NIC port", "nic_port", load.per_port},
           {"NIC, all ports", "nic", load.per_nic},
           {"host link, each way", "host_link", load.per_host_link},
           {"uplink, each way", "uplink", load.per_uplink},
           {"T0 forwards", "t0", load.at_t0},
           {"T1 forwards", "t1", load.at_t1}}};
}

double bits_per_second(double packets) { return packets * mapper::kProbeWireBytes * 8; }

// When a loss is found: by the host of a link, by a host and by all hosts of a rack.
struct Times {
  double host_link = 0;
  double uplink = 0;
  double uplink_by_rack = 0;
};

Times times_of(const fabric::Fabric& fabric, double rounds, double loss) {
  Times times{.host_link = mapper::seconds_to_find(mapper::losses_for_host_link(fabric), loss,
                                                   mapper::probes_of_host_link(rounds))};
  if (!fabric.has_t1()) return times;
  const std::uint64_t losses = mapper::losses_for_uplink(fabric);
  times.uplink = mapper::seconds_to_find(losses, loss, mapper::probes_of_uplink(fabric, rounds));
  times.uplink_by_rack = mapper::seconds_to_find(mapper::losses_for_rack(fabric), loss,
                                                 mapper::rack_probes_of_uplink(fabric, rounds));
  return times;
}

std::string time_text(double seconds) {
  constexpr double kMinute = 60;
  constexpr double kHour = 3600;
  if (seconds <= 0) return "-";
  if (seconds < 1) return fmt::format("{:.2g} s", seconds);
  if (seconds < 2 * kMinute) return fmt::format("{:.1f} s", seconds);
  if (seconds < 2 * kHour) return fmt::format("{:.0f} min", seconds / kMinute);
  return fmt::format("{:.1f} h", seconds / kHour);
}

}  // namespace

std::string probe_plan_text(const fabric::Fabric& fabric, double rounds_per_second) {
  const mapper::ProbeLoad load = mapper::probe_load(fabric, rounds_per_second);
  std::string text = fmt::format(
      "{:g} rounds per second, {} bytes on the wire for each probe.\n\n{:<20} {:>12} {:>12}\n",
      rounds_per_second, mapper::kProbeWireBytes, "", "packets/s", "Mb/s");
  for (const Line& line : lines_of(load)) {
    text += fmt::format("{:<20} {:>12.0f} {:>12.3f}\n", line.name, line.packets_per_second,
                        bits_per_second(line.packets_per_second) / 1e6);
  }
  text +=
      fmt::format("\nA loss is found after, in 95 of 100 cases:\n\n{:<10} {:>12} {:>14} {:>22}\n",
                  "loss", "host link", "uplink", "uplink, whole rack");
  for (const double loss : kLosses) {
    const Times times = times_of(fabric, rounds_per_second, loss);
    text += fmt::format("{:<10g} {:>12} {:>14} {:>22}\n", loss, time_text(times.host_link),
                        time_text(times.uplink), time_text(times.uplink_by_rack));
  }
  return text +
         "\nThe first two are of one agent by itself, the last of the probes of all hosts of a "
         "rack "
         "together.\n";
}

std::string probe_plan_json(const fabric::Fabric& fabric, double rounds_per_second) {
  Json json{{"rounds_per_second", rounds_per_second}, {"probe_bytes", mapper::kProbeWireBytes}};
  for (const Line& line : lines_of(mapper::probe_load(fabric, rounds_per_second))) {
    json["packets_per_second"][line.key] = line.packets_per_second;
    json["bits_per_second"][line.key] = bits_per_second(line.packets_per_second);
  }
  json["found_after_seconds"] = Json::array();
  for (const double loss : kLosses) {
    const Times times = times_of(fabric, rounds_per_second, loss);
    json["found_after_seconds"].push_back({{"loss", loss},
                                           {"host_link", times.host_link},
                                           {"uplink", times.uplink},
                                           {"uplink_by_rack", times.uplink_by_rack}});
  }
  return json.dump(2) + "\n";
}

}  // namespace openmrc::tools
