// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/fabric/verify/dump.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "openmrc/fabric/verify/json_values.h"

namespace openmrc::fabric {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kNextCsid = "next-csid";

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

bool is_true(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_boolean() && found->get<bool>();
}

void take_frr_hop(const Json& hop, FoundRoute& route) {
  if (!hop.is_object() || !is_true(hop, "fib")) return;
  if (is_true(hop, "blackhole")) route.type = "blackhole";
  if (const auto local = hop.find("seg6local"); local != hop.end() && local->is_object()) {
    route.action = "End";
    route.flavours = kNextCsid;
    route.block_length = 32;
    route.node_length = 16;
  }
  route.hops.push_back({.via = text_in(hop, "ip"), .dev = text_in(hop, "interfaceName")});
}

FoundRoute frr_route(const std::string& prefix, const Json& entry) {
  FoundRoute route{.to = prefix_text(plain_text(prefix)), .protocol = text_in(entry, "protocol")};
  if (route.protocol == "connected" || route.protocol == "local") route.protocol = "kernel";
  if (const auto hops = entry.find("nexthops"); hops != entry.end() && hops->is_array()) {
    for (const Json& hop : *hops) take_frr_hop(hop, route);
  }
  if (route.hops.empty()) route.hops.emplace_back();
  std::ranges::sort(route.hops);
  return route;
}

// Of a dump, in which fields are below "value", or of a file without such an envelope.
// Nothing if it has none.
const Json* fields_of(const Json& entry) {
  if (!entry.is_object()) return nullptr;
  const auto value = entry.find("value");
  return value != entry.end() && value->is_object() ? &*value : &entry;
}

FoundRoute appl_route(std::string_view prefix, const Json& fields) {
  FoundRoute route{.to = prefix_text(plain_text(std::string(prefix))),
                   .protocol = text_in(fields, "protocol")};
  if (text_in(fields, "blackhole") == "true") route.type = "blackhole";
  const auto hops = split(text_in(fields, "nexthop"), ',');
  const auto ports = split(text_in(fields, "ifname"), ',');
  for (std::size_t i = 0; i < std::max(hops.size(), ports.size()); ++i) {
    route.hops.push_back(
        {.via = i < hops.size() ? hops[i] : "", .dev = i < ports.size() ? ports[i] : ""});
  }
  std::ranges::sort(route.hops);
  return route;
}

std::uint64_t number_of(const std::string& text) {
  std::uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// "32:16:0:0:fcbb:bb00:4000::", block, node, function and argument.
std::optional<FoundRoute> appl_segment(std::string_view key, const Json& fields) {
  constexpr std::size_t kLengths = 4;
  std::array<std::uint64_t, kLengths> lengths{};
  for (std::uint64_t& length : lengths) {
    const std::size_t end = key.find(':');
    if (end == std::string_view::npos) return std::nullopt;
    length = number_of(std::string(key.substr(0, end)));
    key.remove_prefix(end + 1);
  }
  const std::string action = text_in(fields, "action");
  FoundRoute route{.to = fmt::format("{}/{}", plain_text(std::string(key)),
                                     lengths[0] + lengths[1] + lengths[2]),
                   .action = action == "un" ? "End" : action,
                   .flavours = std::string(kNextCsid),
                   .block_length = lengths[0],
                   .node_length = lengths[1]};
  route.hops.emplace_back();
  return route;
}

// What stands in the JSON that is the end of a key of ASIC_DB.
std::string in_key(std::string_view key, const char* name) {
  const Json json = Json::parse(key, nullptr, false);
  return json.is_object() ? text_in(json, name) : "";
}

Result<Json, std::string> object_of(std::string_view text, std::string_view source) {
  auto json = parse_output(text, source);
  if (!json) return failure(std::move(json.error()));
  if (!json->is_object()) return failure(fmt::format("'{}' printed no tables", source));
  return *std::move(json);
}

// The rest of a key that begins so.
std::optional<std::string_view> after(std::string_view key, std::string_view begin) {
  if (!key.starts_with(begin)) return std::nullopt;
  return key.substr(begin.size());
}

// All that a switch is to have, with what fixes it.
class SonicLayers {
 public:
  SonicLayers(const Device& device, const SonicTables& tables) : tables_(tables) {
    for (const DeviceRoute& route : device.routes) planned_.insert(to_string(route.to));
    for (const DevicePort& port : device.ports) {
      for (const DeviceRoute& route : port.routes) planned_.insert(to_string(route.to));
    }
  }

  void name(Finding& finding) const {
    if (finding.prefix.empty() || !tables_.configured) return;
    const bool is_configured = tables_.configured->contains(finding.prefix);
    const Difference difference = difference_of(finding.mistake);
    if (difference == Difference::kMissing) {
      if (is_configured) finding.fix.clear();  // to write it again would change nothing
      finding.layer = is_configured ? "CONFIG_DB has it, APPL_DB does not: bgpcfgd or FRR"
                                    : "CONFIG_DB does not have it";
    } else if (difference == Difference::kExtra) {
      finding.layer = is_configured ? "CONFIG_DB has it" : "CONFIG_DB does not have it: FRR";
    }
  }

  // What is as planned, and did not reach the ASIC.
  void add_lost(std::vector<Finding>& findings) const {
    if (!tables_.in_asic) return;
    for (const FoundRoute& route : tables_.applied) {
      if (!planned_.contains(route.to) || tables_.in_asic->contains(route.to)) continue;
      findings.push_back(
          {.mistake = route.action.empty() ? Mistake::kNoRoute : Mistake::kNoSegment,
           .what = route.to + " in the ASIC",
           .prefix = route.to,
           .layer = "APPL_DB has it, ASIC_DB does not: orchagent, often a neighbour that it "
                    "does not know"});
    }
  }

 private:
  const SonicTables& tables_;
  Prefixes planned_{};
};

}  // namespace

Result<FrrTables, std::string> read_frr_routes(std::string_view text) {
  const auto json = object_of(text, "show ipv6 route json");
  if (!json) return failure(json.error());
  FrrTables tables;
  for (const auto& [prefix, entries] : json->items()) {
    if (!entries.is_array()) continue;
    for (const Json& entry : entries) {
      if (!entry.is_object()) continue;
      if (is_true(entry, "installed")) {
        tables.installed.push_back(frr_route(prefix, entry));
      } else {
        tables.waiting.insert(prefix_text(plain_text(prefix)));
      }
    }
  }
  return tables;
}

std::vector<Finding> verify_frr(const Device& device, EmitKind kind, std::uint32_t block,
                                const FrrTables& tables) {
  std::vector<Finding> findings = verify_routes(device, kind, block, tables.installed);
  for (Finding& finding : findings) {
    if (difference_of(finding.mistake) != Difference::kMissing) continue;
    finding.layer = tables.waiting.contains(finding.prefix)
                        ? "zebra has it, and has not put it in: its next hop, or the kernel"
                        : "zebra does not have it: staticd";
  }
  return findings;
}

Result<std::vector<FoundRoute>, std::string> read_appl_db(std::string_view text) {
  const auto json = object_of(text, "APPL_DB");
  if (!json) return failure(json.error());
  std::vector<FoundRoute> routes;
  for (const auto& [key, entry] : json->items()) {
    const Json* const fields = fields_of(entry);
    if (fields == nullptr) continue;
    if (const auto prefix = after(key, "ROUTE_TABLE:")) {
      routes.push_back(appl_route(*prefix, *fields));
    } else if (const auto sid = after(key, "SRV6_MY_SID_TABLE:")) {
      if (auto route = appl_segment(*sid, *fields)) routes.push_back(*std::move(route));
    }
  }
  return routes;
}

Result<Prefixes, std::string> read_config_db(std::string_view text) {
  const auto json = object_of(text, "CONFIG_DB");
  if (!json) return failure(json.error());
  Prefixes prefixes;
  const auto take = [&](std::string_view key) {
    prefixes.insert(prefix_text(plain_text(std::string(key.substr(key.rfind('|') + 1)))));
  };
  for (const auto& [key, entry] : json->items()) {
    for (const std::string_view table : {"STATIC_ROUTE", "SRV6_MY_SIDS"}) {
      if (key.starts_with(std::string(table) + "|")) take(key);
      if (key != table || !entry.is_object()) continue;
      for (const auto& [name, fields] : entry.items()) take(name);
    }
  }
  return prefixes;
}

Result<Prefixes, std::string> read_asic_db(std::string_view text) {
  const auto json = object_of(text, "ASIC_DB");
  if (!json) return failure(json.error());
  Prefixes prefixes;
  for (const auto& [key, entry] : json->items()) {
    if (const auto route = after(key, "ASIC_STATE:SAI_OBJECT_TYPE_ROUTE_ENTRY:")) {
      prefixes.insert(in_key(*route, "dest"));
    } else if (const auto sid = after(key, "ASIC_STATE:SAI_OBJECT_TYPE_MY_SID_ENTRY:")) {
      const auto length = [&](const char* name) { return number_of(in_key(*sid, name)); };
      prefixes.insert(fmt::format(
          "{}/{}", in_key(*sid, "sid"),
          length("locator_block_len") + length("locator_node_len") + length("function_len")));
    }
  }
  return prefixes;
}

std::vector<Finding> verify_sonic(const Device& device, std::uint32_t block,
                                  const SonicTables& tables) {
  const SonicLayers layers(device, tables);
  std::vector<Finding> findings = verify_routes(device, EmitKind::kSonic, block, tables.applied);
  for (Finding& finding : findings) layers.name(finding);
  layers.add_lost(findings);
  return findings;
}

}  // namespace openmrc::fabric
