// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mrc/sim/watch.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <iostream>

#include "openmrc/host/interrupt.h"
#include "openmrc/text/numbers.h"

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

RunWatch::RunWatch(Settings settings)
    : settings_(std::move(settings)), on_terminal_(isatty(STDERR_FILENO) == 1) {
  if (on_terminal_ && !settings_.quiet) write_over(settings_.name + ": setting up");
}

RunWatch::~RunWatch() {
  if (on_terminal_ && !settings_.quiet) write_over("");
}

double RunWatch::seconds() const {
  return std::chrono::duration<double>(Clock::now() - begin_).count();
}

bool RunWatch::on_progress(void* context, const sim::Progress& progress) {
  auto& watch = *static_cast<RunWatch*>(context);
  watch.last_ = progress;
  watch.catch_interrupts();
  if (!watch.settings_.quiet) watch.show();
  return !host::interrupted();
}

// Before the run begins there is nothing to report, and a signal ends the program at once.
void RunWatch::catch_interrupts() {
  if (catches_) return;
  catches_ = true;
  host::catch_interrupts(host::SecondInterrupt::kKills);
}

void RunWatch::show() {
  const Clock::time_point now = Clock::now();
  if (now - shown_ < (on_terminal_ ? Clock::duration(kBetweenShows) : kBetweenLines)) return;
  shown_ = now;
  if (on_terminal_) {
    write_over(line());
  } else {
    std::cerr << line() << "\n" << std::flush;
  }
}

std::string RunWatch::line() const {
  const double rate = static_cast<double>(last_.hops) / seconds();
  return fmt::format("{}: {} simulated, {} hops/s, {} of {} hosts done{}", settings_.name,
                     text::human(last_.time), text::human(rate, text::Unit::kCount),
                     text::grouped(last_.hosts_done), text::grouped(last_.hosts), time_left());
}

// By whichever comes first, the work or the time limit.
std::string RunWatch::time_left() const {
  double share = 0;
  if (settings_.expected_hops > 0)
    share = static_cast<double>(last_.hops) / settings_.expected_hops;
  if (settings_.time_limit > Picoseconds{}) {
    share = std::max(share, static_cast<double>(last_.time.raw()) /
                                static_cast<double>(settings_.time_limit.raw()));
  }
  const double so_far = seconds();
  if (share <= 0 || share >= 1 || so_far < kSecondsBeforeForecast) return {};
  return fmt::format(", about {} left", human_seconds(so_far / share - so_far));
}

}  // namespace openmrc::tools
