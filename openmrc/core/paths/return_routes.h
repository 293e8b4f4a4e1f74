// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include "openmrc/base/ids.h"
#include "openmrc/wire/field/ip_address.h"
#include "openmrc/wire/packet.h"

namespace openmrc::core {

// How to reach a host that is no peer, to answer its endpoint request (MRC 7.3): there is no EV
// profile for it, but in a fabric its address says where it is. Pure, and the same for all calls.
class ReturnRoutes {
 public:
  virtual ~ReturnRoutes() = default;
  // Nothing: the address alone is enough, or nothing is known of it.
  [[nodiscard]] virtual std::optional<wire::SrEncapsulation> route_to(
      Plane plane, const wire::Ipv6Address& source, const wire::Ipv6Address& destination) const = 0;
};

}  // namespace openmrc::core
