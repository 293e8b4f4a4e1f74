// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "openmrc/base/result.h"
#include "openmrc/datapath/error.h"

namespace openmrc::xdp {

// Names the capabilities that mode "xdp" needs and the calling thread does not have.
[[nodiscard]] Result<void, datapath::Error> check_privileges();

// CAP_IPC_LOCK stands for a limit of locked memory that is high enough.
inline constexpr const char* kPrivilegeRemedy =
    "run with sudo, or `setcap cap_bpf,cap_net_admin,cap_net_raw,cap_ipc_lock+ep` the program, or "
    "use mode = \"srv6\"";

}  // namespace openmrc::xdp
