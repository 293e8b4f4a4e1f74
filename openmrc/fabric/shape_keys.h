// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "openmrc/base/result.h"
#include "openmrc/fabric/fabric.h"
#include "openmrc/text/diagnostics.h"
#include "openmrc/text/fields.h"
#include "openmrc/text/file_error.h"
#include "openmrc/text/toml.h"

// A shape as people write it. Files of several kinds have these keys; docs/fabric.md explains them.
namespace openmrc::fabric {

struct ShapeKeys {
  std::optional<std::uint32_t> planes{};
  std::optional<std::uint32_t> racks{};
  std::optional<std::uint32_t> hosts_per_rack{};
  std::optional<std::uint32_t> uplinks{};
  std::uint32_t links_per_t1 = Shape{}.links_per_t1;
  std::optional<std::uint32_t> pods{};
  std::optional<std::uint32_t> t1_uplinks{};
  std::optional<std::uint32_t> switch_ports{};  // for full bisection
  std::int64_t host_link_bits_per_second = Shape{}.host_link_bits_per_second;
  Duration host_link_delay = Shape{}.host_link_delay;
  std::optional<std::int64_t> uplink_bits_per_second{};  // default: as the host links
  std::optional<Duration> uplink_delay{};
};

std::vector<text::Field> shape_fields(ShapeKeys& keys, std::string_view name);
// And what a fabric may have that is only planned and simulated.
std::vector<text::Field> planned_shape_fields(ShapeKeys& keys, std::string_view name);

// The shape that the keys describe; Fabric::make takes it. None if something is wrong with it,
// which is then among the diagnostics.
std::optional<Shape> make_shape(const ShapeKeys& keys, std::string_view section,
                                text::Diagnostics& diagnostics);

// Of a table that has these keys and no others. `section`: its name in messages.
Result<Shape, std::vector<text::FileError>> shape_from(const text::Table& table,
                                                       std::string_view section = {});

}  // namespace openmrc::fabric
