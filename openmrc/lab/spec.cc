// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/lab/spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "openmrc/text/file_limits.h"
#include "openmrc/text/units.h"

namespace openmrc::lab {
namespace {

using fabric::Fabric;
using fabric::Shape;

constexpr std::array<std::string_view, 4> kModes{"srv6", "usid", "udp", "xdp"};
constexpr std::array<std::string_view, 3> kSwitches{"kernel", "soft", "soft-outer"};
constexpr std::array<std::string_view, 3> kSources{"lab", "iproute2", "frr"};

template <class Enum, std::size_t kSize>
std::optional<Enum> enumerator(const std::array<std::string_view, kSize>& names,
                               std::string_view name) {
  const auto* const found = std::ranges::find(names, name);
  if (found == names.end()) return std::nullopt;
  return static_cast<Enum>(found - names.begin());
}

std::string rate_text(const Spec& spec) {
  return text::format_bit_rate(static_cast<std::uint64_t>(*spec.bits_per_second));
}

// A whole number of the file. nlohmann's own conversion takes 1e99 for one, which is undefined.
template <class Number>
bool take(const nlohmann::json& json, Number& value) {
  if (!json.is_number_unsigned()) return false;
  const auto number = json.get<std::uint64_t>();
  value = static_cast<Number>(number);
  return std::in_range<Number>(number);
}

}  // namespace

std::string_view name_of(Mode mode) { return kModes[static_cast<std::size_t>(mode)]; }
std::optional<Mode> mode_named(std::string_view name) { return enumerator<Mode>(kModes, name); }

std::string_view name_of(Switches switches) {
  return kSwitches[static_cast<std::size_t>(switches)];
}
std::optional<Switches> switches_named(std::string_view name) {
  return enumerator<Switches>(kSwitches, name);
}

std::string_view name_of(Source source) { return kSources[static_cast<std::size_t>(source)]; }
std::optional<Source> source_named(std::string_view name) {
  return enumerator<Source>(kSources, name);
}

std::uint32_t switches_of(const Shape& shape) {
  return shape.planes * (shape.racks + shape.uplinks);
}

bool is_lab_name(std::string_view name) {
  constexpr auto kAllowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  return !name.empty() && name.size() <= kNameSizeMax && std::ranges::all_of(name, kAllowed);
}

Result<void, std::string> check(const Spec& spec) {
  if (!is_lab_name(spec.name)) {
    return failure(
        fmt::format("invalid lab name '{}': expected up to {} letters, digits and underscores",
                    spec.name, kNameSizeMax));
  }
  const auto fabric = Fabric::make(spec.shape);
  if (!fabric) return failure(std::string(fabric::describe(fabric.error())));
  const std::uint32_t nodes = fabric->hosts() + switches_of(spec.shape);
  if (nodes > kNodesMax) {
    return failure(
        fmt::format("{} hosts and switches are more than a lab can have ({})", nodes, kNodesMax));
  }
  if (spec.mtu < kMtuMin || spec.mtu > kMtuMax) {
    return failure(fmt::format("the MTU must be {} to {}", kMtuMin, kMtuMax));
  }
  if (spec.ip == wire::IpVersion::kV4 && spec.mode != Mode::kUdp) {
    return failure(
        fmt::format("IPv4 has no paths that name switches: --ip 4 goes with --mode udp, "
                    "not {}",
                    name_of(spec.mode)));
  }
  if (spec.ip == wire::IpVersion::kV4 && is_soft(spec.switches)) {
    return failure(std::string("soft switches forward IPv6: --ip 4 goes with --switch kernel"));
  }
  if (spec.source != Source::kLab && (spec.ip == wire::IpVersion::kV4 || is_soft(spec.switches))) {
    return failure(
        fmt::format("--from {} goes with --ip 6 and --switch kernel: `mrc fabric emit` "
                    "writes for nothing else",
                    name_of(spec.source)));
  }
  return {};
}

std::string describe(const Spec& spec) {
  const Shape& shape = spec.shape;
  const auto count = [](std::uint32_t number, std::string_view thing) {
    return fmt::format("{} {}{}", number, thing, number == 1 ? "" : "s");
  };
  std::string text = count(shape.planes, "plane") + ", " + count(shape.racks, "T0");
  if (shape.uplinks > 0) text += " and " + count(shape.uplinks, "T1");
  text += " in each, " + count(shape.racks * shape.hosts_per_rack, "host");
  if (spec.bits_per_second) text += ", links of " + rate_text(spec);
  if (is_soft(spec.switches)) text += ", soft switches";
  if (spec.switches == Switches::kSoftOuter) text += " that mark the outer header";
  if (spec.source != Source::kLab) text += fmt::format(", from {}", name_of(spec.source));
  if (spec.ip == wire::IpVersion::kV4) text += ", IPv4";
  return text;
}

std::string options_of(const Spec& spec) {
  const Shape& shape = spec.shape;
  std::string text = fmt::format("--planes {} --t0 {} --t1 {} --hosts {}", shape.planes,
                                 shape.racks, shape.uplinks, shape.racks * shape.hosts_per_rack);
  const Spec usual;
  if (spec.bits_per_second) text += " --rate " + rate_text(spec);
  if (spec.mtu != usual.mtu) text += fmt::format(" --mtu {}", spec.mtu);
  if (spec.ip == wire::IpVersion::kV4) return text + " --ip 4";  // which says the rest
  if (spec.mode != usual.mode) text += fmt::format(" --mode {}", name_of(spec.mode));
  if (spec.switches != usual.switches) text += fmt::format(" --switch {}", name_of(spec.switches));
  if (spec.source != usual.source) text += fmt::format(" --from {}", name_of(spec.source));
  return text;
}

std::string to_json(const Spec& spec) {
  nlohmann::ordered_json json{{"name", spec.name},
                              {"planes", spec.shape.planes},
                              {"racks", spec.shape.racks},
                              {"hosts_per_rack", spec.shape.hosts_per_rack},
                              {"uplinks", spec.shape.uplinks},
                              {"bits_per_second", nullptr},
                              {"mtu", spec.mtu},
                              {"ip", static_cast<unsigned>(spec.ip)},
                              {"mode", name_of(spec.mode)},
                              {"switch", name_of(spec.switches)},
                              {"from", name_of(spec.source)}};
  if (spec.bits_per_second) json["bits_per_second"] = *spec.bits_per_second;
  return json.dump(2) + "\n";
}

std::optional<Spec> spec_from_json(std::string_view text) try {
  if (!text::check_json_depth(text)) return std::nullopt;
  const auto json = nlohmann::json::parse(text);
  const auto mode = mode_named(json.at("mode").get<std::string>());
  const auto switches = switches_named(json.at("switch").get<std::string>());
  const auto source = source_named(json.at("from").get<std::string>());
  if (!mode || !switches || !source) return std::nullopt;
  Spec spec{.name = json.at("name").get<std::string>(),
            .shape = {},
            .bits_per_second = {},
            .mode = *mode,
            .switches = *switches,
            .source = *source};
  unsigned ip = 0;
  if (!take(json.at("ip"), ip) || (ip != 4 && ip != 6)) return std::nullopt;
  spec.ip = static_cast<wire::IpVersion>(ip);
  if (!take(json.at("mtu"), spec.mtu) || !take(json.at("planes"), spec.shape.planes) ||
      !take(json.at("racks"), spec.shape.racks) ||
      !take(json.at("hosts_per_rack"), spec.shape.hosts_per_rack) ||
      !take(json.at("uplinks"), spec.shape.uplinks)) {
    return std::nullopt;
  }
  if (const auto& rate = json.at("bits_per_second"); !rate.is_null()) {
    std::int64_t bits_per_second = 0;
    if (!take(rate, bits_per_second)) return std::nullopt;
    spec.bits_per_second = bits_per_second;
    spec.shape.host_link_bits_per_second = bits_per_second;
    spec.shape.uplink_bits_per_second = bits_per_second;
  }
  if (!check(spec)) return std::nullopt;
  return spec;
} catch (const nlohmann::json::exception&) {
  return std::nullopt;
}

}  // namespace openmrc::lab
