// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include "openmrc/base/result.h"
#include "openmrc/datapath/file_descriptor.h"
#include "openmrc/host/error.h"

namespace openmrc::libmrc {

// The socket that a service manager listens on for this process (sd_listen_fds(3)), non-blocking.
// Nothing if there is none for it. Refused if it cannot be the agent's. Call it once, before there
// are threads: it removes the variables, which are not for child processes.
Result<std::optional<datapath::FileDescriptor>, host::Error> take_activation_socket();

}  // namespace openmrc::libmrc
