// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "openmrc/base/result.h"
#include "openmrc/datapath/error.h"
#include "openmrc/datapath/file_descriptor.h"
#include "openmrc/datapath/open.h"
#include "openmrc/wire/settings.h"
#include "openmrc/xdp/interface.h"
#include "openmrc/xdp/patience.h"

namespace openmrc::xdp {

// What the shards of an interface have in common, as text: the program in the kernel, which is that
// of one of them, knows one of each.
std::string common_settings(const datapath::Port& port, const wire::WireSettings& wire);

// Held by the shard that has the sockets of an interface, and lost with its process. Closed:
// another one has them. Fails if that one's settings are others.
Result<datapath::FileDescriptor, datapath::Error> take_lock(const std::string& interface, int index,
                                                            const std::string& settings,
                                                            Patience patience);

}  // namespace openmrc::xdp
