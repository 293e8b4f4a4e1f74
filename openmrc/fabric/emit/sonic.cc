// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/fabric/emit/sonic.h"

#include <fmt/format.h>

#include <array>
#include <initializer_list>
#include <string_view>
#include <utility>

#include "openmrc/fabric/emit/queue_plan.h"

namespace openmrc::fabric {
namespace {

using FieldPair = std::pair<std::string_view, std::string_view>;

// Tables of keys of fields, every value a string. Nothing in it needs quoting (site.cc,
// port_config.cc).
class ConfigDb {
 public:
  void table(std::string_view name) {
    end_table();
    text_ += fmt::format("{}  \"{}\": {{", any_table_ ? ",\n" : "", name);
    any_table_ = in_table_ = true;
    any_key_ = false;
  }
  void entry(std::string_view key, std::initializer_list<FieldPair> fields) {
    begin(key);
    for (const auto& [name, value] : fields) field(name, value);
    end();
  }
  void begin(std::string_view key) {
    text_ += any_key_ ? ",\n    \"" : "\n    \"";
    text_ += key;
    text_ += "\": {";
    any_key_ = true;
    any_field_ = false;
  }
  void field(std::string_view name, std::string_view value) {
    text_ += any_field_ ? ", \"" : "\"";
    text_ += name;
    text_ += "\": \"";
    text_ += value;
    text_ += '"';
    any_field_ = true;
  }
  void end() { text_ += '}'; }

  std::string take() {
    end_table();
    return "{\n" + std::move(text_) + "\n}\n";
  }

 private:
  void end_table() {
    if (in_table_) text_ += "\n  }";
    in_table_ = false;
  }

  std::string text_{};
  bool any_table_ = false;
  bool in_table_ = false;
  bool any_key_ = false;
  bool any_field_ = false;
};

std::string decimal(std::uint64_t value) { return fmt::format("{}", value); }

class ConfigDbWriter {
 public:
  ConfigDbWriter(const Fabric& fabric, const Site& site, const Device& device,
                 const PortConfig& platform)
      : site_(site),
        device_(device),
        platform_(platform),
        thresholds_(thresholds_of(fabric, site.queues)) {}

  std::string write() {
    metadata();
    ports();
    segments();
    routes();
    neighbours();
    class_maps();
    port_maps();
    queues();
    buffers();
    trimming();
    return db_.take();
  }

 private:
  [[nodiscard]] bool is_t0() const { return device_.switch_id().tier == Tier::kT0; }

  void metadata() {
    db_.table("DEVICE_METADATA");
    db_.begin("localhost");
    db_.field("hostname", host_name(device_.name));
    db_.field("type", is_t0() ? "BackEndToRRouter" : "BackEndLeafRouter");
    // Static routes and SIDs reach FRR from CONFIG_DB in this mode.
    db_.field("docker_routing_config_mode", "unified");
    db_.field("buffer_model", "traditional");
    if (site_.neighbours == Neighbours::kPlanned) db_.field("mac", mac_of(device_.switch_id()));
    if (!site_.sonic.hwsku.empty()) db_.field("hwsku", site_.sonic.hwsku);
    if (!site_.sonic.platform.empty()) db_.field("platform", site_.sonic.platform);
    db_.end();
  }

  void ports() {
    db_.table("PORT");
    for (const DevicePort& port : device_.ports) {
      db_.begin(port.name);
      if (const auto found = platform_.find(port.name); found != platform_.end()) {
        for (const auto& [name, value] : found->second) db_.field(name, value);
      }
      db_.field("mtu", decimal(site_.mtu));
      db_.field("admin_status", "up");
      db_.field("description", fmt::format("{} {}", port.far_device, port.far_port));
      db_.end();
    }
    db_.table("INTERFACE");
    for (const DevicePort& port : device_.ports) {
      // A packet may leave by the port it came in by: hosts probe their own links so.
      db_.entry(port.name, {{"loopback_action", "forward"}});
      db_.entry(fmt::format("{}|{}", port.name, to_string(port.address)), {});
    }
  }

  void segments() {
    const DeviceRoute& own = device_.routes.front();
    db_.table("SRV6_MY_LOCATORS");
    db_.entry("MAIN", {{"prefix", to_string(own.to.address)},
                       {"block_len", "32"},
                       {"node_len", "16"},
                       {"func_len", "0"},
                       {"arg_len", "0"}});
    db_.table("SRV6_MY_SIDS");
    db_.entry("MAIN|" + to_string(own.to), {{"action", "uN"}, {"decap_dscp_mode", "pipe"}});
  }

