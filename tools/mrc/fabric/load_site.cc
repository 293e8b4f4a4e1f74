// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mrc/fabric/load_site.h"

#include <filesystem>
#include <utility>
#include <vector>

#include "openmrc/text/file_limits.h"
#include "tools/mrc/fabric/load.h"
#include "tools/mrc/read_file.h"

namespace openmrc::tools {
namespace {

Result<fabric::Site, std::string> load_site(fabric::EmitKind kind, const fabric::Fabric& fabric,
                                            const std::string& path) {
  if (path.empty()) return default_site(kind, fabric);
  const auto text = read_file(path, text::kTomlBytesMax);
  if (!text) return failure(text.error());
  auto site = fabric::parse_site_toml(*text, kind, fabric);
  if (site) return *std::move(site);
  for (text::FileError& error : site.error()) error.file = path;
  return failure(to_string(site.error()));
}

Result<fabric::PortConfig, std::string> load_port_config(const std::string& name,
                                                         const std::string& site_path) {
  if (name.empty()) return fabric::PortConfig{};
  const std::string path = (std::filesystem::path(site_path).parent_path() / name).string();
  const auto text = read_file(path, fabric::kPortConfigBytesMax);
  if (!text) return failure(text.error());
  auto ports = fabric::parse_port_config(*text);
  if (ports) return *std::move(ports);
  ports.error().file = path;
  return failure(to_string(ports.error()));
}

}  // namespace

Result<fabric::EmitInput, std::string> load_emit_input(fabric::EmitKind kind,
                                                       const std::string& fabric_path,
                                                       const std::string& site_path) {
  const auto fabric = load_addressed_fabric(fabric_path);
  if (!fabric) return failure(fabric.error());
  auto site = load_site(kind, *fabric, site_path);
  if (!site) return failure(std::move(site.error()));
  auto platform = load_port_config(site->sonic.port_config, site_path);
  if (!platform) return failure(std::move(platform.error()));
  fabric::EmitInput input{fabric::UsidPlan(*fabric), *std::move(site), *std::move(platform)};
  std::string errors;
  for (const std::string& error : check_emit(kind, input)) {
    errors += (errors.empty() ? "" : "\n") + error;
  }
  if (!errors.empty()) return failure(std::move(errors));
  return input;
}

}  // namespace openmrc::tools
