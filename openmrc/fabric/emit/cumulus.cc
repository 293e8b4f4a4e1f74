// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/fabric/emit/cumulus.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "openmrc/fabric/emit/queue_plan.h"

namespace openmrc::fabric {
namespace {

using NvuePath = std::vector<std::string>;

// What `nv set A B C value` sets, as YAML: every word is a key below the one before. Commands that
// share their first words follow each other.
class NvueTree {
 public:
  // Without a value: the last word is a name of something that has no settings.
  void set(NvuePath path, std::string_view value = "{}") {
    std::size_t common = 0;
    while (common < std::min(path.size(), last_.size()) && path[common] == last_[common]) ++common;
    for (std::size_t i = common; i < path.size(); ++i) {
      text_.append(4 + 2 * i, ' ');
      text_ += key(path[i]);
      text_ += ':';
      if (i + 1 == path.size()) fmt::format_to(std::back_inserter(text_), " {}", value);
      text_ += '\n';
    }
    last_ = std::move(path);
  }
  void set(NvuePath path, std::uint64_t value) { set(std::move(path), fmt::format("{}", value)); }

  std::string take() { return std::move(text_); }

 private:
  // Addresses and numbers would mean something else to YAML.
  static std::string key(const std::string& word) {
    const bool plain = word.find_first_not_of("0123456789") != std::string::npos &&
                       word.find(':') == std::string::npos;
    return plain ? word : "'" + word + "'";
  }

  std::string text_{};
  NvuePath last_{};
};

class NvueWriter {
 public:
  NvueWriter(const Fabric& fabric, const Site& site, const Device& device)
      : site_(site), device_(device), thresholds_(thresholds_of(fabric, site.queues)) {}

  std::string write() {
    for (const DevicePort& port : device_.ports) interface(port);
    classes();
    segments();
    trimming();
    routes();
    return fmt::format(
               "# {}: for `nv config patch`, Cumulus Linux 5.14 or later, written by `mrc fabric "
               "emit`.\n"
               "# `enabled` was `on` or `enable` in some releases: compare with the reference of "
               "yours.\n"
               "- set:\n",
               device_.name) +
           nvue_.take();
  }

 private:
  [[nodiscard]] bool is_t0() const { return device_.switch_id().tier == Tier::kT0; }

  void interface(const DevicePort& port) {
    const auto set = [&](NvuePath path, std::string_view value = "{}") {
      path.insert(path.begin(), {"interface", port.name});
      nvue_.set(std::move(path), value);
    };
    set({"ip", "address", to_string(port.address)});
    set({"link", "mtu"}, fmt::format("{}", site_.mtu));
    set({"packet-trim", "egress-eligibility", "traffic-class",
         fmt::format("{}", site_.queues.data_queue)});
    // MRC 8: no marks on the last hop, where the path is not to blame.
    if (!port.is_last_hop()) set({"qos", "congestion-control", "profile"}, "up");
    if (is_t0()) set({"qos", "remark", "profile"}, port.is_last_hop() ? "down" : "up");
  }

  void classes() {
    for (const std::uint32_t queue : {site_.queues.no_trim_queue, site_.queues.data_queue}) {
      const std::string number = fmt::format("{}", queue);
      const NvuePath place{"qos", "congestion-control", "up", "traffic-class", number};
      const auto below = [&](std::string_view word) {
        NvuePath path = place;
        path.emplace_back(word);
        return path;
      };
      nvue_.set(below("min-threshold"), thresholds_.ecn_min_bytes);
      nvue_.set(below("max-threshold"), thresholds_.ecn_max_bytes);
    }
    const auto classes = queue_classes(site_.queues);
    for (const QueueClassPlan& each : classes) {
      nvue_.set({"qos", "egress-queue-mapping", "default-global", "switch-priority",
                 fmt::format("{}", each.traffic_class), "traffic-class"},
                each.queue);
    }
    for (const QueueClassPlan& each : classes) {
      if (!each.dscp) continue;
      nvue_.set({"qos", "mapping", "default-global", "dscp", fmt::format("{}", each.dscp->raw()),
                 "switch-priority"},
                each.traffic_class);
    }
    nvue_.set({"qos", "mapping", "default-global", "trust"}, "l3");
    if (!is_t0()) return;
    // Of trimmed packets only: the profiles have no `rewrite`.
    remark("down", wire::TrimPlace::kLastHop);
    remark("up", wire::TrimPlace::kOnPath);
  }

  void remark(const std::string& profile, wire::TrimPlace place) {
    nvue_.set(
        {"qos", "remark", profile, "switch-priority", fmt::format("{}", kTrimmedHereClass), "dscp"},
        wire::DscpMap{}.of(place).raw());
  }

  void segments() {
    const std::string sid = to_string(device_.routes.front().to);
    const auto locator = [](std::string_view word) {
      return NvuePath{"router", "segment-routing", "srv6", "locator", "MAIN", std::string(word)};
    };
    nvue_.set(locator("block-length"), 32);
    nvue_.set(locator("func-length"), std::uint64_t{0});
    nvue_.set(locator("node-length"), 16);
    nvue_.set(locator("prefix"), sid);
    nvue_.set({"router", "segment-routing", "srv6", "state"}, "enabled");
    nvue_.set({"router", "segment-routing", "static", "srv6-sid", sid, "behavior"}, "uN");
    nvue_.set({"router", "segment-routing", "static", "srv6-sid", sid, "locator-name"}, "MAIN");
  }

  void trimming() {
    const auto set = [&](NvuePath path, std::string_view value) {
      path.insert(path.begin(), {"system", "forwarding", "packet-trim"});
      nvue_.set(std::move(path), value);
    };
    const std::string dscp = fmt::format("{}", wire::DscpMap{}.trimmed.raw());
    set({"remark", "dscp"}, is_t0() ? "port-level" : dscp);
    set({"size"}, fmt::format("{}", site_.queues.trim_size));
    set({"state"}, "enabled");
    set({"switch-priority"}, fmt::format("{}", kTrimmedHereClass));
  }

  void routes() {
    for (const DevicePort& port : device_.ports) {
      for (const DeviceRoute& route : port.routes) via(route.to, port);
    }
    if (!device_.by_any_uplink) return;
    for (const DevicePort& port : device_.ports) {
      if (port.link.kind == LinkId::Kind::kUplink) via(*device_.by_any_uplink, port);
    }
  }

  void via(const Ipv6Prefix& to, const DevicePort& port) {
    nvue_.set(
        {"vrf", "default", "router", "static", to_string(to), "via", to_string(port.far_address)});
  }

  const Site& site_;
  const Device& device_;
  QueueThresholds thresholds_;
  NvueTree nvue_{};
};

}  // namespace

std::string cumulus_config(const Fabric& fabric, const Site& site, const Device& device) {
  return NvueWriter(fabric, site, device).write();
}

}  // namespace openmrc::fabric
