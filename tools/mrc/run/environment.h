// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "openmrc/base/result.h"
#include "openmrc/host/config.h"
#include "tools/mrc/run/libraries.h"

namespace openmrc::tools {

struct Variable {
  std::string name{};
  std::string value{};
  bool operator==(const Variable&) const = default;
};

// What a variable is now; empty if it is not set.
using Environment = std::function<std::string(const std::string& name)>;

// What has to be set for a program to use the soft verbs device of this configuration. The reason
// if that cannot be.
Result<std::vector<Variable>, std::string> variables_for(const VerbsLibraries& libraries,
                                                         const host::Config& config,
                                                         const Environment& now);

// "NAME=value NAME=value", for a shell.
std::string to_string(const std::vector<Variable>& variables);

}  // namespace openmrc::tools
