// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/scenario/scenario.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "openmrc/core/context/limits.h"
#include "openmrc/fabric/shape_keys.h"
#include "openmrc/sim/scenario/scenario_fault_section.h"
#include "openmrc/sim/scenario/scenario_toml.h"
#include "openmrc/sim/scenario/scenario_workload.h"

namespace openmrc::sim {
namespace {

using fabric::Fabric;

enum class TransportKind : std::uint8_t { kMrc, kRc };

constexpr std::array<Word<TransportKind>, 2> kTransports{
    {{"mrc", TransportKind::kMrc}, {"rc", TransportKind::kRc}}};

// Enough to see what more would do, and few enough for the whole published fabric.
constexpr std::uint64_t kQueuePairsMax = 64;
constexpr std::uint64_t kTimeoutExponentMax = 31;

fabric::KeyValue key_value(const toml::key& key, const toml::node& node) {
  fabric::KeyValue pair{.key = key.str(), .value = {}, .line = key.source().begin.line};
  if (const auto* whole = node.as_integer()) pair.value = whole->get();
  if (const auto* fraction = node.as_floating_point()) pair.value = fraction->get();
  return pair;
}

class ScenarioReader {
 public:
  ScenarioReader(const toml::table& file, ReadFile read_file)
      : file_(file, "", error_), read_file_(read_file) {}

  Result<Scenario, ScenarioError> read(std::string_view name) {
    scenario_.name = name;
    read_top();
    const auto fabric = read_fabric();
    if (fabric) {
      read_transport(*fabric);
      read_switches();
      read_section("workload", true, [&](TomlSection& section) {
        scenario_.workload = read_workload(section, *fabric, read_file_);
      });
      read_faults(file_, *fabric, scenario_);
      file_.finish();
    }
    if (error_.get()) return failure(*error_.get());
    return std::move(scenario_);
  }

 private:
  void read_top() {
    file_.read("title", scenario_.title);
    file_.read("text", scenario_.text);
    file_.read("seed", scenario_.seed, {.most = std::numeric_limits<std::int64_t>::max()});
    file_.read("mtu", scenario_.mtu, {.least = core::kMtuMin, .most = core::kMtuMax});
    file_.read("time_limit", scenario_.time_limit);
    file_.read("bucket", scenario_.bucket_width);
    file_.read("port_detection", scenario_.port_detection);
  }

  template <class Read>
  void read_section(std::string_view key, bool required, Read&& read) {
    const toml::node* node = file_.find(key);
    if (node == nullptr) {
      if (required) error_.set(0, fmt::format("[{}] is missing", key));
      return;
    }
    if (const auto* table = node->as_table()) {
      TomlSection section(*table, fmt::format("[{}] ", key), error_);
      read(section);
      return;
    }
    file_.fail(key, "must be a table");
  }

  std::optional<Fabric> read_fabric() {
    std::optional<Fabric> fabric;
    read_section("fabric", true, [&](TomlSection& section) {
      const auto shape = fabric::shape_from(section_keys(section));
      if (!shape) {
        const auto& [line, key, message] = shape.error();
        error_.set(line != 0 ? line : section.line(),
                   fmt::format("[fabric] {}{}{}", key, key.empty() ? "" : ": ", message));
        return;
      }
      scenario_.shape = *shape;
      fabric = *Fabric::make(*shape);
    });
    return fabric;
  }

  static std::vector<fabric::KeyValue> section_keys(const TomlSection& section) {
    std::vector<fabric::KeyValue> keys;
    for (const auto& [key, node] : section.table()) keys.push_back(key_value(key, node));
    // The table is sorted by name; people read from the top.
    std::ranges::stable_sort(keys, {}, &fabric::KeyValue::line);
    return keys;
  }

  void read_transport(const Fabric& fabric) {
    read_section("transport", false, [&](TomlSection& section) {
      TransportKind kind{};
      section.require("kind");
      section.read_word<TransportKind>("kind", kind, kTransports);
      if (error_.get()) return;
      if (kind == TransportKind::kMrc) {
        scenario_.transport = read_mrc(section, fabric);
      } else {
        scenario_.transport = read_rc(section);
      }
      section.finish();
    });
  }

