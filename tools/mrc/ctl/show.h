// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "tools/mrc/ctl/agent.h"

// What there is, for people or as JSON. Each returns the exit code.
namespace openmrc::tools::ctl {

int show_ports(const Options& options);
int show_profiles(const Options& options);
// Profiles of all three kinds with this number.
int show_profile(const Options& options, std::uint64_t id);

}  // namespace openmrc::tools::ctl
