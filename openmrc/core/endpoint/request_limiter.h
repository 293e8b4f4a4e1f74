// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "openmrc/base/secret_numbers.h"
#include "openmrc/base/time.h"
#include "openmrc/wire/field/ip_address.h"

namespace openmrc::core {

// How many requests of hosts that are no peers an endpoint answers: some in each second of each
// source. Sources may be forged, and what is sent back hits others. A fixed number of token
// buckets, of which sources share one by a keyed hash; no memory until the first request (SEC-19).
class RequestLimiter {
 public:
  explicit RequestLimiter(const SecretNumbers::Key& key) : key_(key) {}

  [[nodiscard]] bool allows(const wire::Ipv6Address& source, Instant now);

  static constexpr std::uint64_t kSecretPurpose = 1;
  // What a controller may ask a host at once, and then one more in each interval.
  static constexpr std::uint32_t kBurst = 4096;
  static constexpr Duration kInterval = microseconds(100);
  static constexpr std::size_t kBuckets = 256;

 private:
  struct Bucket {
    Instant since{};  // as full as it was then, and what was added since
    std::uint32_t left = kBurst;
  };

  SecretNumbers::Key key_;
  std::vector<Bucket> buckets_;
};

}  // namespace openmrc::core
