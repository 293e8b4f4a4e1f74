// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <functional>
#include <string>

namespace openmrc::tools {

// How far something has come, on standard error: one line that is written over on a terminal, now
// and then a line elsewhere. It is gone with its object.
class ProgressLine {
 public:
  explicit ProgressLine(bool quiet);
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ~ProgressLine();

  // At once, and only on a terminal.
  void begin(const std::string& line) const;
  // If the last one was long enough ago.
  void show(const std::function<std::string()>& line);
  [[nodiscard]] double seconds() const;  // since it was made
  // ", about 5 s left", from the share of the work that is done; empty if nothing can be said yet.
  [[nodiscard]] std::string time_left(double share) const;

 private:
  using Clock = std::chrono::steady_clock;

  bool quiet_;
  bool on_terminal_;
  Clock::time_point begin_ = Clock::now();
  Clock::time_point shown_ = begin_;
};

}  // namespace openmrc::tools
