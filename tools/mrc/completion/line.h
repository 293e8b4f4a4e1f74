// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <CLI/CLI.hpp>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace openmrc::tools {

// A command line that is being typed, as far as it says what its last word may be.
struct TypedLine {
  const CLI::App* command = nullptr;      // the innermost verb
  const CLI::Option* option = nullptr;    // the word is its value
  std::set<const CLI::Option*> given{};   // options before the word
  std::vector<std::string> positional{};  // words before it that belong to no option
  std::string lab{};                      // --lab
  std::string prefix{};                   // "--mode=", if the word has its option in front of it
  std::string word{};                     // what is there of it
  bool only_positional = false;           // behind `--`
};

// `words`: behind the name of the program, the last one being typed. At least one.
TypedLine read_line(const CLI::App& app, std::span<const std::string> words);

// Verbs and options that help shows.
bool is_shown(const CLI::App& command);
bool is_shown(const CLI::Option& option);

}  // namespace openmrc::tools
