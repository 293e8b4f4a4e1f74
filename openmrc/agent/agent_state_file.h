// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "openmrc/agent/profiles/profile_store.h"
#include "openmrc/base/result.h"

// What the agent remembers when it is started again: profiles and ports. Uses are not in it:
// applications announce them again.
namespace openmrc::libmrc {

std::string state_text(const ProfileStore& store);
// Into a store that is still empty; the error says what is wrong with the text. A profile that no
// longer fits the device is left out, and named in `left_out`.
[[nodiscard]] Result<void, std::string> restore_state(std::string_view text, ProfileStore& store,
                                                      std::vector<std::string>& left_out);

// Either the old file or the new one is there, whenever the program is killed.
[[nodiscard]] Result<void, std::string> write_state_file(const std::filesystem::path& file,
                                                         std::string_view text);
// Empty if there is no file.
Result<std::string, std::string> read_state_file(const std::filesystem::path& file);

}  // namespace openmrc::libmrc
