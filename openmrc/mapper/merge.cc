// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/mapper/merge.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>
#include <vector>

#include "openmrc/mapper/rack_evidence.h"

namespace openmrc::mapper {
namespace {

using fabric::HostIndex;
using fabric::LinkId;
using fabric::SwitchId;
using fabric::Tier;

bool is_host_link(const LinkId& link) { return link.kind == LinkId::Kind::kHost; }

// Collects what is said of links, then finds what they have in common.
class Merger {
 public:
  explicit Merger(const std::map<HostIndex, const MapReport*>& reports,
                  const fabric::Fabric& fabric)
      : fabric_(fabric) {
    std::map<std::uint32_t, std::vector<const MapReport*>> racks;
    for (const auto& [host, report] : reports) {
      racks[fabric_.rack_of(host)].push_back(report);
      ++agents_[fabric_.rack_of(host)];
      for (const BadLink& bad : report->bad) add(bad);
      for (const SlowLink& slow : report->slow) delays_[slow.link].push_back(slow.delay);
    }
    for (const auto& [rack, agents] : racks) {
      for (const RackFinding& each : find_in_rack(fabric_, agents)) add(each);
    }
  }

  std::vector<Finding> findings() {
    std::vector<Finding> found;
    std::erase_if(links_, [&](const auto& each) { return !is_agreed(each.first, each.second); });
    take_t0s(found);
    take_t1s(found);
    for (auto& [link, finding] : links_) {
      finding.asked = is_host_link(link) ? 1 : agents_that_see(link);
      finding.loss /= finding.found_by;
      finding.direction = majority(directions_[link]);
      found.push_back(finding);
    }
    take_slow(found);
    return found;
  }

 private:
  using Votes = std::array<std::uint32_t, 4>;

  void add(const BadLink& bad) {
    if (is_host_link(bad.link)) ++blind_[{bad.link.plane, bad.link.rack}];
    Finding& finding = links_[bad.link];
    finding.element = bad.link;
    finding.loss += bad.loss;
    finding.seen += bad.seen;
    finding.age = std::max(finding.age, bad.age);
    ++finding.found_by;
    ++directions_[bad.link][static_cast<std::size_t>(bad.direction)];
  }

  void add(const RackFinding& found) {
    if (found.is_named) {
      if (majority(directions_[found.link]) == Direction::kUnknown) {
        ++directions_[found.link][static_cast<std::size_t>(found.direction)];
      }
      return;
    }
    links_[found.link] = {.element = found.link,
                          .loss = found.seen.loss() * found.agents,
                          .seen = found.seen,
                          .age = found.span,
                          .found_by = found.agents,
                          .by_rack = true};
    directions_[found.link][static_cast<std::size_t>(found.direction)] = 1;
  }

  // Those that do not know count for nothing; those that contradict each other, for both.
  static Direction majority(const Votes& votes) {
    const auto of = [&](Direction d) { return votes[static_cast<std::size_t>(d)]; };
    const std::uint32_t up = of(Direction::kUp);
    const std::uint32_t down = of(Direction::kDown);
    const std::uint32_t both = of(Direction::kBoth);
    if (up + down + both == 0) return Direction::kUnknown;
    if (up > down + both) return Direction::kUp;
    if (down > up + both) return Direction::kDown;
    return Direction::kBoth;
  }

  // Who has no link of its own in the plane cannot tell.
  [[nodiscard]] std::uint32_t agents_that_see(const LinkId& link) const {
    const std::uint32_t all = agents_.at(link.rack);
    const auto blind = blind_.find({link.plane, link.rack});
    return blind == blind_.end() ? all : all - blind->second;
  }

  // Half of those that see an uplink: a host may have a reason of its own to lose probes.
  [[nodiscard]] bool is_agreed(const LinkId& link, const Finding& finding) const {
    return is_host_link(link) || finding.by_rack ||
           is_half(finding.found_by, agents_that_see(link));
  }

  template <class Condition>
  Finding take(const SwitchId& id, Condition is_part) {
    Finding whole{.element = id, .direction = Direction::kBoth};
    std::uint32_t links = 0;
    for (auto it = links_.begin(); it != links_.end();) {
      if (!is_part(it->first)) {
        ++it;
        continue;
      }
      const Finding& part = it->second;
      whole.loss += part.loss / part.found_by;
      whole.seen += part.seen;
      whole.age = std::max(whole.age, part.age);
      whole.found_by += part.found_by;
      ++links;
      it = links_.erase(it);
    }
    whole.loss /= std::max(1U, links);
    whole.asked = whole.found_by;
    return whole;
  }

  // An uplink is slow if most of those that see it say so: one of them may be slow itself.
  void take_slow(std::vector<Finding>& found) {
    for (auto& [link, delays] : delays_) {
      const auto count = static_cast<std::uint32_t>(delays.size());
      const std::uint32_t asked = is_host_link(link) ? 1 : agents_that_see(link);
      if (links_.contains(link) || count * 2 <= asked) continue;
      std::ranges::sort(delays);
      found.push_back(
          {.element = link, .delay = delays[count / 2], .found_by = count, .asked = asked});
    }
  }

  // All hosts of a rack, if more than one can be asked, lose their link in a plane.
  void take_t0s(std::vector<Finding>& found) {
    for (const auto& [place, count] : blind_) {
      const Plane plane = place.first;
      const std::uint32_t rack = place.second;
      if (count < 2 || count < agents_.at(rack)) continue;
      found.push_back(take({plane, Tier::kT0, rack}, [&](const LinkId& link) {
        return is_host_link(link) && link.plane == plane && link.rack == rack;
      }));
    }
  }

  // All racks that can see a T1, if more than one, say that their link to it is bad.
  void take_t1s(std::vector<Finding>& found) {
    std::map<std::pair<Plane, std::uint32_t>, std::uint32_t> racks;
    for (const auto& [link, finding] : links_) {
      if (!is_host_link(link)) ++racks[{link.plane, link.port}];
    }
    for (const auto& [t1, count] : racks) {
      const Plane plane = t1.first;
      const std::uint32_t number = t1.second;
      std::uint32_t seeing = 0;
      for (const auto& [rack, agents] : agents_) {
        if (agents_that_see({LinkId::Kind::kUplink, plane, rack, number}) > 0) ++seeing;
      }
      if (count < 2 || count < seeing) continue;
      found.push_back(take({plane, Tier::kT1, number}, [&](const LinkId& link) {
        return !is_host_link(link) && link.plane == plane && link.port == number;
      }));
    }
  }

  fabric::Fabric fabric_;
  std::map<std::uint32_t, std::uint32_t> agents_{};                   // by rack
  std::map<std::pair<Plane, std::uint32_t>, std::uint32_t> blind_{};  // without a link, by rack
  std::map<LinkId, Finding> links_{};
  std::map<LinkId, Votes> directions_{};
  std::map<LinkId, std::vector<Duration>> delays_{};
};

}  // namespace

MergedMap merge(std::span<const MapReport> reports) {
  MergedMap merged;
  if (reports.empty()) return merged;
  merged.shape = reports.front().shape;
  std::map<HostIndex, const MapReport*> by_host;
  for (const MapReport& report : reports) {
    if (report.shape != merged.shape) {
      merged.left_out.push_back(report.host);
    } else {
      by_host[report.index] = &report;
    }
  }
  merged.findings = Merger(by_host, *fabric::Fabric::make(merged.shape)).findings();
  return merged;
}

}  // namespace openmrc::mapper
