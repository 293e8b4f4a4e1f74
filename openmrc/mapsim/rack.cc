// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/mapsim/rack.h"

#include <variant>

#include "openmrc/fabric/names.h"

namespace openmrc::mapsim {
namespace {

using mapper::Finding;

class RackRun {
 public:
  RackRun(const Settings& settings, const FaultTable& faults, std::uint32_t rack)
      : settings_(settings), faults_(faults) {
    const auto fabric = fabric::Fabric::make(settings.shape);
    const fabric::UsidPlan plan(*fabric);
    agents_.reserve(settings.shape.hosts_per_rack);
    for (std::uint32_t i = 0; i < settings.shape.hosts_per_rack; ++i) {
      agents_.emplace_back(settings, faults, plan, fabric->host_at(rack, i));
    }
  }

  RackResult run() {
    const Instant end = Instant{} + settings_.length;
    for (Instant now = Instant{} + kLookInterval; now <= end; now = now + kLookInterval) {
      look(now);
    }
    result_.agents = agents_.size();
    for (const Agent& each : agents_) {
      result_.rounds_judged += each.counters().rounds_judged;
      result_.rounds_left_out += each.counters().rounds_left_out;
      result_.probes_lost += each.counters().lost;
    }
    return std::move(result_);
  }

 private:
  void look(Instant now) {
    reports_.clear();
    bool has_lost = false;
    for (Agent& each : agents_) {
      each.run_until(now);
      reports_.push_back(each.report(now));
      has_lost = has_lost || !reports_.back().links.empty();
      check_agent(reports_.back(), now);
    }
    if (!has_lost) return;
    for (auto& [link, naming] : result_.named) naming.is_named = false;
    for (const Finding& each : mapper::merge(reports_).findings) check(each, now);
  }

  [[nodiscard]] bool is_true(const fabric::LinkId& link, Instant now) const {
    const LinkFault* fault = faults_.find(link);
    return fault != nullptr && now >= fault->from;
  }

  void check_agent(const mapper::MapReport& report, Instant now) {
    for (const mapper::BadLink& bad : report.bad) {
      if (is_true(bad.link, now)) continue;
      result_.false_by_agents.insert("h" + std::to_string(report.index.raw()) + " " +
                                     fabric::name_of(bad.link));
    }
  }

  void check(const Finding& finding, Instant now) {
    const auto* link = std::get_if<fabric::LinkId>(&finding.element);
    if (link == nullptr || !is_true(*link, now)) {
      result_.false_names.insert(name_of(finding.element));
      return;
    }
    const auto [naming, is_new] =
        result_.named.try_emplace(*link, Naming{.at = now, .by_rack = finding.by_rack});
    naming->second.direction = finding.direction;
    naming->second.is_named = true;
  }

  const Settings& settings_;
  const FaultTable& faults_;
  std::vector<Agent> agents_{};
  std::vector<mapper::MapReport> reports_{};
  RackResult result_{};
};

}  // namespace

RackResult run_rack(const Settings& settings, const FaultTable& faults, std::uint32_t rack) {
  return RackRun(settings, faults, rack).run();
}

}  // namespace openmrc::mapsim
