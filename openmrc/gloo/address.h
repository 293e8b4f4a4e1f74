// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gloo/transport/address.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "openmrc/base/result.h"
#include "openmrc/host/exchange.h"

namespace openmrc::gloo {

// What a peer needs to know of a pair, as gloo passes it on: bytes, as many for every pair.
class Address final : public ::gloo::transport::Address {
 public:
  // gloo has room for no more addresses (kMaxByteSize).
  static constexpr std::size_t kPlanesMax = 8;
  static constexpr std::size_t kNameMax = 32;
  static constexpr std::size_t kSize = 16 + 8 + kNameMax + kPlanesMax * 16;
  static_assert(kSize <= kMaxByteSize);

  explicit Address(host::ConnectionInfo info) : info_(std::move(info)) {}
  // Nothing: it comes from something else.
  [[nodiscard]] static std::optional<host::ConnectionInfo> read(const std::vector<char>& bytes);

  [[nodiscard]] std::string str() const override;
  [[nodiscard]] std::vector<char> bytes() const override;

 private:
  host::ConnectionInfo info_;
};

}  // namespace openmrc::gloo
