// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/agent/profiles/profile_names.h"

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <span>

namespace openmrc::libmrc {
namespace {

template <class T>
struct Named {
  T value;
  std::string_view name;
};

constexpr std::array<Named<mrc_ctl_profile_state>, 3> kStates{{{MRC_CTL_PROFILE_INIT, "INIT"},
                                                               {MRC_CTL_PROFILE_OFFLINE, "OFFLINE"},
                                                               {MRC_CTL_PROFILE_ONLINE, "ONLINE"}}};
constexpr std::array<Named<mrc_ctl_ev_fmt_mode>, 3> kFormatModes{
    {{MRC_CTL_EV_FMT_MODE_STEV, "STEV"},
     {MRC_CTL_EV_FMT_MODE_SRV6, "SRV6"},
     {MRC_CTL_EV_FMT_MODE_UDP, "UDP"}}};
constexpr std::array<Named<mrc_ctl_ev_mode>, 3> kEvModes{
    {{MRC_CTL_EV_MODE_AUTO, "AUTO"}, {MRC_CTL_EV_MODE_EXP, "EXP"}, {MRC_CTL_EV_MODE_GEN, "GEN"}}};
constexpr std::array<Named<mrc_ctl_ev_state>, 4> kEvStates{{{MRC_CTL_EV_GOOD, "GOOD"},
                                                            {MRC_CTL_EV_ASSUMED_BAD, "ASSUMED_BAD"},
                                                            {MRC_CTL_EV_DENIED, "DENIED"},
                                                            {MRC_CTL_EV_UNKNOWN, "UNKNOWN"}}};

template <class T, std::size_t kCount>
std::string_view name_in(const std::array<Named<T>, kCount>& names, T value) {
  for (const Named<T>& each : names) {
    if (each.value == value) return each.name;
  }
  return "?";
}

template <class T, std::size_t kCount>
bool find_in(const std::array<Named<T>, kCount>& names, std::string_view name, T& value) {
  for (const Named<T>& each : names) {
    if (each.name != name) continue;
    value = each.value;
    return true;
  }
  return false;
}

}  // namespace

std::string_view name_of(mrc_ctl_profile_state state) { return name_in(kStates, state); }
std::string_view name_of(mrc_ctl_ev_fmt_mode mode) { return name_in(kFormatModes, mode); }
std::string_view name_of(mrc_ctl_ev_mode mode) { return name_in(kEvModes, mode); }
std::string_view name_of(mrc_ctl_ev_state state) { return name_in(kEvStates, state); }

bool parse_name(std::string_view name, mrc_ctl_profile_state& value) {
  return find_in(kStates, name, value);
}
bool parse_name(std::string_view name, mrc_ctl_ev_fmt_mode& value) {
  return find_in(kFormatModes, name, value);
}
bool parse_name(std::string_view name, mrc_ctl_ev_mode& value) {
  return find_in(kEvModes, name, value);
}
bool parse_name(std::string_view name, mrc_ctl_ev_state& value) {
  return find_in(kEvStates, name, value);
}

std::string hex_of(const core::EvBits& bits) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::size_t used = bits.size();
  while (used > 1 && bits[used - 1] == std::byte{0}) --used;
  std::string text;
  for (const std::byte byte : std::span(bits).first(used)) {
    text += kDigits[std::to_integer<std::size_t>(byte >> 4)];
    text += kDigits[std::to_integer<std::size_t>(byte & std::byte{15})];
  }
  return text;
}

std::optional<core::EvBits> bits_from_hex(std::string_view text) {
  core::EvBits bits{};
  if (text.empty() || text.size() % 2 != 0 || text.size() > 2 * bits.size()) return std::nullopt;
  for (std::size_t i = 0; i < text.size(); i += 2) {
    std::uint8_t byte = 0;
    const char* const end = text.data() + i + 2;
    const auto [stop, error] = std::from_chars(text.data() + i, end, byte, 16);
    if (error != std::errc{} || stop != end) return std::nullopt;
    bits[i / 2] = std::byte{byte};
  }
  return bits;
}

}  // namespace openmrc::libmrc
