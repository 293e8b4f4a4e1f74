// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mrc/sim/watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "openmrc/host/interrupt.h"
#include "openmrc/text/numbers.h"

namespace openmrc::tools {

RunWatch::RunWatch(Settings settings) : settings_(std::move(settings)), line_(settings_.quiet) {
  line_.begin(settings_.name + ": setting up");
}

bool RunWatch::on_progress(void* context, const sim::Progress& progress) {
  auto& watch = *static_cast<RunWatch*>(context);
  watch.last_ = progress;
  watch.catch_interrupts();
  watch.line_.show([&] { return watch.line(); });
  return !host::interrupted();
}

// Before the run begins there is nothing to report, and a signal ends the program at once.
void RunWatch::catch_interrupts() {
  if (catches_) return;
  catches_ = true;
  host::catch_interrupts(host::SecondInterrupt::kKills);
}

std::string RunWatch::line() const {
  const double rate = static_cast<double>(last_.hops) / line_.seconds();
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
  return line_.time_left(share);
}

}  // namespace openmrc::tools
