// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/scenario/scenario_faults.h"

#include <fmt/format.h>

#include <map>
#include <span>
#include <string>

#include "openmrc/base/check.h"

namespace openmrc::sim {
namespace {

using fabric::Element;
using fabric::Fabric;
using fabric::HostIndex;
using fabric::LinkId;
using fabric::SwitchId;
using fabric::Tier;

constexpr std::size_t kNamesInNoteMax = 3;

Plane plane_at(std::uint64_t index) { return Plane(static_cast<std::uint8_t>(index)); }

LinkId host_link(Plane plane, std::uint32_t rack, std::uint32_t downlink) {
  return {.kind = LinkId::Kind::kHost, .plane = plane, .rack = rack, .port = downlink};
}
LinkId uplink(Plane plane, std::uint32_t rack, std::uint32_t number) {
  return {.kind = LinkId::Kind::kUplink, .plane = plane, .rack = rack, .port = number};
}
LinkId t1_uplink(Plane plane, std::uint32_t t1, std::uint32_t number) {
  return {.kind = LinkId::Kind::kT1Uplink, .plane = plane, .rack = t1, .port = number};
}

void add_t0_links(Plane plane, std::uint32_t rack, const Fabric& fabric,
                  std::vector<LinkId>& links) {
  for (std::uint32_t i = 0; i < fabric.shape().hosts_per_rack; ++i) {
    links.push_back(host_link(plane, rack, i));
  }
  for (std::uint32_t i = 0; i < fabric.shape().uplinks; ++i)
    links.push_back(uplink(plane, rack, i));
}

struct LinksOf {
  const Fabric& fabric;

