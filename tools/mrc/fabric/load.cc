// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mrc/fabric/load.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "openmrc/fabric/fabric_file.h"
#include "openmrc/text/file_limits.h"
#include "tools/mrc/read_file.h"

namespace openmrc::tools {
namespace {

std::string errors_text(std::vector<text::FileError> errors, const std::string& path) {
  for (text::FileError& error : errors) error.file = path;
  return to_string(errors);
}

}  // namespace

Result<fabric::Fabric, std::string> load_fabric(const std::string& path) {
  const bool is_htsim = path.ends_with(".topo");
  const auto text = read_file(path, is_htsim ? text::kTopologyBytesMax : text::kTomlBytesMax);
  if (!text) return failure(text.error());
  auto shape = is_htsim ? fabric::parse_htsim_topology(*text) : fabric::parse_fabric_toml(*text);
  if (!shape) return failure(errors_text(std::move(shape.error()), path));
  return fabric::Fabric::make(*shape).value();
}

Result<fabric::Fabric, std::string> load_addressed_fabric(const std::string& path) {
  auto fabric = load_fabric(path);
  if (!fabric || fabric->has_addresses()) return fabric;
  const fabric::Shape& shape = fabric->shape();
  const std::string why =
      fabric->has_t2()
          ? fmt::format(
                "pods = {}: such a fabric can be planned and simulated, but the uSID plan "
                "has no names for T2s",
                shape.pods)
          : fmt::format(
                "links_per_t1 = {}: such a fabric can be planned and simulated, but a "
                "uSID names a switch, not one of its links to the same T0",
                shape.links_per_t1);
  return failure(fmt::format("{}: {}", path, why));
}

Result<fabric::Parts, std::string> load_parts(const std::string& path) {
  const auto text = read_file(path, text::kTomlBytesMax);
  if (!text) return failure(text.error());
  auto parts = fabric::parse_parts_toml(*text);
  if (!parts) return failure(errors_text(std::move(parts.error()), path));
  return *std::move(parts);
}

}  // namespace openmrc::tools
