// SPDX-License-Identifier: BSD-3-Clause
// Feeds bytes to the readers of TOML files: any file, a host's configuration, a fabric.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "fuzz/fuzz_check.h"
#include "openmrc/fabric/fabric_file.h"
#include "openmrc/host/config.h"
#include "openmrc/text/toml.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace openmrc;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto table = text::parse_toml(text);
  const auto config = host::parse_config(text);
  const auto shape = fabric::parse_fabric_toml(text);
  if (!table) {
    FUZZ_CHECK(!table.error().message.empty());
    FUZZ_CHECK(!config && !shape);
  }
  if (!config) FUZZ_CHECK(!config.error().empty());
  if (shape) FUZZ_CHECK(fabric::Fabric::make(*shape).has_value());
  return 0;
}
