// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/workload/job_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "openmrc/base/check.h"
#include "openmrc/base/rng.h"
#include "openmrc/sim/workload/graph.h"

namespace openmrc::sim {
namespace {

using fabric::HostIndex;

constexpr MessageTag kTagMask = (MessageTag{1} << kTagBits) - 1;
static_assert(kJobsMax << kTagBits == std::uint64_t{1} << 32, "a tag has room for the job");
// More steps of all jobs together than anybody looks at.
constexpr std::uint64_t kStepsMax = std::uint64_t{1} << 24;

// One of the jobs, and who its hosts are.
struct Part {
  std::unique_ptr<Workload> workload{};
  std::vector<HostIndex> hosts{};                            // by rank
  std::vector<std::pair<HostIndex, std::uint32_t>> ranks{};  // sorted by host
  Picoseconds at{};
  JobSteps steps{};

  [[nodiscard]] std::optional<HostIndex> rank_of(HostIndex host) const {
    const auto found = std::ranges::lower_bound(ranks, std::pair(host, 0U));
    if (found == ranks.end() || found->first != host) return std::nullopt;
    return HostIndex(found->second);
  }
};

using JobParts = std::vector<Part>;

// The programs of all jobs on one host. Each counts time from when its job begins.
class HostPrograms final : public Program {
 public:
  HostPrograms(std::shared_ptr<const JobParts> parts, HostIndex host) : parts_(std::move(parts)) {
    for (std::uint32_t job = 0; job < parts_->size(); ++job) {
      const Part& part = (*parts_)[job];
      const auto rank = part.rank_of(host);
      if (!rank) continue;
      auto program = part.workload->program(*rank);
      if (program == nullptr) continue;
      running_.push_back({.job = job, .program = std::move(program), .wake_at = part.at});
    }
  }

  void on_time(Picoseconds now, Requests& requests) override {
    for (Running& running : running_) {
      if (running.wake_at > now) continue;
      running.wake_at = kNoTime;
      call(running, now, requests,
           [](Program& program, Picoseconds time, Requests& own) { program.on_time(time, own); });
    }
    ask_to_be_woken(requests);
  }

  void on_sent(Picoseconds now, HostIndex to, MessageTag tag, Requests& requests) override {
    if (Running* running = find(job_of(tag))) {
      const HostIndex rank = *part(*running).rank_of(to);
      call(*running, now, requests, [&](Program& program, Picoseconds time, Requests& own) {
        program.on_sent(time, rank, tag & kTagMask, own);
      });
    }
    ask_to_be_woken(requests);
  }

  void on_received(Picoseconds now, HostIndex from, MessageTag tag, Requests& requests) override {
    if (Running* running = find(job_of(tag))) {
      const HostIndex rank = *part(*running).rank_of(from);
      call(*running, now, requests, [&](Program& program, Picoseconds time, Requests& own) {
        program.on_received(time, rank, tag & kTagMask, own);
      });
    }
    ask_to_be_woken(requests);
  }

  [[nodiscard]] bool done() const override {
    return std::ranges::all_of(running_, [](const Running& one) { return one.program->done(); });
  }
  [[nodiscard]] bool has_programs() const { return !running_.empty(); }

 private:
  struct Running {
    std::uint32_t job = 0;
    std::unique_ptr<Program> program{};
    Picoseconds wake_at = kNoTime;
    bool ended = false;
  };

  [[nodiscard]] const Part& part(const Running& running) const { return (*parts_)[running.job]; }

  Running* find(std::uint32_t job) {
    const auto found = std::ranges::find(running_, job, &Running::job);
    return found == running_.end() ? nullptr : &*found;
  }

  template <class Call>
  void call(Running& running, Picoseconds now, Requests& requests, Call&& what) {
    const Part& own = part(running);
    Requests wanted;
    what(*running.program, now - own.at, wanted);
    for (const Send& send : wanted.sends) {
      OPENMRC_CHECK(send.tag <= kTagMask, "the tags of a job leave room for its number");
      requests.sends.push_back({.to = own.hosts[send.to.raw()],
                                .bytes = send.bytes,
                                .tag = running.job << kTagBits | send.tag});
    }
    for (const StepMark& mark : wanted.steps) {
      requests.steps.push_back({.step = own.steps.first + mark.step,
                                .begin = own.at + mark.begin,
                                .end = own.at + mark.end});
    }
    if (wanted.wake_at != kNoTime) running.wake_at = own.at + wanted.wake_at;
    mark_end(running, now, requests);
  }

  void mark_end(Running& running, Picoseconds now, Requests& requests) {
    if (running.ended || !running.program->done()) return;
    running.ended = true;
    const Part& own = part(running);
    requests.steps.push_back(
        {.step = own.steps.first + own.steps.count, .begin = own.at, .end = now});
  }

  void ask_to_be_woken(Requests& requests) const {
    for (const Running& running : running_) {
      requests.wake_at = std::min(requests.wake_at, running.wake_at);
    }
  }

  std::shared_ptr<const JobParts> parts_;
  std::vector<Running> running_;  // by job
};

class JobListWorkload final : public Workload {
 public:
  explicit JobListWorkload(JobParts parts)
      : parts_(std::make_shared<const JobParts>(std::move(parts))) {}

  [[nodiscard]] std::vector<HostIndex> destinations(HostIndex host) const override {
    std::vector<HostIndex> result;
    std::set<HostIndex> known;
    for (const Part& part : *parts_) {
      const auto rank = part.rank_of(host);
      if (!rank) continue;
      for (const HostIndex to : part.workload->destinations(*rank)) {
        if (known.insert(part.hosts[to.raw()]).second) result.push_back(part.hosts[to.raw()]);
      }
    }
    return result;
  }

