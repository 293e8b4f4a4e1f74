// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/tagged/header.h"

#include "openmrc/base/network_order.h"

namespace openmrc::tagged {
namespace {

bool payload_fits(const Header& header, std::size_t payload) {
  switch (header.kind) {
    case Kind::kEager: return header.length == payload && payload <= kEagerMax;
    case Kind::kAbort: return header.length == payload && payload <= kReasonMax;
    case Kind::kAnnounce:
    case Kind::kRead:
    case Kind::kCredit:
    case Kind::kClose: return payload == 0;
  }
  return false;  // no such kind
}

}  // namespace

std::optional<Header> Header::read(ConstBytes message) {
  if (message.size() < kSize || get_network_order<std::uint8_t>(message, 0) != kVersion)
    return std::nullopt;
  const Header header{.kind = static_cast<Kind>(get_network_order<std::uint8_t>(message, 1)),
                      .consumed = get_network_order<std::uint32_t>(message, 4),
                      .tag = get_network_order<std::uint64_t>(message, 8),
                      .length = get_network_order<std::uint64_t>(message, 16),
                      .address = get_network_order<std::uint64_t>(message, 24),
                      .rkey = get_network_order<std::uint32_t>(message, 32),
                      .id = get_network_order<std::uint32_t>(message, 36)};
  if (!payload_fits(header, message.size() - kSize)) return std::nullopt;
  return header;
}

void Header::write(std::span<std::byte, kSize> out) const {
  put_network_order(out, 0, kVersion);
  put_network_order(out, 1, static_cast<std::uint8_t>(kind));
  put_network_order(out, 2, std::uint16_t{0});
  put_network_order(out, 4, consumed);
  put_network_order(out, 8, tag);
  put_network_order(out, 16, length);
  put_network_order(out, 24, address);
  put_network_order(out, 32, rkey);
  put_network_order(out, 36, id);
}

}  // namespace openmrc::tagged
