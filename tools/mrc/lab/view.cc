// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mrc/lab/view.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "openmrc/lab/layout.h"
#include "openmrc/lab/netns.h"
#include "tools/mrc/colour.h"

namespace openmrc::lab {
namespace {

using fabric::HostIndex;
using fabric::LinkId;
using fabric::SwitchId;
using fabric::Tier;

constexpr std::size_t kWidthMax = 100;
constexpr std::size_t kGap = 3;  // between planes

char mark_of(Condition condition) {
  switch (condition) {
    case Condition::kUp: return '-';
    case Condition::kCut: return 'x';
    case Condition::kPortDown: return '_';
    case Condition::kLossy: return '~';
    case Condition::kSilent: return '!';
    case Condition::kFlapping: return '%';
    case Condition::kMissing: return '?';
  }
  return '?';
}

// One plane, a T0 after the other: its hosts on the left, its T1s on the right. Every link has one
// place.
//
//   h0 -+- t0-0 -+- t1-0
//   h1 -+        +- t1-1
class PlanePicture {
 public:
  PlanePicture(const Spec& spec, const LinkStates& states, Plane plane)
      : spec_(spec), states_(states), plane_(plane) {
    lines_.push_back(fmt::format("plane {}", name_of(plane)));
    for (std::uint32_t rack = 0; rack < spec.shape.racks; ++rack) add_rack(rack);
    for (const std::string& line : lines_) width_ = std::max(width_, line.size());
  }

  [[nodiscard]] std::size_t width() const { return width_; }
  [[nodiscard]] std::size_t height() const { return lines_.size(); }
  [[nodiscard]] std::string line(std::size_t at) const {
    return fmt::format("{:<{}}", lines_[at], width_);
  }

 private:
  [[nodiscard]] char mark(LinkId::Kind kind, std::uint32_t rack, std::uint32_t port) const {
    return mark_of(states_.at({kind, plane_, rack, port}).condition);
  }

  void add_rack(std::uint32_t rack) {
    const fabric::Shape& shape = spec_.shape;
    const std::size_t name_width = name_of(HostIndex(spec_.fabric().hosts() - 1)).size();
    const std::string t0 = fmt::format("t0-{}", rack);
    const std::uint32_t height = std::max(shape.hosts_per_rack, shape.uplinks);
    for (std::uint32_t i = 0; i < height; ++i) {
      std::string line(name_width + 3, ' ');
      if (i < shape.hosts_per_rack) {
        line = fmt::format("{:>{}} {}+", name_of(spec_.fabric().host_at(rack, i)), name_width,
                           mark(LinkId::Kind::kHost, rack, i));
      }
      line += i == 0 ? fmt::format("- {}", t0) : std::string(2 + t0.size(), ' ');
      if (i < shape.uplinks) {
        line += fmt::format("{}+{} t1-{}", i == 0 ? " -" : "  ",
                            mark(LinkId::Kind::kUplink, rack, i), i);
      }
      lines_.push_back(line);
    }
  }

