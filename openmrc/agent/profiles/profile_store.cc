// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/agent/profiles/profile_store.h"

#include <cerrno>
#include <utility>

namespace openmrc::libmrc {

ProfileStore::ProfileStore(const DeviceLimits& limits,
                           std::shared_ptr<const core::EvProfile> automatic)
    : limits_(limits),
      formats_(limits.formats_max),
      evs_(limits, formats_, std::move(automatic)),
      ccs_(limits.cc_profiles_max) {
  OPENMRC_CHECK(limits.planes > 0 && limits.planes <= core::kPlanesMax,
                "port masks name no others");
}

void ProfileStore::roll_back(Snapshot snapshot) {
  formats_ = std::move(snapshot.formats);
  evs_ = std::move(snapshot.evs);
  ccs_ = std::move(snapshot.ccs);
  disabled_ports_ = snapshot.disabled_ports;
}

Outcome ProfileStore::restore(FormatId id, FormatProfile saved) {
  const bool made = saved.state != MRC_CTL_PROFILE_INIT;
  Outcome outcome =
      modify(id, {.state = made ? std::optional(MRC_CTL_PROFILE_OFFLINE) : std::nullopt,
                  .mode = saved.mode,
                  .widths = std::move(saved.widths),
                  .vendor = saved.vendor});
  if (!outcome.ok() || saved.state != MRC_CTL_PROFILE_ONLINE) return outcome;
  return modify(id, {.state = MRC_CTL_PROFILE_ONLINE});
}

Outcome ProfileStore::restore(CcProfileId id, CcProfile saved) {
  const bool made = saved.state != MRC_CTL_PROFILE_INIT;
  Outcome outcome =
      modify(id, {.state = made ? std::optional(MRC_CTL_PROFILE_OFFLINE) : std::nullopt,
                  .algorithm = std::move(saved.algorithm),
                  .config = saved.config,
                  .vendor = saved.vendor});
  if (!outcome.ok() || saved.state != MRC_CTL_PROFILE_ONLINE) return outcome;
  return modify(id, {.state = MRC_CTL_PROFILE_ONLINE});
}

Outcome ProfileStore::set_port(PortNumber port, bool enabled) {
  if (!has_port(port)) return refused(EINVAL, "the device has no such port");
  const std::uint32_t bit = std::uint32_t{1} << port.raw();
  disabled_ports_ = enabled ? disabled_ports_ & ~bit : disabled_ports_ | bit;
  return {};
}

}  // namespace openmrc::libmrc
