// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

// What the verbs of `mrc lab` have in common.
namespace openmrc::lab {

// Runs what needs root, or says how to become it. `exit_code` is what came of it.
void as_root(int& exit_code, const std::function<int()>& act);

// Which lab: the name behind the verb, or --lab where the verb takes other names.
void add_name(CLI::App& command, std::string& name);
void add_lab_option(CLI::App& command, std::string& name);

}  // namespace openmrc::lab
