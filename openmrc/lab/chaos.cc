// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/lab/chaos.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "openmrc/base/rng.h"
#include "openmrc/host/interrupt.h"
#include "openmrc/lab/layout.h"
#include "openmrc/text/units.h"

namespace openmrc::lab {
namespace {

using fabric::Element;
using fabric::HostIndex;
using fabric::LinkId;
using fabric::SwitchId;
using fabric::Tier;

// Faults of one plane follow each other with some time to recover in between.
constexpr std::uint64_t kLengthMinMs = 50;
constexpr std::uint64_t kLengthMaxMs = 2000;
constexpr std::uint64_t kPauseMinMs = 200;
constexpr std::uint64_t kPauseMaxMs = 4000;

Duration draw_time(Rng& rng, std::uint64_t least_ms, std::uint64_t most_ms) {
  return milliseconds(static_cast<std::int64_t>(rng.between(least_ms, most_ms)));
}

std::uint32_t draw_below(Rng& rng, std::uint32_t count) {
  return static_cast<std::uint32_t>(rng.below(count));
}

LinkId draw_link(Rng& rng, const Spec& spec, Plane plane) {
  auto links = links_of(spec.fabric(), plane);
  return links[rng.below(links.size())];
}

// What happens, in a plane.
void draw_fault(Rng& rng, const Spec& spec, Plane plane, ChaosFault& fault) {
  const fabric::Fabric fabric = spec.fabric();
  switch (rng.below(6)) {
    case 0: fault.what = plane; return;
    case 1: {
      const bool t1 = fabric.has_t1() && rng.chance({1, 2});
      const std::uint32_t count = t1 ? spec.shape.uplinks : spec.shape.racks;
      fault.what = SwitchId{plane, t1 ? Tier::kT1 : Tier::kT0, draw_below(rng, count)};
      return;
    }
    case 2:
      fault.what = fabric.host_link(HostIndex(draw_below(rng, fabric.hosts())), plane);
      fault.fault.kind = Fault::Kind::kPort;
      return;
    case 3:
      fault.fault.kind = Fault::Kind::kSilent;
      fault.fault.loss =
          rng.chance({1, 4}) ? kAllPackets : static_cast<std::uint32_t>(rng.between(100, 5000));
      break;
    case 4: fault.flaps_hz = static_cast<double>(rng.between(2, 10)); break;
    default: break;
  }
  fault.what = draw_link(rng, spec, plane);
}

std::vector<ChaosFault> draw_for_plane(Rng rng, const Spec& spec, Plane plane, Duration span) {
  std::vector<ChaosFault> faults;
  for (Duration at = draw_time(rng, 0, kPauseMaxMs);;
       at += draw_time(rng, kPauseMinMs, kPauseMaxMs)) {
    ChaosFault fault{.at = at, .end = at + draw_time(rng, kLengthMinMs, kLengthMaxMs)};
    if (fault.end > span) return faults;
    draw_fault(rng, spec, plane, fault);
    at = fault.end;
    faults.push_back(fault);
  }
}

// A fault that would leave no plane whole does not happen.
void spare_one_plane(std::uint32_t planes, std::vector<ChaosFault>& faults) {
  std::vector<ChaosFault> kept;
  for (const ChaosFault& fault : faults) {
    const auto meanwhile =
        std::ranges::count_if(kept, [&](const ChaosFault& other) { return other.end >= fault.at; });
    if (std::cmp_less(meanwhile + 1, planes)) kept.push_back(fault);
  }
  faults = std::move(kept);
}

// Something that is done at a time: a fault begins, comes, goes or ends.
struct Act {
  Duration at{};
  std::size_t fault = 0;
  bool heals = false;
  bool reported = false;
};

std::vector<Act> acts_of(const std::vector<ChaosFault>& faults) {
  std::vector<Act> acts;
  for (std::size_t i = 0; i < faults.size(); ++i) {
    const ChaosFault& fault = faults[i];
    acts.push_back({.at = fault.at, .fault = i, .heals = false, .reported = true});
    if (fault.flaps_hz > 0) {
      const auto half = nanoseconds(static_cast<std::int64_t>(0.5e9 / fault.flaps_hz));
      bool heals = true;
      for (Duration at = fault.at + half; at < fault.end; at += half, heals = !heals) {
        acts.push_back({.at = at, .fault = i, .heals = heals});
      }
    }
    acts.push_back({.at = fault.end, .fault = i, .heals = true, .reported = true});
  }
  std::ranges::stable_sort(acts, {}, &Act::at);
  return acts;
}

Result<Moment, std::string> perform(const Spec& spec, const ChaosFault& fault, bool heals) {
  const auto links = links_of(spec.fabric(), fault.what);
  return heals ? heal(spec, links) : inflict(spec, links, fault.fault);
}

}  // namespace

std::string to_string(const ChaosFault& fault) {
  std::string text = "cut " + name_of(fault.what);
  if (fault.fault.kind == Fault::Kind::kPort) text += " --admin";
  if (fault.fault.kind == Fault::Kind::kSilent) {
    text += fmt::format(" --loss {:g}%", fault.fault.loss / 100.0);
  }
  if (fault.flaps_hz > 0) text += fmt::format(" {:g} times a second", fault.flaps_hz);
  return text + " for " + text::format_duration(fault.end - fault.at);
}

std::vector<ChaosFault> draw_chaos(const Spec& spec, std::uint64_t seed, Duration span) {
  const Rng rng(seed);
  std::vector<ChaosFault> faults;
  for (std::uint32_t plane = 0; plane < spec.shape.planes; ++plane) {
    std::ranges::move(draw_for_plane(rng.fork(plane), spec, plane_at(plane), span),
                      std::back_inserter(faults));
  }
  std::ranges::stable_sort(faults, {}, &ChaosFault::at);
  spare_one_plane(spec.shape.planes, faults);
  return faults;
}

Result<void, std::string> play_chaos(const Spec& spec, const std::vector<ChaosFault>& faults,
                                     Duration span,
                                     const std::function<void(const ChaosEvent&)>& report) {
  host::catch_interrupts();
  const std::int64_t begin_ns = monotonic_ns();
  Result<void, std::string> result;
  for (const Act& act : acts_of(faults)) {
    sleep_until(begin_ns + act.at.raw());
    if (host::interrupted()) break;
    const auto moment = perform(spec, faults[act.fault], act.heals);
    if (!moment) {
      result = failure(moment.error());
      break;
    }
    if (act.reported) report({.fault = faults[act.fault], .healed = act.heals, .moment = *moment});
  }
  if (result) sleep_until(begin_ns + span.raw());
  const auto healed = heal_all(spec);
  if (!healed && result) result = failure(healed.error());
  return result;
}

}  // namespace openmrc::lab
