// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/host/config_fields.h"

#include <fmt/format.h>

#include <array>
#include <concepts>
#include <limits>
#include <type_traits>

#include "openmrc/core/context/limits.h"
#include "openmrc/core/paths/ev_profile.h"
#include "openmrc/datapath/slot.h"
#include "openmrc/host/units.h"

namespace openmrc::host {
namespace {

using Kind = Field::Kind;

// In the order of the enumerators.
constexpr std::array<std::string_view, 3> kModes{"udp", "usid", "srv6"};
static_assert(static_cast<int>(datapath::Mode::kSrv6) == 2);
constexpr std::array<std::string_view, 3> kProgress{"sleep", "poll", "caller"};
static_assert(static_cast<int>(Progress::kCaller) == 2);
constexpr std::array<std::string_view, 2> kAlgorithms{"nscc", "fixed"};
static_assert(static_cast<int>(CongestionAlgorithm::kFixed) == 1);
constexpr std::array<std::string_view, 3> kIcrc{"verify", "ignore", "off"};
static_assert(static_cast<int>(Icrc::kOff) == 2);

// What a kernel cuts one send into (UDP_MAX_SEGMENTS, before it was raised to 128).
constexpr std::uint64_t kSegmentsMax = 64;
constexpr std::uint64_t kPortMax = 65'535;
constexpr std::uint64_t kDscpMax = 63;
constexpr std::uint64_t kSeedMax = std::numeric_limits<std::int64_t>::max();  // of TOML
constexpr std::uint64_t kKiB = 1024;
constexpr std::uint64_t kGiB = kKiB * kKiB * kKiB;

// Each wire type as a number that can be asked for and set.
template <class T>
std::uint64_t as_number(const T& value) {
  if constexpr (std::same_as<T, Duration>) {
    return static_cast<std::uint64_t>(value.raw());
  } else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
    return static_cast<std::uint64_t>(value);
  } else if constexpr (requires { value.has_value(); }) {
    return value ? as_number(*value) : 0;
  } else {
    return value.raw();
  }
}
template <class T>
void set_number(T& value, std::uint64_t number) {
  if constexpr (std::same_as<T, Duration>) {
    value = Duration(static_cast<std::int64_t>(number));
  } else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
    value = static_cast<T>(number);
  } else if constexpr (requires { value.has_value(); }) {
    value = static_cast<typename T::value_type>(number);
  } else {
    value = T(static_cast<decltype(value.raw())>(number));
  }
}

// The fields of one section. Each function adds one.
class Section {
 public:
  Section(std::vector<Field>& fields, std::string_view name) : fields_(fields), name_(name) {}

  template <class T>
  Field& number(Kind kind, std::string_view key, T& value, std::uint64_t least,
                std::uint64_t most) {
    Field& field = add(kind, key);
    field.least = least;
    field.most = most;
    field.get = [&value] { return as_number(value); };
    field.set = [&value](std::uint64_t number) { set_number(value, number); };
    return field;
  }
  template <class T>
  Field& whole(std::string_view key, T& value, std::uint64_t least, std::uint64_t most) {
    return number(Kind::kWhole, key, value, least, most);
  }
  Field& time(std::string_view key, Duration& value, Duration least, Duration most) {
    return number(Kind::kTime, key, value, as_number(least), as_number(most));
  }
  template <class T>
  Field& word(std::string_view key, T& value, std::span<const std::string_view> words) {
    Field& field = number(Kind::kWord, key, value, 0, words.size() - 1);
    field.words = words;
    return field;
  }
  Field& flag(std::string_view key, bool& value) { return number(Kind::kFlag, key, value, 0, 1); }
  Field& text(std::string_view key, std::string& value) {
    Field& field = add(Kind::kText, key);
    field.text = &value;
    return field;
  }
  Field& share(std::string_view key, double& value) {
    Field& field = add(Kind::kShare, key);
    field.share = &value;
    return field;
  }
  Field& shape(std::string_view key, std::string_view otherwise) {
    Field& field = add(Kind::kShape, key);
    field.otherwise = otherwise;
    return field;
  }

 private:
  Field& add(Kind kind, std::string_view key) {
    return fields_.emplace_back(Field{.section = name_, .name = key, .kind = kind});
  }

