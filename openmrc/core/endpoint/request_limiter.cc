// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/core/endpoint/request_limiter.h"

#include <algorithm>
#include <cstring>

namespace openmrc::core {

bool RequestLimiter::allows(const wire::Ipv6Address& source, Instant now) {
  if (buckets_.empty()) buckets_.resize(kBuckets);
  std::uint64_t halves[2];
  static_assert(sizeof halves == sizeof source.bytes);
  std::memcpy(halves, source.bytes.data(), sizeof halves);
  const std::uint64_t hash = sip_hash(key_, halves[0] ^ sip_hash(key_, halves[1]));
  Bucket& bucket = buckets_[hash % kBuckets];
  const std::int64_t added = (now - bucket.since).raw() / kInterval.raw();
  if (added > 0) {
    bucket.left = static_cast<std::uint32_t>(std::min<std::int64_t>(bucket.left + added, kBurst));
    bucket.since = bucket.since + kInterval * added;
  }
  if (bucket.left == 0) return false;
  --bucket.left;
  return true;
}

}  // namespace openmrc::core
