// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/report/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "openmrc/sim/result/fault_effect.h"
#include "openmrc/sim/result/figures.h"
#include "openmrc/text/numbers.h"

namespace openmrc::sim {
namespace {

using text::grouped;
using text::human;
using text::human_bytes;
using text::human_rate;
using text::human_share;
using text::significant;

std::string plural(std::size_t count, std::string_view what) {
  return fmt::format("{} {}{}", grouped(count), what, count == 1 ? "" : "s");
}

std::string unfinished_words(const RunResult& result, const Figures& figures) {
  std::string text = fmt::format("{} of {} finished", grouped(figures.flows_done),
                                 plural(result.flows.size(), "flow"));
  if (figures.flows_failed > 0) text += fmt::format("; {} failed", grouped(figures.flows_failed));
  if (figures.flows_open > 0) {
    text += fmt::format("; {} still ran when the run ended after {}", grouped(figures.flows_open),
                        human(result.end));
  }
  return text;
}

std::string outcome_words(const RunResult& result, const Figures& figures) {
  if (result.flows.empty()) {
    return fmt::format("The run ended after {}; no flow was sent", human(result.end));
  }
  if (figures.flows_done < result.flows.size()) return unfinished_words(result, figures);
  std::string text;
  if (figures.step && result.steps.size() > 1) {
    text = fmt::format("{} steps took {}", grouped(result.steps.size()), human(result.end));
  } else if (result.flows.size() == 1) {
    text = fmt::format("The flow finished in {}", human(figures.completion->max));
  } else {
    text = fmt::format("All {} finished in {}", plural(result.flows.size(), "flow"),
                       human(figures.last_done));
  }
  return result.finished ? text : text + ", but not every host was done when the run ended";
}

// "the fault at 2 ms (p3.t1-4 down)", or what stands for several.
std::string fault_words(const FaultNote& first, const FaultEffect& effect) {
  if (effect.faults == 1) {
    return fmt::format("the fault at {} ({})", human(effect.from), first.text);
  }
  if (effect.at_once) {
    return fmt::format("the {} faults at {}", grouped(effect.faults), human(effect.from));
  }
  return fmt::format("the {} faults from {} on", grouped(effect.faults), human(effect.from));
}

std::string effect_words(const RunResult& result) {
  const std::vector<FaultNote> reached = reached_faults(result);
  if (reached.empty()) return {};
  const std::optional<FaultEffect> effect = fault_effect(result);
  if (!effect) {
    return reached.size() == 1 ? fmt::format("there was a fault at {} ({})",
                                             human(reached.front().from), reached.front().text)
                               : fmt::format("there were {} faults", grouped(reached.size()));
  }
  const std::string faults = fault_words(reached.front(), *effect);
  if (effect->lost_share == 0) {
    return fmt::format("{} cost no more than {} of goodput at any time", faults,
                       human_share(effect->tolerance, 1));
  }
  const std::string share = human_share(effect->lost_share, 1);
  if (!effect->recovered) return fmt::format("{} cost {} of goodput from then on", faults, share);
  return fmt::format("{} cost {} of goodput for {}", faults, share, human(effect->lasted));
}

// "the fault at 1 ms (p2 down) was never reached"
std::string unreached_words(const RunResult& result) {
  const std::size_t all = result.faults.size();
  const std::size_t unreached = all - reached_faults(result).size();
  if (unreached == 0) return {};
  if (all == 1) {
    return fmt::format("the fault at {} ({}) was never reached", human(result.faults.front().from),
                       result.faults.front().text);
  }
  if (unreached == all) {
    const auto first = std::ranges::min_element(result.faults, {}, &FaultNote::from);
    return fmt::format("the {} faults from {} on were never reached", grouped(all),
                       human(first->from));
  }
  return fmt::format("{} of {} faults {} never reached", grouped(unreached), grouped(all),
                     unreached == 1 ? "was" : "were");
}

std::string step_words(const RunResult& result, const Figures& figures) {
  if (!figures.step || result.steps.size() < 2) return {};
  const StepRecord& worst = result.steps[figures.worst_step];
  const bool faulty = std::any_of(
      result.faults.begin(), result.faults.end(),
      [&](const FaultNote& fault) { return fault.from < worst.end && fault.to > worst.begin; });
  return fmt::format("A step took {} in the median; the slowest, step {}, took {}{}.",
                     human(figures.step->median), figures.worst_step, human(figures.step->max),
                     faulty ? ", with a fault in it" : "");
}

std::string goodput_words(const RunResult& result, const Figures& figures) {
  const std::uint64_t bytes = result.totals.message_bytes_completed;
  if (bytes == 0 || figures.line_rate == 0) return {};
  return fmt::format("{} of messages arrived, {} over the whole run: {} of line rate.",
                     human_bytes(bytes), human_rate(figures.goodput),
                     human_share(figures.goodput, figures.line_rate));
}

// How the slower of two relates to the faster.
std::string times_as_long(Picoseconds ours, Picoseconds theirs) {
  const double ratio = static_cast<double>(theirs.raw()) / static_cast<double>(ours.raw());
  if (ratio > 0.995 && ratio < 1.005) return "the same";
  return fmt::format("{} times as long", significant(ratio));
}

std::string compared(std::string_view what, Picoseconds ours, Picoseconds theirs,
                     const Labels& labels) {
  if (ours <= Picoseconds(0)) return {};
  return fmt::format("{} took {} with {} and {} with {}, {}.", what, human(ours), labels.first,
                     human(theirs), labels.second, times_as_long(ours, theirs));
}

// Only what both have finished is put side by side.
std::string baseline_words(const RunResult& result, const Figures& ours,
                           const RunResult& baseline) {
  const Figures theirs = figures_of(baseline);
  const Labels labels = labels_of(result, baseline);
  if (ours.step && theirs.step && result.steps.size() == baseline.steps.size()) {
    return compared("The median step", ours.step->median, theirs.step->median, labels);
  }
  if (theirs.flows_done < baseline.flows.size()) {
    return fmt::format("With {} only {} of {} finished.", labels.second, grouped(theirs.flows_done),
                       plural(baseline.flows.size(), "flow"));
  }
  if (ours.flows_done < result.flows.size() || !ours.completion || !theirs.completion) return {};
  return compared("The slowest flow", ours.completion->max, theirs.completion->max, labels);
}

}  // namespace

Verdict verdict_of(const RunResult& result, const RunResult* baseline) {
  const Figures figures = figures_of(result);
  Verdict verdict;
  verdict.headline = outcome_words(result, figures);
  for (const std::string& words : {effect_words(result), unreached_words(result)}) {
    if (!words.empty()) verdict.headline += "; " + words;
  }
  verdict.headline += ".";
  const auto add = [&](const std::string& sentence) {
    if (!verdict.detail.empty() && !sentence.empty()) verdict.detail += " ";
    verdict.detail += sentence;
  };
  add(step_words(result, figures));
  add(goodput_words(result, figures));
  if (baseline != nullptr) add(baseline_words(result, figures, *baseline));
  if (const std::string gap = check_packet_accounting(result.totals); !gap.empty()) {
    add("Packet accounting is inconsistent, so the numbers of this run cannot be trusted: " + gap +
        ".");
  }
  return verdict;
}

}  // namespace openmrc::sim