  // Every plane has as many EVs as any other.
  static void read_evs(TomlSection& section, std::uint32_t planes, MrcTransport& mrc) {
    if (section.read("evs", mrc.evs, {.least = planes}) && mrc.evs % planes != 0) {
      section.fail("evs", fmt::format("must be a multiple of the {} planes", planes));
    }
    const std::uint32_t per_plane = mrc.evs / planes;
    section.read("active_per_plane", mrc.active_per_plane, {.most = per_plane});
    section.read("min_active", mrc.min_active, {.most = per_plane * planes});
  }

  static MrcTransport read_mrc(TomlSection& section, const Fabric& fabric) {
    MrcTransport mrc;
    read_evs(section, fabric.shape().planes, mrc);
    section.read("ev_sets", mrc.ev_sets);
    section.read("queue_pairs", mrc.queue_pairs, {.least = 1, .most = kQueuePairsMax});
    section.read_bytes("sack_threshold", mrc.sack_threshold);
    section.read("timeout_exponent", mrc.timeout_exponent, {.most = kTimeoutExponentMax});
    section.for_each_table("fixed_paths", [&](TomlSection& table) {
      MrcTransport::FixedPaths& paths = mrc.fixed_paths.emplace_back();
      for (const std::string_view key : {"host", "uplinks"}) table.require(key);
      if (const toml::node* node = table.find("host")) {
        paths.host = read_host(table, "host", *node, fabric);
      }
      if (!fabric.has_t1()) table.fail("uplinks", "the fabric has none");
      for (const toml::node* node : table.elements("uplinks")) {
        const auto uplink = table.number_in(*node, "uplinks", {.most = fabric.shape().uplinks - 1});
        paths.uplinks.push_back(static_cast<std::uint16_t>(uplink.value_or(0)));
      }
    });
    return mrc;
  }

  static RcTransport read_rc(TomlSection& section) {
    RcTransport rc;
    section.read("queue_pairs", rc.queue_pairs, {.least = 1, .most = kQueuePairsMax});
    section.read("dcqcn", rc.dcqcn);
    section.read("reroute_after", rc.reroute_after);
    section.read("retries", rc.retries);
    section.read("timeout", rc.timeout);
    return rc;
  }

  void read_switches() {
    read_section("switches", false, [&](TomlSection& section) {
      SwitchSettings& switches = scenario_.switches;
      section.read("trimming", switches.trimming);
      section.read("ecn", switches.ecn);
      section.read("pfc", switches.pfc);
      section.read_bytes("bdp_bytes", switches.bdp_bytes);
      section.read_bytes("ecn_min_bytes", switches.ecn_min_bytes);
      section.read_bytes("ecn_max_bytes", switches.ecn_max_bytes);
      section.read_bytes("queue_bytes", switches.queue_bytes);
      section.read("ecn_on_last_hop", switches.ecn_on_last_hop);
      section.finish();
      if (switches.ecn_max_bytes != 0 && switches.ecn_min_bytes > switches.ecn_max_bytes) {
        section.fail("ecn_min_bytes", "must not be above ecn_max_bytes");
      }
    });
  }

  FirstError error_;
  TomlSection file_;
  ReadFile read_file_;
  Scenario scenario_;
};

}  // namespace

std::string to_string(const ScenarioError& error, std::string_view file) {
  if (error.line == 0) return fmt::format("{}: {}", file, error.text);
  return fmt::format("{}:{}: {}", file, error.line, error.text);
}

Result<Scenario, ScenarioError> parse_scenario(std::string_view text, std::string_view name,
                                               ReadFile read_file) {
  try {
    const toml::table file = toml::parse(text);
    return ScenarioReader(file, read_file).read(name);
  } catch (const toml::parse_error& error) {
    return failure(
        ScenarioError{.line = error.source().begin.line, .text = std::string(error.description())});
  }
}

}  // namespace openmrc::sim
