// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/scenario/scenario_workload.h"

#include <array>
#include <string>
#include <vector>

#include "openmrc/fabric/names.h"
#include "openmrc/sim/scenario/htsim_traffic.h"

namespace openmrc::sim {
namespace {

using fabric::Fabric;

enum class WorkloadKind : std::uint8_t {
  kPermutation,
  kIncast,
  kAllToAll,
  kAllReduce,
  kTraining,
  kFlows,
  kHtsim,
};

constexpr std::array<Word<WorkloadKind>, 7> kWorkloadKinds{
    {{"permutation", WorkloadKind::kPermutation},
     {"incast", WorkloadKind::kIncast},
     {"all-to-all", WorkloadKind::kAllToAll},
     {"all-reduce", WorkloadKind::kAllReduce},
     {"training", WorkloadKind::kTraining},
     {"flows", WorkloadKind::kFlows},
     {"htsim", WorkloadKind::kHtsim}}};
constexpr std::array<Word<AllReduceKind>, 2> kAlgorithms{
    {{"ring", AllReduceKind::kRing}, {"halving-doubling", AllReduceKind::kHalvingDoubling}}};
constexpr std::array<Word<Placement>, 2> kPlacements{
    {{"packed", Placement::kPacked}, {"spread", Placement::kSpread}}};

void read_size(TomlSection& section, std::uint64_t& bytes) {
  section.require("bytes");
  section.read_bytes("bytes", bytes);
}

void read_one_host(TomlSection& section, std::string_view key, const Fabric& fabric,
                   std::uint32_t& host) {
  section.require(key);
  if (const toml::node* node = section.find(key)) host = read_host(section, key, *node, fabric);
}

// The hosts of a job: all, if the file does not say.
template <class Settings>
void read_job(TomlSection& section, const Fabric& fabric, Settings& settings) {
  settings.hosts = fabric.hosts();
  section.read("hosts", settings.hosts);
  section.read_word<Placement>("placement", settings.placement, kPlacements);
}

Permutation read_permutation(TomlSection& section) {
  Permutation settings;
  read_size(section, settings.bytes);
  section.read("messages", settings.messages);
  section.read("across_racks", settings.across_racks);
  return settings;
}

// A list of hosts, or how many: then the first ones that are not the target.
std::vector<std::uint32_t> read_senders(TomlSection& section, const Fabric& fabric,
                                        std::uint32_t target) {
  section.require("senders");
  const toml::node* node = section.find("senders");
  std::vector<std::uint32_t> senders;
  if (node != nullptr && node->is_integer()) {
    std::uint32_t count = 0;
    section.read("senders", count, {.least = 1, .most = fabric.hosts() - 1});
    for (std::uint32_t host = 0; senders.size() < count; ++host) {
      if (host != target) senders.push_back(host);
    }
    return senders;
  }
  for (const toml::node* element : section.elements("senders")) {
    senders.push_back(read_host(section, "senders", *element, fabric));
  }
  return senders;
}

Incast read_incast(TomlSection& section, const Fabric& fabric) {
  Incast settings;
  read_one_host(section, "target", fabric, settings.target);
  settings.senders = read_senders(section, fabric, settings.target);
  read_size(section, settings.bytes);
  section.read("stagger", settings.stagger);
  section.for_each_table("victims", [&](TomlSection& table) {
    Incast::Victim& victim = settings.victims.emplace_back();
    read_one_host(table, "from", fabric, victim.from);
    read_one_host(table, "to", fabric, victim.to);
    read_size(table, victim.bytes);
  });
  return settings;
}

AllToAll read_all_to_all(TomlSection& section, const Fabric& fabric) {
  AllToAll settings;
  read_job(section, fabric, settings);
  read_size(section, settings.bytes);
  return settings;
}

AllReduce read_all_reduce(TomlSection& section, const Fabric& fabric) {
  AllReduce settings;
  read_job(section, fabric, settings);
  read_size(section, settings.bytes);
  section.read_word<AllReduceKind>("algorithm", settings.kind, kAlgorithms);
  return settings;
}

TrainingSteps read_training(TomlSection& section, const Fabric& fabric) {
  TrainingSteps settings;
  read_job(section, fabric, settings);
  for (const std::string_view key : {"steps", "all_reduce_bytes"}) section.require(key);
  section.read("steps", settings.steps);
  section.read("compute", settings.compute);
  for (const toml::node* node : section.elements("all_reduce_bytes")) {
    const auto bytes =
        section.bytes_in(*node, "all_reduce_bytes", std::numeric_limits<std::uint64_t>::max());
    settings.all_reduce_bytes.push_back(bytes.value_or(0));
  }
  section.read_word<AllReduceKind>("algorithm", settings.kind, kAlgorithms);
  return settings;
}

FlowList read_flows(TomlSection& section, const Fabric& fabric) {
  FlowList list;
  section.require("flows");
  section.for_each_table("flows", [&](TomlSection& table) {
    FlowList::Flow& flow = list.flows.emplace_back();
    read_one_host(table, "from", fabric, flow.from);
    read_one_host(table, "to", fabric, flow.to);
    read_size(table, flow.bytes);
    const bool has_start = table.read("start", flow.start);
    std::uint32_t after = 0;
    if (table.read("after", after, {.most = std::numeric_limits<std::int32_t>::max()})) {
      flow.after = static_cast<std::int32_t>(after);
      if (has_start) table.fail("start", "a flow has one of start and after");
    }
    table.read("repeat", flow.repeat);
  });
  return list;
}

FlowList read_htsim(TomlSection& section, const Fabric& fabric, ReadFile read_file) {
  std::string path;
  section.require("file");
  if (!section.read("file", path) || section.error().get()) return {};
  const auto text = read_file(path);
  if (!text) {
    section.fail("file", text.error());
    return {};
  }
  const auto traffic = parse_htsim_traffic(*text);
  if (!traffic) {
    section.fail("file", to_string(traffic.error(), path));
    return {};
  }
  if (traffic->nodes > fabric.hosts()) {
    section.fail("file", fmt::format("{} is for {} hosts, and the fabric has {}", path,
                                     traffic->nodes, fabric.hosts()));
  }
  return traffic->list;
}

WorkloadSettings read_kind(WorkloadKind kind, TomlSection& section, const Fabric& fabric,
                           ReadFile read_file) {
  switch (kind) {
    case WorkloadKind::kPermutation: return read_permutation(section);
    case WorkloadKind::kIncast: return read_incast(section, fabric);
    case WorkloadKind::kAllToAll: return read_all_to_all(section, fabric);
    case WorkloadKind::kAllReduce: return read_all_reduce(section, fabric);
    case WorkloadKind::kTraining: return read_training(section, fabric);
    case WorkloadKind::kFlows: return read_flows(section, fabric);
    case WorkloadKind::kHtsim: return read_htsim(section, fabric, read_file);
  }
  return {};
}

}  // namespace

std::uint32_t read_host(TomlSection& section, std::string_view key, const toml::node& node,
                        const Fabric& fabric) {
  if (const auto* name = node.as_string()) {
    const auto host = fabric::parse_host(fabric, name->get());
    if (host) return host->raw();
    section.fail_at(node, key, to_string(host.error()));
    return 0;
  }
  const auto number = section.number_in(node, key, {.most = fabric.hosts() - 1});
  return static_cast<std::uint32_t>(number.value_or(0));
}

WorkloadSettings read_workload(TomlSection& section, const Fabric& fabric, ReadFile read_file) {
  WorkloadKind kind{};
  section.require("kind");
  section.read_word<WorkloadKind>("kind", kind, kWorkloadKinds);
  if (section.error().get()) return {};
  WorkloadSettings settings = read_kind(kind, section, fabric, read_file);
  section.finish();
  const std::string problem = section.error().get() ? "" : check_workload(settings, fabric);
  if (!problem.empty()) section.error().set(section.line(), "[workload] " + problem);
  return settings;
}

}  // namespace openmrc::sim
