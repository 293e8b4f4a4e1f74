// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/scenario/scenario_trace.h"

#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>

#include "openmrc/sim/workload/trace_replay.h"

namespace openmrc::sim {
namespace {

using text::Field;
using text::TableReader;

constexpr std::uint64_t kTera = 1'000'000'000'000;
constexpr std::uint64_t kGiga = 1'000'000'000;
constexpr std::uint64_t kSpeedMax = 1'000'000;  // of the two keys

void read_ranks(TableReader& section, const std::string& prefix, std::uint32_t ranks,
                const ReadFile& read_file, TraceJob& job) {
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    const std::string path = fmt::format("{}.{}.et", prefix, rank);
    const auto text = read_file(path);
    if (!text) return section.error("trace", text.error());
    auto trace = parse_rank_trace(*text);
    if (!trace) return section.error("trace", fmt::format("{} {}", path, trace.error()));
    job.ranks.push_back(std::move(*trace));
  }
}

void read_groups(TableReader& section, const ReadFile& read_file, TraceJob& job) {
  std::string path;
  if (!section.read(Field::string("groups", path))) return;
  const auto text = read_file(path);
  if (!text) return section.error("groups", text.error());
  auto groups = parse_trace_groups(*text);
  if (!groups) return section.error("groups", fmt::format("{} {}", path, groups.error()));
  job.groups = std::move(*groups);
}

}  // namespace

WorkloadSettings read_trace(TableReader& section, const WorkloadPlace& place,
                            const ReadFile& read_file) {
  TraceReplay settings;
  read_hosts_of(section, place, settings.hosts, settings.placement);
  std::string prefix;
  section.require("trace");
  section.read(Field::string("trace", prefix));
  section.read(Field::whole("steps", settings.steps));
  settings.options = read_all_reduce_options(section);
  TraceJob job;
  section.read(Field::whole("tflops", job.operations_per_second, 1, kSpeedMax));
  section.read(Field::whole("memory_gb_per_s", job.memory_bytes_per_second, 1, kSpeedMax));
  job.operations_per_second *= kTera;
  job.memory_bytes_per_second *= kGiga;
  read_groups(section, read_file, job);
  if (settings.hosts > place.fabric.hosts()) {
    section.error("hosts", fmt::format("{} hosts are asked for, and the fabric has {}",
                                       settings.hosts, place.fabric.hosts()));
  }
  if (section.ok()) read_ranks(section, prefix, settings.hosts, read_file, job);
  settings.job = std::make_shared<const TraceJob>(std::move(job));
  return settings;
}

}  // namespace openmrc::sim
