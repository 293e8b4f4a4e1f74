// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "lab_spec.h"
#include "openmrc/fabric/fabric.h"
#include "openmrc/softswitch/settings.h"

namespace openmrc::tools::lab {

// What a switch of the lab is told when it is soft: the routes that the kernel would have, and
// queues with the recommended thresholds. Its ports are those of `links_of`, in that order.
softswitch::SwitchSettings soft_settings(const Spec& spec, const fabric::SwitchId& id);

}  // namespace openmrc::tools::lab
