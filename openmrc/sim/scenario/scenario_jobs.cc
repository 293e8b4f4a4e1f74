// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/scenario/scenario_jobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "openmrc/base/rng.h"
#include "openmrc/sim/scenario/scenario_workload.h"
#include "openmrc/sim/workload/job_list.h"

namespace openmrc::sim {
namespace {

using fabric::Fabric;
using fabric::HostIndex;
using text::Field;
using text::TableReader;

enum class JobPlacement : std::uint8_t { kPacked, kSpread, kRandom };
constexpr std::array<std::string_view, 3> kJobPlacements{"packed", "spread", "random"};
static_assert(static_cast<int>(JobPlacement::kRandom) == 2);

// Streams of the seed: those of faults and workloads begin at 0.
constexpr std::uint64_t kPlacementStream = std::uint64_t{1} << 40;

// The hosts of a fabric, and which of them jobs have.
class HostPool {
 public:
  explicit HostPool(const Fabric& fabric) : fabric_(fabric), taken_(fabric.hosts()) {}

  [[nodiscard]] bool taken(HostIndex host) const { return taken_[host.raw()]; }
  void take(const std::vector<HostIndex>& hosts) {
    for (const HostIndex host : hosts) taken_[host.raw()] = true;
  }

  // Those that a job can have, the first ones first.
  [[nodiscard]] std::vector<HostIndex> candidates(JobPlacement placement, bool shared,
                                                  Rng rng) const {
    std::vector<HostIndex> hosts;
    for (std::uint32_t i = 0; i < fabric_.hosts(); ++i) {
      const HostIndex host(i);
      if (shared || !taken(host)) hosts.push_back(host);
    }
    if (placement == JobPlacement::kSpread) {
      std::ranges::sort(hosts, {},
                        [&](HostIndex host) { return std::pair(fabric_.downlink_of(host), host); });
    }
    if (placement == JobPlacement::kRandom) {
      for (std::size_t i = hosts.size(); i > 1; --i) std::swap(hosts[i - 1], hosts[rng.below(i)]);
    }
    return hosts;
  }

 private:
  const Fabric& fabric_;
  std::vector<bool> taken_;
};

class JobReader {
 public:
  JobReader(const Fabric& fabric, std::uint64_t seed, const ReadFile& read_file)
      : fabric_(fabric), rng_(seed), read_file_(read_file), pool_(fabric) {}

  void read(TableReader& table) {
    Job job{.name = fmt::format("job {}", count_)};
    table.read(Field::string("name", job.name));
    if (job.name.empty()) table.error("name", "must not be empty");
    job.hosts = read_hosts(table);
    table.read(Field::duration("at", job.at));
    std::uint32_t repeat = 1;
    Picoseconds every{};
    table.read(Field::whole("repeat", repeat, 1, kJobRepeatsMax));
    table.read(Field::duration("every", every));
    if (repeat > 1) table.require("every");
    bool enabled = true;
    table.read(Field::flag("enabled", enabled));
    ++count_;
    if (auto problem = problem_with_host_count(job.hosts.size()); !problem.empty()) {
      if (!job.hosts.empty()) table.error("hosts", std::move(problem));
      return table.skip_rest();
    }
    job.workload = read_workload_of_job(table, own_fabric(job), fabric_, read_file_);
    if (enabled) add(job, repeat, every);
  }

  JobList take() { return std::move(list_); }

 private:
  std::vector<HostIndex> read_hosts(TableReader& table) {
    JobPlacement placement{};
    bool shared = false;
    table.read(Field::word("placement", placement, kJobPlacements));
    table.read(Field::flag("shared_hosts", shared));
    const text::Value* value = table.find("hosts");
    const bool is_list = value != nullptr && value->as<std::int64_t>() == nullptr;
    auto hosts = is_list ? listed(table, shared)
                         : counted(table, value, pool_.candidates(placement, shared, stream()));
    pool_.take(hosts);
    return hosts;
  }

  std::vector<HostIndex> listed(TableReader& table, bool shared) {
    std::vector<HostIndex> hosts;
    for (const text::Value* element : table.elements("hosts")) {
      const HostIndex host(read_host(table, "hosts", *element, fabric_));
      if (!shared && pool_.taken(host)) {
        table.error_at(*element, "hosts",
                       fmt::format("h{} belongs to a job above; shared_hosts = true lets both "
                                   "have it",
                                   host.raw()));
      }
      hosts.push_back(host);
    }
    return hosts;
  }

  static std::vector<HostIndex> counted(TableReader& table, const text::Value* value,
                                        std::vector<HostIndex> candidates) {
    auto count = static_cast<std::uint32_t>(candidates.size());
    if (value != nullptr) table.read_value(Field::whole("hosts", count, 1), *value);
    if (candidates.empty() || count > candidates.size()) {
      table.error_here(fmt::format(
          "{} hosts are left by the jobs above; shared_hosts = true takes those that others have",
          candidates.size()));
      return {};
    }
    candidates.resize(count);
    return candidates;
  }

  [[nodiscard]] Rng stream() const { return rng_.fork(kPlacementStream + count_); }

  void add(const Job& job, std::uint32_t repeat, Picoseconds every) {
    for (std::uint32_t i = 0; i < repeat; ++i) {
      Job one = job;
      if (repeat > 1) one.name += fmt::format(" #{}", i + 1);
      one.at = job.at + every * static_cast<std::int64_t>(i);
      list_.jobs.push_back(std::move(one));
    }
  }

  const Fabric& fabric_;
  Rng rng_;
  const ReadFile& read_file_;
  HostPool pool_;
  std::uint32_t count_ = 0;
  JobList list_;
};

bool is_endless(const WorkloadSettings& workload) {
  const auto* background = std::get_if<Background>(&workload);
  return background != nullptr && background->duration == Picoseconds{};
}

}  // namespace

JobList read_jobs(TableReader& file, const Fabric& fabric, std::uint64_t seed,
                  const ReadFile& read_file) {
  JobReader reader(fabric, seed, read_file);
  file.for_each_table("job", [&](TableReader& table) { reader.read(table); });
  JobList list = reader.take();
  if (!file.ok()) return list;
  if (list.jobs.empty()) {
    file.error("job", "no job is enabled");
  } else if (auto problem = check_workload(list, fabric); !problem.empty()) {
    file.error("job", std::move(problem));
  }
  return list;
}

void read_job_kinds(TableReader& file) {
  file.for_each_table("job", [](TableReader& table) { read_workload_kind(table); });
}

std::string problem_with_end(const WorkloadSettings& workload, bool limited) {
  if (is_endless(workload)) return "background traffic alone needs 'for', so that the run ends";
  const auto* list = std::get_if<JobList>(&workload);
  if (list == nullptr) return {};
  const auto endless = [](const Job& job) { return is_endless(job.workload); };
  if (std::ranges::all_of(list->jobs, endless)) {
    return "background traffic alone needs 'for', so that the run ends";
  }
  if (std::ranges::any_of(list->jobs, endless) && !limited) {
    return "background traffic without 'for' needs a time_limit, so that the run ends even if a "
           "job cannot";
  }
  return {};
}

}  // namespace openmrc::sim
