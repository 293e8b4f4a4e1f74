// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace openmrc::tools {

// Something to be done in a process of its own: what goes wrong in it, out of memory included,
// harms nothing else.
struct Job {
  std::string name{};
  double work = 1;             // how much it is, compared with the others
  std::function<int()> run{};  // 0: it is done
};

struct JobSettings {
  std::string name{};  // of them all, for the progress
  std::size_t processes = 1;
  bool quiet = false;
};

struct JobOutcome {
  std::size_t done = 0;
  std::vector<std::string> failures{};  // what came of those that are not done
  bool interrupted = false;             // by Ctrl-C: what ran was stopped, the rest not begun
};

// Runs all jobs, some at a time, in their order, with progress and the time left.
JobOutcome run_in_processes(std::span<const Job> jobs, const JobSettings& settings);

// `asked`, or as many as there are processors.
std::size_t processes_for(std::size_t asked);

}  // namespace openmrc::tools
