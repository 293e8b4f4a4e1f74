// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/lab/exec.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "openmrc/lab/layout.h"

namespace openmrc::lab {
namespace {

// So that `mrc` there is this one.
void put_first_in_path(const std::filesystem::path& folder) {
  const char* const path = std::getenv("PATH");
  const std::string rest = path != nullptr ? fmt::format(":{}", path) : "";
  setenv("PATH", (folder.string() + rest).c_str(), 1);
}

}  // namespace

std::string execute(const Spec& spec, fabric::HostIndex host,
                    const std::vector<std::string>& program) {
  if (program.empty()) return "nothing to run: write the program behind the host";
  std::error_code none;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", none);
  if (!none) put_first_in_path(self.parent_path());
  setenv("OPENMRC_CONFIG", config_file(spec.name, host).c_str(), 1);
  setenv("OPENMRC_LAB", spec.name.c_str(), 1);
  // Each host has an agent of its own, if any.
  const auto socket = config_file(spec.name, host).parent_path() / "mrcd.sock";
  setenv("OPENMRC_AGENT", socket.c_str(), 1);
  std::vector<std::string> words{"ip", "netns", "exec", space_of(spec.name, host)};
  words.insert(words.end(), program.begin(), program.end());
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  return fmt::format("cannot run 'ip': {}", std::strerror(errno));
}

}  // namespace openmrc::lab
