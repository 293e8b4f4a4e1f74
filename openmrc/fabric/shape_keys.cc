// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/fabric/shape_keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

namespace openmrc::fabric {
namespace {

enum Key : std::uint8_t {
  kPlanes,
  kRacks,
  kHostsPerRack,
  kUplinks,
  kSwitchPorts,
  kHostLinkGbps,
  kUplinkGbps,
  kHostLinkNs,
  kUplinkNs,
  kKeys,
};

struct KeyRange {
  std::string_view name;
  std::int64_t least;
  std::int64_t most;
  bool takes_fractions = false;  // anything above 0, whatever `least` says
};

// Faster and longer links than there will be; they keep the arithmetic far from overflow.
constexpr std::int64_t kGbpsMax = 1'000'000;
constexpr std::int64_t kNsMax = 1'000'000'000;

constexpr std::array<KeyRange, kKeys> kRanges{{
    {"planes", 1, kPlanesMax},
    {"racks", 1, kRacksMax},
    {"hosts_per_rack", 1, kHostsPerRackMax},
    {"uplinks", 0, kUplinksMax},
    {"switch_ports", 2, std::min(kRacksMax, 2 * kHostsPerRackMax)},
    {"host_link_gbps", 0, kGbpsMax, true},
    {"uplink_gbps", 0, kGbpsMax, true},
    {"host_link_ns", 1, kNsMax},
    {"uplink_ns", 1, kNsMax},
}};

std::optional<Key> key_named(std::string_view name) {
  const auto* const found = std::ranges::find(kRanges, name, &KeyRange::name);
  if (found == kRanges.end()) return std::nullopt;
  return static_cast<Key>(found - kRanges.begin());
}

std::string all_names() {
  std::string names;
  for (const KeyRange& range : kRanges) {
    if (!names.empty()) names += ", ";
    names += range.name;
  }
  return names;
}

// The number, or what is wrong with it. A double holds all that any key can have.
Result<double, std::string> checked_number(const KeyValue& from, const KeyRange& range) {
  const auto* const whole = std::get_if<std::int64_t>(&from.value);
  const auto* const fraction = std::get_if<double>(&from.value);
  const auto most = static_cast<double>(range.most);
  if (range.takes_fractions) {
    if (whole == nullptr && fraction == nullptr) return failure(std::string("must be a number"));
    const double number = whole != nullptr ? static_cast<double>(*whole) : *fraction;
    if (number > 0 && number <= most) return number;  // not so if it is not a number
    return failure(fmt::format("must be above 0 and at most {}", range.most));
  }
  if (whole == nullptr) return failure(std::string("must be a whole number"));
  if (*whole >= range.least && *whole <= range.most) return static_cast<double>(*whole);
  return failure(fmt::format("must be {} to {}", range.least, range.most));
}

// The values, each checked alone.
class KeyTable {
 public:
  [[nodiscard]] Result<void, FileError> add(const KeyValue& from) {
    const auto error = [&](std::string message) {
      return FileError{from.line, std::string(from.key), std::move(message)};
    };
    const auto key = key_named(from.key);
    if (!key) return failure(error(fmt::format("unknown key; there are {}", all_names())));
    if (has(*key)) return failure(error(fmt::format("given before, in line {}", lines_[*key])));
    const auto number = checked_number(from, kRanges[*key]);
    if (!number) return failure(error(number.error()));
    given_[*key] = *number;
    lines_[*key] = from.line;
    return {};
  }

  [[nodiscard]] bool has(Key key) const { return given_[key].has_value(); }
  [[nodiscard]] std::optional<double> number(Key key) const { return given_[key]; }
  [[nodiscard]] std::uint32_t count(Key key) const {
    return static_cast<std::uint32_t>(given_[key].value_or(0));
  }
  // About a key that need not be there.
  [[nodiscard]] FileError error_at(Key key, std::string message) const {
    return {
        .line = lines_[key], .key = std::string(kRanges[key].name), .message = std::move(message)};
  }

 private:
  std::array<std::optional<double>, kKeys> given_{};
  std::array<std::uint32_t, kKeys> lines_{};
};

Result<void, FileError> set_counts(const KeyTable& table, Shape& shape) {
  if (!table.has(kPlanes)) return failure(table.error_at(kPlanes, "is missing"));
  shape.planes = table.count(kPlanes);
  if (table.has(kSwitchPorts)) {
    for (const Key key : {kRacks, kHostsPerRack, kUplinks}) {
      if (table.has(key)) {
        return failure(table.error_at(key, "follows from switch_ports; give one of them"));
      }
    }
    const std::uint32_t ports = table.count(kSwitchPorts);
    if (ports % 2 != 0) {
      return failure(table.error_at(kSwitchPorts, "must be even: half of them go down"));
    }
    shape.racks = ports;
    shape.hosts_per_rack = ports / 2;
    shape.uplinks = ports / 2;
    return {};
  }
  for (const Key key : {kRacks, kHostsPerRack}) {
    if (!table.has(key)) return failure(table.error_at(key, "is missing; or give switch_ports"));
  }
  shape.racks = table.count(kRacks);
  shape.hosts_per_rack = table.count(kHostsPerRack);
  shape.uplinks = table.count(kUplinks);
  return {};
}

void set_links(const KeyTable& table, Shape& shape) {
  const auto bits_per_second = [](double gbps) {
    return static_cast<std::int64_t>(std::llround(gbps * 1e9));
  };
  if (const auto gbps = table.number(kHostLinkGbps)) {
    shape.host_link_bits_per_second = bits_per_second(*gbps);
  }
  const auto uplink_gbps = table.number(kUplinkGbps);
  shape.uplink_bits_per_second =
      uplink_gbps ? bits_per_second(*uplink_gbps) : shape.host_link_bits_per_second;
  if (table.has(kHostLinkNs)) shape.host_link_delay = nanoseconds(table.count(kHostLinkNs));
  shape.uplink_delay =
      table.has(kUplinkNs) ? nanoseconds(table.count(kUplinkNs)) : shape.host_link_delay;
}

// Which key to look at.
Key key_of(ShapeError error) {
  switch (error) {
    case ShapeError::kPlanes: return kPlanes;
    case ShapeError::kRacks: return kRacks;
    case ShapeError::kHostsPerRack: return kHostsPerRack;
    case ShapeError::kUplinks:
    case ShapeError::kNoUplinks:
    case ShapeError::kIdleT1s: return kUplinks;
    case ShapeError::kSpeed: return kHostLinkGbps;
    case ShapeError::kDelay: return kHostLinkNs;
  }
  return kPlanes;
}

}  // namespace

std::string to_string(const FileError& error) {
  std::string text;
  if (error.line > 0) text += fmt::format("line {}: ", error.line);
  if (!error.key.empty()) text += fmt::format("{}: ", error.key);
  return text + error.message;
}

Result<Shape, FileError> shape_from(std::span<const KeyValue> keys) {
  KeyTable table;
  for (const KeyValue& key : keys) {
    if (auto added = table.add(key); !added) return failure(std::move(added.error()));
  }
  Shape shape;
  if (auto set = set_counts(table, shape); !set) return failure(std::move(set.error()));
  set_links(table, shape);
  if (const auto fabric = Fabric::make(shape); !fabric) {
    return failure(table.error_at(key_of(fabric.error()), std::string(describe(fabric.error()))));
  }
  return shape;
}

}  // namespace openmrc::fabric