  std::vector<Field>& fields_;
  std::string_view name_;
};

void add_top(std::vector<Field>& fields, Config& config) {
  Section top(fields, "");
  top.text("name", config.name).otherwise = "the host's name";
  top.word("mode", config.mode, kModes);
  top.whole("mtu", config.mtu, core::kMtuMin, core::kMtuMax);
  top.whole("udp_port", config.wire.udp_port, 1, kPortMax);
  top.number(Kind::kHex, "pkey", config.pkey, 0, 0xffff);
  top.whole("shards", config.shards, 1, datapath::kSlots);
  top.word("progress", config.progress, kProgress);
  top.whole("queue_pairs_max", config.queue_pairs_max, 1, datapath::kQpnsPerSlot);
}

void add_fabric(std::vector<Field>& fields, Draft& draft) {
  Section fabric(fields, "fabric");
  fabric.shape("planes", "needed");
  fabric.shape("racks", "needed");
  fabric.shape("hosts_per_rack", "needed");
  fabric.shape("uplinks", "0");
  fabric.shape("switch_ports", "none");
  fabric.shape("host_link_gbps", "100");
  fabric.shape("host_link_ns", "500");
  fabric.shape("uplink_gbps", "as host_link_gbps");
  fabric.shape("uplink_ns", "as host_link_ns");
  fabric.text("host", draft.host).otherwise = "needed";
  fabric.text("block", draft.block);
}

void add_behaviour(std::vector<Field>& fields, Draft& draft) {
  Config& config = draft.config;
  Section paths(fields, "paths");
  paths.whole("evs", config.paths.evs, 1, core::kEvsPerProfileMax);
  paths.whole("burst", config.paths.burst, 1, 256);
  paths.whole("seed", config.paths.seed, 0, kSeedMax);
  paths.whole("probe_successes", config.paths.probe_successes, 1, 255);
  paths.time("probe_interval_max", config.paths.probe_interval_max, microseconds(10), seconds(60));
  paths.time("reorder_floor", config.paths.reorder_floor, microseconds(1), seconds(1));

  Section congestion(fields, "congestion");
  congestion.word("algorithm", config.congestion.algorithm, kAlgorithms);
  congestion.time("base_rtt", config.congestion.base_rtt, microseconds(1), seconds(1));
  congestion.number(Kind::kRate, "rate", config.congestion.bits_per_second, 1'000'000,
                    100'000'000'000'000);
  congestion.number(Kind::kBytes, "window", draft.window, core::kMtuMin, kGiB).otherwise =
      "rate x base_rtt";
  congestion.flag("trimming", config.congestion.trimming);

  Section retry(fields, "retry");
  retry.whole("timeout", config.retry.timeout, 0, core::kTimeoutExponentMax);
  retry.whole("linear", config.retry.linear, 0, core::kLinearRetriesMax);
  retry.whole("exponential", config.retry.exponential, 0, core::kExponentialRetriesMax);
}

void add_wire(std::vector<Field>& fields, Draft& draft) {
  Config& config = draft.config;
  Section dscp(fields, "dscp");
  dscp.whole("control", config.wire.dscp.control, 0, kDscpMax);
  dscp.whole("no_trim", config.wire.dscp.no_trim, 0, kDscpMax);
  dscp.whole("trimmable", config.wire.dscp.trimmable, 0, kDscpMax);
  dscp.whole("trimmable_retransmission", config.wire.dscp.trimmable_retransmission, 0, kDscpMax);
  dscp.whole("trimmed", config.wire.dscp.trimmed, 0, kDscpMax);
  dscp.whole("trimmed_last_hop", config.wire.dscp.trimmed_last_hop, 0, kDscpMax);

  Section(fields, "wire").word("icrc", draft.icrc, kIcrc);

  Section offload(fields, "offload");
  offload.whole("segments_max", config.segments_max, 1, kSegmentsMax);
  offload.flag("receive", config.receive_offload);
  offload.number(Kind::kBytes, "socket_buffer", config.socket_buffer, 64 * kKiB, kGiB);
}

