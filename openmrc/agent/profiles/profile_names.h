// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mrc_ctl.h>

#include <optional>
#include <string>
#include <string_view>

#include "openmrc/core/paths/ev_expansion.h"

// What messages, files and commands call the values of the control interface.
namespace openmrc::libmrc {

std::string_view name_of(mrc_ctl_profile_state state);  // "INIT", "OFFLINE", "ONLINE"
std::string_view name_of(mrc_ctl_ev_fmt_mode mode);     // "STEV", "SRV6", "UDP"
std::string_view name_of(mrc_ctl_ev_mode mode);         // "AUTO", "EXP", "GEN"
std::string_view name_of(mrc_ctl_ev_state state);  // "GOOD", "ASSUMED_BAD", "DENIED", "UNKNOWN"

// False, and `value` as it was, if there is no such name.
bool parse_name(std::string_view name, mrc_ctl_profile_state& value);
bool parse_name(std::string_view name, mrc_ctl_ev_fmt_mode& value);
bool parse_name(std::string_view name, mrc_ctl_ev_mode& value);
bool parse_name(std::string_view name, mrc_ctl_ev_state& value);

// The bits of an EV in hexadecimal, without the zero bytes at its end; "00" if all are zero.
std::string hex_of(const core::EvBits& bits);
std::optional<core::EvBits> bits_from_hex(std::string_view text);

}  // namespace openmrc::libmrc
