// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/scenario/scenario_fault_section.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "openmrc/base/rng.h"
#include "openmrc/fabric/names.h"
#include "openmrc/sim/scenario/fault_fields.h"
#include "openmrc/sim/scenario/scenario_faults.h"
#include "openmrc/text/table_reader.h"
#include "openmrc/text/units.h"

namespace openmrc::sim {
namespace {

using fabric::Element;
using fabric::Fabric;
using text::Field;
using text::TableReader;

constexpr std::uint64_t kFaultStream = 0x6661756c74;  // "fault"

constexpr std::uint64_t kFlapsMax = 1'000'000;
constexpr std::uint16_t kMtuMin = 256;  // control packets pass, and trimmed ones
constexpr Picoseconds kTimeMax{text::kAmountMax};

enum class FaultKind : std::uint8_t {
  kCut,
  kFlap,
  kLoss,
  kSlow,
  kMtu,
  kSwitchDown,
  kPortDown,
  kPlaneDown,
};

// In the order of the enumerators.
constexpr std::array<std::string_view, 8> kFaultKinds{
    "cut", "flap", "loss", "slow", "mtu", "switch-down", "port-down", "plane-down"};
static_assert(static_cast<int>(FaultKind::kPlaneDown) == 7);

template <class Parsed>
Result<Element, fabric::NameError> as_element(Result<Parsed, fabric::NameError> parsed) {
  if (!parsed) return failure(std::move(parsed.error()));
  return Element(*parsed);
}

// A thing of the kind that can have this fault.
Result<Element, fabric::NameError> parse_target(FaultKind kind, const Fabric& fabric,
                                                std::string_view name) {
  if (kind == FaultKind::kSwitchDown) return as_element(fabric::parse_switch(fabric, name));
  if (kind == FaultKind::kPlaneDown) return as_element(fabric::parse_plane(fabric, name));
  if (kind == FaultKind::kPortDown) {
    const auto port = fabric::parse_port(fabric, name);
    if (!port) return failure(port.error());
    return Element(fabric::LinkId{.kind = fabric::LinkId::Kind::kHost,
                                  .plane = port->plane,
                                  .rack = fabric.rack_of(port->host),
                                  .port = fabric.downlink_of(port->host)});
  }
  return fabric::parse_element(fabric, name);
}

bool group_fits(FaultKind kind, ElementGroup group) {
  const bool switches =
      group == ElementGroup::kT0s || group == ElementGroup::kT1s || group == ElementGroup::kT2s;
  if (kind == FaultKind::kSwitchDown) return switches;
  if (kind == FaultKind::kPortDown) return group == ElementGroup::kHostLinks;
  return kind != FaultKind::kPlaneDown;
}

FaultKind fault_kind_of(TableReader& section) {
  FaultKind kind{};
  section.require("kind");
  section.read(Field::word("kind", kind, kFaultKinds));
  return kind;
}

class FaultReader {
 public:
  FaultReader(TableReader& section, const Fabric& fabric, Rng rng)
      : section_(section), fabric_(fabric), rng_(rng) {}

  void read(Scenario& scenario) {
    kind_ = fault_kind_of(section_);
    if (!section_.ok()) return section_.skip_rest();
    const std::vector<Element> elements = read_elements();
    const Breakage breakage = read_breakage();
    std::vector<BrokenElement> broken = read_times(elements);
    if (kind_ == FaultKind::kFlap) broken = read_flaps(broken);
    if (!section_.ok()) return;
    if (!expand_fault(broken, breakage, fabric_, scenario.faults, scenario.fault_notes)) {
      section_.error("kind", "the faults of this scenario concern too many links");
    }
  }

 private:
  // `what`, or `random` or `all` of a group.
  std::vector<Element> read_elements() {
    std::vector<Element> named = read_names();
    std::uint64_t count = 0;
    bool all = false;
    ElementGroup group{};
    const bool random = section_.read(Field::whole("random", count, 1));
    section_.read(Field::flag("all", all));
    const bool has_group = section_.read(Field::word("of", group, kGroupWords));
    const int ways = (section_.has("target") ? 1 : 0) + (random ? 1 : 0) + (all ? 1 : 0);
    if (ways != 1) section_.error("target", "give one of target, random and all");
    if (!random && !all) {
      if (has_group) section_.error("of", "goes with random or all");
      return named;
    }
    section_.require("of");
    const std::uint64_t size = check_group(group);
    if (count > size) section_.error("random", fmt::format("the fabric has {} of them", size));
    if (!section_.ok()) return {};
    return random ? draw(group, count, rng_, fabric_) : all_of(group, fabric_);
  }

  std::vector<Element> read_names() {
    std::vector<Element> result;
    for (const text::Value* value : section_.elements("target")) {
      const auto* name = value->as<std::string>();
      const auto element = parse_target(kind_, fabric_, name != nullptr ? *name : "");
      if (element) {
        result.push_back(*element);
      } else {
        section_.error_at(*value, "target", to_string(element.error()));
      }
    }
    return result;
  }

  // How many there are.
  std::uint64_t check_group(ElementGroup group) {
    if (!group_fits(kind_, group)) section_.error("of", "cannot have a fault of this kind");
    const std::uint64_t size = size_of(group, fabric_);
    if (size == 0) section_.error("of", "the fabric has none of them");
    return size;
  }

