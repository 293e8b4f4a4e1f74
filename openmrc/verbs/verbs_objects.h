// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <infiniband/verbs.h>

#include <atomic>
#include <cstdint>
#include <cstring>

#include "openmrc/verbs/device.h"

// What the soft verbs device hands out, as libmrc finds it again behind the public structs.
namespace openmrc::libmrc {

inline Gid gid_of(const ibv_gid& from) {
  Gid to;
  std::memcpy(to.bytes.data(), from.raw, sizeof from.raw);
  return to;
}
inline void copy_gid(const Gid& from, ibv_gid& to) {
  std::memcpy(to.raw, from.bytes.data(), sizeof to.raw);
}

// Whose context this is; null if it is not one of ours, but of a real device.
Device* device_of(const ibv_context* context);
// Said by whoever opens and closes contexts.
void add_context(const ibv_context* context, Device& device);
void remove_context(const ibv_context* context);

struct SoftProtectionDomain {
  ibv_pd verbs{};  // first: applications have pointers to it
  host::ProtectionDomain domain{};
  std::atomic<std::uint32_t> users = 0;  // memory regions and queue pairs
};

// Null if it is not one of ours.
inline SoftProtectionDomain* soft_domain(ibv_pd* pd) {
  if (pd == nullptr || device_of(pd->context) == nullptr) return nullptr;
  return reinterpret_cast<SoftProtectionDomain*>(pd);
}

}  // namespace openmrc::libmrc
