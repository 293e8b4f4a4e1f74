// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mrc/doctor/fix.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "openmrc/lab/steps.h"
#include "tools/mrc/colour.h"
#include "tools/mrc/complaint.h"

namespace openmrc::tools::doctor {
namespace {

using Commands = std::vector<std::string>;

bool contains(const Commands& commands, const std::string& command) {
  return std::ranges::find(commands, command) != commands.end();
}

// Each once, without those that were tried.
Commands commands_of(const Findings& findings, const Commands& tried) {
  Commands commands;
  for (const Finding& finding : findings.all()) {
    for (const std::string& command : finding.commands) {
      if (!contains(tried, command) && !contains(commands, command)) commands.push_back(command);
    }
  }
  return commands;
}

void run_command(const std::string& command, bool coloured) {
  std::istringstream words(command);
  const lab::Step step{.arguments = {std::istream_iterator<std::string>(words), {}}};
  if (const auto done = lab::run(step)) {
    std::cout << fmt::format("{}  {}\n", painted("done", Colour::kGood, coloured), command);
  } else {
    std::cout << fmt::format("{}  {}\n", painted("fail", Colour::kBad, coloured), done.error());
  }
}

}  // namespace

Findings fix(const std::function<Findings()>& examine, bool coloured) {
  Findings findings = examine();
  Commands tried;
  for (Commands commands = commands_of(findings, tried); !commands.empty();
       commands = commands_of(findings, tried)) {
    std::cout << fmt::format("{}\n  {}\n", painted("To be done:", Colour::kStrong, coloured),
                             fmt::join(commands, "\n  "));
    if (geteuid() != 0) {
      complain("doctor", "only root may do so", "sudo mrc doctor --fix");
      return findings;
    }
    for (const std::string& command : commands) run_command(command, coloured);
    std::ranges::copy(commands, std::back_inserter(tried));
    findings = examine();
  }
  std::cout << (tried.empty() ? "Nothing that a command could fix was found.\n"
                              : "What was changed lasts until the next boot.\n");
  return findings;
}

}  // namespace openmrc::tools::doctor
