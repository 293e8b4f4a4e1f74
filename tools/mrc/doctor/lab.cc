// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <filesystem>

#include "openmrc/lab/build.h"
#include "openmrc/lab/layout.h"
#include "tools/mrc/doctor/findings.h"

namespace openmrc::tools::doctor {

void check_lab(const host::Config& config, Findings& findings) {
  const std::filesystem::path folder = config.file.parent_path().parent_path();
  if (folder.parent_path() != lab::labs_folder()) return;
  const std::string name = folder.filename().string();
  if (lab::is_complete(name)) {
    findings.ok("lab", fmt::format("'{}' is complete", name));
  } else {
    findings.fail("lab", fmt::format("'{}' is incomplete: what built it was killed", name),
                  fmt::format("mrc lab down {}, and build it again", name));
  }
}

}  // namespace openmrc::tools::doctor
