// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "openmrc/fabric/fabric.h"
#include "openmrc/lab/spec.h"

namespace openmrc::lab {

// Becomes the program, on a host of the lab. Comes back only with the reason why it could not.
std::string execute(const Spec& spec, fabric::HostIndex host,
                    const std::vector<std::string>& program);

}  // namespace openmrc::lab
