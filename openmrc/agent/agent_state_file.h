// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "openmrc/agent/profiles/profile_store.h"
#include "openmrc/base/result.h"
#include "openmrc/host/error.h"

// What the agent remembers when it is started again: profiles and ports. Uses are not in it:
// applications announce them again.
namespace openmrc::libmrc {

// Several times the state of a device that is full (65,536 EVs).
inline constexpr std::size_t kStateBytesMax = std::size_t{64} * 1024 * 1024;

std::string state_text(const ProfileStore& store);
// Into a store that is still empty; the error says what is wrong with the text. A profile that no
// longer fits the device is left out, and named in `left_out`.
[[nodiscard]] Result<void, std::string> restore_state(std::string_view text, ProfileStore& store,
                                                      std::vector<std::string>& left_out);

// The state is on the device when this returns ok; otherwise the reason is meant for the caller who
// asked for the change.
Outcome save_state(const std::filesystem::path& file, const ProfileStore& store);

struct LoadedState {
  bool found = false;                   // false: there is no file, which is how a node begins
  std::vector<std::string> left_out{};  // what no longer fits the device
};
// A file that is there and cannot be used is an error: whoever goes on without it forgets.
Result<LoadedState, host::Error> load_state(const std::filesystem::path& file, ProfileStore& store);

}  // namespace openmrc::libmrc
