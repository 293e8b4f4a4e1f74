// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mrc/read_file.h"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <system_error>

#include "openmrc/text/units.h"

namespace openmrc::tools {
namespace {

std::string too_large(const std::string& path, std::size_t bytes_max) {
  return fmt::format("'{}' is larger than {}, the most that is read", path,
                     text::format_size(bytes_max));
}

std::string cannot_read(const std::string& path, int error) {
  return fmt::format("cannot read '{}': {}", path, std::generic_category().message(error));
}

}  // namespace

Result<std::string, std::string> read_file(const std::string& path, std::size_t bytes_max) {
  std::error_code ignored;
  std::ifstream file;
  if (path != "-") {
    if (std::filesystem::is_directory(path, ignored)) {
      return failure(fmt::format("'{}' is a folder", path));
    }
    const std::uintmax_t size = std::filesystem::file_size(path, ignored);
    if (!ignored && size > bytes_max) return failure(too_large(path, bytes_max));
    errno = 0;
    file.open(path, std::ios::binary);
    if (!file) return failure(cannot_read(path, errno));
  }
  std::istream& in = path == "-" ? std::cin : file;
  std::string text;
  std::array<char, 65536> block{};
  errno = 0;
  while (in.read(block.data(), block.size()), in.gcount() > 0) {
    text.append(block.data(), static_cast<std::size_t>(in.gcount()));
    if (text.size() > bytes_max) return failure(too_large(path, bytes_max));
  }
  if (in.bad()) return failure(cannot_read(path, errno));
  return text;
}

}  // namespace openmrc::tools
