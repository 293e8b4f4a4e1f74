// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/workload/training.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "openmrc/sim/workload/all_reduce.h"
#include "openmrc/sim/workload/ranks.h"

namespace openmrc::sim {
namespace {

using fabric::HostIndex;

// What all hosts of a job have in common.
struct TrainingJob {
  TrainingSteps settings;
  Ranks ranks;
  AllReducePlan plan;
};

class TrainingProgram final : public Program {
 public:
  TrainingProgram(std::shared_ptr<const TrainingJob> job, std::uint32_t rank)
      : job_(std::move(job)), rank_(rank), unread_(job_->plan.sources()) {}

  void on_time(Picoseconds now, Requests& requests) override { advance(now, requests); }

  void on_sent(Picoseconds now, HostIndex /*to*/, MessageTag /*tag*/, Requests& requests) override {
    --unacknowledged_;
    advance(now, requests);
  }

  // The sender may be ahead of us, by rounds and even by steps: what we do not wait for yet is
  // kept.
  void on_received(Picoseconds now, HostIndex from, [[maybe_unused]] MessageTag tag,
                   Requests& requests) override {
    const std::uint32_t sender = *job_->ranks.rank(from);
    OPENMRC_DCHECK(round(tag % job_->plan.rounds()).from == sender,
                   "a message of a round in which its sender sends us nothing");
    ++unread_[job_->plan.source_number(rank_, sender)];
    advance(now, requests);
  }

  [[nodiscard]] bool done() const override { return step_ == job_->settings.steps; }

 private:
  enum class Doing : std::uint8_t { kComputing, kReducing };

  [[nodiscard]] AllReduceRound round(std::uint32_t number) const {
    return job_->plan.round(rank_, number, job_->settings.all_reduce_bytes[vector_]);
  }

  // Does all that can be done now.
  void advance(Picoseconds now, Requests& requests) {
    while (!done()) {
      if (doing_ == Doing::kComputing) {
        const Picoseconds computed = step_begin_ + job_->settings.compute;
        if (now < computed) {
          requests.wake_at = computed;
          return;
        }
        doing_ = Doing::kReducing;
        send_round(requests);
      }
      if (!reduce(requests)) return;
      next_vector(now, requests);
    }
  }

  // Whether the vector is reduced and all that we sent for it has arrived.
  bool reduce(Requests& requests) {
    const std::uint32_t rounds = job_->plan.rounds();
    while (round_ < rounds) {
      std::uint32_t& unread = unread_[job_->plan.source_number(rank_, round(round_).from)];
      if (unread == 0) return false;
      --unread;
      ++round_;
      if (round_ < rounds) send_round(requests);
    }
    return unacknowledged_ == 0;
  }

  void next_vector(Picoseconds now, Requests& requests) {
    rounds_before_ += job_->plan.rounds();
    round_ = 0;
    ++vector_;
    if (vector_ < job_->settings.all_reduce_bytes.size()) {
      send_round(requests);
      return;
    }
    requests.steps.push_back({.step = step_, .begin = step_begin_, .end = now});
    vector_ = 0;
    ++step_;
    step_begin_ = now;
    doing_ = Doing::kComputing;
  }

  void send_round(Requests& requests) {
    const AllReduceRound mine = round(round_);
    requests.sends.push_back(
        {.to = job_->ranks.host(mine.to), .bytes = mine.bytes, .tag = rounds_before_ + round_});
    ++unacknowledged_;
  }

  std::shared_ptr<const TrainingJob> job_;
  std::uint32_t rank_;
  std::vector<std::uint32_t> unread_;  // messages that came and that no round used, by source

  Doing doing_ = Doing::kComputing;
  std::uint32_t step_ = 0;
  std::uint32_t vector_ = 0;  // of the step
  std::uint32_t round_ = 0;   // of the vector
  MessageTag rounds_before_ = 0;
  std::uint32_t unacknowledged_ = 0;
  Picoseconds step_begin_{};
};

class TrainingWorkload final : public Workload {
 public:
  explicit TrainingWorkload(TrainingJob job)
      : job_(std::make_shared<const TrainingJob>(std::move(job))) {}

  [[nodiscard]] std::vector<HostIndex> destinations(HostIndex host) const override {
    std::vector<HostIndex> result;
    const auto rank = job_->ranks.rank(host);
    if (!rank) return result;
    // The first rounds, as many as there are partners, meet all of them.
    for (std::uint32_t number = 0; number < job_->plan.sources(); ++number) {
      result.push_back(job_->ranks.host(job_->plan.round(*rank, number, 0).to));
    }
    return result;
  }

  [[nodiscard]] std::unique_ptr<Program> program(HostIndex host) const override {
    const auto rank = job_->ranks.rank(host);
    return rank ? std::make_unique<TrainingProgram>(job_, *rank) : nullptr;
  }

 private:
  std::shared_ptr<const TrainingJob> job_;
};

TrainingSteps one_step(const AllReduce& settings) {
  return {.hosts = settings.hosts,
          .steps = 1,
          .all_reduce_bytes = {settings.bytes},
          .kind = settings.kind,
          .placement = settings.placement};
}

}  // namespace

std::string problem_with(const TrainingSteps& settings, const fabric::Fabric& fabric) {
  if (settings.steps == 0) return "a job needs a step";
  if (settings.compute < Picoseconds{}) return "a job cannot compute for less than no time";
  if (settings.all_reduce_bytes.empty()) return "a step needs an all-reduce";
  for (const std::uint64_t bytes : settings.all_reduce_bytes) {
    std::string problem = problem_with_all_reduce(
        {.hosts = settings.hosts, .bytes = bytes, .kind = settings.kind}, fabric);
    if (!problem.empty()) return problem;
  }
  const AllReducePlan plan{.ranks = settings.hosts, .kind = settings.kind};
  const std::uint64_t rounds_of_step = settings.all_reduce_bytes.size() * plan.rounds();
  if (rounds_of_step > std::numeric_limits<MessageTag>::max() / settings.steps) {
    return "the job has more rounds than messages can be numbered";
  }
  return {};
}

std::unique_ptr<Workload> workload_of(const TrainingSteps& settings, const fabric::Fabric& fabric,
                                      std::uint64_t /*seed*/) {
  return std::make_unique<TrainingWorkload>(
      TrainingJob{.settings = settings,
                  .ranks = Ranks(settings.hosts, settings.placement, fabric),
                  .plan = {.ranks = settings.hosts, .kind = settings.kind}});
}

std::string problem_with(const AllReduce& settings, const fabric::Fabric& fabric) {
  return problem_with_all_reduce(settings, fabric);
}

std::unique_ptr<Workload> workload_of(const AllReduce& settings, const fabric::Fabric& fabric,
                                      std::uint64_t seed) {
  return workload_of(one_step(settings), fabric, seed);
}

}  // namespace openmrc::sim
