// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/gloo/address.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <span>

#include "openmrc/base/network_order.h"

namespace openmrc::gloo {
namespace {

constexpr std::uint32_t kMagic = 0x4d524331;  // "MRC1"
constexpr std::uint32_t kNumberMax = 0xff'ffff;

// In network order.
//   0      4   5   6   7   8     12    16    20            24      56
//   +------+---+---+---+---+-----+-----+-----+-------------+-------+-----------
//   | magic|pla|fab|nam| 0 | qpn | psn | mtu | fabric host |  name | addresses
//   +------+---+---+---+---+-----+-----+-----+-------------+-------+-----------
// pla: planes; fab: it has a place in a fabric; nam: length of the name.
constexpr std::size_t kPlanesAt = 4;
constexpr std::size_t kHasPlaceAt = 5;
constexpr std::size_t kNameLengthAt = 6;
constexpr std::size_t kQpnAt = 8;
constexpr std::size_t kPsnAt = 12;
constexpr std::size_t kMtuAt = 16;
constexpr std::size_t kPlaceAt = 20;
constexpr std::size_t kNameAt = 24;
constexpr std::size_t kAddressesAt = kNameAt + Address::kNameMax;

void put(std::vector<char>& out, std::size_t at, std::uint32_t value) {
  put_network_order(std::as_writable_bytes(std::span(out)), at, value);
}

std::uint32_t get(const std::vector<char>& in, std::size_t at) {
  return get_network_order<std::uint32_t>(std::as_bytes(std::span(in)), at);
}

bool is_printable(char c) { return c > ' ' && c <= '~'; }

}  // namespace

std::string Address::str() const {
  return fmt::format("{} queue pair {:#x}", info_.host, info_.qpn);
}

std::vector<char> Address::bytes() const {
  std::vector<char> out(kSize);
  put(out, 0, kMagic);
  out[kPlanesAt] = static_cast<char>(std::min(info_.addresses.size(), kPlanesMax));
  out[kHasPlaceAt] = info_.fabric_host ? 1 : 0;
  const std::string name = info_.host.substr(0, kNameMax);
  out[kNameLengthAt] = static_cast<char>(name.size());
  put(out, kQpnAt, info_.qpn);
  put(out, kPsnAt, info_.psn);
  put(out, kMtuAt, info_.mtu);
  put(out, kPlaceAt, info_.fabric_host.value_or(0));
  std::ranges::copy(name, out.begin() + kNameAt);
  for (std::size_t i = 0; i < std::min(info_.addresses.size(), kPlanesMax); ++i) {
    std::memcpy(&out[kAddressesAt + 16 * i], info_.addresses[i].bytes.data(), 16);
  }
  return out;
}

std::optional<host::ConnectionInfo> Address::read(const std::vector<char>& bytes) {
  if (bytes.size() != kSize || get(bytes, 0) != kMagic) return std::nullopt;
  const auto planes = static_cast<unsigned char>(bytes[kPlanesAt]);
  const auto name_length = static_cast<unsigned char>(bytes[kNameLengthAt]);
  if (planes == 0 || planes > kPlanesMax || name_length > kNameMax) return std::nullopt;
  host::ConnectionInfo info{.host = std::string(&bytes[kNameAt], name_length),
                            .qpn = get(bytes, kQpnAt),
                            .psn = get(bytes, kPsnAt),
                            .mtu = get(bytes, kMtuAt)};
  if (info.qpn > kNumberMax || info.psn > kNumberMax ||
      !std::ranges::all_of(info.host, is_printable)) {
    return std::nullopt;
  }
  if (bytes[kHasPlaceAt] != 0) info.fabric_host = get(bytes, kPlaceAt);
  for (std::size_t i = 0; i < planes; ++i) {
    wire::Ipv6Address address;
    std::memcpy(address.bytes.data(), &bytes[kAddressesAt + 16 * i], 16);
    info.addresses.push_back(address);
  }
  return info;
}

}  // namespace openmrc::gloo
