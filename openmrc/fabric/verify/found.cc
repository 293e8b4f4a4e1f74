// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/fabric/verify/found.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "openmrc/fabric/verify/json_values.h"

namespace openmrc::fabric {
namespace {

using Json = nlohmann::json;

std::vector<std::string> words_in(const Json& object, const char* key) {
  std::vector<std::string> words;
  const auto found = object.find(key);
  if (found == object.end() || !found->is_array()) return words;
  for (const Json& word : *found) {
    if (word.is_string()) words.push_back(plain_text(word.get<std::string>()));
  }
  return words;
}

bool has_word(const Json& object, const char* key, std::string_view word) {
  const auto words = words_in(object, key);
  return std::ranges::find(words, word) != words.end();
}

std::string with_commas(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ",") + word;
  return text;
}

// The objects of a list.
Result<std::vector<Json>, std::string> objects_of(std::string_view text, std::string_view command) {
  const auto json = parse_output(text, command);
  if (!json) return failure(json.error());
  if (!json->is_array()) return failure(fmt::format("'{}' printed no list of JSON", command));
  std::vector<Json> objects;
  for (const Json& each : *json) {
    if (each.is_object()) objects.push_back(each);
  }
  return objects;
}

FoundHop hop_in(const Json& object) {
  return {.via = text_in(object, "gateway"), .dev = text_in(object, "dev")};
}

FoundRoute route_in(const Json& object) {
  FoundRoute route{.to = prefix_text(text_in(object, "dst")),
                   .type = text_in(object, "type"),
                   .source = text_in(object, "prefsrc"),
                   .protocol = text_in(object, "protocol"),
                   .metric = number_in(object, "metric").value_or(0)};
  if (text_in(object, "encap") == "seg6local") {
    route.action = text_in(object, "action");
    route.flavours = with_commas(words_in(object, "flavors"));
    route.decapsulates_into = text_in(object, "table");
    route.block_length = number_in(object, "lblen").value_or(0);
    route.node_length = number_in(object, "nflen").value_or(0);
  }
  const auto hops = object.find("nexthops");
  if (hops != object.end() && hops->is_array()) {
    for (const Json& hop : *hops) {
      if (hop.is_object()) route.hops.push_back(hop_in(hop));
    }
  }
  if (route.hops.empty()) route.hops.push_back(hop_in(object));
  std::ranges::sort(route.hops);
  return route;
}

void read_link(const Json& object, Found& found) {
  found.links[text_in(object, "ifname")] = {.mtu = number_in(object, "mtu").value_or(0),
                                            .is_up = has_word(object, "flags", "UP"),
                                            .has_carrier = has_word(object, "flags", "LOWER_UP"),
                                            .mac = text_in(object, "address"),
                                            .peer_space_id = number_in(object, "link_netnsid")};
}

void read_addresses(const Json& object, Found& found) {
  const auto list = object.find("addr_info");
  if (list == object.end() || !list->is_array()) return;
  for (const Json& each : *list) {
    if (!each.is_object()) continue;
    found.addresses.emplace_back(
        text_in(object, "ifname"),
        fmt::format("{}/{}", text_in(each, "local"), number_in(each, "prefixlen").value_or(0)));
  }
}

void read_neighbour(const Json& object, Found& found) {
  found.neighbours[{text_in(object, "dev"), text_in(object, "dst")}] = {
      .mac = text_in(object, "lladdr"), .state = with_commas(words_in(object, "state"))};
}

void read_rule(const Json& object, Found& found) {
  const auto length = number_in(object, "dstlen");
  found.rules.push_back({.to = length ? fmt::format("{}/{}", text_in(object, "dst"), *length) : "",
                         .protocol = text_in(object, "ipproto"),
                         .table = text_in(object, "table")});
}

// "net.ipv6.conf.all.forwarding = 1"
void read_settings(std::string_view text, Found& found) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const std::size_t sign = line.find(" = ");
    if (sign == std::string_view::npos) continue;
    std::string name(line.substr(0, sign));
    std::ranges::replace(name, '/', '.');
    found.settings[std::move(name)] = plain_text(std::string(line.substr(sign + 3)));
  }
}

}  // namespace

Result<Found, std::string> read_device(const DeviceOutput& output) {
  Found found;
  std::string error;
  const auto each = [&](const std::string& text, std::string_view command, auto&& read) {
    if (!error.empty()) return;
    const auto objects = objects_of(text, command);
    if (!objects) {
      error = objects.error();
      return;
    }
    for (const Json& object : *objects) read(object);
  };
  const auto or_nothing = [](const std::string& text) { return text.empty() ? "[]" : text; };
  each(output.links, "ip link", [&](const Json& json) { read_link(json, found); });
  each(output.addresses, "ip address", [&](const Json& json) { read_addresses(json, found); });
  each(output.routes, "ip route",
       [&](const Json& json) { found.routes.push_back(route_in(json)); });
  each(or_nothing(output.usid_routes), "ip route",
       [&](const Json& json) { found.usid_routes.push_back(route_in(json)); });
  each(output.neighbours, "ip neighbour", [&](const Json& json) { read_neighbour(json, found); });
  each(output.rules, "ip rule", [&](const Json& json) { read_rule(json, found); });
  each(or_nothing(output.spaces), "ip netns", [&](const Json& json) {
    if (const auto id = number_in(json, "nsid")) found.spaces[*id] = text_in(json, "name");
  });
  if (!error.empty()) return failure(std::move(error));
  read_settings(output.settings, found);
  return found;
}

}  // namespace openmrc::fabric
