// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mrc/sim/progress_line.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cmath>
#include <cstdint>
#include <iostream>

namespace openmrc::tools {
namespace {

using namespace std::chrono_literals;

constexpr auto kBetweenShows = 250ms;  // on a terminal, where the line is written over
constexpr auto kBetweenLines = 10s;    // in a log
// The first speeds of a run say little about the rest.
constexpr double kSecondsBeforeForecast = 1;

std::size_t terminal_width() {
  winsize size{};
  const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : 80;
}

void write_over(const std::string& text) {
  std::cerr << '\r' << text.substr(0, terminal_width() - 1) << "\x1b[K" << std::flush;
}

std::string human_seconds(double exact) {
  const auto whole = static_cast<std::int64_t>(std::ceil(exact));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
}

}  // namespace

ProgressLine::ProgressLine(bool quiet) : quiet_(quiet), on_terminal_(isatty(STDERR_FILENO) == 1) {}

ProgressLine::~ProgressLine() { begin(""); }

void ProgressLine::begin(const std::string& line) const {
  if (on_terminal_ && !quiet_) write_over(line);
}

void ProgressLine::show(const std::function<std::string()>& line) {
  const Clock::time_point now = Clock::now();
  if (quiet_ || now - shown_ < (on_terminal_ ? Clock::duration(kBetweenShows) : kBetweenLines)) {
    return;
  }
  shown_ = now;
  if (on_terminal_) {
    write_over(line());
  } else {
    std::cerr << line() << "\n" << std::flush;
  }
}

double ProgressLine::seconds() const {
  return std::chrono::duration<double>(Clock::now() - begin_).count();
}

std::string ProgressLine::time_left(double share) const {
  const double so_far = seconds();
  if (share <= 0 || share >= 1 || so_far < kSecondsBeforeForecast) return {};
  return fmt::format(", about {} left", human_seconds(so_far / share - so_far));
}

}  // namespace openmrc::tools
