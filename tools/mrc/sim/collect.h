// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

namespace openmrc::tools {

struct CollectOptions {
  std::vector<std::string> folders{};
  std::string figures{};  // keys of those to show, with commas; empty: the main ones
  std::string csv{};      // files; - for standard output instead of the table
  std::string json{};
  std::string report{};
  std::string parts{};  // a file; empty: nothing is priced
};

// Makes one table of the results in some folders. The exit code: 0, 1 if results are missing or a
// file could not be written, 2 if there is nothing to collect.
int collect_results(const CollectOptions& options);

}  // namespace openmrc::tools