void add_surroundings(std::vector<Field>& fields, Draft& draft) {
  Section exchange(fields, "exchange");
  exchange.whole("port", draft.config.exchange_port, 1, kPortMax);
  exchange.time("timeout", draft.config.exchange_timeout, milliseconds(1), seconds(3600));

  Section(fields, "capture").text("file", draft.capture).otherwise = "no capture";

  Section faults(fields, "faults");
  faults.share("drop", draft.faults.drop);
  faults.share("duplicate", draft.faults.duplicate);
  faults.share("corrupt", draft.faults.corrupt);
  faults.whole("plane", draft.faults.plane, 0, core::kPlanesMax - 1).otherwise = "all";
  faults.whole("ev", draft.faults.ev, 0, core::kEvsPerProfileMax - 1).otherwise = "all";
  faults.whole("seed", draft.faults.seed, 0, kSeedMax);
}

std::string_view type_text(Kind kind) {
  switch (kind) {
    case Kind::kWhole:
    case Kind::kHex: return "whole number";
    case Kind::kTime: return "time";
    case Kind::kBytes: return "size";
    case Kind::kRate: return "rate";
    case Kind::kShare: return "number";
    case Kind::kFlag: return "true or false";
    case Kind::kText: return "text";
    case Kind::kWord: return "word";
    case Kind::kShape: return "number";
  }
  return {};
}

std::string preset_text(const Field& field) {
  if (!field.otherwise.empty()) return std::string(field.otherwise);
  if (field.text != nullptr) return fmt::format("\"{}\"", *field.text);
  if (field.share != nullptr) return fmt::format("{}", *field.share);
  return value_text(field, field.get());
}

}  // namespace

std::string Field::full_name() const {
  return section.empty() ? std::string(name) : fmt::format("{}.{}", section, name);
}

std::vector<Field> fields_of(Draft& draft) {
  std::vector<Field> fields;
  add_top(fields, draft.config);
  add_fabric(fields, draft);
  add_behaviour(fields, draft);
  add_wire(fields, draft);
  add_surroundings(fields, draft);
  return fields;
}

std::vector<Field> port_fields_of(PortDraft& port) {
  std::vector<Field> fields;
  Section section(fields, "port");
  section.text("interface", port.interface).otherwise = "none: by the address alone";
  section.text("address", port.address).otherwise = "the fabric's plan; without [fabric], needed";
  return fields;
}

std::string value_text(const Field& field, std::uint64_t value) {
  switch (field.kind) {
    case Kind::kHex: return fmt::format("{:#x}", value);
    case Kind::kTime:
      return fmt::format("\"{}\"", time_text(Duration(static_cast<std::int64_t>(value))));
    case Kind::kBytes: return fmt::format("\"{}\"", bytes_text(value));
    case Kind::kRate: return fmt::format("\"{}\"", bit_rate_text(value));
    case Kind::kFlag: return value != 0 ? "true" : "false";
    case Kind::kWord: return fmt::format("\"{}\"", field.words[value]);
    case Kind::kWhole:
    case Kind::kShare:
    case Kind::kText:
    case Kind::kShape: break;
  }
  return fmt::format("{}", value);
}

std::string range_text(const Field& field) {
  switch (field.kind) {
    case Kind::kShare: return "0 to 1";
    case Kind::kWord: {
      std::string all;
      for (const std::string_view word : field.words) {
        all += fmt::format("{}\"{}\"", all.empty() ? "" : ", ", word);
      }
      return all;
    }
    case Kind::kFlag:
    case Kind::kText:
    case Kind::kShape: return {};
    case Kind::kWhole:
      if (field.most == kSeedMax) return fmt::format("{} or more", field.least);
      break;
    case Kind::kHex:
    case Kind::kTime:
    case Kind::kBytes:
    case Kind::kRate: break;
  }
  return fmt::format("{} to {}", value_text(field, field.least), value_text(field, field.most));
}

std::vector<ConfigKey> config_keys() {
  Draft draft;
  PortDraft port;
  std::vector<ConfigKey> keys;
  for (const auto& fields : {fields_of(draft), port_fields_of(port)}) {
    for (const Field& field : fields) {
      keys.push_back({.section = std::string(field.section),
                      .name = std::string(field.name),
                      .type = std::string(type_text(field.kind)),
                      .preset = preset_text(field),
                      .range = range_text(field)});
    }
  }
  return keys;
}

}  // namespace openmrc::host
