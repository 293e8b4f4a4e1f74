// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "openmrc/base/result.h"
#include "openmrc/datapath/error.h"

// Where the processes of one user find each other. Nobody else can write there, so no name in it
// can be taken, or taken over, by another user.
namespace openmrc::datapath {

// $OPENMRC_RUNTIME_DIR; otherwise /run/openmrc/shards for root, /run/user/UID/openmrc for a user
// who is logged in, and /tmp/openmrc-UID for one who is not, with a random ending if another user
// has taken that name. Created if missing.
Result<std::string, Error> runtime_folder();

// Creates the folder if it is missing, for its owner alone. Fails if it is another user's, open to
// others, or a symbolic link.
[[nodiscard]] Result<void, Error> make_private_folder(const std::string& path);

}  // namespace openmrc::datapath
