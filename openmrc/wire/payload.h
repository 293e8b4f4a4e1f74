// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "openmrc/base/bytes.h"
#include "openmrc/base/check.h"

namespace openmrc::wire {

// A reference to the data of one packet: the caller owns the bytes and keeps them until the
// packet is gone. Where only the length matters, as in simulation, there need be no bytes at all.
class Payload {
 public:
  constexpr Payload() = default;
  static constexpr Payload of_bytes(ConstBytes bytes) {
    return {bytes.data(), static_cast<std::uint32_t>(bytes.size())};
  }
  static constexpr Payload of_length(std::uint32_t length) { return {nullptr, length}; }

  [[nodiscard]] constexpr std::uint32_t size() const { return size_; }
  [[nodiscard]] constexpr bool has_bytes() const { return data_ != nullptr || size_ == 0; }
  [[nodiscard]] constexpr ConstBytes bytes() const {
    OPENMRC_CHECK(has_bytes(), "this payload is only a length");
    return {data_, size_};
  }

 private:
  constexpr Payload(const std::byte* data, std::uint32_t size) : data_(data), size_(size) {}

  const std::byte* data_ = nullptr;
  std::uint32_t size_ = 0;
};

// A payload is followed by as many zero bytes as make its length a multiple of four (WIRE-35).
constexpr std::size_t padded_size(std::size_t payload_size) {
  return (payload_size + 3) & ~std::size_t{3};
}
constexpr std::uint8_t pad_count(std::size_t payload_size) {
  return static_cast<std::uint8_t>(padded_size(payload_size) - payload_size);
}

}  // namespace openmrc::wire
