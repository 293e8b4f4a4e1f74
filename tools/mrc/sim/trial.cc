// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mrc/sim/trial.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <cerrno>
#include <cmath>
#include <limits>
#include <system_error>

#include "openmrc/host/interrupt.h"
#include "openmrc/sim/result/measures.h"
#include "openmrc/text/numbers.h"
#include "tools/mrc/complaint.h"
#include "tools/mrc/sim/files.h"
#include "tools/mrc/sim/one_run.h"
#include "tools/mrc/sim/prepare.h"
#include "tools/mrc/sim/processes.h"

namespace openmrc::tools {
namespace {

constexpr double kWorstOfAll = std::numeric_limits<double>::infinity();

// Numbers that a process and those that it starts see alike.
class SharedNumbers {
 public:
  explicit SharedNumbers(std::size_t count) : bytes_(count * sizeof(double)) {
    void* memory = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap");
    numbers_ = {static_cast<double*>(memory), count};
  }
  SharedNumbers(const SharedNumbers&) = delete;
  SharedNumbers& operator=(const SharedNumbers&) = delete;
  ~SharedNumbers() { munmap(numbers_.data(), bytes_); }

  [[nodiscard]] std::span<double> all() const { return numbers_; }

 private:
  std::size_t bytes_;
  std::span<double> numbers_{};
};

double harm_of(const sim::RunResult& result, const sim::SearchFile& file) {
  if (!result.finished || result.totals.messages_failed > 0) {
    return file.skip_unfinished ? -kWorstOfAll : kWorstOfAll;
  }
  const auto figure = measure(result)[*sim::find_measure(file.figure)];
  if (!figure) return -kWorstOfAll;
  return file.least_is_worst ? -*figure : *figure;
}

int try_one(const sim::Schedule& schedule, const TrialSettings& settings, double& harm) {
  sim::RunInputs inputs = settings.inputs;
  inputs.settings.push_back(schedule_setting(schedule, settings.space.fabric));
  auto scenario = parse_inputs(inputs);
  if (!scenario) return complain("sim", scenario.error());
  const auto prepared = prepare_run({std::move(*scenario), inputs});
  if (!prepared) return complain("sim", prepared.error());
  const Run run = run_one(prepared->scenario, {.threads = 1, .quiet = true});
  if (host::interrupted()) return host::interrupt_exit_code();
  const std::string gap = check_packet_accounting(run.result.totals);
  if (!gap.empty()) return complain("sim", "packet accounting inconsistent: " + gap);
  harm = harm_of(run.result, settings.file);
  return 0;
}

}  // namespace

TrialOutcome try_schedules(std::span<const sim::Schedule> schedules,
                           const TrialSettings& settings) {
  if (schedules.empty()) return {};
  const SharedNumbers harms(schedules.size());
  std::vector<Job> jobs;
  for (std::size_t i = 0; i < schedules.size(); ++i) {
    harms.all()[i] = -kWorstOfAll;
    jobs.push_back({.name = "--set '" + schedule_setting(schedules[i], settings.space.fabric) + "'",
                    .run = [&, i] { return try_one(schedules[i], settings, harms.all()[i]); }});
  }
  JobOutcome done = run_in_processes(
      jobs, {.name = settings.inputs.name, .processes = settings.processes, .quiet = true});
  return {.harms = {harms.all().begin(), harms.all().end()},
          .failures = std::move(done.failures),
          .interrupted = done.interrupted};
}

std::string figure_text(double harm, const sim::SearchFile& file) {
  if (std::isinf(harm)) return harm > 0 ? "not finished" : "none";
  const sim::Measure& measure = sim::measures()[*sim::find_measure(file.figure)];
  return text::human(file.least_is_worst ? -harm : harm, measure.unit);
}

double times_as_bad(double harm, double than, const sim::SearchFile& file) {
  if (std::isinf(harm) || std::isinf(than) || harm == 0 || than == 0) return 0;
  return file.least_is_worst ? than / harm : harm / than;
}

}  // namespace openmrc::tools
