// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mrc/sim/files.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string_view>
#include <system_error>

#include "openmrc/base/sha256.h"
#include "openmrc/sim/result/result_json.h"
#include "openmrc/text/file_limits.h"
#include "tools/mrc/read_file.h"

namespace openmrc::tools {
namespace {

namespace fs = std::filesystem;

std::string reason(int error) { return std::generic_category().message(error); }

constexpr std::string_view kSeeList = "; 'mrc sim list' shows the scenarios that come with OpenMRC";

Result<sim::RunInputs, std::string> inputs_of_result(const std::string& path) {
  const auto text = read_file(path, text::kJsonBytesMax);
  if (!text) return failure(text.error());
  auto origin = sim::read_origin(*text);
  if (!origin) {
    return failure(fmt::format("'{}' cannot be run again: {}", path, origin.error()));
  }
  if (!*origin) {
    return failure(fmt::format(
        "'{}' cannot be run again: it has no \"origin\"; give the scenario that it is of", path));
  }
  return std::move((*origin)->inputs);
}

Result<sim::RunInputs, std::string> inputs_of(const std::string& path) {
  if (is_result_file(path)) return inputs_of_result(path);
  auto text = read_file(path, text::kTomlBytesMax);
  if (!text) return failure(fmt::format("{}{}", text.error(), kSeeList));
  return sim::RunInputs{.name = fs::path(path).stem().string(), .scenario = std::move(*text)};
}

// A result has the files that its scenario names; of one that is no text only the checksum.
constexpr std::string_view kChecksum = "sha256:";

bool is_kept(std::string_view content) {
  return std::ranges::none_of(
      content, [](unsigned char c) { return c < ' ' && c != '\t' && c != '\n' && c != '\r'; });
}

std::string kept(const std::string& content) {
  return is_kept(content) ? content : std::string(kChecksum) + sha256_hex(content);
}

Result<std::string, std::string> content_of(const std::string& name, const std::string& known,
                                            const fs::path& folder) {
  if (!known.starts_with(kChecksum)) return known;
  auto content = read_file((folder / name).string(), text::kTrafficBytesMax);
  if (content && kept(*content) != known) {
    return failure(
        fmt::format("'{}' is not the file that the result was made from: its checksum "
                    "is another",
                    name));
  }
  return content;
}

bool sets_seed(std::string_view setting) {
  return setting.substr(0, setting.find_first_of(" \t=")) == "seed";
}

// A result's own seed holds unless another is asked for; a scenario's is in its text.
std::optional<std::uint64_t> seed_of(const std::string& path, const sim::RunInputs& inputs,
                                     const sim::ScenarioOverrides& overrides) {
  if (overrides.seed || !is_result_file(path)) return overrides.seed;
  if (std::ranges::any_of(overrides.settings, sets_seed)) return std::nullopt;
  return inputs.seed;
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

std::string write_whole(const std::string& path, const std::string& text) {
  const std::string beside = fmt::format("{}.{}.part", path, getpid());
  std::string problem = write_text(beside, text);
  std::error_code error;
  if (problem.empty()) fs::rename(beside, path, error);
  if (error) problem = fmt::format("cannot write '{}': {}", path, error.message());
  std::error_code ignored;
  if (!problem.empty()) fs::remove(beside, ignored);
  return problem;
}

bool is_result_file(const std::string& path) { return fs::path(path).extension() == ".json"; }

Result<LoadedScenario, std::string> load_scenario(const std::string& path,
                                                  const sim::ScenarioOverrides& overrides) {
  auto inputs = inputs_of(path);
  if (!inputs) return failure(inputs.error());
  const auto seed = seed_of(path, *inputs, overrides);
  std::ranges::copy(overrides.settings, std::back_inserter(inputs->settings));
  const auto read_beside = [&](const std::string& name) -> Result<std::string, std::string> {
    const fs::path folder = fs::path(path).parent_path();
    const auto known = inputs->files.find(name);
    if (known != inputs->files.end()) return content_of(name, known->second, folder);
    auto text = read_file((folder / name).string(), text::kTrafficBytesMax);
    if (text) inputs->files[name] = kept(*text);
    return text;
  };
  auto scenario = sim::parse_scenario(inputs->scenario, inputs->name, read_beside,
                                      {.seed = seed, .settings = inputs->settings});
  if (!scenario) {
    for (text::FileError& error : scenario.error()) error.file = path;
    return failure(to_string(scenario.error()));
  }
  inputs->seed = scenario->seed;
  return LoadedScenario{std::move(*scenario), std::move(*inputs)};
}

Result<sim::Scenario, std::string> parse_inputs(const sim::RunInputs& inputs) {
  const auto read_known = [&](const std::string& name) -> Result<std::string, std::string> {
    const auto known = inputs.files.find(name);
    if (known != inputs.files.end()) return content_of(name, known->second, {});
    return failure(fmt::format("'{}' is not there", name));
  };
  auto scenario = sim::parse_scenario(inputs.scenario, inputs.name, read_known,
                                      {.seed = inputs.seed, .settings = inputs.settings});
  if (scenario) return std::move(*scenario);
  for (text::FileError& error : scenario.error()) error.file = inputs.name + ".toml";
  return failure(to_string(scenario.error()));
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
