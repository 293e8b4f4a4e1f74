// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "openmrc/base/result.h"

// Programs to run, as data: what runs is what a dry run prints.
namespace openmrc::lab {

struct Step {
  std::vector<std::string> arguments{};  // the program first; no shell looks at them
  std::vector<std::string> input{};      // lines for its standard input; often the program's batch
  // It leaves a daemon behind, which inherits nothing: not the lock of a lab that is being built.
  bool leaves_daemon = false;
};

// Steps of a stage do not depend on each other.
using Stage = std::vector<Step>;

struct File {
  std::filesystem::path path{};
  std::string text{};
};

// As a shell script, for people.
std::string script_of(const Step& step);
std::string script_of(const File& file);

// An error is what the program said, with the line of its input that it stopped at.
Result<void, std::string> run(const Step& step);
// Several at a time. All that were started have ended when it returns.
Result<void, std::string> run(const Stage& stage);

// With the folders above it.
Result<void, std::string> write(const File& file);

}  // namespace openmrc::lab
