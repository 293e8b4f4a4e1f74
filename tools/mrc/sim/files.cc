// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mrc/sim/files.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "openmrc/sim/result/result_json.h"
#include "openmrc/text/file_limits.h"
#include "tools/mrc/read_file.h"

namespace openmrc::tools {
namespace {

namespace fs = std::filesystem;

std::string reason(int error) { return std::generic_category().message(error); }

// Where the files lie that a scenario names. Scenarios are read one at a time.
fs::path& folder_of_scenario() {
  static fs::path folder;
  return folder;
}

Result<std::string, std::string> read_beside_scenario(const std::string& path) {
  return read_file((folder_of_scenario() / path).string(), text::kTrafficBytesMax);
}

}  // namespace

std::string problem_with_output(const std::string& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) {
    return fmt::format("cannot write '{}': is a directory; give a file name", path);
  }
  fs::path asked = path;
  if (!fs::exists(asked, ignored)) asked = fs::absolute(asked).parent_path();
  if (access(asked.c_str(), W_OK) == 0) return {};
  return fmt::format(
      "cannot write '{}': {}{}", path, reason(errno),
      errno == ENOENT ? fmt::format("; create the folder '{}' first", asked.string()) : "");
}

std::string write_text(const std::string& path, const std::string& text) {
  errno = 0;
  std::ofstream file(path, std::ios::binary);
  file << text << std::flush;
  return file ? "" : fmt::format("cannot write '{}': {}", path, reason(errno));
}

Result<LoadedScenario, std::string> load_scenario(const std::string& path,
                                                  const sim::ScenarioOverrides& overrides) {
  auto text = read_file(path, text::kTomlBytesMax);
  if (!text) {
    return failure(text.error() + "; 'mrc sim list' shows the scenarios that come with OpenMRC");
  }
  folder_of_scenario() = fs::path(path).parent_path();
  const std::string name = fs::path(path).stem().string();
  auto scenario = sim::parse_scenario(*text, name, read_beside_scenario, overrides);
  if (!scenario) {
    for (text::FileError& error : scenario.error()) error.file = path;
    return failure(to_string(scenario.error()));
  }
  for (const std::string& setting : overrides.settings) {
    *text += fmt::format("# --set {}\n", setting);
  }
  return LoadedScenario{std::move(*scenario), std::move(*text)};
}

Result<sim::RunResult, std::string> load_result(const std::string& path) {
  const auto text = read_file(path, text::kJsonBytesMax);
  if (!text) return failure(text.error());
  auto result = sim::read_result_json(*text);
  if (result) return std::move(*result);
  return failure(
      fmt::format("'{}' is not a result of 'mrc sim run --json': {}", path, result.error()));
}

}  // namespace openmrc::tools
