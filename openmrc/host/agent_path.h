// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace openmrc::host {

// Where the node's agent, mrcd, listens: $OPENMRC_AGENT, or else /run/openmrc/mrcd.sock.
std::string agent_socket_path();

}  // namespace openmrc::host
