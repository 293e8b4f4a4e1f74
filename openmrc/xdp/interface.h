// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

#include "openmrc/base/result.h"
#include "openmrc/wire/header/ethernet.h"

namespace openmrc::xdp {

// An interface as it is now.
struct Interface {
  int index = 0;
  wire::MacAddress mac{};
  std::uint32_t mtu = 0;
  std::uint32_t queues = 1;  // that receive
  bool has_ethernet = true;

  bool operator==(const Interface&) const = default;
};

// Fails with errno; ENODEV: there is none of this name.
Result<Interface, int> find_interface(const std::string& name);

}  // namespace openmrc::xdp
