// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>

namespace openmrc::tools {

struct SweepOptions {
  std::string file{};       // of the sweep
  std::string folder{};     // for the results; empty: by the name of the file
  std::string shard{};      // "I/N": only each N-th run, from the I-th on; empty: all
  std::size_t jobs = 0;     // at a time; 0: by the processors
  std::size_t threads = 0;  // of each; 0: what the jobs leave
  bool again = false;       // also what is there
  bool dry_run = false;     // only say what would be run
  bool quiet = false;
  bool summary = true;  // say at the end what was done, unless quiet
};

struct LoadedSweep;

// The folder for the results.
std::string folder_of(const SweepOptions& options);

// Runs what is missing of a sweep. The exit code: 0 if all results are there, 1 if a run failed, 2
// if nothing was run, 130 after Ctrl-C.
int run_sweep(const SweepOptions& options);
// The same of a sweep that was planned otherwise; `options.file` is what it is named after.
int run_sweep(const LoadedSweep& sweep, const SweepOptions& options);

}  // namespace openmrc::tools
