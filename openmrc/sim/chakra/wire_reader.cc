// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/chakra/wire_reader.h"

namespace openmrc::sim {
namespace {

constexpr std::size_t kVarintBytesMax = 10;
constexpr unsigned kVarintBits = 7;
constexpr std::uint64_t kFieldNumberMax = (std::uint64_t{1} << 29) - 1;
constexpr unsigned kWireTypeBits = 3;

enum WireType : std::uint8_t {
  kWireVarint = 0,
  kWireFixed64 = 1,
  kWireBytes = 2,
  kWireFixed32 = 5
};

}  // namespace

std::nullopt_t WireReader::fail() {
  ok_ = false;
  left_ = {};
  return std::nullopt;
}

std::optional<std::uint64_t> WireReader::varint() {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < left_.size() && i < kVarintBytesMax; ++i) {
    const auto byte = static_cast<unsigned char>(left_[i]);
    value |= std::uint64_t{byte & 0x7FU} << (kVarintBits * i);
    if (byte >= 0x80) continue;
    left_.remove_prefix(i + 1);
    return value;
  }
  return fail();
}

std::optional<std::uint64_t> WireReader::fixed(std::size_t bytes) {
  if (left_.size() < bytes) return fail();
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes; ++i) {
    value |= std::uint64_t{static_cast<unsigned char>(left_[i])} << (8 * i);
  }
  left_.remove_prefix(bytes);
  return value;
}

std::optional<std::string_view> WireReader::bytes(std::uint64_t count) {
  if (left_.size() < count) return fail();
  const std::string_view result = left_.substr(0, count);
  left_.remove_prefix(count);
  return result;
}

std::optional<WireReader::Field> WireReader::next() {
  if (left_.empty()) return std::nullopt;
  const auto key = varint();
  if (!key) return std::nullopt;
  const std::uint64_t number = *key >> kWireTypeBits;
  if (number == 0 || number > kFieldNumberMax) return fail();
  Field field{.number = static_cast<std::uint32_t>(number)};
  switch (*key & ((1U << kWireTypeBits) - 1)) {
    case kWireVarint:
      if (const auto value = varint()) {
        field.value = *value;
        return field;
      }
      return std::nullopt;
    case kWireFixed64:
    case kWireFixed32: {
      const bool wide = (*key & ((1U << kWireTypeBits) - 1)) == kWireFixed64;
      const auto value = fixed(wide ? sizeof(std::uint64_t) : sizeof(std::uint32_t));
      if (!value) return std::nullopt;
      field.kind = Kind::kFixed;
      field.value = *value;
      return field;
    }
    case kWireBytes: {
      const auto length = varint();
      if (!length) return std::nullopt;
      const auto content = bytes(*length);
      if (!content) return std::nullopt;
      field.kind = Kind::kBytes;
      field.bytes = *content;
      return field;
    }
    default: return fail();  // groups, which proto3 does not have
  }
}

}  // namespace openmrc::sim