  void routes() {
    db_.table("STATIC_ROUTE");
    for (const DeviceRoute& route : device_.routes) {
      if (route.kind != DeviceRoute::Kind::kBlackhole) continue;
      db_.entry("default|" + to_string(route.to), {{"blackhole", "true"}, {"advertise", "false"}});
    }
    for (const DevicePort& port : device_.ports) {
      for (const DeviceRoute& route : port.routes) {
        db_.entry("default|" + to_string(route.to), {{"nexthop", to_string(port.far_address)},
                                                     {"ifname", port.name},
                                                     {"advertise", "false"}});
      }
    }
    if (device_.by_any_uplink) any_uplink();
  }

  void any_uplink() {
    std::string next_hops;
    std::string names;
    std::string advertise;
    for (const DevicePort& port : device_.ports) {
      if (port.link.kind != LinkId::Kind::kUplink) continue;
      const std::string_view comma = names.empty() ? "" : ",";
      next_hops += fmt::format("{}{}", comma, to_string(port.far_address));
      advertise += fmt::format("{}false", comma);
      names += fmt::format("{}{}", comma, port.name);
    }
    db_.entry("default|" + to_string(*device_.by_any_uplink),
              {{"nexthop", next_hops}, {"ifname", names}, {"advertise", advertise}});
  }

  void neighbours() {
    if (site_.neighbours != Neighbours::kPlanned) return;
    db_.table("NEIGH");
    for (const DevicePort& port : device_.ports) {
      db_.entry(fmt::format("{}|{}", port.name, to_string(port.far_address)),
                {{"neigh", port.far_mac}, {"family", "IPv6"}});
    }
  }

  void class_maps() {
    db_.table("DSCP_TO_TC_MAP");
    db_.begin("MRC");
    for (const QueueClassPlan& each : queue_classes(site_.queues)) {
      if (each.dscp) db_.field(decimal(each.dscp->raw()), decimal(each.traffic_class));
    }
    db_.end();
    db_.table("TC_TO_QUEUE_MAP");
    db_.begin("MRC");
    for (const QueueClassPlan& each : queue_classes(site_.queues)) {
      db_.field(decimal(each.traffic_class), decimal(each.queue));
    }
    db_.end();
    if (!is_t0()) return;
    // A map that a port has rewrites the DSCP of all that leaves by it: each class that is in use
    // is listed with its own.
    db_.table("TC_TO_DSCP_MAP");
    remarks("UP", wire::TrimPlace::kOnPath);
    remarks("DOWN", wire::TrimPlace::kLastHop);
  }

  void remarks(std::string_view name, wire::TrimPlace place) {
    db_.begin(name);
    for (const QueueClassPlan& each : queue_classes(site_.queues)) {
      const wire::Dscp dscp = each.dscp.value_or(wire::DscpMap{}.of(place));
      db_.field(decimal(each.traffic_class), decimal(dscp.raw()));
    }
    db_.end();
  }

  void port_maps() {
    db_.table("PORT_QOS_MAP");
    for (const DevicePort& port : device_.ports) {
      db_.begin(port.name);
      db_.field("dscp_to_tc_map", "MRC");
      db_.field("tc_to_queue_map", "MRC");
      if (is_t0()) db_.field("tc_to_dscp_map", port.is_last_hop() ? "DOWN" : "UP");
      db_.end();
    }
  }

  // Control before everything else; of the rest a quarter for trimmed packets.
  void queues() {
    db_.table("SCHEDULER");
    db_.entry("CONTROL", {{"type", "STRICT"}});
    db_.entry("TRIMMED", {{"type", "DWRR"}, {"weight", "25"}});
    db_.entry("DATA", {{"type", "DWRR"}, {"weight", "60"}});
    db_.entry("NO_TRIM", {{"type", "DWRR"}, {"weight", "15"}});
    db_.table("WRED_PROFILE");
    db_.begin("MRC");
    db_.field("ecn", "ecn_all");
    for (const std::string_view colour : {"green", "yellow", "red"}) {
      db_.field(fmt::format("wred_{}_enable", colour), "true");
      db_.field(fmt::format("{}_min_threshold", colour), decimal(thresholds_.ecn_min_bytes));
      db_.field(fmt::format("{}_max_threshold", colour), decimal(thresholds_.ecn_max_bytes));
      db_.field(fmt::format("{}_drop_probability", colour), decimal(site_.queues.mark_percent));
    }
    db_.end();
    const QueueSettings& q = site_.queues;
    const std::string data = decimal(q.data_queue);
    const std::string no_trim = decimal(q.no_trim_queue);
    const std::string trimmed = decimal(q.trimmed_queue);
    const std::string control = decimal(q.control_queue);
    db_.table("QUEUE");
    for (const DevicePort& port : device_.ports) {
      queue(port, no_trim, "NO_TRIM", true);
      queue(port, data, "DATA", true);
      queue(port, trimmed, "TRIMMED", false);
      queue(port, control, "CONTROL", false);
    }
  }

