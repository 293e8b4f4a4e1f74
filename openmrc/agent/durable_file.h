// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "openmrc/base/result.h"

// Files that survive a kill and a loss of power.
namespace openmrc::libmrc {

struct FileFailure {
  int error = 0;         // an errno value
  std::string what{};    // the file and what happened to it
  std::string remedy{};  // how to fix it
};

// Whenever the program is killed, the file has either the old or the new text. When this returns
// without a failure, the new text is on the device. After a failure the old text is still there,
// unless only the last step failed, the sync of the folder. A symbolic link stays one: the file
// that it leads to is replaced.
[[nodiscard]] Result<void, FileFailure> replace_file(const std::filesystem::path& file,
                                                     std::string_view text);

// The whole text; nothing if there is no such file. A link that leads nowhere, a folder and a file
// of more than `bytes_max` are failures.
Result<std::optional<std::string>, FileFailure> read_file(const std::filesystem::path& file,
                                                          std::size_t bytes_max);

// A failure if replace_file() would fail now for lack of permission.
[[nodiscard]] Result<void, FileFailure> check_replaceable(const std::filesystem::path& file);

}  // namespace openmrc::libmrc
