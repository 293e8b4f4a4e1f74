// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "openmrc/base/result.h"
#include "openmrc/base/time.h"
#include "openmrc/host/exchange.h"
#include "openmrc/host/exchange_secret.h"

// What a client sends before a server spends anything on it.
//
// With a shared secret, four lines come first: the client's nonce, the server's nonce, the client's
// proof, the server's proof. The client proves first, so that whoever only connects gets nothing to
// guess the secret by. Then, or at once, follow the client's lines. A side that refuses says why:
// {"error":"..."}.
namespace openmrc::host {

std::string refusal_line(std::string_view why);
// The reason, if the line is a refusal.
std::optional<std::string> refusal_in(std::string_view line);

// Of lines before a client is known and has said what it wants.
inline constexpr std::size_t kFirstLineMax = 4096;

struct HandshakeSettings {
  std::size_t lines = 1;                   // that make it complete
  const ExchangeSecret* secret = nullptr;  // outlives the handshake; null: anybody may come
  // What the client wants, by its first line. Later lines are only read if it is not refused.
  std::function<Result<void, ExchangeError>(const std::string& line)> check_first{};
};

// The server's side of one client, line by line. Does no I/O.
class ServerHandshake {
 public:
  // `settings` outlives it.
  ServerHandshake(const HandshakeSettings& settings, const ExchangeNonce& nonce);

  // Takes the client's next line, and returns the answer to it, if any. An error ends the
  // handshake; the client is to be told.
  Result<std::optional<std::string>, ExchangeError> take(std::string line);

  [[nodiscard]] bool is_complete() const { return lines_.size() == settings_.lines; }
  [[nodiscard]] std::size_t line_max() const {
    return lines_.empty() ? kFirstLineMax : kExchangeLineMax;
  }
  [[nodiscard]] std::vector<std::string>& lines() { return lines_; }

 private:
  enum class Stage : std::uint8_t { kNonce, kProof, kLines };

  Result<std::optional<std::string>, ExchangeError> take_nonce(std::string_view line);
  Result<std::optional<std::string>, ExchangeError> take_proof(std::string_view line);

  const HandshakeSettings& settings_;
  ExchangeNonce client_nonce_{};
  ExchangeNonce nonce_;
  Stage stage_;
  std::vector<std::string> lines_;
};

// The client's side, before its first line: proves that it has the secret, and has the server prove
// the same.
[[nodiscard]] Result<void, ExchangeError> authenticate(ExchangeConnection& server,
                                                       const ExchangeSecret& secret,
                                                       Duration timeout);

}  // namespace openmrc::host
