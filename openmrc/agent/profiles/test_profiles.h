// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

#include "openmrc/agent/profiles/profile_store.h"

// For tests: profiles in few words.
namespace openmrc::libmrc::test {

inline constexpr FormatId kFormat{7};
inline constexpr EvProfileId kProfile{70};
inline constexpr CcProfileId kCc{700};

inline EvKey ev(std::initializer_list<std::uint8_t> bytes, std::size_t port) {
  EvKey key{.port = PortNumber(static_cast<std::uint8_t>(port))};
  std::size_t at = 0;
  for (const std::uint8_t byte : bytes) key.value[at++] = std::byte{byte};
  return key;
}

inline std::shared_ptr<const core::EvProfile> own_evs(std::size_t planes) {
  return std::make_shared<const core::EvProfile>(
      core::EvProfile::simple({.planes = planes, .evs_per_plane = 8, .seed = 1}));
}

inline EvEdit put(EvKey key) { return {.ev = kUnpopulated, .replacement = key}; }

// A device, and a controller that says little.
struct TestDevice {
  explicit TestDevice(std::size_t planes) : store({.planes = planes}, own_evs(planes)) {}

  int format(FormatChange change) { return store.modify(kFormat, change).error; }
  int profile(const EvProfileChange& change) {
    changed.clear();
    last = store.modify(kProfile, change, changed);
    return last.error;
  }
  int cc(const CcProfileChange& change) { return store.modify(kCc, change).error; }

  // A format that is ONLINE.
  void make_format(mrc_ctl_ev_fmt_mode mode, std::vector<std::uint8_t> widths) {
    format({.state = MRC_CTL_PROFILE_OFFLINE, .mode = mode, .widths = std::move(widths)});
    format({.state = MRC_CTL_PROFILE_ONLINE});
  }
  // A profile that is OFFLINE.
  int make_profile(mrc_ctl_ev_mode mode, std::uint32_t count, std::vector<core::EvField> fields) {
    return profile({.state = MRC_CTL_PROFILE_OFFLINE,
                    .mode = mode,
                    .format = kFormat,
                    .count = count,
                    .fields = std::move(fields)});
  }
  int go_online(std::uint32_t min_active = 0, int event_mask = 0) {
    return profile(
        {.state = MRC_CTL_PROFILE_ONLINE, .min_active = min_active, .event_mask = event_mask});
  }

  ProfileStore store;
  Outcome last;
  std::vector<EvStatus> changed;
};

}  // namespace openmrc::libmrc::test
