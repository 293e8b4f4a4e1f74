// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mrc/sim/processes.h"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <exception>
#include <iostream>
#include <system_error>
#include <thread>

#include "openmrc/host/interrupt.h"
#include "openmrc/text/numbers.h"
#include "tools/mrc/complaint.h"
#include "tools/mrc/sim/progress_line.h"

namespace openmrc::tools {
namespace {

// Short beside the shortest run.
constexpr std::chrono::milliseconds kBetweenLooks{2};

class Processes {
 public:
  Processes(std::span<const Job> jobs, const JobSettings& settings)
      : jobs_(jobs), settings_(settings), line_(settings.quiet) {
    for (const Job& job : jobs) work_ += job.work;
  }

  JobOutcome run() {
    host::catch_interrupts();
    while (next_ < jobs_.size() || !running_.empty()) {
      if (host::interrupted()) return stop();
      while (next_ < jobs_.size() && running_.size() < settings_.processes && start()) {
      }
      collect();
      line_.show([&] { return progress(); });
      std::this_thread::sleep_for(kBetweenLooks);
    }
    return std::move(outcome_);
  }

 private:
  struct Running {
    pid_t process;
    std::size_t job;
  };

  // False if the system has no room for it now.
  bool start() {
    std::cout << std::flush;
    const pid_t parent = getpid();
    const pid_t process = fork();
    if (process == 0) be_child(parent);
    if (process < 0) {
      if (!running_.empty()) return false;
      fail(next_++, std::generic_category().message(errno));
      return true;
    }
    running_.push_back({process, next_++});
    return true;
  }

  [[noreturn]] void be_child(pid_t parent) const {
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) _exit(1);  // it ended before that
    _exit(result_of(jobs_[next_]));
  }

  // What is thrown, for want of memory above all, must not reach what belongs to the parent.
  static int result_of(const Job& job) {
    try {
      return job.run();
    } catch (const std::exception& error) {
      return complain("sim", fmt::format("{}: {}", job.name, error.what()));
    }
  }

  void collect() {
    std::erase_if(running_, [&](const Running& running) {
      int status = 0;
      if (waitpid(running.process, &status, WNOHANG) != running.process) return false;
      ended(running.job, status);
      return true;
    });
  }

  void ended(std::size_t job, int status) {
    work_done_ += jobs_[job].work;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
      ++outcome_.done;
    } else if (WIFSIGNALED(status)) {
      const int signal = WTERMSIG(status);
      fail(job, fmt::format("killed by signal {}{}", signal,
                            signal == SIGKILL ? "; out of memory? --jobs 1 needs least" : ""));
    } else {
      fail(job, "failed");
    }
  }

  void fail(std::size_t job, const std::string& why) {
    outcome_.failures.push_back(fmt::format("{}: {}", jobs_[job].name, why));
  }

  JobOutcome stop() {
    for (const Running& running : running_) kill(running.process, SIGTERM);
    for (const Running& running : running_) waitpid(running.process, nullptr, 0);
    outcome_.interrupted = true;
    return std::move(outcome_);
  }

  [[nodiscard]] std::string progress() const {
    return fmt::format("{}: {} of {} runs done, {} running{}", settings_.name,
                       text::grouped(next_ - running_.size()), text::grouped(jobs_.size()),
                       running_.size(), line_.time_left(work_done_ / work_));
  }

  std::span<const Job> jobs_;
  const JobSettings& settings_;
  ProgressLine line_;
  std::vector<Running> running_{};
  std::size_t next_ = 0;
  double work_ = 0;
  double work_done_ = 0;
  JobOutcome outcome_{};
};

}  // namespace

JobOutcome run_in_processes(std::span<const Job> jobs, const JobSettings& settings) {
  return Processes(jobs, settings).run();
}

std::size_t processes_for(std::size_t asked) {
  return asked != 0 ? asked : std::max(1U, std::thread::hardware_concurrency());
}

}  // namespace openmrc::tools
