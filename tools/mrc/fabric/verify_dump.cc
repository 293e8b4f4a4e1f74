// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mrc/fabric/verify_dump.h"

#include <filesystem>
#include <optional>
#include <utility>

#include "tools/mrc/read_file.h"

namespace openmrc::tools {
namespace {

using fabric::EmitKind;
using fabric::Finding;
using fabric::Prefixes;

namespace fs = std::filesystem;

template <class Tables>
Result<Tables, std::string> tables_in(const fs::path& file,
                                      Result<Tables, std::string> (*read)(std::string_view)) {
  const auto text = read_file(file.string(), fabric::kDeviceOutputBytesMax);
  if (!text) return failure(text.error());
  auto tables = read(*text);
  if (!tables) return failure(file.string() + ": " + tables.error());
  return tables;
}

// Nothing if there is no such file.
Result<std::optional<Prefixes>, std::string> prefixes_in(
    const fs::path& file, Result<Prefixes, std::string> (*read)(std::string_view)) {
  std::error_code error;
  if (!fs::exists(file, error)) return std::nullopt;
  auto prefixes = tables_in(file, read);
  if (!prefixes) return failure(std::move(prefixes.error()));
  return std::optional(*std::move(prefixes));
}

}  // namespace

bool can_be_dumped(EmitKind kind) {
  return kind == EmitKind::kFrr || kind == EmitKind::kFrr84 || kind == EmitKind::kSonic;
}

Result<std::vector<Finding>, std::string> verify_dump(const std::string& folder,
                                                      const fabric::Device& device, EmitKind kind,
                                                      std::uint32_t block) {
  const fs::path here = fs::path(folder) / device.name;
  if (kind != EmitKind::kSonic) {
    const auto tables = tables_in(here / "routes.json", fabric::read_frr_routes);
    if (!tables) return failure(tables.error());
    return verify_frr(device, kind, block, *tables);
  }
  auto applied = tables_in(here / "appl_db.json", fabric::read_appl_db);
  if (!applied) return failure(std::move(applied.error()));
  auto configured = prefixes_in(here / "config_db.json", fabric::read_config_db);
  if (!configured) return failure(std::move(configured.error()));
  auto in_asic = prefixes_in(here / "asic_db.json", fabric::read_asic_db);
  if (!in_asic) return failure(std::move(in_asic.error()));
  return verify_sonic(device, block,
                      {.applied = *std::move(applied),
                       .configured = *std::move(configured),
                       .in_asic = *std::move(in_asic)});
}

}  // namespace openmrc::tools