  [[nodiscard]] std::unique_ptr<Program> program(HostIndex host) const override {
    auto programs = std::make_unique<HostPrograms>(parts_, host);
    if (!programs->has_programs()) return nullptr;
    return programs;
  }

 private:
  std::shared_ptr<const JobParts> parts_;
};

Part make_part(const Job& job, const JobSteps& steps, std::uint64_t seed) {
  Part part{.workload = make_workload(job.workload, own_fabric(job), seed),
            .hosts = job.hosts,
            .at = job.at,
            .steps = steps};
  for (std::uint32_t rank = 0; rank < job.hosts.size(); ++rank) {
    part.ranks.emplace_back(job.hosts[rank], rank);
  }
  std::ranges::sort(part.ranks);
  return part;
}

std::string problem_with_job(const Job& job, const fabric::Fabric& fabric) {
  if (std::holds_alternative<JobList>(job.workload)) return "a job is not a list of jobs";
  if (job.at < Picoseconds{}) return "begins before time 0";
  if (auto problem = problem_with_host_count(job.hosts.size()); !problem.empty()) return problem;
  std::set<HostIndex> hosts;
  for (const HostIndex host : job.hosts) {
    if (!fabric.has(host)) return fmt::format("is on host {}, and there is none", host.raw());
    if (!hosts.insert(host).second) return fmt::format("has host {} twice", host.raw());
  }
  return check_workload(job.workload, own_fabric(job));
}

// Rounds of a job are numbered in what the number of the job leaves of a tag.
std::uint64_t tags_of(const WorkloadSettings& settings) {
  if (const auto* training = std::get_if<TrainingSteps>(&settings)) {
    return 2 * std::uint64_t{training->hosts} * training->all_reduce_bytes.size() * training->steps;
  }
  if (const auto* list = std::get_if<FlowList>(&settings)) return list->flows.size();
  return 0;
}

}  // namespace

std::uint32_t job_of(MessageTag tag) { return tag >> kTagBits; }

// A job numbers its hosts rack by rack.
std::string problem_with_host_count(std::size_t hosts) {
  if (hosts == 0) return "has no hosts";
  for (std::size_t racks = 1; racks <= fabric::kRacksMax; ++racks) {
    if (hosts % racks == 0 && hosts / racks <= fabric::kHostsPerRackMax) return {};
  }
  return fmt::format("has {} hosts, which make no equal racks of at most {}: another number does",
                     hosts, fabric::kHostsPerRackMax);
}

// Whole racks, as few as can be.
fabric::Fabric own_fabric(const Job& job) {
  const auto hosts = static_cast<std::uint32_t>(job.hosts.size());
  std::uint32_t racks = 1;
  while (racks < hosts && (hosts % racks != 0 || hosts / racks > fabric::kHostsPerRackMax)) ++racks;
  const auto fabric = fabric::Fabric::make(
      {.racks = racks, .hosts_per_rack = hosts / racks, .uplinks = racks > 1 ? 1U : 0U});
  OPENMRC_CHECK(fabric.has_value(), "the hosts of a job make whole racks");
  return *fabric;
}

std::vector<JobSteps> steps_of_jobs(const JobList& list) {
  std::vector<JobSteps> result;
  std::uint32_t next = 0;
  for (const Job& job : list.jobs) {
    result.push_back({.first = next, .count = steps_of(job.workload)});
    next += result.back().count + 1;
  }
  return result;
}

std::uint64_t seed_of_job(std::uint64_t seed, std::size_t job) {
  return Rng(seed).fork(job).next();
}

std::uint32_t active_hosts(const Job& job, std::uint64_t seed) {
  const auto workload = make_workload(job.workload, own_fabric(job), seed);
  std::uint32_t count = 0;
  for (std::uint32_t rank = 0; rank < job.hosts.size(); ++rank) {
    count += workload->program(HostIndex(rank)) == nullptr ? 0U : 1U;
  }
  return count;
}

std::string problem_with(const JobList& settings, const fabric::Fabric& fabric) {
  if (settings.jobs.empty()) return "there are no jobs";
  if (settings.jobs.size() > kJobsMax) return fmt::format("there are more than {} jobs", kJobsMax);
  std::set<std::string> names;
  std::uint64_t steps = 0;
  for (const Job& job : settings.jobs) {
    if (!names.insert(job.name).second) return fmt::format("two jobs are called {}", job.name);
    const std::string problem = problem_with_job(job, fabric);
    if (!problem.empty()) return fmt::format("job {}: {}", job.name, problem);
    if (tags_of(job.workload) > kGraphTagsMax) {
      return fmt::format("job {} has more rounds than messages can be numbered", job.name);
    }
    steps += std::uint64_t{steps_of(job.workload)} + 1;
  }
  if (steps > kStepsMax) return fmt::format("all jobs have more than {} steps", kStepsMax);
  return {};
}

std::unique_ptr<Workload> workload_of(const JobList& settings, const fabric::Fabric& /*fabric*/,
                                      std::uint64_t seed) {
  JobParts parts;
  const auto steps = steps_of_jobs(settings);
  for (std::size_t i = 0; i < settings.jobs.size(); ++i) {
    parts.push_back(make_part(settings.jobs[i], steps[i], seed_of_job(seed, i)));
  }
  return std::make_unique<JobListWorkload>(std::move(parts));
}

}  // namespace openmrc::sim
