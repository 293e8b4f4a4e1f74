// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "openmrc/base/result.h"
#include "openmrc/fabric/fabric.h"
#include "openmrc/lab/spec.h"

namespace openmrc::lab {

// Bytes that have come by each port of a host since the lab was built, as the kernel counts them.
[[nodiscard]] Result<std::vector<std::uint64_t>, std::string> received_bytes(
    const Spec& spec, fabric::HostIndex host);

// The same from the text of /proc/net/dev. Ports that it does not name have none.
[[nodiscard]] std::vector<std::uint64_t> read_received_bytes(const std::string& text,
                                                             std::uint32_t ports);

}  // namespace openmrc::lab
