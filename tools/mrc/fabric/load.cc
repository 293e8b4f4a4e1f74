// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mrc/fabric/load.h"

#include <fmt/format.h>

#include <fstream>
#include <iostream>
#include <iterator>
#include <optional>

#include "openmrc/fabric/fabric_file.h"

namespace openmrc::tools {
namespace {

std::optional<std::string> read_file_or_input(const std::string& path) {
  std::ifstream file;
  if (path != "-") {
    file.open(path);
    if (!file) return std::nullopt;
  }
  std::istream& in = path == "-" ? std::cin : file;
  std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  if (in.bad()) return std::nullopt;
  return text;
}

}  // namespace

Result<fabric::Fabric, std::string> load_fabric(const std::string& path) {
  const auto text = read_file_or_input(path);
  if (!text) {
    return failure(
        fmt::format("cannot read '{}': check that it exists and that you may read it", path));
  }
  auto shape = path.ends_with(".topo") ? fabric::parse_htsim_topology(*text)
                                       : fabric::parse_fabric_toml(*text);
  if (!shape) {
    for (text::FileError& error : shape.error()) error.file = path;
    return failure(to_string(shape.error()));
  }
  return fabric::Fabric::make(*shape).value();
}

}  // namespace openmrc::tools
