// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <infiniband/verbs.h>

#include "openmrc/host/host.h"

namespace openmrc::libmrc {

struct SoftAddressHandle {
  ibv_ah verbs{};  // first: applications have pointers to it
  host::Destination destination;
};

inline SoftAddressHandle& soft(ibv_ah& ah) { return reinterpret_cast<SoftAddressHandle&>(ah); }

}  // namespace openmrc::libmrc
