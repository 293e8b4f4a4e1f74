// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/agent/profiles/profile_types.h"

#include <cstdlib>

namespace openmrc::libmrc {
namespace {

core::EvFormatMode core_mode(mrc_ctl_ev_fmt_mode mode) {
  switch (mode) {
    case MRC_CTL_EV_FMT_MODE_STEV: return core::EvFormatMode::kStev;
    case MRC_CTL_EV_FMT_MODE_SRV6: return core::EvFormatMode::kSrv6;
    case MRC_CTL_EV_FMT_MODE_UDP: return core::EvFormatMode::kUdp;
  }
  return core::EvFormatMode::kStev;
}

}  // namespace

core::EvFormat core_format(const FormatProfile& format) {
  core::EvFormat made{.mode = core_mode(format.mode.value_or(MRC_CTL_EV_FMT_MODE_STEV))};
  for (const std::uint8_t width : format.widths) made.slot_widths.push_back(width);
  return made;
}

bool is_one_step(ProfileState from, ProfileState to) {
  const int distance = static_cast<int>(to) - static_cast<int>(from);  // they are 0, 1, 2
  return to >= MRC_CTL_PROFILE_INIT && to <= MRC_CTL_PROFILE_ONLINE && std::abs(distance) <= 1;
}

Result<std::shared_ptr<const core::EvProfile>, core::EvProfileError> expand(
    const EvProfileImage& image, std::size_t planes) {
  std::vector<core::PortedEv> evs;
  evs.reserve(image.evs.size());
  for (const EvStatus& each : image.evs) evs.push_back({each.ev.value, each.ev.port});
  auto made = core::EvProfile::explicit_list({.format = core_format(image.format),
                                              .fields = image.fields,
                                              .evs = evs,
                                              .planes = planes,
                                              .options = {.min_active = image.min_active}});
  if (!made) return failure(made.error());
  return std::make_shared<const core::EvProfile>(*std::move(made));
}

EvKey key_at(const core::EvProfile& profile, core::EvIndex index) {
  return {.value = profile.value(index), .port = port_of(profile.entry(index).plane)};
}

std::vector<core::EvIndex> places_of(const core::EvProfile& profile, const EvKey& ev) {
  std::vector<core::EvIndex> places;
  for (std::size_t i = 0; i < profile.size(); ++i) {
    const core::EvIndex index(static_cast<std::uint8_t>(i));
    if (key_at(profile, index) == ev) places.push_back(index);
  }
  return places;
}

}  // namespace openmrc::libmrc
