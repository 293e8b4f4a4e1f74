// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

#include "openmrc/base/result.h"
#include "openmrc/host/error.h"
#include "openmrc/host/exchange.h"
#include "openmrc/host/host.h"

// What two hosts tell each other of themselves before a queue pair is connected.
namespace openmrc::host {

// Of this host, but for what is a queue pair's own: its number and its first PSN.
[[nodiscard]] ConnectionInfo own_info(const Host& host);
// Where a peer is that described itself so; or why there is no way to it.
[[nodiscard]] Result<Destination, Error> destination_of(const Host& host,
                                                        const ConnectionInfo& peer);
// Why a queue pair cannot be connected.
[[nodiscard]] std::string_view text_of(core::ModifyError error);

}  // namespace openmrc::host
