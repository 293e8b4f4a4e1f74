// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "openmrc/sim/simulation.h"
#include "tools/mrc/sim/progress_line.h"

namespace openmrc::tools {

// Watches a run: reports progress on standard error, and stops it on Ctrl-C. A
// second Ctrl-C ends the program as usual.
class RunWatch {
 public:
  struct Settings {
    std::string name{};        // of the run
    double expected_hops = 0;  // for the time that is left
    Picoseconds time_limit{};  // 0: none
    bool quiet = false;
  };

  explicit RunWatch(Settings settings);
  RunWatch(const RunWatch&) = delete;
  RunWatch& operator=(const RunWatch&) = delete;
  ~RunWatch() = default;

  // For RunOptions: `context` is the watch.
  static bool on_progress(void* context, const sim::Progress& progress);

  [[nodiscard]] const sim::Progress& last() const { return last_; }
  [[nodiscard]] double seconds() const { return line_.seconds(); }

 private:
  void catch_interrupts();
  [[nodiscard]] std::string line() const;
  [[nodiscard]] std::string time_left() const;

  Settings settings_;
  ProgressLine line_;
  bool catches_ = false;
  sim::Progress last_{};
};

}  // namespace openmrc::tools