  // MRC 8: no marks on the last hop, where the path is not to blame.
  void queue(const DevicePort& port, std::string_view index, std::string_view scheduler,
             bool marks) {
    db_.begin(fmt::format("{}|{}", port.name, index));
    db_.field("scheduler", scheduler);
    if (marks && !port.is_last_hop()) db_.field("wred_profile", "MRC");
    db_.end();
  }

  void buffers() {
    const std::string& pool = site_.sonic.pool;
    if (site_.sonic.pool_bytes > 0) {
      db_.table("BUFFER_POOL");
      db_.entry(
          pool,
          {{"type", "egress"}, {"mode", "static"}, {"size", decimal(site_.sonic.pool_bytes)}});
    }
    db_.table("BUFFER_PROFILE");
    profile("MRC_DATA", thresholds_.trim_bytes, "trim");
    if (is_t0()) profile("MRC_DATA_LAST_HOP", thresholds_.trim_last_hop_bytes, "trim");
    profile("MRC_OTHER", thresholds_.trim_bytes, "drop");
    db_.table("BUFFER_QUEUE");
    for (const DevicePort& port : device_.ports) {
      const auto entry = [&](std::uint32_t index, std::string_view name) {
        db_.entry(fmt::format("{}|{}", port.name, index), {{"profile", name}});
      };
      entry(site_.queues.no_trim_queue, "MRC_OTHER");
      entry(site_.queues.data_queue, port.is_last_hop() ? "MRC_DATA_LAST_HOP" : "MRC_DATA");
      entry(site_.queues.trimmed_queue, "MRC_OTHER");
      entry(site_.queues.control_queue, "MRC_OTHER");
    }
  }

  void profile(std::string_view name, std::uint64_t bytes, std::string_view when_full) {
    db_.entry(name, {{"pool", site_.sonic.pool},
                     {"size", "0"},
                     {"static_th", decimal(bytes)},
                     {"packet_discard_action", when_full}});
  }

  // A T0 marks by the egress port where a packet was trimmed; a T1 has no last hop.
  void trimming() {
    const std::string size = decimal(site_.queues.trim_size);
    const std::string queue = decimal(site_.queues.trimmed_queue);
    const std::string own = decimal(wire::DscpMap{}.trimmed.raw());
    db_.table("SWITCH_TRIMMING");
    db_.begin("GLOBAL");
    db_.field("size", size);
    db_.field("dscp_value", is_t0() ? "from-tc" : own);
    if (is_t0()) db_.field("tc_value", decimal(kTrimmedHereClass));
    db_.field("queue_index", queue);
    db_.end();
    db_.table("FLEX_COUNTER_TABLE");
    for (const std::string_view group : {"SWITCH", "PORT", "QUEUE"}) {
      db_.entry(group, {{"FLEX_COUNTER_STATUS", "enable"}});
    }
  }

  static std::string host_name(std::string name) {
    for (char& c : name) c = c == '.' ? '-' : c;
    return name;
  }

  const Site& site_;
  const Device& device_;
  const PortConfig& platform_;
  QueueThresholds thresholds_;
  ConfigDb db_{};
};

}  // namespace

std::string sonic_config_db(const Fabric& fabric, const Site& site, const Device& device,
                            const PortConfig& platform) {
  return ConfigDbWriter(fabric, site, device, platform).write();
}

std::vector<std::string> ports_missing(const Device& device, const PortConfig& platform) {
  std::vector<std::string> missing;
  for (const DevicePort& port : device.ports) {
    if (!platform.contains(port.name)) missing.push_back(port.name);
  }
  return missing;
}

}  // namespace openmrc::fabric
