// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace openmrc::tools {

// What is wrong with a command line, what was probably meant, and where to read more.
std::string usage_error_text(const CLI::App* app, const CLI::Error& error);

}  // namespace openmrc::tools
