// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "openmrc/fabric/fabric.h"
#include "openmrc/lab/spec.h"
#include "openmrc/softswitch/settings.h"

namespace openmrc::lab {

// Settings of a soft switch of the lab: the routes that the kernel would have, and
// queues with the recommended thresholds. Its ports are those of `links_of`, in that order.
softswitch::SwitchSettings soft_settings(const Spec& spec, const fabric::SwitchId& id);

}  // namespace openmrc::lab
