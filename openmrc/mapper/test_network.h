// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "openmrc/base/rng.h"
#include "openmrc/fabric/names.h"
#include "openmrc/mapper/mapper.h"

// A network that loses packets as it is told, and a host's mapper in it, in time that is counted.
namespace openmrc::mapper::test {

inline constexpr std::uint64_t kMillion = 1'000'000;

// A cable in one direction; up is from the host to the T0 and from the T0 to the T1.
struct Way {
  fabric::LinkId link{};
  bool up = true;

  auto operator<=>(const Way&) const = default;
};

class Network {
 public:
  explicit Network(std::uint64_t seed) : rng_(seed) {}

  std::map<Way, std::uint64_t> losses{};  // packets of a million
  std::map<Way, Duration> delays{};
  std::uint64_t everywhere = 0;  // as `losses`, on each link crossed
  bool is_paused = false;        // everything is lost

  void lose_both(const fabric::LinkId& link, std::uint64_t per_million) {
    losses[{link, true}] = per_million;
    losses[{link, false}] = per_million;
  }

  // Whether a probe of the host comes back.
  bool carries(const ProbePlan& plan, const ProbePath& path) {
    if (is_paused) return false;
    return std::ranges::all_of(ways_of(plan, path), [&](const Way& way) { return passes(way); });
  }

  [[nodiscard]] Duration delay_of(const ProbePlan& plan, const ProbePath& path) const {
    Duration sum{};
    for (const Way& way : ways_of(plan, path)) {
      const auto found = delays.find(way);
      if (found != delays.end()) sum += found->second;
    }
    return sum;
  }

  static std::vector<Way> ways_of(const ProbePlan& plan, const ProbePath& path) {
    const fabric::LinkId own = plan.fabric().host_link(plan.host(), path.plane);
    const auto uplink = [&](std::uint32_t rack, std::uint32_t port) {
      return fabric::LinkId{fabric::LinkId::Kind::kUplink, path.plane, rack, port};
    };
    std::vector<Way> ways{{own, true}};
    if (path.kind != ProbeKind::kT0) ways.push_back({uplink(plan.rack(), path.out), true});
    if (path.kind == ProbeKind::kFar) {
      ways.push_back({uplink(path.far_rack, path.out), false});
      ways.push_back({uplink(path.far_rack, path.back), true});
    }
    if (path.kind != ProbeKind::kT0) ways.push_back({uplink(plan.rack(), path.back), false});
    ways.push_back({own, false});
    return ways;
  }

 private:
  bool passes(const Way& way) {
    const auto found = losses.find(way);
    const std::uint64_t own = found == losses.end() ? 0 : found->second;
    return rng_.below(kMillion) >= own && rng_.below(kMillion) >= everywhere;
  }

  Rng rng_;
};

inline fabric::UsidPlan plan_of(const fabric::Shape& shape) {
  return fabric::UsidPlan(*fabric::Fabric::make(shape));
}
// As the lab of the tests.
inline constexpr fabric::Shape kSmall{.planes = 4, .racks = 2, .hosts_per_rack = 2, .uplinks = 2};

class Rig {
 public:
  explicit Rig(const fabric::Shape& shape = kSmall, std::uint64_t seed = 1, std::uint32_t host = 0,
               const MapperSettings& settings = {.rounds_per_second = 200})
      : network(seed),
        mapper(ProbePlan(plan_of(shape), fabric::HostIndex(host)), settings, {seed, 7}) {}

  Network network;
  Mapper mapper;
  Instant now{1};

  // Until so much time has passed, or a verdict is there if that is waited for.
  void run(Duration span, bool until_verdict = false) {
    const Instant end = now + span;
    while (now < end) {
      now = std::max(now, mapper.next_tick());
      deliver();
      mapper.tick(now);
      if (until_verdict && !mapper.judge().verdicts().empty()) return;
      for (const Mapper::Outgoing& each : mapper.round(now)) {
        mapper.sent(each.path);
        if (network.carries(mapper.plan(), each.path)) {
          under_way_.push_back({now + delay + network.delay_of(mapper.plan(), each.path), each});
        }
      }
    }
  }
  // The process does not run; the network does.
  void stop(Duration span) { now = now + span; }

  [[nodiscard]] fabric::LinkId link(std::string_view name) const {
    return *fabric::parse_link(mapper.plan().fabric(), name);
  }
  // "p0.t0-0/up1 up", in the order of links.
  [[nodiscard]] std::vector<std::string> names() const {
    constexpr const char* kDirections[] = {"?", "up", "down", "both"};
    std::vector<std::string> all;
    for (const Verdict& each : mapper.judge().verdicts()) {
      all.push_back(name_of(each.link) + " " + kDirections[static_cast<int>(each.direction)]);
    }
    return all;
  }

  Duration delay = microseconds(50);

 private:
  struct UnderWay {
    Instant at{};
    Mapper::Outgoing probe{};
  };

  void deliver() {
    for (const UnderWay& each : under_way_) {
      if (each.at <= now) mapper.receive(each.probe.path.plane, each.probe.bytes, each.at);
    }
    std::erase_if(under_way_, [&](const UnderWay& each) { return each.at <= now; });
  }

  std::vector<UnderWay> under_way_{};
};

}  // namespace openmrc::mapper::test
