// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mrc/perf/live.h"

#include <fmt/core.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "openmrc/core/paths/ev_state.h"
#include "tools/mrc/colour.h"

namespace openmrc::tools {
namespace {

using core::Count;

constexpr std::int64_t kLinesPerHead = 20;

std::string plane_text(std::size_t plane, const host::PlanePaths& paths, bool coloured) {
  const auto count = [&](core::EvState state) {
    return paths.evs[static_cast<std::size_t>(state)];
  };
  const auto bad = count(core::EvState::kAssumedBad) + count(core::EvState::kDenied);
  const auto skipped = count(core::EvState::kSkip);
  const std::string text =
      fmt::format("p{} {}/{}/{}{}", plane, count(core::EvState::kGood), skipped, bad,
                  paths.peer_is_down ? " (peer reports down)" : "");
  if (bad > 0 || paths.peer_is_down) return painted(text, Colour::kBad, coloured);
  return skipped > 0 ? painted(text, Colour::kWarning, coloured) : text;
}

std::string paths_text(const std::vector<host::PlanePaths>& planes, bool coloured) {
  std::string text;
  for (std::size_t i = 0; i < planes.size(); ++i) text += "  " + plane_text(i, planes[i], coloured);
  return text;
}

}  // namespace

PerfLive::PerfLive(PerfSession& session, const PerfOptions& options)
    : session_(session),
      on_(session.plan().seconds > 0 && !options.quiet),
      coloured_(wants_colour(STDOUT_FILENO)) {}

void PerfLive::begin(Instant at) {
  begin_ = last_ = at;
  last_counters_ = session_.host().counters();
}

void PerfLive::show(Instant at, std::uint64_t sent) {
  if (on_ && at >= begin_ + seconds(lines_ + 1)) print(at, sent);
}

void PerfLive::finish(Instant at, std::uint64_t sent) {
  if (on_ && at >= last_ + milliseconds(500)) print(at, sent);
}

void PerfLive::print(Instant at, std::uint64_t sent) {
  if (lines_ % kLinesPerHead == 0) {
    const std::string head =
        fmt::format(" {:>6}  {:>8}  {}  {}", "time", "goodput",
                    "retransmits: loss probe   rto trim", " paths: good/skip/bad by plane");
    fmt::print("{}\n", painted(head, Colour::kStrong, coloured_));
  }
  const core::Counters counters = session_.host().counters();
  const auto since = [&](Count count) { return counters.of(count) - last_counters_.of(count); };
  const std::uint64_t bytes =
      session_.is_server() && sent == 0 ? since(Count::kBytesPlaced) : sent - last_bytes_;
  const double gbits = static_cast<double>(bytes) * 8 / static_cast<double>((at - last_).raw());
  fmt::print(" {:>4} s  {:>6.2f} G  {:>17} {:>5} {:>5} {:>4}  {}\n", ++lines_, gbits,
             since(Count::kRetransmitsLoss), since(Count::kRetransmitsProbe),
             since(Count::kRetransmitsTimeout),
             since(Count::kRetransmitsTrim) + since(Count::kRetransmitsTrimLastHop),
             paths_text(session_.lanes().front().qp->paths(), coloured_));
  std::fflush(stdout);
  last_ = at;
  last_bytes_ = sent;
  last_counters_ = counters;
}

}  // namespace openmrc::tools
