// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <CLI/CLI.hpp>
#include <span>
#include <string>

namespace openmrc::tools {

// What shells call: `mrc __complete WORD...`, with the words behind `mrc` up to the one that is
// being typed, which may be empty. It is no verb of the command line, because its words are those
// of another one.
inline constexpr const char* kCompleteCommand = "__complete";

// Prints what that word may be: a line each, with a tab and a description behind it, or `:files`,
// `:folders`, `:programs` or `:hosts` for what the shell knows better.
void print_completions(const CLI::App& app, std::span<const std::string> words);

}  // namespace openmrc::tools
