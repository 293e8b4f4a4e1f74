// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "openmrc/base/ids.h"
#include "openmrc/core/context/limits.h"
#include "openmrc/core/paths/ev_profile.h"
#include "openmrc/host/address_text.h"
#include "openmrc/host/exchange.h"
#include "openmrc/host/exchange_json.h"

namespace openmrc::host {
namespace {

using Json = nlohmann::ordered_json;  // as it is written

// Version of the format; the key "openmrc" of each.
constexpr std::uint64_t kVersion = 1;
constexpr std::size_t kNameMax = 255;
constexpr std::uint64_t kPsnMax = 0xff'ffff;  // 24 bits

// What all begin with.
ObjectReader reader_of(const nlohmann::json& json, std::string_view kind) {
  ObjectReader reader(json, fmt::format("the connection information of a {}", kind));
  std::uint64_t version = 0;
  reader.take("openmrc", version, {});
  if (version != kVersion) {
    reader.fail(fmt::format("is of version {}; this program knows version {}", version, kVersion));
  }
  std::string found;
  reader.take("kind", found, kNameMax);
  if (found != kind) reader.fail(fmt::format("is of kind \"{}\"", found));
  return reader;
}

void take_addresses(ObjectReader& reader, std::vector<wire::Ipv6Address>& addresses) {
  const nlohmann::json* found = reader.take("addresses");
  if (found == nullptr) return;
  if (!found->is_array() || found->empty() || found->size() > core::kPlanesMax) {
    return reader.fail(
        fmt::format("addresses must be a list of 1 to {} IP addresses", core::kPlanesMax));
  }
  for (const nlohmann::json& each : *found) {
    const auto* text = each.get_ptr<const std::string*>();
    const auto address = text != nullptr ? parse_address(*text) : std::nullopt;
    if (!address) return reader.fail("addresses must be a list of IP addresses");
    addresses.push_back(*address);
  }
}

constexpr const char* kQueuePair = "queue pair";
constexpr const char* kMemory = "memory region";

Json json_of(const ConnectionInfo& info) {
  Json json{{"openmrc", kVersion}, {"kind", kQueuePair}, {"host", info.host},
            {"qpn", info.qpn},     {"psn", info.psn},    {"addresses", Json::array()}};
  for (const wire::Ipv6Address& address : info.addresses) {
    json["addresses"].push_back(to_string(address));
  }
  if (info.fabric_host) json["fabric_host"] = *info.fabric_host;
  json["mtu"] = info.mtu;
  json["mpr"] = info.mpr;
  json["max_wimm"] = info.max_wimm;
  if (info.dynamic_mpr) json["dynamic_mpr"] = true;
  return json;
}

Json json_of(const RemoteMemory& info) {
  return {{"openmrc", kVersion},
          {"kind", kMemory},
          {"address", info.address},
          {"length", info.length},
          {"rkey", info.rkey}};
}

Result<ConnectionInfo, ExchangeError> read_info(const nlohmann::json& json,
                                                const ConnectionInfo& /*as*/) {
  ObjectReader reader = reader_of(json, kQueuePair);
  ConnectionInfo info;
  reader.take("host", info.host, kNameMax);
  reader.take("qpn", info.qpn, {kFirstUsableQpn.raw(), Qpn::kMax});
  reader.take("psn", info.psn, {0, kPsnMax});
  take_addresses(reader, info.addresses);
  if (reader.has("fabric_host")) reader.take("fabric_host", info.fabric_host.emplace(), {});
  reader.take("mtu", info.mtu, {core::kMtuMin, core::kMtuMax});
  reader.take("mpr", info.mpr, {1});
  reader.take("max_wimm", info.max_wimm, {});
  if (reader.has("dynamic_mpr")) reader.take("dynamic_mpr", info.dynamic_mpr);
  return reader.finish(std::move(info));
}

Result<RemoteMemory, ExchangeError> read_info(const nlohmann::json& json,
                                              const RemoteMemory& /*as*/) {
  ObjectReader reader = reader_of(json, kMemory);
  RemoteMemory info;
  reader.take("address", info.address, {});
  reader.take("length", info.length, {1});
  reader.take("rkey", info.rkey, {});
  if (info.length > std::numeric_limits<std::uint64_t>::max() - info.address) {
    reader.fail("exceeds the address space");
  }
  return reader.finish(info);
}

// Names with bytes that are not UTF-8 must not throw.
std::string text_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

template <class Info>
std::string list_text(std::span<const Info> infos) {
  Json list = Json::array();
  for (const Info& info : infos) list.push_back(json_of(info));
  return text_of(list);
}

template <class Info>
Result<Info, ExchangeError> info_from(std::string_view text) {
  const nlohmann::json json = parse_line(text);
  return read_info(json, Info{});
}

template <class Info>
Result<std::vector<Info>, ExchangeError> infos_from(std::string_view text) {
  const nlohmann::json json = parse_line(text);
  if (!json.is_array()) {
    return failure(ExchangeError{.fault = ExchangeFault::kMalformed,
                                 .what = "the connection information is not a JSON list"});
  }
  std::vector<Info> infos;
  for (const nlohmann::json& each : json) {
    auto info = read_info(each, Info{});
    if (!info) return failure(std::move(info.error()));
    infos.push_back(std::move(*info));
  }
  return infos;
}

}  // namespace

std::string to_json(const ConnectionInfo& info) { return text_of(json_of(info)); }
std::string to_json(const RemoteMemory& info) { return text_of(json_of(info)); }
std::string to_json(std::span<const ConnectionInfo> infos) { return list_text(infos); }
std::string to_json(std::span<const RemoteMemory> infos) { return list_text(infos); }

Result<ConnectionInfo, ExchangeError> connection_info_from(std::string_view json) {
  return info_from<ConnectionInfo>(json);
}
Result<RemoteMemory, ExchangeError> remote_memory_from(std::string_view json) {
  return info_from<RemoteMemory>(json);
}
Result<std::vector<ConnectionInfo>, ExchangeError> connection_infos_from(std::string_view json) {
  return infos_from<ConnectionInfo>(json);
}
Result<std::vector<RemoteMemory>, ExchangeError> remote_memories_from(std::string_view json) {
  return infos_from<RemoteMemory>(json);
}

}  // namespace openmrc::host
