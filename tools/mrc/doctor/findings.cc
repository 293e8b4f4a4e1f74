// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mrc/doctor/findings.h"

#include <fmt/format.h>

#include <algorithm>

namespace openmrc::tools::doctor {

Remedy Remedy::by(std::vector<std::string> commands, std::string_view after,
                  std::string_view before) {
  Remedy remedy(fmt::format("{}{}{}", before, fmt::join(commands, " && "), after));
  remedy.commands = std::move(commands);
  return remedy;
}

std::size_t Findings::count(Grade grade) const {
  return static_cast<std::size_t>(std::ranges::count(all_, grade, &Finding::grade));
}

}  // namespace openmrc::tools::doctor
