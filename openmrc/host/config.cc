// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/host/config.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <utility>

#include "openmrc/host/config_fields.h"
#include "openmrc/text/table_reader.h"
#include "openmrc/text/units.h"

namespace openmrc::host {
namespace {

// Far more than any configuration; keeps a wrong file from filling memory.
constexpr std::size_t kFileBytesMax = 1024 * 1024;
constexpr std::string_view kDefaultFile = "/etc/openmrc/openmrc.toml";

std::filesystem::path chosen_file(const std::optional<std::filesystem::path>& file) {
  if (file) return *file;
  // Nobody changes the environment while a configuration is read.
  const char* const named = std::getenv("OPENMRC_CONFIG");  // NOLINT(concurrency-mt-unsafe)
  return named != nullptr && *named != '\0' ? named : kDefaultFile;
}

Result<std::string, std::string> read_file(const std::filesystem::path& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    return failure(std::string("cannot be read: it is a directory"));
  }
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return failure(fmt::format("cannot be read: {}",
                               std::error_code(errno, std::generic_category()).message()));
  }
  std::string text(kFileBytesMax + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > kFileBytesMax) {
    return failure(fmt::format("is larger than {}", text::format_size(kFileBytesMax)));
  }
  return text;
}

}  // namespace

Result<Config, std::vector<ConfigError>> parse_config(std::string_view text) {
  text::TomlReader file(text);
  if (!file.is_toml()) return failure(file.diagnostics().take());
  Draft draft;
  read_draft(file, draft);
  check_draft(draft, file.diagnostics());
  if (file.diagnostics().count() > 0) return failure(file.diagnostics().take());
  return std::move(draft.config);
}

Result<Config, std::vector<ConfigError>> load_config(
    const std::optional<std::filesystem::path>& file) {
  const std::filesystem::path path = chosen_file(file);
  const auto text = read_file(path);
  if (!text) {
    std::vector<ConfigError> errors{{.message = text.error(), .file = path.string()}};
    if (!file) {
      errors.front().message += "; name another file, or set OPENMRC_CONFIG to one";
    }
    return failure(std::move(errors));
  }
  auto config = parse_config(*text);
  if (!config) {
    for (ConfigError& error : config.error()) error.file = path.string();
    return config;
  }
  config->file = path;
  return config;
}

bool is_configured() {
  const std::filesystem::path path = chosen_file(std::nullopt);
  std::error_code error;
  return path != kDefaultFile || std::filesystem::exists(path, error);
}

}  // namespace openmrc::host
