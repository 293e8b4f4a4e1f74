// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mrc/lab/cli.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>

#include "openmrc/lab/spec.h"
#include "tools/mrc/complaint.h"

namespace openmrc::lab {
namespace {

// The command as it was typed.
std::string command_line() {
  std::ifstream file("/proc/self/cmdline");
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  std::ranges::replace(text, '\0', ' ');
  return text.substr(0, text.find_last_not_of(' ') + 1);
}

std::string usual_name() {
  const char* const chosen = std::getenv("OPENMRC_LAB");
  return chosen != nullptr && *chosen != '\0' ? chosen : std::string(kNameDefault);
}

constexpr const char* kHelp = "Lab name; default $OPENMRC_LAB or 'lab'";

}  // namespace

void as_root(int& exit_code, const std::function<int()>& act) {
  exit_code = geteuid() == 0
                  ? act()
                  : tools::complain(
                        "lab", fmt::format("labs are made of network namespaces, which only root "
                                           "may create and enter: sudo {}",
                                           command_line()));
}

void add_name(CLI::App& command, std::string& name) {
  name = usual_name();
  command.add_option("name", name, kHelp)->type_name("NAME");
}
void add_lab_option(CLI::App& command, std::string& name) {
  name = usual_name();
  command.add_option("--lab", name, kHelp)->type_name("NAME");
}

}  // namespace openmrc::lab
