// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mrc/ctl/show.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "openmrc/agent/profiles/profile_json.h"
#include "openmrc/agent/profiles/profile_names.h"

namespace openmrc::tools::ctl {
namespace {

using libmrc::AgentClient;
using libmrc::Json;
using libmrc::name_of;

// A table whose columns are as wide as they need to be.
class Table {
 public:
  explicit Table(std::vector<std::string> head) { add(std::move(head)); }
  void add(std::vector<std::string> row) {
    widths_.resize(std::max(widths_.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths_[i] = std::max(widths_[i], row[i].size());
    rows_.push_back(std::move(row));
  }
  void print() const {
    for (const auto& row : rows_) {
      std::string line;
      for (std::size_t i = 0; i < row.size(); ++i)
        line += fmt::format("{:<{}}  ", row[i], widths_[i]);
      line.erase(line.find_last_not_of(' ') + 1);
      fmt::print("{}\n", line);
    }
  }

 private:
  std::vector<std::vector<std::string>> rows_;
  std::vector<std::size_t> widths_;
};

void print_json(const Json& json) {
  fmt::print("{}\n", json.dump(2, ' ', false, Json::error_handler_t::replace));
}

std::string_view name_of_admin(bool enabled) { return enabled ? "enabled" : "disabled"; }

template <class T>
std::string text_of(const std::optional<T>& value) {
  return value ? fmt::format("{}", *value) : "-";
}

Json json_of(const std::vector<libmrc::ProfileSummary>& list) {
  Json json = Json::array();
  for (const auto& each : list) {
    json.push_back({{"id", each.id}, {"state", name_of(each.state)}, {"uses", each.uses}});
  }
  return json;
}

void print_format(std::uint64_t id, const libmrc::FormatProfile& format) {
  std::string widths;
  for (const std::uint8_t width : format.widths) widths += fmt::format(" {}", width);
  fmt::print("format {}: {}, mode {}, fields of{} bits\n", id, name_of(format.state),
             format.mode ? name_of(*format.mode) : "-", widths.empty() ? " -" : widths);
}

std::string event_names(int mask) {
  std::string names;
  for (const auto state : {MRC_CTL_EV_GOOD, MRC_CTL_EV_ASSUMED_BAD}) {
    if ((mask & state) != 0)
      names += fmt::format("{}{}", names.empty() ? "" : ", ", name_of(state));
  }
  return names.empty() ? "none" : names;
}

void print_ev_profile(std::uint64_t id, const libmrc::EvProfile& profile, std::uint64_t uses) {
  fmt::print("EV profile {}: {}, mode {}, {} EVs, used by {} processes\n", id,
             name_of(profile.state), profile.mode ? name_of(*profile.mode) : "-",
             profile.evs.size(), uses);
  if (profile.format) fmt::print("format {}\n", profile.format->raw());
  fmt::print("min active: {}\nevents: {}\n", text_of(profile.min_active),
             event_names(profile.event_mask.value_or(0)));
  if (!profile.fields.empty()) {
    fmt::print("\n");
    Table fields({"field", "bits", "init", "min", "max", "mask"});
    for (std::size_t i = 0; i < profile.fields.size(); ++i) {
      const core::EvField& field = profile.fields[i];
      fields.add({std::to_string(i), std::to_string(field.width), fmt::format("{:#x}", field.init),
                  fmt::format("{:#x}", field.min), fmt::format("{:#x}", field.max),
                  fmt::format("{:#x}", field.mask)});
    }
    fields.print();
  }
  if (profile.evs.empty()) return;
  fmt::print("\n");
  Table evs({"EV", "state"});
  for (const libmrc::EvStatus& each : profile.evs) {
    const bool there = each.ev != libmrc::kUnpopulated;
    evs.add({there ? fmt::format("{}@{}", libmrc::hex_of(each.ev.value), each.ev.port.raw()) : "-",
             std::string(name_of(each.state))});
  }
  evs.print();
}

void print_cc_profile(std::uint64_t id, const libmrc::CcProfile& profile, std::uint64_t uses) {
  const std::string algorithm = !profile.algorithm           ? "-"
                                : profile.algorithm->empty() ? "none"
                                                             : *profile.algorithm;
  fmt::print("congestion control profile {}: {}, algorithm {}, used by {} processes\n", id,
             name_of(profile.state), algorithm, uses);
  if (!profile.config) return;
  fmt::print("\n");
  Table values({"parameter", "value"});
  const Json config = libmrc::json_of(*profile.config);
  for (const auto& [key, value] : config.items()) values.add({key, value.dump()});
  values.print();
}

std::uint64_t uses_of(const std::vector<libmrc::ProfileSummary>& list, std::uint64_t id) {
  const auto found = std::ranges::find(list, id, &libmrc::ProfileSummary::id);
  return found == list.end() ? 0 : found->uses;
}

bool is_in(const std::vector<libmrc::ProfileSummary>& list, std::uint64_t id) {
  return std::ranges::find(list, id, &libmrc::ProfileSummary::id) != list.end();
}

}  // namespace

int show_ports(const Options& options) {
  AgentClient agent({.path = options.socket});
  int exit_code = 0;
  const auto device = ask<libmrc::DeviceInfo>(agent, libmrc::QueryDevice{}, exit_code);
  if (!device) return exit_code;
  if (options.json) {
    Json ports = Json::array();
    for (const libmrc::PortInfo& port : device->ports) {
      ports.push_back(
          {{"port", port.port.raw()}, {"interface", port.name}, {"enabled", port.enabled}});
    }
    print_json({{"host", device->host}, {"ports", ports}});
    return 0;
  }
  Table table({"port", "interface", "state"});
  for (const libmrc::PortInfo& port : device->ports) {
    table.add({std::to_string(port.port.raw()), port.name.empty() ? "-" : port.name,
               std::string(name_of_admin(port.enabled))});
  }
  table.print();
  return 0;
}

int show_profiles(const Options& options) {
  AgentClient agent({.path = options.socket});
  int exit_code = 0;
  const auto list = ask<libmrc::ProfileList>(agent, libmrc::ListProfiles{}, exit_code);
  if (!list) return exit_code;
  if (options.json) {
    print_json({{"formats", json_of(list->formats)},
                {"ev_profiles", json_of(list->ev_profiles)},
                {"cc_profiles", json_of(list->cc_profiles)}});
    return 0;
  }
  Table table({"kind", "id", "state", "processes"});
  const auto add = [&](const char* kind, const std::vector<libmrc::ProfileSummary>& all) {
    for (const auto& each : all) {
      table.add({kind, std::to_string(each.id), std::string(name_of(each.state)),
                 std::to_string(each.uses)});
    }
  };
  add("format", list->formats);
  add("ev", list->ev_profiles);
  add("cc", list->cc_profiles);
  table.print();
  return 0;
}

int show_profile(const Options& options, std::uint64_t id) {
  AgentClient agent({.path = options.socket});
  int exit_code = 0;
  const auto list = ask<libmrc::ProfileList>(agent, libmrc::ListProfiles{}, exit_code);
  if (!list) return exit_code;
  Json json = Json::object();
  const auto show = [&](const char* kind, const auto& profile, const auto& print) {
    if (!profile) return;
    if (options.json) {
      json[kind] = libmrc::json_of(*profile);
    } else {
      print(*profile);
    }
  };
  if (is_in(list->formats, id)) {
    const auto format =
        ask<libmrc::FormatProfile>(agent, libmrc::QueryFormat{libmrc::FormatId(id)}, exit_code);
    show("format", format, [&](const auto& each) { print_format(id, each); });
  }
  if (is_in(list->ev_profiles, id)) {
    const auto profile =
        ask<libmrc::EvProfile>(agent, libmrc::QueryEvProfile{libmrc::EvProfileId(id)}, exit_code);
    show("ev", profile,
         [&](const auto& each) { print_ev_profile(id, each, uses_of(list->ev_profiles, id)); });
  }
  if (is_in(list->cc_profiles, id)) {
    const auto profile =
        ask<libmrc::CcProfile>(agent, libmrc::QueryCcProfile{libmrc::CcProfileId(id)}, exit_code);
    show("cc", profile,
         [&](const auto& each) { print_cc_profile(id, each, uses_of(list->cc_profiles, id)); });
  }
  if (exit_code != 0) return exit_code;
  if (options.json) print_json(json);
  if (is_in(list->formats, id) || is_in(list->ev_profiles, id) || is_in(list->cc_profiles, id)) {
    return 0;
  }
  return options.json ? kRefused : complain(fmt::format("no profile {}; see mrc ctl profiles", id));
}

}  // namespace openmrc::tools::ctl
