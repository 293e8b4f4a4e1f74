// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/scenario/scenario_training.h"

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "openmrc/sim/workload/slice.h"

namespace openmrc::sim {
namespace {

using text::Field;
using text::TableReader;

constexpr std::array<std::string_view, 4> kAlgorithms{"ring", "halving-doubling", "tree",
                                                      "hierarchical"};
static_assert(static_cast<int>(AllReduceKind::kHierarchical) == 3);
constexpr std::array<std::string_view, 2> kPlacements{"packed", "spread"};
static_assert(static_cast<int>(Placement::kSpread) == 1);

constexpr std::uint64_t kGroupSpeedMax = 100'000'000'000'000;  // 100 Tb/s

void read_vector_size(TableReader& section) { section.require("bytes"); }

template <class Settings>
void read_hosts(TableReader& section, const WorkloadPlace& place, Settings& settings) {
  read_hosts_of(section, place, settings.hosts, settings.placement);
}

// What rounds alone can do is done without a graph.
bool is_plain(const AllReduceOptions& options) {
  const bool in_rounds =
      options.kind == AllReduceKind::kRing || options.kind == AllReduceKind::kHalvingDoubling;
  return in_rounds && options.chunk == 0;
}

std::vector<std::uint64_t> read_vectors(TableReader& section) {
  std::vector<std::uint64_t> sizes;
  for (const text::Value* value : section.elements("all_reduce_bytes")) {
    std::uint64_t& bytes = sizes.emplace_back();
    section.read_value(Field::bytes("all_reduce_bytes", bytes, 0, kVectorBytesMax), *value);
  }
  return sizes;
}

std::vector<Background::Size> read_sizes(TableReader& section) {
  std::vector<Background::Size> sizes;
  if (section.has("bytes") == section.has("sizes")) {
    section.error_here("needs one of bytes and sizes");
    section.find("bytes");
    section.find("sizes");
    return sizes;
  }
  if (section.has("bytes")) {
    sizes.push_back({.weight = 1});
    section.read(Field::bytes("bytes", sizes[0].bytes, 1, kMessageBytesMax));
    return sizes;
  }
  section.for_each_table("sizes", [&](TableReader& table) {
    Background::Size& size = sizes.emplace_back();
    for (const std::string_view key : {"bytes", "share"}) table.require(key);
    table.read(Field::bytes("bytes", size.bytes, 1, kMessageBytesMax));
    table.read(Field::share("share", size.weight));
  });
  return sizes;
}

}  // namespace

void read_hosts_of(TableReader& section, const WorkloadPlace& place, std::uint32_t& hosts,
                   Placement& placement) {
  hosts = place.fabric.hosts();
  if (place.in_job) return;
  section.read(Field::whole("hosts", hosts));
  section.read(Field::word("placement", placement, kPlacements));
}

AllReduceOptions read_all_reduce_options(TableReader& section) {
  AllReduceOptions options;
  section.read(Field::word("algorithm", options.kind, kAlgorithms));
  section.read(Field::bytes("chunk", options.chunk, 1, kVectorBytesMax));
  const bool has_group = section.read(Field::whole("group", options.group));
  const bool has_speed =
      section.read(Field::gbps("group_gbps", options.group_bits_per_second, kGroupSpeedMax));
  const bool grouped = options.kind == AllReduceKind::kHierarchical;
  if (grouped) section.require("group");
  for (const auto& [has, key] :
       {std::pair(has_group, "group"), std::pair(has_speed, "group_gbps")}) {
    if (has && !grouped) section.error(key, "needs algorithm = \"hierarchical\"");
  }
  return options;
}

WorkloadSettings read_all_to_all(TableReader& section, const WorkloadPlace& place) {
  AllToAll settings;
  read_hosts(section, place, settings);
  read_vector_size(section);
  section.read(Field::bytes("bytes", settings.bytes, 0, kVectorBytesMax));
  return settings;
}

WorkloadSettings read_all_reduce(TableReader& section, const WorkloadPlace& place) {
  AllReduce plain;
  read_hosts(section, place, plain);
  read_vector_size(section);
  section.read(Field::bytes("bytes", plain.bytes, 0, kVectorBytesMax));
  const AllReduceOptions options = read_all_reduce_options(section);
  plain.kind = options.kind;
  if (is_plain(options)) return plain;
  return OverlappedTraining{.hosts = plain.hosts,
                            .steps = 1,
                            .all_reduce_bytes = {plain.bytes},
                            .options = options,
                            .placement = plain.placement};
}

WorkloadSettings read_training(TableReader& section, const WorkloadPlace& place) {
  TrainingSteps plain;
  read_hosts(section, place, plain);
  for (const std::string_view key : {"steps", "all_reduce_bytes"}) section.require(key);
  section.read(Field::whole("steps", plain.steps));
  section.read(Field::duration("compute", plain.compute));
  plain.all_reduce_bytes = read_vectors(section);
  bool overlap = false;
  section.read(Field::flag("overlap", overlap));
  const AllReduceOptions options = read_all_reduce_options(section);
  plain.kind = options.kind;
  if (is_plain(options) && !overlap) return plain;
  return OverlappedTraining{.hosts = plain.hosts,
                            .steps = plain.steps,
                            .compute = plain.compute,
                            .all_reduce_bytes = plain.all_reduce_bytes,
                            .options = options,
                            .overlap = overlap,
                            .placement = plain.placement};
}

WorkloadSettings read_ring_half(TableReader& section, const WorkloadPlace& place, bool gather) {
  RingHalf settings{.gather = gather};
  read_hosts(section, place, settings);
  read_vector_size(section);
  section.read(Field::bytes("bytes", settings.bytes, 0, kVectorBytesMax));
  section.read(Field::bytes("chunk", settings.chunk, 1, kVectorBytesMax));
  section.read(Field::whole("steps", settings.steps));
  return settings;
}

WorkloadSettings read_moe(TableReader& section, const WorkloadPlace& place) {
  MixtureOfExperts settings;
  read_hosts(section, place, settings);
  read_vector_size(section);
  section.read(Field::bytes("bytes", settings.bytes, 0, kVectorBytesMax));
  section.read(Field::whole("steps", settings.steps));
  section.read(Field::whole("layers", settings.layers));
  section.read(Field::duration("compute", settings.compute));
  section.read(Field::duration("expert_compute", settings.expert_compute));
  section.read(Field::share("skew", settings.skew_billionths));
  return settings;
}

WorkloadSettings read_pipeline(TableReader& section, const WorkloadPlace& place) {
  Pipeline settings;
  read_hosts(section, place, settings);
  for (const std::string_view key : {"stages", "micro_batches", "bytes"}) section.require(key);
  section.read(Field::whole("steps", settings.steps));
  section.read(Field::whole("stages", settings.stages));
  section.read(Field::whole("micro_batches", settings.micro_batches));
  section.read(Field::bytes("bytes", settings.bytes, 1, kMessageBytesMax));
  section.read(Field::duration("forward", settings.forward));
  section.read(Field::duration("backward", settings.backward));
  section.read(Field::bytes("all_reduce_bytes", settings.all_reduce_bytes, 0, kVectorBytesMax));
  settings.options = read_all_reduce_options(section);
  return settings;
}

WorkloadSettings read_background(TableReader& section, const WorkloadPlace& place,
                                 std::uint64_t rate) {
  constexpr std::uint32_t kPeers = 8;
  constexpr double kBillion = 1e9;
  Background settings{.hosts = place.fabric.hosts(), .peers = kPeers};
  if (!place.in_job) section.read(Field::whole("hosts", settings.hosts));
  std::uint32_t load = 0;
  section.require("load");
  section.read(Field::share("load", load));
  settings.bits_per_second =
      static_cast<std::uint64_t>(static_cast<double>(rate) * load / kBillion);
  settings.sizes = read_sizes(section);
  section.read(Field::whole("servers", settings.servers));
  section.read(Field::whole("peers", settings.peers));
  section.read(Field::duration("for", settings.duration));
  return settings;
}

}  // namespace openmrc::sim
