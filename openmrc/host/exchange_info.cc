// SPDX-License-Identifier: BSD-3-Clause
#include <arpa/inet.h>
#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "openmrc/base/ids.h"
#include "openmrc/core/context/limits.h"
#include "openmrc/core/paths/ev_profile.h"
#include "openmrc/host/exchange.h"

namespace openmrc::host {
namespace {

using Json = nlohmann::ordered_json;

// Version of the format; the key "openmrc" of each.
constexpr std::uint64_t kVersion = 1;
constexpr std::size_t kHostNameMax = 255;
constexpr std::uint64_t kPsnMax = 0xff'ffff;  // 24 bits

struct Range {
  std::uint64_t least = 0;
  std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
};

// Reads the keys of one object, and keeps the first error.
class InfoReader {
 public:
  InfoReader(const Json& json, std::string_view kind) : json_(json), kind_(kind) {
    if (!json.is_object()) {
      fail("is no JSON object");
      return;
    }
    std::uint64_t version = 0;
    take("openmrc", version, {});
    if (version != kVersion) {
      fail(fmt::format("is of version {}; this program knows version {}", version, kVersion));
    }
    std::string found;
    take("kind", found);
    if (found != kind) fail(fmt::format("is of kind \"{}\"", found));
  }

  template <class T>
  void take(const char* key, T& value, Range range) {
    const Json* found = find(key);
    if (found == nullptr) return;
    const std::uint64_t most = std::min<std::uint64_t>(range.most, std::numeric_limits<T>::max());
    if (!found->is_number_unsigned() || found->get<std::uint64_t>() < range.least ||
        found->get<std::uint64_t>() > most) {
      fail(fmt::format("{} must be a whole number, {} to {}", key, range.least, most));
      return;
    }
    value = static_cast<T>(found->get<std::uint64_t>());
  }
  void take(const char* key, std::string& value) {
    const Json* found = find(key);
    if (found == nullptr) return;
    if (!found->is_string() || found->get_ref<const std::string&>().size() > kHostNameMax) {
      fail(fmt::format("{} must be a text of at most {} letters", key, kHostNameMax));
      return;
    }
    value = found->get<std::string>();
  }
  void take(const char* key, std::vector<wire::Ipv6Address>& addresses) {
    const Json* found = find(key);
    if (found == nullptr) return;
    if (!found->is_array() || found->empty() || found->size() > core::kPlanesMax) {
      fail(fmt::format("{} must be a list of 1 to {} IPv6 addresses", key, core::kPlanesMax));
      return;
    }
    for (const Json& each : *found) {
      wire::Ipv6Address& address = addresses.emplace_back();
      const auto* text = each.get_ptr<const std::string*>();
      if (text == nullptr || inet_pton(AF_INET6, text->c_str(), address.bytes.data()) != 1) {
        fail(fmt::format("{} must be a list of IPv6 addresses", key));
        return;
      }
    }
  }
  [[nodiscard]] bool has(const char* key) const { return json_.is_object() && json_.contains(key); }
  void fail(std::string what) {
    if (!error_.empty()) return;
    error_ = fmt::format("the connection information of a {} {}", kind_, what);
  }

  // The result, if all keys were read without an error.
  template <class Info>
  Result<Info, ExchangeError> finish(Info info) {
    if (error_.empty() && json_.size() != taken_) {
      fail(fmt::format("has {} keys, of which {} are known", json_.size(), taken_));
    }
    if (error_.empty()) return info;
    return failure(ExchangeError{.fault = ExchangeFault::kMalformed, .what = error_});
  }

 private:
  const Json* find(const char* key) {
    if (!error_.empty()) return nullptr;
    const auto found = json_.find(key);
    if (found == json_.end()) {
      fail(fmt::format("has no {}", key));
      return nullptr;
    }
    ++taken_;
    return &*found;
  }

  const Json& json_;
  std::string_view kind_;
  std::size_t taken_ = 0;
  std::string error_;
};

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
  return json;
}

Json json_of(const RemoteMemory& info) {
  return {{"openmrc", kVersion},
          {"kind", kMemory},
          {"address", info.address},
          {"length", info.length},
          {"rkey", info.rkey}};
}

Result<ConnectionInfo, ExchangeError> read_info(const Json& json, const ConnectionInfo& /*as*/) {
  InfoReader reader(json, kQueuePair);
  ConnectionInfo info;
  reader.take("host", info.host);
  reader.take("qpn", info.qpn, {kFirstUsableQpn.raw(), Qpn::kMax});
  reader.take("psn", info.psn, {0, kPsnMax});
  reader.take("addresses", info.addresses);
  if (reader.has("fabric_host")) reader.take("fabric_host", info.fabric_host.emplace(), {});
  reader.take("mtu", info.mtu, {core::kMtuMin, core::kMtuMax});
  reader.take("mpr", info.mpr, {1});
  reader.take("max_wimm", info.max_wimm, {});
  return reader.finish(std::move(info));
}

Result<RemoteMemory, ExchangeError> read_info(const Json& json, const RemoteMemory& /*as*/) {
  InfoReader reader(json, kMemory);
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
  const Json json = Json::parse(text, nullptr, false);
  return read_info(json, Info{});
}

template <class Info>
Result<std::vector<Info>, ExchangeError> infos_from(std::string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_array()) {
    return failure(ExchangeError{.fault = ExchangeFault::kMalformed,
                                 .what = "the connection information is not a JSON list"});
  }
  std::vector<Info> infos;
  for (const Json& each : json) {
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
