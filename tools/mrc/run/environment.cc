// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mrc/run/environment.h"

#include <fmt/core.h>

#include <algorithm>

namespace openmrc::tools {
namespace {

namespace fs = std::filesystem;

// In front of what there is; once, if commands are nested.
std::string put_first(const std::string& word, const std::string& others) {
  std::string all = word;
  std::size_t begin = 0;
  while (begin < others.size()) {
    const std::size_t end = std::min(others.find(':', begin), others.size());
    const std::string other = others.substr(begin, end - begin);
    if (!other.empty() && other != word) all += ":" + other;
    begin = end + 1;
  }
  return all;
}

// The loader looks into these anyway, and after the folders that programs name for themselves.
bool is_of_system(const fs::path& folder) {
  const std::string text = folder.string();
  return text.starts_with("/usr/lib") || text.starts_with("/lib");
}

std::string interfaces_of(const host::Config& config) {
  std::string all;
  for (const datapath::Port& port : config.ports) {
    if (&port != &config.ports.front()) all += ',';
    all += port.interface;
  }
  return all;
}

std::string quoted(const std::string& text) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/_-.:,+@%";
  return text.find_first_not_of(kPlain) == std::string::npos ? text : "'" + text + "'";
}

}  // namespace

Result<std::vector<Variable>, std::string> variables_for(const VerbsLibraries& libraries,
                                                         const host::Config& config,
                                                         const Environment& now) {
  // The loader takes both for the end of a name, and knows no quotes.
  const std::string folder = libraries.folder.string();
  if (folder.find_first_of(": ;") != std::string::npos) {
    return failure(
        fmt::format("the libraries are in '{}', and the loader knows no folders with a space, a "
                    "colon or a semicolon in their name",
                    folder));
  }
  std::string path = now("LD_LIBRARY_PATH");
  // libmrc.so.1 and libopenmrc.so.0
  const fs::path parent = libraries.folder.parent_path();
  if (!is_of_system(parent)) path = put_first(parent.string(), path);
  return std::vector<Variable>{
      {"LD_LIBRARY_PATH", put_first(folder, path)},
      {"LD_PRELOAD", put_first(libraries.preload.string(), now("LD_PRELOAD"))},
      {"OPENMRC_CONFIG", fs::absolute(config.file).lexically_normal().string()},
      {"OPENMRC_NETDEVS", interfaces_of(config)},
  };
}

std::string to_string(const std::vector<Variable>& variables) {
  std::string all;
  for (const Variable& variable : variables) {
    all += fmt::format("{}{}={}", all.empty() ? "" : " ", variable.name, quoted(variable.value));
  }
  return all;
}

}  // namespace openmrc::tools
