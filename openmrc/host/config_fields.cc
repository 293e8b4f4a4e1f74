// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/host/config_fields.h"

#include <array>
#include <string_view>
#include <utility>

#include "openmrc/core/paths/ev_profile.h"
#include "openmrc/datapath/slot.h"
#include "openmrc/profile/transport_fields.h"

namespace openmrc::host {
namespace {

using text::Field;
using text::Section;

// In the order of the enumerators.
constexpr std::array<std::string_view, 3> kProgress{"sleep", "poll", "caller"};
static_assert(static_cast<int>(Progress::kCaller) == 2);
constexpr std::array<std::string_view, 3> kIcrc{"verify", "ignore", "off"};
static_assert(static_cast<int>(Icrc::kOff) == 2);

// What a kernel cuts one send into (UDP_MAX_SEGMENTS, before it was raised to 128).
constexpr std::uint64_t kSegmentsMax = 64;
constexpr std::uint64_t kPortMax = 65'535;
constexpr std::uint64_t kDscpMax = 63;
constexpr std::uint64_t kKiB = 1024;
constexpr std::uint64_t kGiB = kKiB * kKiB * kKiB;

void add_top(std::vector<Field>& fields, Config& config) {
  Section top(fields, "");
  top.text("name", config.name).otherwise = "the host's name";
  top.word("mode", config.mode, datapath::kModeNames);
  top.whole("shards", config.shards, 1, datapath::kSlots);
  top.word("progress", config.progress, kProgress);
}

void add_fabric(std::vector<Field>& fields, Draft& draft) {
  for (Field& field : fabric::shape_fields(draft.shape, "fabric")) {
    fields.push_back(std::move(field));
  }
  Section fabric(fields, "fabric");
  fabric.text("host", draft.host).otherwise = "required";
  fabric.text("block", draft.block);
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
  offload.bytes("socket_buffer", config.socket_buffer, 64 * kKiB, kGiB);
}

void add_surroundings(std::vector<Field>& fields, Draft& draft) {
  Section exchange(fields, "exchange");
  exchange.whole("port", draft.config.exchange_port, 1, kPortMax);
  exchange.duration("timeout", draft.config.exchange_timeout, milliseconds(1), seconds(3600));

  Section(fields, "verbs").flag("in_order_placement", draft.config.verbs.in_order_placement);
  Section(fields, "agent").text("listen", draft.config.agent.listen).otherwise = "nowhere";

  Section metrics(fields, "metrics");
  metrics.flag("publish", draft.config.metrics.publish);
  metrics.flag("processes", draft.config.metrics.processes);

  Section(fields, "capture").text("file", draft.capture).otherwise = "no capture";

  Section faults(fields, "faults");
  faults.share("drop", draft.faults.drop);
  faults.share("duplicate", draft.faults.duplicate);
  faults.share("corrupt", draft.faults.corrupt);
  faults.whole("plane", draft.faults.plane, 0, core::kPlanesMax - 1).otherwise = "all";
  faults.whole("ev", draft.faults.ev, 0, core::kEvsPerProfileMax - 1).otherwise = "all";
  faults.whole("seed", draft.faults.seed, 0, text::kWholeMax);
}

void add_mapper(std::vector<Field>& fields, MapperConfig& config) {
  constexpr std::uint64_t kRoundsMax = 1000;
  Section mapper(fields, "mapper");
  mapper.flag("enabled", config.enabled);
  mapper.whole("rounds_per_second", config.rounds_per_second, 1, kRoundsMax);
  mapper.duration("timeout", config.timeout, milliseconds(10), seconds(10));
  mapper.share("least_loss", config.least_loss);
  mapper.duration("hold", config.hold, Duration(0), seconds(3600));
  mapper.whole("udp_port", config.udp_port, 1, kPortMax);
  mapper.flag("deny", config.deny);
}

}  // namespace

std::vector<Field> fields_of(Draft& draft) {
  std::vector<Field> fields;
  add_top(fields, draft.config);
  add_fabric(fields, draft);
  add_wire(fields, draft);
  add_surroundings(fields, draft);
  add_mapper(fields, draft.config.mapper);
  return fields;
}

std::vector<Field> port_fields_of(PortDraft& port) {
  std::vector<Field> fields;
  Section section(fields, "port");
  section.text("interface", port.interface).otherwise = "none: by the address alone";
  section.text("address", port.address).otherwise = "the fabric's plan; without [fabric], required";
  return fields;
}

std::vector<Field> peer_fields_of(PeerDraft& peer, std::string& address) {
  std::vector<Field> fields;
  Section section(fields, "peer");
  section.text("name", peer.name).otherwise = "required";
  section.text("addresses", address).otherwise = "required";
  return fields;
}

std::vector<ConfigKey> config_keys() {
  Draft draft;
  PortDraft port;
  PeerDraft peer;
  std::string address;
  std::vector<ConfigKey> keys;
  profile::Preset preset = profile::Preset::kSoftware;
  const std::vector<Field> presets{profile::preset_field(preset)};
  for (const auto& fields : {fields_of(draft), port_fields_of(port), peer_fields_of(peer, address),
                             presets, profile::transport_fields(draft.config.transport)}) {
    for (const Field& field : fields) {
      keys.push_back({.section = std::string(field.section),
                      .name = std::string(field.name),
                      .type = std::string(type_text(field)),
                      .default_text = default_text(field),
                      .range = range_text(field),
                      .description = std::string(field.description)});
    }
  }
  return keys;
}

}  // namespace openmrc::host
