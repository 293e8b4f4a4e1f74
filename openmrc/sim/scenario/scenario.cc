// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/scenario/scenario.h"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <utility>

#include "openmrc/core/context/limits.h"
#include "openmrc/fabric/shape_keys.h"
#include "openmrc/profile/transport_fields.h"
#include "openmrc/sim/scenario/scenario_devices.h"
#include "openmrc/sim/scenario/scenario_failure_section.h"
#include "openmrc/sim/scenario/scenario_fault_section.h"
#include "openmrc/sim/scenario/scenario_jobs.h"
#include "openmrc/sim/scenario/scenario_workload.h"
#include "openmrc/text/table_reader.h"

namespace openmrc::sim {
namespace {

using fabric::Fabric;
using text::Field;
using text::TableReader;

enum class TransportKind : std::uint8_t { kMrc, kRc };

constexpr std::array<std::string_view, 2> kTransports{"mrc", "rc"};

constexpr std::array<std::string_view, 2> kRecoveries{"go-back-n", "selective"};

// Of the packets that a queue pair may have in flight.
constexpr std::uint64_t kReorderingMax = 2'048;

// Enough to see what more would do, and few enough for the whole published fabric.
constexpr std::uint64_t kQueuePairsMax = 64;

class ScenarioReader {
 public:
  ScenarioReader(std::string_view text, const ReadFile& read_file,
                 const ScenarioOverrides& overrides)
      : file_(text, overrides.settings), read_file_(read_file), seed_(overrides.seed) {}

  Result<Scenario, std::vector<text::FileError>> read(std::string_view name) {
    scenario_.name = name;
    if (file_.is_toml()) read_everything();
    if (file_.diagnostics().count() > 0) return failure(file_.diagnostics().take());
    return std::move(scenario_);
  }

 private:
  void read_everything() {
    read_top();
    read_devices(top(), scenario_);
    const auto fabric = read_fabric();
    if (fabric) {
      read_transport(&*fabric);
      read_what_runs(*fabric);
      read_faults(top(), *fabric, scenario_);
      read_failures(top(), *fabric, scenario_);
      check_devices(top(), scenario_);
    } else {
      read_without_a_fabric();
    }
    top().finish();
  }

  // So that as much as possible is reported at once; names and numbers of hosts and links are not
  // looked at.
  void read_without_a_fabric() {
    read_transport(nullptr);
    if (top().has("job")) {
      read_job_kinds(top());
    } else if (TableReader* workload = top().require_section("workload")) {
      read_workload_kind(*workload);
    }
    read_fault_kinds(top());
    skip_failures(top());
  }

  // Either one workload or jobs.
  void read_what_runs(const Fabric& fabric) {
    const char* section = "workload";
    if (top().has("job")) {
      if (top().has(section)) top().error(section, "a file has one of [workload] and [[job]]");
      top().find(section);
      section = "job";
      scenario_.workload = read_jobs(top(), fabric, scenario_.seed, read_file_);
    } else if (TableReader* workload = top().require_section(section)) {
      scenario_.workload = read_workload(*workload, fabric, read_file_);
    }
    if (!top().ok()) return;
    const bool limited = scenario_.time_limit > Picoseconds{};
    if (auto problem = problem_with_end(scenario_.workload, limited); !problem.empty()) {
      top().error(section, std::move(problem));
    }
  }

  TableReader& top() { return file_.top(); }

  void read_top() {
    top().read(Field::string("title", scenario_.title));
    top().read(Field::string("text", scenario_.text));
    top().read(Field::whole("seed", scenario_.seed));
    if (seed_) scenario_.seed = *seed_;
    top().read(Field::duration("time_limit", scenario_.time_limit));
    top().read(Field::duration("bucket", scenario_.bucket_width));
    top().read(Field::duration("port_detection", scenario_.port_detection));
  }

  std::optional<Fabric> read_fabric() {
    TableReader* section = top().require_section("fabric");
    if (section == nullptr) return std::nullopt;
    fabric::ShapeKeys keys;
    section->read(fabric::planned_shape_fields(keys, "fabric"));
    section->finish();
    const auto shape = fabric::make_shape(keys, "fabric", file_.diagnostics());
    if (!shape) return std::nullopt;
    scenario_.shape = *shape;
    return *Fabric::make(*shape);
  }

