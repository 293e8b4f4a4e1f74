// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/host/agent_path.h"

#include <cstdlib>

namespace openmrc::host {

std::string agent_socket_path() {
  // Nobody changes the environment meanwhile.
  const char* const given = std::getenv("OPENMRC_AGENT");  // NOLINT(concurrency-mt-unsafe)
  return given != nullptr && *given != '\0' ? given : "/run/openmrc/mrcd.sock";
}

}  // namespace openmrc::host
