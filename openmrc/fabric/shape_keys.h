// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "openmrc/base/result.h"
#include "openmrc/fabric/fabric.h"

// A shape as people write it: names and numbers. Files of several kinds have them.
namespace openmrc::fabric {

// One line of a file.
struct KeyValue {
  std::string_view key{};
  std::variant<std::monostate, std::int64_t, double> value{};  // monostate: it is no number
  std::uint32_t line = 0;                                      // from 1; 0: unknown
};

// What is wrong with a file, and where.
struct FileError {
  std::uint32_t line = 0;  // 0: nowhere in particular
  std::string key{};       // empty: no key in particular
  std::string message{};

  bool operator==(const FileError&) const = default;
};
std::string to_string(const FileError& error);  // "line 3: planes: ..."

// The fabric that the keys describe; Fabric::make takes it. docs/fabric.md has the keys:
//
//   planes
//   racks, hosts_per_rack, uplinks     or switch_ports, for two tiers and full bisection
//   host_link_gbps, host_link_ns     speed of a NIC port; delay of its cable, one way
//   uplink_gbps, uplink_ns           between T0 and T1; as the host links by default
//
// Any other key is an error.
Result<Shape, FileError> shape_from(std::span<const KeyValue> keys);

}  // namespace openmrc::fabric
