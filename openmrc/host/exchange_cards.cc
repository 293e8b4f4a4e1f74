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

// Of the form of the cards; the key "openmrc" of each.
constexpr std::uint64_t kVersion = 1;
constexpr std::size_t kHostNameMax = 255;
constexpr std::uint64_t kPsnMax = 0xff'ffff;  // 24 bits

struct Range {
  std::uint64_t least = 0;
  std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
};

// Takes the keys of one card, and remembers the first thing that is wrong with it.
class CardReader {
 public:
  CardReader(const Json& json, std::string_view kind) : json_(json), kind_(kind) {
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
    error_ = fmt::format("what should be the card of a {} {}", kind_, what);
  }

  // The card, if all of it was taken and right.
  template <class Card>
  Result<Card, ExchangeError> finish(Card card) {
    if (error_.empty() && json_.size() != taken_) {
      fail(fmt::format("has {} keys, of which {} are known", json_.size(), taken_));
    }
    if (error_.empty()) return card;
    return failure(ExchangeError{.fault = ExchangeFault::kCard, .what = error_});
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

Json json_of(const PeerCard& card) {
  Json json{{"openmrc", kVersion}, {"kind", kQueuePair}, {"host", card.host},
            {"qpn", card.qpn},     {"psn", card.psn},    {"addresses", Json::array()}};
  for (const wire::Ipv6Address& address : card.addresses) {
    json["addresses"].push_back(to_string(address));
  }
  if (card.fabric_host) json["fabric_host"] = *card.fabric_host;
  json["mtu"] = card.mtu;
  json["mpr"] = card.mpr;
  json["max_wimm"] = card.max_wimm;
  return json;
}

Json json_of(const MemoryCard& card) {
  return {{"openmrc", kVersion},
          {"kind", kMemory},
          {"address", card.address},
          {"length", card.length},
          {"rkey", card.rkey}};
}

Result<PeerCard, ExchangeError> read_card(const Json& json, const PeerCard& /*as*/) {
  CardReader reader(json, kQueuePair);
  PeerCard card;
  reader.take("host", card.host);
  reader.take("qpn", card.qpn, {kFirstUsableQpn.raw(), Qpn::kMax});
  reader.take("psn", card.psn, {0, kPsnMax});
  reader.take("addresses", card.addresses);
  if (reader.has("fabric_host")) reader.take("fabric_host", card.fabric_host.emplace(), {});
  reader.take("mtu", card.mtu, {core::kMtuMin, core::kMtuMax});
  reader.take("mpr", card.mpr, {1});
  reader.take("max_wimm", card.max_wimm, {});
  return reader.finish(std::move(card));
}

Result<MemoryCard, ExchangeError> read_card(const Json& json, const MemoryCard& /*as*/) {
  CardReader reader(json, kMemory);
  MemoryCard card;
  reader.take("address", card.address, {});
  reader.take("length", card.length, {1});
  reader.take("rkey", card.rkey, {});
  if (card.length > std::numeric_limits<std::uint64_t>::max() - card.address) {
    reader.fail("ends behind the last address");
  }
  return reader.finish(card);
}

// Names with bytes that are not UTF-8 must not throw.
std::string text_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

template <class Card>
std::string list_text(std::span<const Card> cards) {
  Json list = Json::array();
  for (const Card& card : cards) list.push_back(json_of(card));
  return text_of(list);
}

template <class Card>
Result<Card, ExchangeError> card_from(std::string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  return read_card(json, Card{});
}

template <class Card>
Result<std::vector<Card>, ExchangeError> cards_from(std::string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_array()) {
    return failure(ExchangeError{.fault = ExchangeFault::kCard,
                                 .what = "what should be cards is no JSON list"});
  }
  std::vector<Card> cards;
  for (const Json& each : json) {
    auto card = read_card(each, Card{});
    if (!card) return failure(std::move(card.error()));
    cards.push_back(std::move(*card));
  }
  return cards;
}

}  // namespace

std::string to_json(const PeerCard& card) { return text_of(json_of(card)); }
std::string to_json(const MemoryCard& card) { return text_of(json_of(card)); }
std::string to_json(std::span<const PeerCard> cards) { return list_text(cards); }
std::string to_json(std::span<const MemoryCard> cards) { return list_text(cards); }

Result<PeerCard, ExchangeError> peer_card_from(std::string_view json) {
  return card_from<PeerCard>(json);
}
Result<MemoryCard, ExchangeError> memory_card_from(std::string_view json) {
  return card_from<MemoryCard>(json);
}
Result<std::vector<PeerCard>, ExchangeError> peer_cards_from(std::string_view json) {
  return cards_from<PeerCard>(json);
}
Result<std::vector<MemoryCard>, ExchangeError> memory_cards_from(std::string_view json) {
  return cards_from<MemoryCard>(json);
}

}  // namespace openmrc::host
