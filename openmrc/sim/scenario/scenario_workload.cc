// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/scenario/scenario_workload.h"

#include <fmt/format.h>

#include <array>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "openmrc/fabric/names.h"
#include "openmrc/sim/scenario/htsim_traffic.h"
#include "openmrc/sim/scenario/scenario_trace.h"
#include "openmrc/sim/scenario/scenario_training.h"
#include "openmrc/sim/workload/slice.h"

namespace openmrc::sim {
namespace {

using fabric::Fabric;
using text::Field;
using text::TableReader;

enum class WorkloadKind : std::uint8_t {
  kPermutation,
  kIncast,
  kAllToAll,
  kAllReduce,
  kTraining,
  kFlows,
  kHtsim,
  kReduceScatter,
  kAllGather,
  kMoe,
  kPipeline,
  kBackground,
  kTrace,
};

// In the order of the enumerators.
constexpr std::array<std::string_view, 13> kWorkloadKinds{
    "permutation",    "incast",     "all-to-all", "all-reduce", "training",   "flows", "htsim",
    "reduce-scatter", "all-gather", "moe",        "pipeline",   "background", "trace"};
static_assert(static_cast<int>(WorkloadKind::kTrace) == 12);

void read_size(TableReader& section, std::uint64_t& bytes) {
  section.require("bytes");
  section.read(Field::bytes("bytes", bytes, 0, kMessageBytesMax));
}

void read_one_host(TableReader& section, std::string_view key, const Fabric& fabric,
                   std::uint32_t& host) {
  section.require(key);
  if (const text::Value* value = section.find(key)) host = read_host(section, key, *value, fabric);
}

Permutation read_permutation(TableReader& section) {
  Permutation settings;
  read_size(section, settings.bytes);
  section.read(Field::whole("messages", settings.messages));
  section.read(Field::flag("across_racks", settings.across_racks));
  return settings;
}

// A list of hosts, or how many: then the first ones that are not the target.
std::vector<std::uint32_t> read_senders(TableReader& section, const Fabric& fabric,
                                        std::uint32_t target) {
  section.require("senders");
  const text::Value* value = section.find("senders");
  std::vector<std::uint32_t> senders;
  if (value != nullptr && value->as<std::int64_t>() != nullptr) {
    std::uint32_t count = 0;
    section.read_value(Field::whole("senders", count, 1, fabric.hosts() - 1), *value);
    for (std::uint32_t host = 0; senders.size() < count; ++host) {
      if (host != target) senders.push_back(host);
    }
    return senders;
  }
  for (const text::Value* element : section.elements("senders")) {
    senders.push_back(read_host(section, "senders", *element, fabric));
  }
  return senders;
}

Incast read_incast(TableReader& section, const Fabric& fabric) {
  Incast settings;
  read_one_host(section, "target", fabric, settings.target);
  settings.senders = read_senders(section, fabric, settings.target);
  read_size(section, settings.bytes);
  section.read(Field::duration("stagger", settings.stagger));
  section.for_each_table("victims", [&](TableReader& table) {
    Incast::Victim& victim = settings.victims.emplace_back();
    read_one_host(table, "from", fabric, victim.from);
    read_one_host(table, "to", fabric, victim.to);
    read_size(table, victim.bytes);
  });
  return settings;
}

FlowList read_flows(TableReader& section, const Fabric& fabric) {
  FlowList list;
  section.require("flows");
  section.for_each_table("flows", [&](TableReader& table) {
    FlowList::Flow& flow = list.flows.emplace_back();
    read_one_host(table, "from", fabric, flow.from);
    read_one_host(table, "to", fabric, flow.to);
    read_size(table, flow.bytes);
    const bool has_start = table.read(Field::duration("start", flow.start));
    std::uint32_t after = 0;
    if (table.read(Field::whole("after", after, 0, std::numeric_limits<std::int32_t>::max()))) {
      flow.after = static_cast<std::int32_t>(after);
      if (has_start) table.error("start", "a flow has one of start and after");
    }
    table.read(Field::whole("repeat", flow.repeat));
  });
  return list;
}

FlowList read_htsim(TableReader& section, const Fabric& fabric, const ReadFile& read_file) {
  std::string path;
  section.require("file");
  section.read(Field::string("file", path));
  if (!section.ok()) return {};
  const auto text = read_file(path);
  if (!text) {
    section.error("file", text.error());
    return {};
  }
  auto traffic = parse_htsim_traffic(*text);
  if (!traffic) {
    traffic.error().file = path;
    section.error("file", to_string(traffic.error()));
    return {};
  }
  if (traffic->nodes > fabric.hosts()) {
    section.error("file", fmt::format("{} is for {} hosts, and the fabric has {}", path,
                                      traffic->nodes, fabric.hosts()));
  }
  return std::move(traffic->list);
}

WorkloadKind workload_kind_of(TableReader& section) {
  WorkloadKind kind{};
  section.require("kind");
  section.read(Field::word("kind", kind, kWorkloadKinds));
  return kind;
}

WorkloadSettings read_kind(WorkloadKind kind, TableReader& section, const WorkloadPlace& place,
                           std::uint64_t rate, const ReadFile& read_file) {
  const Fabric& fabric = place.fabric;
  switch (kind) {
    case WorkloadKind::kPermutation: return read_permutation(section);
    case WorkloadKind::kIncast: return read_incast(section, fabric);
    case WorkloadKind::kAllToAll: return read_all_to_all(section, place);
    case WorkloadKind::kAllReduce: return read_all_reduce(section, place);
    case WorkloadKind::kTraining: return read_training(section, place);
    case WorkloadKind::kFlows: return read_flows(section, fabric);
    case WorkloadKind::kHtsim: return read_htsim(section, fabric, read_file);
    case WorkloadKind::kReduceScatter: return read_ring_half(section, place, false);
    case WorkloadKind::kAllGather: return read_ring_half(section, place, true);
    case WorkloadKind::kMoe: return read_moe(section, place);
    case WorkloadKind::kPipeline: return read_pipeline(section, place);
    case WorkloadKind::kBackground: return read_background(section, place, rate);
    case WorkloadKind::kTrace: return read_trace(section, place, read_file);
  }
  return {};
}

WorkloadSettings read_placed(TableReader& section, const WorkloadPlace& place, const Fabric& fabric,
                             const ReadFile& read_file) {
  const WorkloadKind kind = workload_kind_of(section);
  if (!section.ok()) {
    section.skip_rest();
    return {};
  }
  const auto rate =
      static_cast<std::uint64_t>(fabric.shape().host_link_bits_per_second) * fabric.shape().planes;
  WorkloadSettings settings = read_kind(kind, section, place, rate, read_file);
  section.finish();
  if (!section.ok()) return {};
  if (auto problem = check_workload(settings, place.fabric); !problem.empty()) {
    section.error_here(std::move(problem));
  }
  return settings;
}

}  // namespace

std::uint32_t read_host(TableReader& section, std::string_view key, const text::Value& value,
                        const Fabric& fabric) {
  std::uint32_t number = 0;
  if (const auto* name = value.as<std::string>()) {
    const auto host = fabric::parse_host(fabric, *name);
    if (host) return host->raw();
    section.error_at(value, key, to_string(host.error()));
  } else {
    section.read_value(Field::whole(key, number, 0, fabric.hosts() - 1), value);
  }
  return number;
}

void read_workload_kind(TableReader& section) {
  (void)workload_kind_of(section);
  section.skip_rest();
}

WorkloadSettings read_workload(TableReader& section, const Fabric& fabric,
                               const ReadFile& read_file) {
  return read_placed(section, {.fabric = fabric}, fabric, read_file);
}

WorkloadSettings read_workload_of_job(TableReader& section, const Fabric& own, const Fabric& fabric,
                                      const ReadFile& read_file) {
  return read_placed(section, {.fabric = own, .in_job = true}, fabric, read_file);
}

}  // namespace openmrc::sim