  Breakage read_breakage() {
    Breakage breakage;
    if (kind_ == FaultKind::kLoss) {
      section_.require("rate");
      section_.read(Field::share("rate", breakage.loss_per_billion));
    } else if (kind_ == FaultKind::kSlow) {
      breakage.speed_percent = read_speed(section_);
    } else if (kind_ == FaultKind::kMtu) {
      section_.require("bytes");
      section_.read(Field::bytes("bytes", breakage.mtu, kMtuMin, kAnyMtu - 1));
    } else {
      breakage.down = true;
      section_.read(Field::flag("seen", breakage.seen_by_nic));
    }
    if (kind_ <= FaultKind::kMtu) {
      section_.read(Field::word("direction", breakage.direction, kDirectionWords));
    }
    return breakage;
  }

  // When each of them breaks and comes back.
  std::vector<BrokenElement> read_times(const std::vector<Element>& elements) {
    Picoseconds at{};
    Picoseconds until = kNoTime;
    Picoseconds lasts = kNoTime;
    Picoseconds stagger{};
    const bool has_at = section_.read(Field::duration("at", at));
    const std::vector<Picoseconds> between = read_between();
    if (has_at && !between.empty()) section_.error("between", "is another way to say at");
    const bool has_until = section_.read(Field::duration("until", until));
    if (section_.read(Field::duration("for", lasts)) && has_until) {
      section_.error("for", "is another way to say until");
    }
    if (section_.read(Field::duration("stagger", stagger))) {
      if (!between.empty()) section_.error("stagger", "goes with at");
      const auto count = static_cast<std::int64_t>(elements.size());
      if (count > 0 && stagger > kTimeMax / count) section_.error("stagger", "is too long");
    }
    if (!section_.ok()) return {};
    std::vector<BrokenElement> broken;
    for (const Element& element : elements) {
      const Picoseconds from = between.empty() ? at : time_in(between);
      broken.push_back(
          {.element = element, .from = from, .to = lasts == kNoTime ? until : from + lasts});
      at += stagger;
      if (broken.back().to <= from) {
        section_.error(has_until ? "until" : "for", "ends before it begins");
        return {};
      }
    }
    return broken;
  }

  std::vector<Picoseconds> read_between() {
    std::vector<Picoseconds> times;
    for (const text::Value* value : section_.elements("between")) {
      Picoseconds& time = times.emplace_back();
      section_.read_value(Field::duration("between", time), *value);
    }
    if (section_.ok() && !times.empty() && (times.size() != 2 || times[0] > times[1])) {
      section_.error("between", "must be two times, the earlier one first");
      times.clear();
    }
    return times;
  }

  Picoseconds time_in(const std::vector<Picoseconds>& between) {
    return Picoseconds(
        static_cast<std::int64_t>(rng_.between(static_cast<std::uint64_t>(between[0].raw()),
                                               static_cast<std::uint64_t>(between[1].raw()))));
  }

  // A flapping link is down and up in turn, `count` times or until its time is over.
  std::vector<BrokenElement> read_flaps(const std::vector<BrokenElement>& flapping) {
    Picoseconds down{};
    Picoseconds up{};
    Picoseconds period{};
    std::uint64_t count = kFlapsMax;
    section_.require("down");
    section_.read(Field::duration("down", down));
    const bool has_up = section_.read(Field::duration("up", up));
    const bool has_period = section_.read(Field::duration("period", period));
    if (has_up == has_period) section_.error("up", "give one of up and period");
    if (has_up) period = down + up;
    const bool has_count = section_.read(Field::whole("count", count, 1, kFlapsMax));
    if (!has_count && !section_.has("until") && !section_.has("for")) {
      section_.error("count", "give one of count, until and for");
    }
    if (!section_.ok()) return {};
    if (down <= Picoseconds{} || period <= down) {
      section_.error("down", "a flapping link must be down for a while, and up for a while");
      return {};
    }

    std::vector<BrokenElement> result;
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::size_t before = result.size();
      if (static_cast<std::int64_t>(i) > kTimeMax.raw() / period.raw()) break;
      const Picoseconds later = period * static_cast<std::int64_t>(i);
      for (const BrokenElement& one : flapping) {
        const Picoseconds from = one.from + later;
        if (from >= one.to) continue;
        result.push_back(
            {.element = one.element, .from = from, .to = std::min(from + down, one.to)});
      }
      if (result.size() == before) break;
      if (result.size() > kLinkFaultsMax) {
        section_.error("count", "too many flaps");
        break;
      }
    }
    return result;
  }

  TableReader& section_;
  const Fabric& fabric_;
  Rng rng_;
  FaultKind kind_ = FaultKind::kCut;
};

}  // namespace

void read_fault_kinds(TableReader& file) {
  file.for_each_table("fault", [](TableReader& section) {
    (void)fault_kind_of(section);
    section.skip_rest();
  });
}

void read_faults(TableReader& file, const Fabric& fabric, Scenario& scenario) {
  std::uint64_t place = 0;
  const Rng rng = Rng(scenario.seed).fork(kFaultStream);
  file.for_each_table("fault", [&](TableReader& section) {
    FaultReader(section, fabric, rng.fork(place++)).read(scenario);
  });
}

}  // namespace openmrc::sim
