// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/mapper/rack_evidence.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>

#include "openmrc/mapper/one_way_evidence.h"

namespace openmrc::mapper {
namespace {

using fabric::LinkId;

// Fewer may have an error in common, or be one agent that is wrong.
constexpr std::uint32_t kAgentsMin = 3;
// Of all questions that are asked of a fabric in a span of time.
constexpr double kError = 1e-6;
constexpr double kLeastLoss = 1e-5;  // what is rarer is nobody's fault
// The shortest span only says that losses have ended: full queues may lose that long.
constexpr std::size_t kFirstSpan = 1;
// If losses had gone on as before, so few in a shorter span would be less likely.
constexpr double kHealed = 1e-4;
constexpr int kSomewhatLonger = 4;
// So many beside those of the other links would be likelier.
constexpr double kNothingSeen = 1e-3;

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
    std::erase_if(named_, [&](const auto& each) { return !is_half(each.second, agents_); });
  }

  std::vector<RackFinding> findings() {
    std::vector<RackFinding> found;
    if (agents_ < kAgentsMin) return found;
    for (const auto& [link, by] : named_) find_direction(link, found);
    for (std::size_t span = kFirstSpan; span < kRecentSpans.size(); ++span) find(span, found);
    return found;
  }

 private:
  void add(const MapReport& agent, Plane plane) {
    const auto is_of_plane = [&](const auto& each) { return each.link.plane == plane; };
    for (const BadLink& bad : agent.bad) {
      if (!is_of_plane(bad)) continue;
      if (!is_uplink(bad.link)) return;  // who has no link of its own cannot tell
      ++named_[bad.link];
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

  void find_direction(const LinkId& link, std::vector<RackFinding>& found) const {
    RackFinding each = finding(link, kFirstSpan, {.sent = sent(kFirstSpan)});
    each.is_named = true;
    if (each.direction != Direction::kUnknown) found.push_back(each);
  }

  [[nodiscard]] std::uint64_t sent(std::size_t span) const {
    return rounds_[span] / fabric_.shape().uplinks;
  }

  // All links together that are not known to be bad.
  [[nodiscard]] Tally not_named(std::size_t span) const {
    Tally all{.sent = sent(span) * (fabric_.shape().uplinks - named_.size())};
    for (const auto& [link, sum] : links_) {
      if (!named_.contains(link)) all.lost += sum.lost.both[span];
    }
    return all;
  }

  // Links with most losses first: those that are found are no measure for the others.
  void find(std::size_t span, std::vector<RackFinding>& found) {
    std::vector<std::pair<std::uint64_t, LinkId>> order;
    for (const auto& [link, sum] : links_) {
      const std::uint64_t lost = sum.lost.both[span];
      if (!named_.contains(link) && lost >= kLossesMin) order.emplace_back(lost, link);
    }
    std::ranges::sort(order, std::greater{});
    Tally rest = not_named(span);
    for (const auto& [lost, link] : order) {
      const Tally own{.sent = std::max(sent(span), lost), .lost = lost};
      if (own.sent >= rest.sent) return;
      Tally others = rest;
      others -= own;
      if (!is_bad(links_.at(link), span, own, others)) continue;
      rest = others;
      named_[link] = agents_;
      found.push_back(finding(link, span, own));
    }
  }

  [[nodiscard]] bool is_bad(const LinkSum& sum, std::size_t span, const Tally& own,
                            const Tally& others) const {
    if (sum.agents[span] < kAgentsMin || own.loss() < kLeastLoss) return false;
    if (own.loss() < kTimesBad * others.loss()) return false;
    return stands_out_in_rack(fabric_.shape(), own, others) && !has_healed(sum, span);
  }

  // Most losses were long ago. Other reasons may go on to lose some there. A span may be too short
  // to tell from a long one, and yet tell from one between; or have but few of the losses left that
  // a somewhat longer one has.
  [[nodiscard]] bool has_healed(const LinkSum& sum, std::size_t span) const {
    for (std::size_t longer = 1; longer < kRecentSpans.size(); ++longer) {
      if (kRecentSpans[longer] > kRecentSpans[span] * kSomewhatLonger) break;
      for (std::size_t shorter = 0; shorter < std::min(longer, span); ++shorter) {
        const Tally recent{.sent = sent(shorter), .lost = sum.lost.both[shorter]};
        Tally earlier{.sent = sent(longer), .lost = sum.lost.both[longer]};
        if (earlier.sent <= recent.sent || earlier.lost <= recent.lost) continue;
        earlier -= recent;
        if (chance_of(earlier, recent) < kHealed && is_like_others(recent, shorter)) return true;
      }
    }
    return false;
  }

  // What has become less is not good yet.
  [[nodiscard]] bool is_like_others(const Tally& recent, std::size_t span) const {
    Tally others = not_named(span);
    if (others.sent <= recent.sent) return recent.lost == 0;
    others -= recent;
    return recent.loss() < kTimesBad * others.loss() || chance_of(recent, others) > kNothingSeen;
  }

  [[nodiscard]] RackFinding finding(const LinkId& link, std::size_t span, const Tally& own) const {
    const auto summed = links_.find(link);
    static const LinkSum kNone{};
    const LinkSum& sum = summed == links_.end() ? kNone : summed->second;
    return {.link = link,
            .direction = direction_from(sum, span),
            .seen = own,
            .span = kRecentSpans[span],
            .agents = sum.agents[span]};
  }

  // From the shortest span that tells.
  [[nodiscard]] Direction direction_from(const LinkSum& sum, std::size_t span) const {
    for (; span < kRecentSpans.size(); ++span) {
      const Direction found = direction_in(sum, span);
      if (found != Direction::kUnknown) return found;
    }
    return Direction::kUnknown;
  }

  [[nodiscard]] Direction direction_in(const LinkSum& sum, std::size_t span) const {
    OneWayEvidence lost{.both = static_cast<double>(sum.lost.both[span]),
                        .up = static_cast<double>(sum.lost.up[span]),
                        .down = static_cast<double>(sum.lost.down[span])};
    // A probe that comes down this link went up another one, and is counted there as well.
    double up_of_others = -lost.down;
    double down_of_others = -lost.up;
    for (const auto& [other, of_other] : links_) {
      if (&of_other == &sum || named_.contains(other)) continue;
      up_of_others += static_cast<double>(of_other.lost.up[span]);
      down_of_others += static_cast<double>(of_other.lost.down[span]);
    }
    const double others = static_cast<double>(fabric_.shape().uplinks) - 1;
    lost.up_usual = std::max(0.0, up_of_others) / others;
    lost.down_usual = std::max(0.0, down_of_others) / others;
    return likely_direction(lost);
  }

  fabric::Fabric fabric_;
  std::uint32_t agents_ = 0;
  RecentAmounts rounds_{};
  std::map<LinkId, LinkSum> links_{};
  std::map<LinkId, std::uint32_t> named_{};  // by how many agents; half, or found here
};

}  // namespace

bool stands_out_in_rack(const fabric::Shape& shape, const Tally& own, const Tally& others) {
  const double questions = static_cast<double>(shape.planes) * shape.racks * shape.uplinks *
                           static_cast<double>(kRecentSpans.size() - kFirstSpan);
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
