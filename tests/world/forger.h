// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <optional>

#include "openmrc/base/rng.h"
#include "openmrc/base/time.h"
#include "openmrc/core/endpoint/endpoint.h"
#include "tests/world/world_options.h"

namespace openmrc::test {

// Somebody else on the network, who sends packets in the name of a host: now and then one like what
// the host has just sent, but for what he does not know. MRC has no authentication; what he does
// not know is all that protects a connection. He has a link like everybody: where ports have no
// rate and every answer brings the next forged request, the packets would multiply without end.
class Forger {
 public:
  explicit Forger(const WorldOptions& options);

  [[nodiscard]] std::optional<core::Transmit> forge(Instant now, Side side,
                                                    const core::Transmit& seen);

 private:
  static constexpr Duration kInterval = nanoseconds(50);

  [[nodiscard]] core::Transmit imitate(const core::Transmit& seen, Forgery forgery);
  void acknowledge_more(wire::Body& body);

  const WorldOptions* options_;
  Rng rng_;
  std::array<Instant, 2> next_{};          // in the name of each host, at the earliest
  std::array<std::byte, 1024> payload_{};  // as long as the largest MTU of a world
};

}  // namespace openmrc::test
