// SPDX-License-Identifier: BSD-3-Clause
#include "tests/world/on_path.h"

#include <algorithm>

#include "openmrc/wire/field/constants.h"
#include "openmrc/wire/header/bth.h"
#include "openmrc/wire/header/ipv6.h"
#include "openmrc/wire/header/udp.h"
#include "openmrc/wire/icrc.h"

namespace openmrc::test {
namespace {

constexpr std::size_t kHeadersMax = 80;  // from BTH on, of any kind of packet

// Where the IP header is that the ICRC counts: behind those of SRv6, if they are as they should be.
std::size_t inner_ip(const std::vector<std::byte>& bytes) {
  constexpr std::size_t kNextHeader = 6;
  constexpr std::byte kIpv6{41};
  constexpr std::byte kRouting{43};
  std::size_t units = 0;
  if (bytes[kNextHeader] == kRouting) {
    units = 1 + std::to_integer<std::size_t>(bytes[wire::kIpv6Size + 1]);
  } else if (bytes[kNextHeader] != kIpv6) {
    return 0;
  }
  const std::size_t inner = wire::kIpv6Size + 8 * units;
  return inner + wire::kIpv6Size + wire::kUdpSize + wire::kBthSize < bytes.size() ? inner : 0;
}

void repair_icrc(std::vector<std::byte>& bytes, std::size_t ip) {
  const std::size_t end = bytes.size() - wire::kIcrcSize;
  const std::uint32_t icrc = wire::Icrc(ConstBytes(bytes).subspan(ip, end - ip)).value();
  for (std::size_t i = 0; i < wire::kIcrcSize; ++i) {
    bytes[end + i] = static_cast<std::byte>(icrc >> (8 * i) & 0xff);
  }
}

}  // namespace

OnPath::Outcome OnPath::attack(Side side, std::vector<std::byte>& bytes) {
  keep(side, bytes);
  Outcome outcome;
  switch (rng_.below(5)) {
    case 0: outcome.dropped = true; break;
    case 1: outcome.later = Duration(static_cast<std::int64_t>(rng_.below(kDelayMaxNs))); break;
    case 2: outcome.repeated = any_kept(side); break;
    default:
      if (rng_.chance({1, 2})) outcome.repeated = bytes;  // as it was
      change(side, bytes);
      outcome.changed = true;
  }
  return outcome;
}

void OnPath::keep(Side side, const std::vector<std::byte>& bytes) {
  auto& kept = kept_[index_of(side)];
  if (kept.size() < kKept) {
    kept.push_back(bytes);
  } else {
    kept[rng_.below(kKept)] = bytes;
  }
}

const std::vector<std::byte>& OnPath::any_kept(Side side) {
  const auto& kept = kept_[index_of(side)];
  return kept[rng_.below(kept.size())];
}

void OnPath::change(Side side, std::vector<std::byte>& bytes) {
  const std::size_t ip = inner_ip(bytes);
  if (rng_.chance({1, 4})) splice(any_kept(side), bytes);
  const std::size_t bth = ip + wire::kIpv6Size + wire::kUdpSize;
  const std::size_t end = std::min(bytes.size(), bth + kHeadersMax);
  for (std::uint64_t changes = rng_.between(1, 4); changes > 0; --changes) {
    const bool anywhere = rng_.chance({1, 8});
    change_byte(bytes, anywhere ? ip + rng_.below(bytes.size() - ip) : bth + rng_.below(end - bth));
  }
  repair_icrc(bytes, ip);
}

void OnPath::change_byte(std::vector<std::byte>& bytes, std::size_t at) {
  auto value = std::to_integer<std::uint8_t>(bytes[at]);
  switch (rng_.below(5)) {
    case 0: value = static_cast<std::uint8_t>(rng_.next()); break;
    case 1: ++value; break;
    case 2: --value; break;
    case 3: value ^= static_cast<std::uint8_t>(1u << rng_.below(8)); break;
    default: value = rng_.chance({1, 2}) ? 0 : 0xff;
  }
  bytes[at] = std::byte{value};
}

// A part of one packet in the place of the same part of another.
void OnPath::splice(const std::vector<std::byte>& from, std::vector<std::byte>& to) {
  const std::size_t both = std::min(from.size(), to.size());
  const std::size_t begin = rng_.below(both);
  const std::size_t size = std::min<std::size_t>(both - begin, rng_.between(1, 24));
  std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(begin), size,
              to.begin() + static_cast<std::ptrdiff_t>(begin));
}

}  // namespace openmrc::test
