// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "openmrc/base/result.h"
#include "openmrc/lab/spec.h"

// What the verbs of `mrc lab` have in common.
namespace openmrc::lab {

// Runs what needs root, or says how to become it. `exit_code` is what came of it.
void as_root(int& exit_code, const std::function<int()>& act);

// Which lab: --lab NAME with every verb, and the name alone behind those that take no other names.
void add_name(CLI::App& command, std::string& name);
void add_lab_option(CLI::App& command, std::string& name);
// Behind verbs that do, it may stand first: takes it from the front of `words`.
void take_name(std::string& name, std::vector<std::string>& words);

// For a lab that is to be built or removed: what was given, $OPENMRC_LAB, or "lab".
std::string usual_name(const std::string& given);
// For one that is there, also the only one there is; or why it cannot be used.
Result<Spec, std::string> load_chosen(const std::string& given);

}  // namespace openmrc::lab
