// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

namespace openmrc::host {

// Sends a message over a Unix socket, and a descriptor with it; never waits. False: errno says why.
[[nodiscard]] bool send_descriptor(int socket, std::string_view text, int descriptor);

}  // namespace openmrc::host