  const Spec& spec_;
  const LinkStates& states_;
  Plane plane_;
  std::vector<std::string> lines_{};
  std::size_t width_ = 0;
};

std::string legend(const LinkStates& states) {
  std::string text;
  for (const Condition condition :
       {Condition::kCut, Condition::kPortDown, Condition::kLossy, Condition::kSilent,
        Condition::kFlapping, Condition::kMissing}) {
    const auto is = [&](const auto& entry) { return entry.second.condition == condition; };
    if (std::ranges::any_of(states, is)) {
      text += fmt::format("{}{} {}", text.empty() ? "  " : ",  ", mark_of(condition),
                          name_of(condition));
    }
  }
  return text.empty() ? text : text + "\n";
}

// "cut", or "lossy, 20 %".
std::string condition_text(const LinkState& state) {
  std::string text(name_of(state.condition));
  if (state.condition == Condition::kLossy) text += fmt::format(", {:g} %", state.loss / 100.0);
  return text;
}

tools::Colour colour_of(Condition condition) {
  switch (condition) {
    case Condition::kUp: return tools::Colour::kGood;
    case Condition::kLossy:
    case Condition::kFlapping: return tools::Colour::kWarning;
    case Condition::kCut:
    case Condition::kPortDown:
    case Condition::kSilent:
    case Condition::kMissing: break;
  }
  return tools::Colour::kBad;
}

// "3/4", green if all are up, red if none is.
std::string ports_text(std::uint32_t up, std::uint32_t all, bool coloured) {
  const tools::Colour colour = up == all ? tools::Colour::kGood
                               : up == 0 ? tools::Colour::kBad
                                         : tools::Colour::kWarning;
  return tools::painted(fmt::format("{:<9}", fmt::format("{}/{}", up, all)), colour, coloured);
}

std::size_t count_of(const LinkStates& states, Condition condition) {
  return static_cast<std::size_t>(std::ranges::count_if(
      states, [&](const auto& entry) { return entry.second.condition == condition; }));
}

std::string link_text(const Spec& spec, const LinkId& link) {
  if (link.kind == LinkId::Kind::kUplink) {
    return fmt::format("{} - {}", name_of(SwitchId{link.plane, Tier::kT0, link.rack}),
                       name_of(SwitchId{link.plane, Tier::kT1, link.port}));
  }
  return fmt::format("{} - {}", name_of(spec.fabric().host_at(link.rack, link.port)),
                     name_of(SwitchId{link.plane, Tier::kT0, link.rack}));
}

std::size_t processes_of(const Spec& spec, HostIndex host) {
  return processes_in(std::array{space_of(spec.name, host)}).size();
}

bool port_is_up(const Spec& spec, const LinkStates& states, HostIndex host, std::uint32_t plane) {
  const auto condition = states.at(spec.fabric().host_link(host, plane_at(plane))).condition;
  return condition == Condition::kUp || condition == Condition::kLossy ||
         condition == Condition::kSilent;
}

// A switch that no link leads to.
bool is_isolated(const Spec& spec, const LinkStates& states, const SwitchId& id) {
  return std::ranges::all_of(links_of(spec.fabric(), id), [&](const LinkId& link) {
    const auto condition = states.at(link).condition;
    return condition == Condition::kCut || condition == Condition::kMissing;
  });
}

nlohmann::ordered_json host_json(const Spec& spec, const LinkStates& states, HostIndex host) {
  auto ports = nlohmann::ordered_json::array();
  for (std::uint32_t i = 0; i < spec.shape.planes; ++i) {
    const auto address = data_address(spec, host, plane_at(i));
    ports.push_back({{"interface", name_of(plane_at(i))},
                     {"address", to_string(address)},
                     {"up", port_is_up(spec, states, host, i)}});
  }
  return {{"name", name_of(host)},
          {"namespace", space_of(spec.name, host)},
          {"management", management_address(spec, host)},
          {"config", config_file(spec.name, host).string()},
          {"processes", processes_of(spec, host)},
          {"ports", ports}};
}

nlohmann::ordered_json link_json(const Spec& spec, const LinkId& link, const LinkState& state) {
  const Cable cable = cable_of(spec, link);
  nlohmann::ordered_json json{{"name", name_of(link)},
                              {"state", name_of(state.condition)},
                              {"ends", nlohmann::ordered_json::array()}};
  if (state.loss > 0) json["loss"] = state.loss / 1e4;
  for (const End* end : {&cable.t0, &cable.far}) {
    json["ends"].push_back({{"namespace", end->space}, {"interface", end->interface}});
  }
  return json;
}

}  // namespace

std::string draw(const Spec& spec, const LinkStates& states) {
  std::vector<PlanePicture> planes;
  planes.reserve(spec.shape.planes);
  for (std::uint32_t i = 0; i < spec.shape.planes; ++i) {
    planes.emplace_back(spec, states, plane_at(i));
  }
  const std::size_t abreast =
      std::max<std::size_t>(1, (kWidthMax + kGap - 2) / (planes.front().width() + kGap));
  std::string text;
  for (std::size_t first = 0; first < planes.size(); first += abreast) {
    const std::size_t end = std::min(planes.size(), first + abreast);
    if (first > 0) text += "\n";
    for (std::size_t line = 0; line < planes.front().height(); ++line) {
      std::string whole(2, ' ');
      for (std::size_t i = first; i < end; ++i) {
        if (i > first) whole += std::string(kGap, ' ');
        whole += planes[i].line(line);
      }
      text += whole.substr(0, whole.find_last_not_of(' ') + 1) + "\n";
    }
  }
  return text + legend(states);
}

std::string status_text(const Spec& spec, const LinkStates& states, bool coloured) {
  std::string text = fmt::format("lab '{}': {}\n\n", spec.name, describe(spec));
  const std::string head =
      fmt::format("  {:<6} {:<22} {:<9} {}", "host", "management", "ports up", "processes");
  text += tools::painted(head, tools::Colour::kStrong, coloured) + "\n";
  for (std::uint32_t i = 0; i < spec.fabric().hosts(); ++i) {
    const HostIndex host(i);
    std::uint32_t up = 0;
    for (std::uint32_t p = 0; p < spec.shape.planes; ++p) {
      if (port_is_up(spec, states, host, p)) ++up;
    }
    text += fmt::format("  {:<6} {:<22} {} {}\n", name_of(host), management_address(spec, host),
                        ports_text(up, spec.shape.planes, coloured), processes_of(spec, host));
  }
  const std::size_t up = count_of(states, Condition::kUp);
  text += fmt::format("\n  links: {} of {} up\n", up, states.size());
  for (const auto& [link, state] : states) {
    if (state.condition == Condition::kUp) continue;
    const std::string condition = fmt::format("{:<12}", condition_text(state));
    text += fmt::format("    {:<14} {} {}\n", name_of(link),
                        tools::painted(condition, colour_of(state.condition), coloured),
                        link_text(spec, link));
  }
  const auto switches = all_switches(spec.fabric());
  const auto isolated = std::ranges::count_if(
      switches, [&](const SwitchId& id) { return is_isolated(spec, states, id); });
  text += fmt::format("  switches: {} of {} with a link\n",
                      switches.size() - static_cast<std::size_t>(isolated), switches.size());
  return text;
}

std::string status_json(const Spec& spec, const LinkStates& states) {
  auto json = nlohmann::ordered_json::parse(to_json(spec));
  json["hosts"] = nlohmann::ordered_json::array();
  for (std::uint32_t i = 0; i < spec.fabric().hosts(); ++i) {
    json["hosts"].push_back(host_json(spec, states, HostIndex(i)));
  }
  json["switches"] = nlohmann::ordered_json::array();
  for (const SwitchId& id : all_switches(spec.fabric())) {
    json["switches"].push_back({{"name", name_of(id)},
                                {"namespace", space_of(spec.name, id)},
                                {"isolated", is_isolated(spec, states, id)}});
  }
  json["links"] = nlohmann::ordered_json::array();
  for (const auto& [link, state] : states) json["links"].push_back(link_json(spec, link, state));
  return json.dump(2) + "\n";
}

std::string next_steps(const Spec& spec) {
  const std::string lab = spec.name == kNameDefault ? "" : " --lab " + spec.name;
  const std::string name = spec.name == kNameDefault ? "" : " " + spec.name;
  const HostIndex last(spec.fabric().hosts() - 1);
  const Plane plane = plane_at(spec.shape.planes - 1);
  return fmt::format(
      "Next, in two terminals:\n"
      "  sudo mrc lab exec{0} {1} mrc perf write-bw\n"
      "  sudo mrc lab exec{0} h0 mrc perf write-bw {1} --duration 20\n"
      "Meanwhile, in a third:\n"
      "  sudo mrc lab cut{0} {2}\n"
      "  sudo mrc lab heal{0}\n"
      "And at the end:\n"
      "  sudo mrc lab down{3}\n",
      lab, name_of(last), name_of(plane), name);
}

}  // namespace openmrc::lab
