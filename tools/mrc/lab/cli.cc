// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mrc/lab/cli.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>

#include "openmrc/lab/build.h"
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

constexpr const char* kHelp = "Lab name; default $OPENMRC_LAB, 'lab', or the only one there is";

// h0 and p2.t0-1 are parts of a lab, whatever labs there are.
bool is_part(std::string_view word) {
  return word.size() >= 2 && (word[0] == 'h' || word[0] == 'p') && word[1] >= '0' && word[1] <= '9';
}

// What to type instead of nothing.
std::string hint(const std::vector<std::string>& labs) {
  std::string names;
  for (const std::string& lab : labs) names += (names.empty() ? "" : ", ") + lab;
  const bool by_sudo = std::getenv("SUDO_UID") != nullptr;
  return fmt::format("; there are {}: choose one with --lab NAME{}", names,
                     by_sudo ? " (sudo drops $OPENMRC_LAB)" : "");
}

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
  CLI::Option* const word = command.add_option("name", name, kHelp)->type_name("NAME");
  command.add_option("--lab", name, "Lab name, in place of the argument")
      ->type_name("NAME")
      ->excludes(word);
}
void add_lab_option(CLI::App& command, std::string& name) {
  command.add_option("--lab", name, kHelp)->type_name("NAME");
}

void take_name(std::string& name, std::vector<std::string>& words) {
  if (!name.empty() || words.empty() || is_part(words.front())) return;
  const auto labs = labs_there();
  if (std::ranges::find(labs, words.front()) == labs.end()) return;
  name = words.front();
  words.erase(words.begin());
}

std::string usual_name(const std::string& given) {
  if (!given.empty()) return given;
  const char* const chosen = std::getenv("OPENMRC_LAB");
  return chosen != nullptr && *chosen != '\0' ? chosen : std::string(kNameDefault);
}

Result<Spec, std::string> load_chosen(const std::string& given) {
  const std::string name = usual_name(given);
  const auto labs = labs_there();
  const bool is_open = given.empty() && std::getenv("OPENMRC_LAB") == nullptr;
  if (!is_open || labs.empty() || std::ranges::find(labs, name) != labs.end()) return load(name);
  if (labs.size() == 1) return load(labs.front());
  return failure(fmt::format("no lab '{}'{}", name, hint(labs)));
}

}  // namespace openmrc::lab
