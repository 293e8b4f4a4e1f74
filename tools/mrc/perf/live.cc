// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mrc/perf/live.h"

#include <fmt/core.h>

#include <cstdio>
#include <string>

#include "openmrc/core/paths/ev_state.h"

namespace openmrc::tools {
namespace {

using core::Count;

constexpr int kLinesPerHead = 20;

std::string paths_text(const std::vector<host::PlanePaths>& planes) {
  std::string text;
  for (std::size_t i = 0; i < planes.size(); ++i) {
    const auto& evs = planes[i].evs;
    text += fmt::format("  p{} {}/{}/{}", i, evs[static_cast<std::size_t>(core::EvState::kGood)],
                        evs[static_cast<std::size_t>(core::EvState::kSkip)],
                        evs[static_cast<std::size_t>(core::EvState::kAssumedBad)] +
                            evs[static_cast<std::size_t>(core::EvState::kDenied)]);
  }
  return text;
}

}  // namespace

PerfLive::PerfLive(PerfSession& session, const PerfOptions& options)
    : session_(session), on_(session.plan().seconds > 0 && !options.quiet) {}

void PerfLive::show(Instant at, std::uint64_t sent) {
  if (!on_) return;
  if (begin_ == Instant{}) {
    begin_ = last_ = at;
    last_bytes_ = sent;
    last_counters_ = session_.host().counters();
    return;
  }
  if (at >= last_ + seconds(1)) print(at, sent);
}

void PerfLive::print(Instant at, std::uint64_t sent) {
  if (lines_++ % kLinesPerHead == 0) {
    fmt::print(" {:>6}  {:>8}  {}  {}\n", "time", "goodput", "retransmits: loss probe   rto trim",
               " paths: good/skip/bad by plane");
  }
  const core::Counters counters = session_.host().counters();
  const auto since = [&](Count count) { return counters.of(count) - last_counters_.of(count); };
  const std::uint64_t bytes =
      session_.is_server() && sent == 0 ? since(Count::kBytesPlaced) : sent - last_bytes_;
  const double gbits = static_cast<double>(bytes) * 8 / static_cast<double>((at - last_).raw());
  fmt::print(" {:>4} s  {:>6.2f} G  {:>17} {:>5} {:>5} {:>4}  {}\n",
             (at - begin_).raw() / 1'000'000'000, gbits, since(Count::kRetransmitsLoss),
             since(Count::kRetransmitsProbe), since(Count::kRetransmitsTimeout),
             since(Count::kRetransmitsTrim) + since(Count::kRetransmitsTrimLastHop),
             paths_text(session_.lanes().front().qp->paths()));
  std::fflush(stdout);
  last_ = at;
  last_bytes_ = sent;
  last_counters_ = counters;
}

}  // namespace openmrc::tools
