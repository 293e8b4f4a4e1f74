// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mrc/complaint.h"

#include <fmt/core.h>

#include <cstdio>

namespace openmrc::tools {

int complain(std::string_view command, std::string_view what, std::string_view fix) {
  if (what.ends_with('\n')) what.remove_suffix(1);
  fmt::print(stderr, "mrc {}: {}\n", command, what);
  if (!fix.empty()) fmt::print(stderr, "  fix: {}\n", fix);
  return 1;
}

int complain(std::string_view command, const host::Error& error) {
  return complain(command, error.what, error.remedy);
}

}  // namespace openmrc::tools
