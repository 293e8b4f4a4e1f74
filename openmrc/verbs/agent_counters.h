// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace openmrc::libmrc {

// Asks the agent at `socket` for one of the names of rdma_counters.h; nothing if there is no agent,
// or it does not answer within a second. Nothing is allocated: open() is called by signal handlers.
std::optional<std::uint64_t> ask_for_counter(std::string_view socket, unsigned port,
                                             std::string_view name);

// The value of a name in the agent's answer.
std::optional<std::uint64_t> counter_in(std::string_view answer, std::string_view name);

}  // namespace openmrc::libmrc
