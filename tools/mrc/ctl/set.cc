// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mrc/ctl/set.h"

#include <fmt/core.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <string_view>

#include "openmrc/agent/profiles/profile_json.h"
#include "openmrc/agent/profiles/profile_names.h"

namespace openmrc::tools::ctl {
namespace {

using libmrc::AgentClient;
using libmrc::ProfileState;

int finish(const libmrc::Outcome& outcome) { return outcome.ok() ? 0 : complain(outcome); }

// A profile of one kind, as far as its life goes.
template <class Id, class Query, class Profile, class Modify, class Change>
struct Kind {
  static std::optional<Profile> find(AgentClient& agent, std::uint64_t id, int& exit_code) {
    return ask<Profile>(agent, Query{Id(id)}, exit_code);
  }
  static int modify(AgentClient& agent, std::uint64_t id, Change change) {
    return finish(agent.call(Modify{Id(id), std::move(change)}).outcome);
  }
  // Sets what is given, making the profile if need be; then goes step by step where it shall be.
  static int set(AgentClient& agent, std::uint64_t id, Change change,
                 std::optional<ProfileState> target) {
    int exit_code = 0;
    auto profile = find(agent, id, exit_code);
    if (!profile) return exit_code;
    const bool fresh = profile->state == MRC_CTL_PROFILE_INIT;
    if (fresh && target != MRC_CTL_PROFILE_INIT) change.state = MRC_CTL_PROFILE_OFFLINE;
    if (exit_code = modify(agent, id, std::move(change)); exit_code != 0) return exit_code;
    return target ? go_to(agent, id, *target) : 0;
  }
  static int go_to(AgentClient& agent, std::uint64_t id, ProfileState target) {
    int exit_code = 0;
    auto profile = find(agent, id, exit_code);
    while (exit_code == 0 && profile->state != target) {
      // OFFLINE is between the other two.
      profile->state = profile->state == MRC_CTL_PROFILE_OFFLINE ? target : MRC_CTL_PROFILE_OFFLINE;
      exit_code = modify(agent, id, Change{.state = profile->state});
    }
    return exit_code;
  }
};
using Format = Kind<libmrc::FormatId, libmrc::QueryFormat, libmrc::FormatProfile,
                    libmrc::ModifyFormat, libmrc::FormatChange>;
using Ev = Kind<libmrc::EvProfileId, libmrc::QueryEvProfile, libmrc::EvProfile,
                libmrc::ModifyEvProfile, libmrc::EvProfileChange>;
using Cc = Kind<libmrc::CcProfileId, libmrc::QueryCcProfile, libmrc::CcProfile,
                libmrc::ModifyCcProfile, libmrc::CcProfileChange>;

template <class T>
bool take_name(const std::optional<std::string>& text, std::optional<T>& value) {
  return !text || libmrc::parse_name(*text, value.emplace());
}

std::optional<std::uint32_t> number_of(std::string_view text) {
  const bool hex = text.starts_with("0x");
  if (hex) text.remove_prefix(2);
  std::uint32_t number = 0;
  const auto [stop, error] =
      std::from_chars(text.data(), text.data() + text.size(), number, hex ? 16 : 10);
  if (error != std::errc{} || stop != text.data() + text.size()) return std::nullopt;
  return number;
}

// "16:0x1000:0:255:0x0f0f"
std::optional<core::EvField> field_of(std::string_view text) {
  std::array<std::uint32_t, 5> parts{};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::size_t end = text.find(':');
    if ((end == std::string_view::npos) != (i + 1 == parts.size())) return std::nullopt;
    const auto number = number_of(text.substr(0, end));
    if (!number) return std::nullopt;
    parts[i] = *number;
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return core::EvField{parts[0], parts[1], parts[2], parts[3], parts[4]};
}

// "4ac2@1"
std::optional<libmrc::EvKey> ev_of(std::string_view text) {
  const std::size_t at = text.find('@');
  if (at == std::string_view::npos) return std::nullopt;
  const auto bits = libmrc::bits_from_hex(text.substr(0, at));
  const auto port = number_of(text.substr(at + 1));
  if (!bits || !port || *port > 255) return std::nullopt;
  return libmrc::EvKey{*bits, PortNumber(static_cast<std::uint8_t>(*port))};
}

std::optional<std::vector<libmrc::EvEdit>> edits_of(const std::vector<std::string>& evs,
                                                    const libmrc::EvEdit& like, bool fills) {
  std::vector<libmrc::EvEdit> edits;
  for (const std::string& text : evs) {
    const auto ev = ev_of(text);
    if (!ev) {
      complain(fmt::format("invalid EV '{}': expected hexadecimal@port, e.g. 4ac2@1", text));
      return std::nullopt;
    }
    libmrc::EvEdit& edit = edits.emplace_back(like);
    if (fills) {
      edit.replacement = ev;
    } else {
      edit.ev = *ev;
    }
  }
  return edits;
}

std::optional<libmrc::EvProfileChange> change_of(const EvSetting& setting) {
  libmrc::EvProfileChange change{.count = setting.count, .min_active = setting.min_active};
  if (!take_name(setting.mode, change.mode)) {
    complain("--mode must be AUTO, EXP or GEN");
    return std::nullopt;
  }
  if (setting.format) change.format = libmrc::FormatId(*setting.format);
  if (!setting.count && !setting.evs.empty()) {
    change.count = static_cast<std::uint32_t>(setting.evs.size());
  }
  for (const std::string& name : setting.events) {
    mrc_ctl_ev_state state{};
    if (name != "none" && !libmrc::parse_name(name, state)) {
      complain("--events must be GOOD, ASSUMED_BAD, or none");
      return std::nullopt;
    }
    change.event_mask = change.event_mask.value_or(0) | static_cast<int>(state);
  }
  for (const std::string& text : setting.fields) {
    const auto field = field_of(text);
    if (!field) {
      complain(fmt::format("invalid field '{}': expected BITS:INIT:MIN:MAX:MASK", text));
      return std::nullopt;
    }
    if (!change.fields) change.fields.emplace();
    change.fields->push_back(*field);
  }
  return change;
}

// "base_rtt=9000", by the names of the interface.
bool set_parameter(libmrc::Json& config, const std::string& text) {
  const std::size_t at = text.find('=');
  if (at == std::string::npos || !config.contains(text.substr(0, at))) return false;
  libmrc::Json value = libmrc::Json::parse(text.substr(at + 1), nullptr, false);
  if (!value.is_number()) return false;
  config[text.substr(0, at)] = std::move(value);
  return true;
}

}  // namespace

int set_port(const Options& options, const PortSetting& setting) {
  AgentClient agent({.path = options.socket});
  const PortNumber port(static_cast<std::uint8_t>(setting.port));
  return finish(agent.call(libmrc::ModifyPort{port, setting.state == "enabled"}).outcome);
}

int set_format(const Options& options, const FormatSetting& setting) {
  libmrc::FormatChange change;
  std::optional<ProfileState> target;
  if (!take_name(setting.mode, change.mode)) return complain("--mode must be STEV, SRV6 or UDP");
  if (!take_name(setting.state, target)) return complain("--state must be INIT, OFFLINE or ONLINE");
  for (const std::uint32_t width : setting.widths) {
    if (!change.widths) change.widths.emplace();
    change.widths->push_back(static_cast<std::uint8_t>(std::min(width, 255u)));
  }
  AgentClient agent({.path = options.socket});
  return Format::set(agent, setting.id, std::move(change), target);
}

int set_ev_profile(const Options& options, const EvSetting& setting) {
  std::optional<ProfileState> target;
  if (!take_name(setting.state, target)) return complain("--state must be INIT, OFFLINE or ONLINE");
  auto change = change_of(setting);
  const auto edits = edits_of(setting.evs, {.ev = libmrc::kUnpopulated}, true);
  if (!change || !edits) return kNoAgent;
  AgentClient agent({.path = options.socket});
  int exit_code = 0;
  const auto before = Ev::find(agent, setting.id, exit_code);
  if (!before) return exit_code;
  if (before->state == MRC_CTL_PROFILE_INIT) {  // what a person need not say
    if (!change->min_active) change->min_active = 0;
    if (!change->event_mask) change->event_mask = MRC_CTL_EV_GOOD | MRC_CTL_EV_ASSUMED_BAD;
  }
  if (edits->empty()) return Ev::set(agent, setting.id, std::move(*change), target);
  exit_code = Ev::set(agent, setting.id, std::move(*change), std::nullopt);
  if (exit_code != 0) return exit_code;
  exit_code = Ev::modify(agent, setting.id, {.edits = edits});
  return exit_code == 0 && target ? Ev::go_to(agent, setting.id, *target) : exit_code;
}

int set_cc_profile(const Options& options, const CcSetting& setting) {
  std::optional<ProfileState> target;
  if (!take_name(setting.state, target)) return complain("--state must be INIT, OFFLINE or ONLINE");
  libmrc::CcProfileChange change;
  if (setting.algorithm) {
    change.algorithm = *setting.algorithm == "none" ? std::string{} : *setting.algorithm;
  }
  AgentClient agent({.path = options.socket});
  int exit_code = 0;
  const auto before = Cc::find(agent, setting.id, exit_code);
  if (!before) return exit_code;
  libmrc::Json config = libmrc::json_of(before->config.value_or(mrc_ctl_cc_nscc_cfg{}));
  for (const std::string& text : setting.parameters) {
    if (!set_parameter(config, text)) {
      return complain(
          fmt::format("invalid parameter '{}': expected NAME=VALUE of the algorithm", text));
    }
  }
  if (!setting.parameters.empty()) {
    const std::string error = libmrc::read_json(config, change.config.emplace());
    if (!error.empty()) return complain("invalid parameters: " + error);
  }
  return Cc::set(agent, setting.id, std::move(change), target);
}

int set_ev_states(const Options& options, const EvStateSetting& setting) {
  const auto edits = edits_of(
      setting.evs,
      {.state = setting.deny ? MRC_CTL_EV_DENIED : MRC_CTL_EV_GOOD, .all_copies = true}, false);
  if (!edits) return kNoAgent;
  AgentClient agent({.path = options.socket});
  const auto outcome =
      agent.call(libmrc::ModifyEvProfile{libmrc::EvProfileId(setting.id), {.edits = edits}})
          .outcome;
  if (!outcome.ok() && outcome.entries_done > 0) {
    complain(fmt::format("the first {} were set", outcome.entries_done));
  }
  return finish(outcome);
}

}  // namespace openmrc::tools::ctl
