// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/mrc/ctl/agent.h"

// Changes, written as a person writes them. Each returns the exit code.
namespace openmrc::tools::ctl {

struct PortSetting {
  std::uint32_t port = 0;
  std::string state{};  // "enabled" or "disabled"
};
struct FormatSetting {
  std::uint64_t id = 0;
  std::optional<std::string> mode{};
  std::vector<std::uint32_t> widths{};
  std::optional<std::string> state{};
};
struct EvSetting {
  std::uint64_t id = 0;
  std::optional<std::string> mode{};
  std::optional<std::uint64_t> format{};
  std::optional<std::uint32_t> count{};
  std::optional<std::uint32_t> min_active{};
  std::vector<std::string> events{};
  std::vector<std::string> fields{};  // BITS:INIT:MIN:MAX:MASK
  std::vector<std::string> evs{};     // HEX@PORT
  std::optional<std::string> state{};
};
struct CcSetting {
  std::uint64_t id = 0;
  std::optional<std::string> algorithm{};
  std::vector<std::string> parameters{};  // NAME=VALUE
  std::optional<std::string> state{};
};
struct EvStateSetting {
  std::uint64_t id = 0;
  std::vector<std::string> evs{};  // HEX@PORT
  bool deny = true;
};

int set_port(const Options& options, const PortSetting& setting);
int set_format(const Options& options, const FormatSetting& setting);
int set_ev_profile(const Options& options, const EvSetting& setting);
int set_cc_profile(const Options& options, const CcSetting& setting);
int set_ev_states(const Options& options, const EvStateSetting& setting);

}  // namespace openmrc::tools::ctl
