// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/mapper/rack_evidence.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>

namespace openmrc::mapper {
namespace {

using fabric::LinkId;

// Fewer may have an error in common, or be one agent that is wrong.
constexpr std::uint32_t kAgentsMin = 3;
// Of all questions that are asked of a fabric in a span of time.
constexpr double kError = 1e-6;
constexpr double kLeastLoss = 1e-5;  // what is rarer is nobody's fault
// Full queues lose many probes at once, so that their losses differ more than by chance alone.
constexpr double kTimesOthers = 3;
// If losses had gone on as before, so few in a shorter span would be less likely.
constexpr double kHealed = 1e-4;

bool is_uplink(const LinkId& link) { return link.kind == LinkId::Kind::kUplink; }

struct LinkSum {
  RecentLosses lost{};
  std::array<std::uint32_t, kRecentSpans.size()> agents{};
};

void add(RecentAmounts& to, const RecentAmounts& from) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += from[i];
}

// One plane of one rack.
class PlaneSums {
 public:
  PlaneSums(const fabric::Fabric& fabric, std::span<const MapReport* const> agents, Plane plane)
      : fabric_(fabric) {
    for (const MapReport* agent : agents) add(*agent, plane);
  }

  std::vector<RackFinding> findings() {
    std::vector<RackFinding> found;
    if (agents_ < kAgentsMin) return found;
    for (const auto& [link, by_agent] : named_) find_direction(link, found);
    for (std::size_t span = 0; span < kRecentSpans.size(); ++span) find(span, found);
    return found;
  }

 private:
  void add(const MapReport& agent, Plane plane) {
    const auto is_of_plane = [&](const auto& each) { return each.link.plane == plane; };
    for (const BadLink& bad : agent.bad) {
      if (!is_of_plane(bad)) continue;
      if (!is_uplink(bad.link)) return;  // who has no link of its own cannot tell
      named_[bad.link] = true;
    }
    ++agents_;
    mapper::add(rounds_, agent.recent_rounds);
    for (const LinkTally& each : agent.links) {
      if (!is_of_plane(each) || !is_uplink(each.link)) continue;
      LinkSum& sum = links_[each.link];
      mapper::add(sum.lost.both, each.recent.both);
      mapper::add(sum.lost.up, each.recent.up);
      mapper::add(sum.lost.down, each.recent.down);
      for (std::size_t i = 0; i < kRecentSpans.size(); ++i) {
        sum.agents[i] += each.recent.both[i] > 0 ? 1U : 0U;
      }
    }
  }

  // From the shortest span that tells.
  void find_direction(const LinkId& link, std::vector<RackFinding>& found) const {
    for (std::size_t span = 0; span < kRecentSpans.size(); ++span) {
      RackFinding each = finding(link, span, {.sent = sent(span)});
      each.is_named = true;
      if (each.direction == Direction::kUnknown) continue;
      found.push_back(each);
      return;
    }
  }

  [[nodiscard]] std::uint64_t sent(std::size_t span) const {
    return rounds_[span] / fabric_.shape().uplinks;
  }

  // Links with most losses first: those that are found are no measure for the others.
  void find(std::size_t span, std::vector<RackFinding>& found) {
    std::vector<std::pair<std::uint64_t, LinkId>> order;
    Tally rest;
    for (const auto& [link, sum] : links_) {
      if (named_.contains(link)) continue;
      rest.lost += sum.lost.both[span];
      if (sum.lost.both[span] >= kLossesMin) order.emplace_back(sum.lost.both[span], link);
    }
    std::ranges::sort(order, std::greater{});
    rest.sent = sent(span) * (fabric_.shape().uplinks - named_.size());
    for (const auto& [lost, link] : order) {
      const Tally own{.sent = std::max(sent(span), lost), .lost = lost};
      if (own.sent >= rest.sent) return;
      Tally others = rest;
      others -= own;
      if (!is_bad(links_.at(link), span, own, others)) continue;
      rest = others;
      named_[link] = true;
      found.push_back(finding(link, span, own));
    }
  }

  [[nodiscard]] bool is_bad(const LinkSum& sum, std::size_t span, const Tally& own,
                            const Tally& others) const {
    if (sum.agents[span] < kAgentsMin || own.loss() < kLeastLoss) return false;
    if (own.loss() < kTimesOthers * others.loss()) return false;
    return stands_out_in_rack(fabric_.shape(), own, others) && !has_healed(sum, span);
  }

  // Most losses were long ago. Other reasons may go on to lose some there. A span may be too short
  // to tell from a long one, and yet tell from one between.
  [[nodiscard]] bool has_healed(const LinkSum& sum, std::size_t span) const {
    for (std::size_t longer = 1; longer <= span; ++longer) {
      for (std::size_t shorter = 0; shorter < longer; ++shorter) {
        const Tally recent{.sent = sent(shorter), .lost = sum.lost.both[shorter]};
        Tally earlier{.sent = sent(longer), .lost = sum.lost.both[longer]};
        if (earlier.sent <= recent.sent || earlier.lost <= recent.lost) continue;
        earlier -= recent;
        if (chance_of(earlier, recent) < kHealed) return true;
      }
    }
    return false;
  }

  [[nodiscard]] RackFinding finding(const LinkId& link, std::size_t span, const Tally& own) const {
    const auto summed = links_.find(link);
    const LinkSum sum = summed == links_.end() ? LinkSum{} : summed->second;
    return {.link = link,
            .direction = direction_of({.sent = own.sent, .lost = sum.lost.up[span]},
                                      {.sent = own.sent, .lost = sum.lost.down[span]}),
            .seen = own,
            .span = kRecentSpans[span],
            .agents = sum.agents[span]};
  }

  fabric::Fabric fabric_;
  std::uint32_t agents_ = 0;
  RecentAmounts rounds_{};
  std::map<LinkId, LinkSum> links_{};
  std::map<LinkId, bool> named_{};  // by an agent, or found here
};

}  // namespace

bool stands_out_in_rack(const fabric::Shape& shape, const Tally& own, const Tally& others) {
  const double questions = static_cast<double>(shape.planes) * shape.racks * shape.uplinks *
                           static_cast<double>(kRecentSpans.size());
  return chance_of(own, others) * questions < kError;
}

std::vector<RackFinding> find_in_rack(const fabric::Fabric& fabric,
                                      std::span<const MapReport* const> agents) {
  std::vector<RackFinding> found;
  if (fabric.shape().uplinks < 2 || agents.size() < kAgentsMin) return found;
  for (std::uint32_t i = 0; i < fabric.shape().planes; ++i) {
    const auto of_plane = PlaneSums(fabric, agents, Plane(static_cast<std::uint8_t>(i))).findings();
    found.insert(found.end(), of_plane.begin(), of_plane.end());
  }
  return found;
}

}  // namespace openmrc::mapper
