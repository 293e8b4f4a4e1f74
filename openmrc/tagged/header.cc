// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/tagged/header.h"

namespace openmrc::tagged {
namespace {

template <class T>
void put(std::span<std::byte> out, std::size_t at, T value) {
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    out[at + i] = static_cast<std::byte>(value >> (8 * (sizeof(T) - 1 - i)) & 0xff);
  }
}

template <class T>
T get(ConstBytes in, std::size_t at) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    value = value << 8 | std::to_integer<std::uint64_t>(in[at + i]);
  }
  return static_cast<T>(value);
}

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
  if (message.size() < kSize || get<std::uint8_t>(message, 0) != kVersion) return std::nullopt;
  const Header header{.kind = static_cast<Kind>(get<std::uint8_t>(message, 1)),
                      .consumed = get<std::uint32_t>(message, 4),
                      .tag = get<std::uint64_t>(message, 8),
                      .length = get<std::uint64_t>(message, 16),
                      .address = get<std::uint64_t>(message, 24),
                      .rkey = get<std::uint32_t>(message, 32),
                      .id = get<std::uint32_t>(message, 36)};
  if (!payload_fits(header, message.size() - kSize)) return std::nullopt;
  return header;
}

void Header::write(std::span<std::byte, kSize> out) const {
  put(out, 0, kVersion);
  put(out, 1, static_cast<std::uint8_t>(kind));
  put(out, 2, std::uint16_t{0});
  put(out, 4, consumed);
  put(out, 8, tag);
  put(out, 16, length);
  put(out, 24, address);
  put(out, 32, rkey);
  put(out, 36, id);
}

}  // namespace openmrc::tagged
