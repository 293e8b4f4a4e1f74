// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

namespace openmrc::tools {

// What a program is started with to find the soft verbs device.
struct VerbsLibraries {
  std::filesystem::path folder{};                 // of our libibverbs.so.1
  std::filesystem::path preload{};                // libopenmrc-sysfs.so.0
  std::optional<std::filesystem::path> system{};  // the machine's own libibverbs.so.1
};

// Where they may be, for an mrc in this folder: in the tree it was built in, below the prefix that
// it was installed to, where packages have them.
std::vector<std::filesystem::path> verbs_folders(const std::filesystem::path& program_folder);

// The first of the folders that has them.
std::optional<VerbsLibraries> find_verbs_libraries(
    const std::vector<std::filesystem::path>& folders);

}  // namespace openmrc::tools
