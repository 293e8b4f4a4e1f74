// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "openmrc/base/result.h"
#include "openmrc/host/exchange.h"

// A secret that both sides of an exchange have, and the proofs that they do (HMAC-SHA-256). The
// secret itself is never sent.
namespace openmrc::host {

using ExchangeNonce = std::array<std::byte, 32>;  // fresh for each connection, from each side
using ExchangeProof = std::array<std::byte, 32>;

// Whose proof it is, so that neither side's can be sent back as the other's.
enum class ExchangeSide : std::uint8_t { kClient, kServer };

// Shorter ones can be guessed by whoever has seen one proof.
inline constexpr std::size_t kSecretSizeMin = 16;
inline constexpr std::size_t kSecretSizeMax = 4096;

class ExchangeSecret {
 public:
  // The bytes of a file without its last line break. The file must be this user's or root's, and
  // closed to others; a group may read it.
  static Result<ExchangeSecret, ExchangeError> load(const std::string& file);

  explicit ExchangeSecret(std::string bytes) : bytes_(std::move(bytes)) {}
  ExchangeSecret(ExchangeSecret&&) = default;
  ExchangeSecret& operator=(ExchangeSecret&&) = default;
  ~ExchangeSecret();  // overwrites it

  // Proves that `side` has the secret, for these nonces alone.
  [[nodiscard]] ExchangeProof proof(ExchangeSide side, const ExchangeNonce& client,
                                    const ExchangeNonce& server) const;

 private:
  std::string bytes_;
};

ExchangeNonce fresh_nonce();

// In a time that says nothing about where they differ.
bool is_same(const ExchangeProof& a, const ExchangeProof& b);

// As two hexadecimal digits a byte.
std::string to_hex(const ExchangeNonce& bytes);
std::optional<ExchangeNonce> from_hex(std::string_view text);

}  // namespace openmrc::host
