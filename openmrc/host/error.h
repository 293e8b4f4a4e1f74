// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "openmrc/datapath/open.h"

namespace openmrc::host {

// What happened, to what, and what to do about it.
using Error = datapath::Error;

}  // namespace openmrc::host