  std::vector<LinkId> operator()(const LinkId& link) const { return {link}; }
  std::vector<LinkId> operator()(HostIndex host) const {
    std::vector<LinkId> links;
    links.reserve(fabric.shape().planes);
    for (std::uint32_t plane = 0; plane < fabric.shape().planes; ++plane) {
      links.push_back(host_link(plane_at(plane), fabric.rack_of(host), fabric.downlink_of(host)));
    }
    return links;
  }
  std::vector<LinkId> operator()(const SwitchId& id) const {
    std::vector<LinkId> links;
    switch (id.tier) {
      case Tier::kT0: add_t0_links(id.plane, id.index, fabric, links); break;
      case Tier::kT1:
        for (std::uint32_t port = 0; port < fabric.t1_ports(); ++port) {
          links.push_back(fabric.t1_link(id.plane, id.index, port));
        }
        break;
      case Tier::kT2:
        for (std::uint32_t pod = 0; pod < fabric.shape().pods; ++pod) {
          links.push_back(fabric.t2_link(id.plane, id.index, pod));
        }
        break;
    }
    return links;
  }
  // Every link has one T0 or leads from a T1 to a T2.
  std::vector<LinkId> operator()(Plane plane) const {
    std::vector<LinkId> links;
    for (std::uint32_t rack = 0; rack < fabric.shape().racks; ++rack) {
      add_t0_links(plane, rack, fabric, links);
    }
    for (std::uint32_t t2 = 0; t2 < fabric.t2s(); ++t2) {
      for (const LinkId& link : (*this)(SwitchId{plane, Tier::kT2, t2})) links.push_back(link);
    }
    return links;
  }
};

// A host's link is known by its NIC port.
std::string short_name(const Element& element, const Fabric& fabric) {
  const auto* link = std::get_if<LinkId>(&element);
  if (link == nullptr || link->kind != LinkId::Kind::kHost) return name_of(element);
  return name_of(
      fabric::NicPort{.host = fabric.host_at(link->rack, link->port), .plane = link->plane});
}

std::string what_happens(const Breakage& breakage) {
  std::string text = "down";
  if (breakage.speed_percent < 100) {
    text = fmt::format("at {} %", breakage.speed_percent);
  } else if (breakage.mtu != kAnyMtu) {
    text = fmt::format("with an MTU of {} bytes", breakage.mtu);
  } else if (!breakage.down) {
    text = fmt::format("losing {} %", breakage.loss_per_billion / 1e7);
  }
  if (breakage.direction == Direction::kUpward) text += " upward";
  if (breakage.direction == Direction::kDownward) text += " downward";
  return text;
}

std::string_view kind_of(const Element& element) {
  if (const auto* link = std::get_if<LinkId>(&element)) {
    return link->kind == LinkId::Kind::kHost     ? "host links"
           : link->kind == LinkId::Kind::kUplink ? "uplinks"
                                                 : "uplinks of T1s";
  }
  if (std::holds_alternative<SwitchId>(element)) return "switches";
  return std::holds_alternative<HostIndex>(element) ? "hosts" : "planes";
}

std::string names_of(std::span<const BrokenElement> broken, const Fabric& fabric) {
  std::string text;
  if (broken.size() <= kNamesInNoteMax) {
    for (const BrokenElement& one : broken) {
      text += (text.empty() ? "" : ", ") + short_name(one.element, fabric);
    }
    return text;
  }
  std::string_view kind = kind_of(broken.front().element);
  for (const BrokenElement& one : broken) {
    if (kind_of(one.element) != kind) kind = "parts";
  }
  return fmt::format("{} {}", broken.size(), kind);
}

// One note for those in a row that break and come back together.
void add_notes(std::span<const BrokenElement> broken, const Breakage& breakage,
               const Fabric& fabric, std::vector<FaultNote>& notes) {
  for (std::size_t written = 0; !broken.empty() && written < kNotesMax; ++written) {
    const Picoseconds from = broken.front().from;
    const Picoseconds to = broken.front().to;
    std::size_t together = 1;
    while (together < broken.size() && broken[together].from == from && broken[together].to == to) {
      ++together;
    }
    notes.push_back({.from = from,
                     .to = to,
                     .text = fmt::format("{} {}", names_of(broken.first(together), fabric),
                                         what_happens(breakage))});
    broken = broken.subspan(together);
  }
}

}  // namespace

std::uint64_t size_of(ElementGroup group, const Fabric& fabric) {
  const fabric::Shape& shape = fabric.shape();
  const std::uint64_t planes = shape.planes;
  switch (group) {
    case ElementGroup::kUplinks: return planes * shape.racks * shape.uplinks;
    case ElementGroup::kHostLinks: return planes * shape.racks * shape.hosts_per_rack;
    case ElementGroup::kT0s: return planes * shape.racks;
    case ElementGroup::kT1s: return planes * fabric.t1s();
    case ElementGroup::kT1Uplinks: return planes * fabric.t1s() * shape.t1_uplinks;
    case ElementGroup::kT2s: return planes * fabric.t2s();
  }
  return 0;
}

Element element_of(ElementGroup group, std::uint64_t index, const Fabric& fabric) {
  OPENMRC_CHECK(index < size_of(group, fabric), "there are not so many");
  const std::uint64_t in_plane = size_of(group, fabric) / fabric.shape().planes;
  const Plane plane = plane_at(index / in_plane);
  const auto rest = static_cast<std::uint32_t>(index % in_plane);
  const std::uint32_t uplinks = fabric.shape().uplinks;
  const std::uint32_t t1_uplinks = fabric.shape().t1_uplinks;
  switch (group) {
    case ElementGroup::kUplinks: return uplink(plane, rest / uplinks, rest % uplinks);
    case ElementGroup::kHostLinks:
      return host_link(plane, fabric.rack_of(HostIndex(rest)), fabric.downlink_of(HostIndex(rest)));
    case ElementGroup::kT0s: return SwitchId{.plane = plane, .tier = Tier::kT0, .index = rest};
    case ElementGroup::kT1s: return SwitchId{.plane = plane, .tier = Tier::kT1, .index = rest};
    case ElementGroup::kT1Uplinks: return t1_uplink(plane, rest / t1_uplinks, rest % t1_uplinks);
    case ElementGroup::kT2s: return SwitchId{.plane = plane, .tier = Tier::kT2, .index = rest};
  }
  return plane;
}

std::vector<Element> draw(ElementGroup group, std::uint64_t count, Rng& rng, const Fabric& fabric) {
  const std::uint64_t size = size_of(group, fabric);
  OPENMRC_CHECK(count <= size, "there are not so many");
  // The beginning of a shuffle; only cards that have moved are written down.
  std::map<std::uint64_t, std::uint64_t> moved;
  const auto card_at = [&](std::uint64_t place) {
    const auto found = moved.find(place);
    return found == moved.end() ? place : found->second;
  };
  std::vector<Element> result;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t place = rng.between(i, size - 1);
    result.push_back(element_of(group, card_at(place), fabric));
    moved[place] = card_at(i);
  }
  return result;
}

std::vector<Element> all_of(ElementGroup group, const Fabric& fabric) {
  std::vector<Element> result;
  result.reserve(size_of(group, fabric));
  for (std::uint64_t i = 0; i < size_of(group, fabric); ++i) {
    result.push_back(element_of(group, i, fabric));
  }
  return result;
}

std::vector<LinkId> links_of(const Element& element, const Fabric& fabric) {
  return std::visit(LinksOf{fabric}, element);
}

bool expand_fault(const std::vector<BrokenElement>& broken, const Breakage& breakage,
                  const Fabric& fabric, std::vector<LinkFault>& faults,
                  std::vector<FaultNote>& notes) {
  for (const BrokenElement& one : broken) {
    for (const LinkId& link : links_of(one.element, fabric)) {
      const bool of_host = link.kind == LinkId::Kind::kHost;
      faults.push_back({.link = link,
                        .direction = breakage.direction,
                        .from = one.from,
                        .to = one.to,
                        .down = breakage.down,
                        .loss_per_billion = breakage.loss_per_billion,
                        .speed_percent = breakage.speed_percent,
                        .mtu = breakage.mtu,
                        .seen_by_nic = breakage.down && breakage.seen_by_nic && of_host});
    }
    if (faults.size() > kLinkFaultsMax) return false;
  }
  add_notes(broken, breakage, fabric, notes);
  return true;
}

}  // namespace openmrc::sim