  // Null: what depends on the fabric is left out.
  void read_transport(const Fabric* fabric) {
    TableReader* section = top().section("transport");
    if (section == nullptr) return;
    TransportKind kind{};
    section->require("kind");
    section->read(Field::word("kind", kind, kTransports));
    if (!section->ok()) return section->skip_rest();
    if (kind == TransportKind::kMrc) {
      scenario_.transport = read_mrc(*section, fabric);
    } else {
      scenario_.transport = read_rc(*section);
    }
  }

  static MrcTransport read_mrc(TableReader& section, const Fabric* fabric) {
    MrcTransport mrc;
    profile::read_transport(section, mrc.profile);
    section.read(Field::whole("queue_pairs", mrc.queue_pairs, 1, kQueuePairsMax));
    section.read(Field::flag("hints", mrc.hints));
    if (fabric == nullptr) {
      section.find("fixed_paths");
      return mrc;
    }
    if (const auto fits = check_evs(mrc.profile.paths, fabric->shape().planes); !fits) {
      section.error("evs", fits.error());
    }
    section.for_each_table("fixed_paths", [&](TableReader& table) {
      mrc.fixed_paths.push_back(read_fixed_paths(table, *fabric));
    });
    return mrc;
  }

  static MrcTransport::FixedPaths read_fixed_paths(TableReader& table, const Fabric& fabric) {
    MrcTransport::FixedPaths paths;
    for (const std::string_view key : {"host", "uplinks"}) table.require(key);
    if (const text::Value* host = table.find("host")) {
      paths.host = read_host(table, "host", *host, fabric);
    }
    const auto uplinks = table.elements("uplinks");
    if (!fabric.has_t1()) {
      table.error("uplinks", "the fabric has none");
      return paths;
    }
    for (const text::Value* value : uplinks) {
      std::uint16_t path = 0;
      table.read_value(Field::whole("uplinks", path, 0, fabric.evs_per_plane() - 1), *value);
      paths.uplinks.push_back(path);
    }
    return paths;
  }

  static RcTransport read_rc(TableReader& section) {
    RcTransport rc;
    section.read(Field::whole("mtu", rc.mtu, core::kMtuMin, core::kMtuMax));
    section.read(Field::whole("queue_pairs", rc.queue_pairs, 1, kQueuePairsMax));
    section.read(Field::flag("dcqcn", rc.dcqcn));
    section.read(Field::duration("reroute_after", rc.reroute_after));
    section.read(Field::word("recovery", rc.recovery, kRecoveries));
    std::uint32_t reordering = 0;
    if (section.read(Field::whole("reordering", reordering, 0, kReorderingMax))) {
      rc.reordering = reordering;
      if (rc.recovery != Recovery::kSelective) {
        section.error("reordering", "needs recovery = \"selective\"");
      }
    }
    section.read(Field::whole("retries", rc.retries));
    section.read(Field::duration("timeout", rc.timeout));
    return rc;
  }

  text::TomlReader file_;
  const ReadFile& read_file_;
  std::optional<std::uint64_t> seed_;
  Scenario scenario_;
};

}  // namespace

std::uint32_t Scenario::mtu() const {
  const auto* mrc = std::get_if<MrcTransport>(&transport);
  return mrc != nullptr ? mrc->profile.mtu : std::get<RcTransport>(transport).mtu;
}

Result<void, std::string> check_evs(const profile::PathOptions& paths, std::uint32_t planes) {
  if (paths.evs % planes != 0) {
    return failure(fmt::format("must be a multiple of the {} planes", planes));
  }
  if (paths.active_per_plane > paths.evs / planes) {
    return failure(fmt::format("{} per plane are fewer than active_per_plane = {}",
                               paths.evs / planes, paths.active_per_plane));
  }
  if (paths.min_active > paths.evs) {
    return failure(fmt::format("{} are fewer than min_active = {}", paths.evs, paths.min_active));
  }
  return {};
}

Result<Scenario, std::vector<text::FileError>> parse_scenario(std::string_view text,
                                                              std::string_view name,
                                                              const ReadFile& read_file,
                                                              const ScenarioOverrides& overrides) {
  return ScenarioReader(text, read_file, overrides).read(name);
}

}  // namespace openmrc::sim
