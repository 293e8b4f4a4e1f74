// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/policy/deny_policy.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "openmrc/agent/profiles/profile_names.h"
#include "openmrc/fabric/usid_plan.h"
#include "openmrc/wire/field/usid.h"

namespace openmrc::policy {
namespace {

using fabric::LinkId;
using libmrc::EvEdit;
using libmrc::EvKey;
using libmrc::EvProfileId;
using libmrc::EvStatus;
using mapper::BadLink;
using mapper::Direction;
using Json = nlohmann::ordered_json;

constexpr std::size_t kEvsMax = 65536;  // in a file; as many as a device has

// Packets of the host only go up. A link that is bad in the other direction is avoided by those
// who send to it, if they know.
bool harms_sending(const BadLink& bad) { return bad.direction != Direction::kDown; }

// The uplink that an EV leaves the rack by; none if its address names no T1.
std::optional<std::uint32_t> uplink_of(const core::EvEntry& entry) {
  const auto usids = wire::UsidCarrier(entry.outer).remaining();
  const auto second = usids.size() > 1 ? fabric::segment_of(usids[1]) : std::nullopt;
  if (!second || second->kind != fabric::Segment::Kind::kT1) return std::nullopt;
  return second->index;
}

bool crosses(const core::EvEntry& entry, const LinkId& link) {
  if (entry.plane != link.plane) return false;
  return link.kind == LinkId::Kind::kHost || uplink_of(entry) == link.port;
}

// How many more EVs of each plane may be denied.
std::map<Plane, std::size_t> rooms_of(const libmrc::EvProfile& profile,
                                      const core::EvProfile& paths, const std::set<EvKey>& own) {
  std::map<Plane, std::size_t> rooms;
  for (const core::EvEntry& entry : paths.entries()) {
    rooms[entry.plane] = paths.range(entry.plane).count / 2;
  }
  for (const EvStatus& each : profile.evs) {
    if (each.state != MRC_CTL_EV_DENIED || own.contains(each.ev)) continue;
    for (const core::EvIndex index : places_of(paths, each.ev)) {
      std::size_t& room = rooms[paths.entry(index).plane];
      room -= std::min<std::size_t>(room, 1);
      break;  // a copy is another status
    }
  }
  return rooms;
}

std::optional<mrc_ctl_ev_state> state_of(const libmrc::EvProfile& profile, const EvKey& ev) {
  const auto found = std::ranges::find(profile.evs, ev, &EvStatus::ev);
  if (found == profile.evs.end()) return std::nullopt;
  return found->state;
}

// What makes the profile's denials those that are wanted; `own` are ours so far, and then those.
std::vector<EvEdit> edits_for(const libmrc::EvProfile& profile, const std::set<EvKey>& wanted,
                              std::set<EvKey>& own) {
  std::vector<EvEdit> edits;
  for (const EvKey& key : own) {
    if (wanted.contains(key) || state_of(profile, key) != MRC_CTL_EV_DENIED) continue;
    edits.push_back({.ev = key, .state = MRC_CTL_EV_GOOD, .all_copies = true});
  }
  for (const EvKey& key : wanted) {
    // One of ours that is not denied any more was set back by a controller.
    if (own.contains(key) || state_of(profile, key) == MRC_CTL_EV_DENIED) continue;
    edits.push_back({.ev = key, .state = MRC_CTL_EV_DENIED, .all_copies = true});
  }
  own = wanted;
  return edits;
}

}  // namespace

std::set<EvKey> evs_to_deny(const libmrc::EvProfile& profile, const core::EvProfile& paths,
                            std::span<const BadLink> bad, const std::set<EvKey>& own) {
  std::vector<BadLink> worst_first(bad.begin(), bad.end());
  std::ranges::stable_sort(worst_first, std::ranges::greater{}, &BadLink::loss);
  std::map<Plane, std::size_t> rooms = rooms_of(profile, paths, own);
  std::set<EvKey> denied;
  for (const BadLink& each : worst_first) {
    if (!harms_sending(each)) continue;
    for (std::size_t i = 0; i < paths.size(); ++i) {
      const core::EvIndex index(static_cast<std::uint8_t>(i));
      const EvKey key = libmrc::key_at(paths, index);
      if (!crosses(paths.entry(index), each.link) || denied.contains(key)) continue;
      const bool is_controllers = state_of(profile, key) == MRC_CTL_EV_DENIED && !own.contains(key);
      const std::size_t copies = places_of(paths, key).size();
      std::size_t& room = rooms[paths.entry(index).plane];
      if (is_controllers || copies > room) continue;
      room -= copies;
      denied.insert(key);
    }
  }
  return denied;
}

std::vector<DenyPolicy::Change> DenyPolicy::decide(const libmrc::EvProfileStore& profiles,
                                                   std::span<const BadLink> bad) {
  std::vector<Change> changes;
  Denials before = std::exchange(denials_, {});
  for (const auto& [id, profile] : profiles.all()) {
    std::set<EvKey> own = std::move(before[id]);
    const auto paths = profiles.paths(id);
    const std::set<EvKey> wanted =
        paths ? evs_to_deny(profile, *paths, bad, own) : std::set<EvKey>{};
    if (auto edits = edits_for(profile, wanted, own); !edits.empty()) {
      changes.push_back({.profile = id, .edits = std::move(edits)});
    }
    if (!own.empty()) denials_[id] = std::move(own);
  }
  return changes;
}

void DenyPolicy::add(const DenyPolicy& other) {
  for (const auto& [id, keys] : other.denials_) denials_[id].insert(keys.begin(), keys.end());
}

std::string DenyPolicy::to_json() const {
  Json json{{"denied", Json::array()}};
  for (const auto& [id, keys] : denials_) {
    for (const EvKey& key : keys) {
      json["denied"].push_back(
          {{"profile", id.raw()}, {"ev", libmrc::hex_of(key.value)}, {"port", key.port.raw()}});
    }
  }
  return json.dump(1) + "\n";
}

Result<DenyPolicy, std::string> DenyPolicy::parse(std::string_view text) {
  const std::string damaged = "this is no list of denied EVs";
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object() || !json.contains("denied") || !json["denied"].is_array() ||
      json["denied"].size() > kEvsMax) {
    return failure(damaged);
  }
  DenyPolicy policy;
  for (const Json& each : json["denied"]) {
    const bool has_all = each.is_object() && each.contains("profile") && each.contains("ev") &&
                         each.contains("port") && each["profile"].is_number_unsigned() &&
                         each["ev"].is_string() && each["port"].is_number_unsigned();
    if (!has_all || each["port"].get<std::uint64_t>() > core::kPlanesMax) return failure(damaged);
    const auto bits = libmrc::bits_from_hex(each["ev"].get<std::string>());
    if (!bits) return failure(damaged);
    policy.denials_[EvProfileId(each["profile"].get<std::uint64_t>())].insert(
        {.value = *bits, .port = PortNumber(each["port"].get<std::uint8_t>())});
  }
  return policy;
}

}  // namespace openmrc::policy
