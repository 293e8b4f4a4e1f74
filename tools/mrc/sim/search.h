// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace openmrc::tools {

struct SearchOptions {
  std::string file{};                   // of the search
  std::string out{};                    // the scenario; empty: by the name of the file
  std::size_t runs = 0;                 // 0: as the file says
  double minutes = 0;                   // 0: as long as it takes
  std::optional<std::uint64_t> seed{};  // instead of the file's
  std::size_t jobs = 0;                 // 0: by the processors
  bool quiet = false;
};

// Looks for the worst schedule, makes it simpler and writes it as a scenario. The exit code: 0 if
// it is written, 1 if a run failed or it cannot be written, 2 if nothing was run, 130 after Ctrl-C.
int run_search(const SearchOptions& options);

}  // namespace openmrc::tools
