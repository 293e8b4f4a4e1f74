// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mrc/run/libraries.h"

#include <algorithm>

namespace openmrc::tools {
namespace {

namespace fs = std::filesystem;

constexpr const char* kVerbs = "libibverbs.so.1";
constexpr const char* kSystem = "libibverbs-system.so.1";
constexpr const char* kPreload = "libopenmrc-sysfs.so.0";

bool is_there(const fs::path& file) {
  std::error_code error;
  return fs::exists(file, error);  // false for a link that leads nowhere
}

}  // namespace

std::vector<fs::path> verbs_folders(const fs::path& program_folder) {
  const fs::path prefix = program_folder.parent_path();
  std::vector<fs::path> folders;
  for (const fs::path& folder :
       {prefix / "lib/openmrc", prefix / OPENMRC_LIBDIR / "openmrc",
        fs::path("/usr/local") / OPENMRC_LIBDIR / "openmrc", fs::path("/usr/local/lib/openmrc"),
        fs::path("/usr/lib/x86_64-linux-gnu/openmrc")}) {
    if (std::ranges::find(folders, folder) == folders.end()) folders.push_back(folder);
  }
  return folders;
}

std::optional<VerbsLibraries> find_verbs_libraries(const std::vector<fs::path>& folders) {
  const auto found = std::ranges::find_if(folders, [](const fs::path& folder) {
    return is_there(folder / kVerbs) && is_there(folder / kPreload);
  });
  if (found == folders.end()) return std::nullopt;
  VerbsLibraries libraries{.folder = *found, .preload = *found / kPreload};
  std::error_code error;
  if (const fs::path system = fs::canonical(*found / kSystem, error); !error) {
    libraries.system = system;
  }
  return libraries;
}

}  // namespace openmrc::tools
