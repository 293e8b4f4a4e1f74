// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "openmrc/agent/profiles/cc_profile_store.h"
#include "openmrc/agent/profiles/ev_profile_store.h"
#include "openmrc/agent/profiles/format_store.h"
#include "openmrc/agent/profiles/profile_types.h"

namespace openmrc::libmrc {

// All that a controller has set in one device: profiles of three kinds, and which ports are
// enabled. It performs no I/O; one thread owns it.
class ProfileStore {
 public:
  // `automatic`: the EVs of AUTO profiles; null if the device has none of its own.
  ProfileStore(const DeviceLimits& limits, std::shared_ptr<const core::EvProfile> automatic);
  ProfileStore(const ProfileStore&) = delete;
  ProfileStore& operator=(const ProfileStore&) = delete;

  // All that can change, for a change that may have to be undone.
  struct Snapshot {
    FormatStore formats;
    EvProfileStore evs;
    CcProfileStore ccs;
    std::uint32_t disabled_ports = 0;
  };
  [[nodiscard]] Snapshot snapshot() const { return {formats_, evs_, ccs_, disabled_ports_}; }
  void roll_back(Snapshot snapshot);  // one of this store

  [[nodiscard]] const DeviceLimits& limits() const { return limits_; }
  [[nodiscard]] const FormatStore& formats() const { return formats_; }
  [[nodiscard]] EvProfileStore& evs() { return evs_; }
  [[nodiscard]] const EvProfileStore& evs() const { return evs_; }
  [[nodiscard]] CcProfileStore& ccs() { return ccs_; }
  [[nodiscard]] const CcProfileStore& ccs() const { return ccs_; }

  Outcome modify(FormatId id, const FormatChange& change) {
    return formats_.modify(id, change, evs_.needs_format(id));
  }
  Outcome modify(EvProfileId id, const EvProfileChange& change, std::vector<EvStatus>& changed) {
    return evs_.modify(id, change, changed);
  }
  Outcome modify(CcProfileId id, const CcProfileChange& change) { return ccs_.modify(id, change); }

  // As they were saved, formats first. Refused if it no longer fits the device.
  Outcome restore(FormatId id, FormatProfile saved);
  Outcome restore(EvProfileId id, EvProfile saved) { return evs_.restore(id, std::move(saved)); }
  Outcome restore(CcProfileId id, CcProfile saved);

  [[nodiscard]] bool has_port(PortNumber port) const {
    return port.raw() > 0 && port.raw() <= limits_.planes;
  }
  [[nodiscard]] bool port_enabled(PortNumber port) const {
    return has_port(port) && (disabled_ports_ >> port.raw() & 1) == 0;
  }
  Outcome set_port(PortNumber port, bool enabled);

 private:
  DeviceLimits limits_;
  FormatStore formats_;
  EvProfileStore evs_;
  CcProfileStore ccs_;
  std::uint32_t disabled_ports_ = 0;  // bit n: port n
};

}  // namespace openmrc::libmrc
