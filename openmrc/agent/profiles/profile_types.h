// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mrc_ctl.h>

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "openmrc/base/ids.h"
#include "openmrc/base/strong.h"
#include "openmrc/core/paths/ev_expansion.h"
#include "openmrc/core/paths/ev_profile.h"

// The profiles of the control interface (mrc_ctl.h) without its pointers and masks: what is not
// given is not there. Enumerations are the interface's own.
namespace openmrc::libmrc {

using FormatId = Strong<struct FormatIdTag, std::uint64_t>;
using EvProfileId = Strong<struct ControlEvProfileTag, std::uint64_t>;
using CcProfileId = Strong<struct ControlCcProfileTag, std::uint64_t>;

using ProfileState = mrc_ctl_profile_state;
// Kept and given back; it has no meaning here.
using VendorConfig = std::array<std::uint8_t, MRC_CTL_MAX_VENDOR_CFG_SIZE>;

// How much of everything a device has.
struct DeviceLimits {
  std::size_t planes = 1;
  std::size_t formats_max = 256;
  std::size_t ev_profiles_max = 1024;
  std::size_t cc_profiles_max = 256;
  std::size_t evs_max = 65536;  // of all profiles together

  // Planes are loaded equally, so the EVs of a profile are a multiple of the planes.
  [[nodiscard]] std::size_t ev_align() const { return planes; }
  [[nodiscard]] std::size_t evs_per_profile_max() const {
    return core::kEvsPerProfileMax / planes * planes;
  }
};

// The one congestion control algorithm that can be configured.
inline constexpr const char* kNsccName = "uet-1.0-nscc";

// How a request ended.
struct Outcome {
  int error = 0;                 // an errno value
  std::string why{};             // for people
  std::size_t entries_done = 0;  // EV by EV: so many were worked on before one failed
  [[nodiscard]] bool ok() const { return error == 0; }
};
inline Outcome refused(int error, std::string why, std::size_t entries_done = 0) {
  return {.error = error, .why = std::move(why), .entries_done = entries_done};
}

// An EV as controllers know it: its bits before expansion, and its port.
struct EvKey {
  core::EvBits value{};
  PortNumber port{};

  auto operator<=>(const EvKey&) const = default;
};
// What stands where no EV has been put yet.
inline constexpr EvKey kUnpopulated{};

struct EvStatus {
  EvKey ev{};
  mrc_ctl_ev_state state = MRC_CTL_EV_UNKNOWN;

  bool operator==(const EvStatus&) const = default;
};

// One entry of a change.
struct EvEdit {
  EvKey ev{};
  std::optional<EvKey> replacement{};  // none: only its state changes
  mrc_ctl_ev_state state = MRC_CTL_EV_GOOD;
  bool all_copies = false;

  bool operator==(const EvEdit&) const = default;
};

struct FormatChange {
  std::optional<ProfileState> state{};
  std::optional<ProfileState> expected_state{};  // refused if it is in another
  std::optional<mrc_ctl_ev_fmt_mode> mode{};
  std::optional<std::vector<std::uint8_t>> widths{};  // bits of each field
  std::optional<VendorConfig> vendor{};
};

struct FormatProfile {
  ProfileState state = MRC_CTL_PROFILE_INIT;
  std::optional<mrc_ctl_ev_fmt_mode> mode{};
  std::vector<std::uint8_t> widths{};
  VendorConfig vendor{};
};

struct EvProfileChange {
  std::optional<ProfileState> state{};
  std::optional<ProfileState> expected_state{};
  std::optional<mrc_ctl_ev_mode> mode{};
  std::optional<FormatId> format{};
  std::optional<std::uint32_t> count{};
  std::optional<std::uint32_t> min_active{};
  std::optional<int> event_mask{};
  std::optional<std::vector<core::EvField>> fields{};
  std::optional<std::vector<EvEdit>> edits{};
  std::optional<VendorConfig> vendor{};
};

struct EvProfile {
  ProfileState state = MRC_CTL_PROFILE_INIT;
  std::optional<mrc_ctl_ev_mode> mode{};
  std::optional<FormatId> format{};
  std::optional<std::uint32_t> wanted_count{};  // what was asked for; `evs` has what came of it
  std::optional<std::uint32_t> min_active{};
  std::optional<int> event_mask{};
  std::vector<core::EvField> fields{};
  std::vector<EvStatus> evs{};
  VendorConfig vendor{};
};

struct CcProfileChange {
  std::optional<ProfileState> state{};
  std::optional<ProfileState> expected_state{};
  std::optional<std::string> algorithm{};  // empty: no congestion control
  std::optional<mrc_ctl_cc_nscc_cfg> config{};
  std::optional<VendorConfig> vendor{};
};

struct CcProfile {
  ProfileState state = MRC_CTL_PROFILE_INIT;
  std::optional<std::string> algorithm{};
  std::optional<mrc_ctl_cc_nscc_cfg> config{};
  VendorConfig vendor{};
};

// The format as expansion takes it. The caller has had it checked.
core::EvFormat core_format(const FormatProfile& format);

// Whether `to` is reached from `from` in one call. To stay is allowed.
bool is_one_step(ProfileState from, ProfileState to);

// What an application needs to send by an EV profile: enough to expand it by itself.
struct EvProfileImage {
  mrc_ctl_ev_mode mode = MRC_CTL_EV_MODE_AUTO;
  FormatProfile format{};               // empty with AUTO
  std::vector<core::EvField> fields{};  // none: EVs expand to themselves
  std::vector<EvStatus> evs{};
  std::uint32_t min_active = 0;
  int event_mask = 0;
};

// The profile as the protocol takes it. AUTO profiles have none: their EVs are those that the
// host's own configuration gives.
Result<std::shared_ptr<const core::EvProfile>, core::EvProfileError> expand(
    const EvProfileImage& image, std::size_t planes);

// Where an EV is in a profile; several places if the controller listed it several times.
std::vector<core::EvIndex> places_of(const core::EvProfile& profile, const EvKey& ev);
EvKey key_at(const core::EvProfile& profile, core::EvIndex index);

}  // namespace openmrc::libmrc
