// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "openmrc/base/time.h"
#include "openmrc/lab/spec.h"
#include "openmrc/lab/steps.h"

namespace openmrc::lab {

// Every file of a lab: what it is, the fabric, a configuration for each host, and names for the
// addresses of hosts.
std::vector<File> files_of(const Spec& spec);

// The round trip without queues, of which hosts are told.
Duration base_rtt_of(const Spec& spec);

}  // namespace openmrc::lab
