// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/host/exchange_handshake.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "openmrc/host/exchange_json.h"

namespace openmrc::host {
namespace {

using Answer = Result<std::optional<std::string>, ExchangeError>;

constexpr std::uint64_t kAuthVersion = 1;
constexpr const char* kAuth = "openmrc_auth";
constexpr const char* kNonceKey = "nonce";
constexpr const char* kProofKey = "proof";
constexpr std::size_t kHexMax = 64;
constexpr std::size_t kReasonMax = 4096;

ExchangeError not_proved(std::string what) {
  return {.fault = ExchangeFault::kSecret, .what = std::move(what)};
}

std::string auth_line(const char* key, const ExchangeNonce& value) {
  return nlohmann::ordered_json{{kAuth, kAuthVersion}, {key, to_hex(value)}}.dump();
}

bool is_auth_line(std::string_view line) {
  const nlohmann::json json = parse_line(line);
  return json.is_object() && json.contains(kAuth);
}

Result<ExchangeNonce, ExchangeError> read_auth_line(std::string_view line, const char* key) {
  const nlohmann::json json = parse_line(line);
  ObjectReader reader(json, "the authentication");
  std::uint64_t version = 0;
  reader.take(kAuth, version, {kAuthVersion, kAuthVersion});
  std::string hex;
  reader.take(key, hex, kHexMax);
  const auto value = from_hex(hex);
  if (!value) reader.fail(fmt::format("{} must be {} hexadecimal digits", key, kHexMax));
  return reader.finish(value.value_or(ExchangeNonce{}));
}

// The server's next line; its refusal is an error.
Result<ExchangeNonce, ExchangeError> receive_auth_line(ExchangeConnection& server, const char* key,
                                                       Duration timeout) {
  const auto line = server.receive(timeout);
  if (!line) return failure(line.error());
  if (auto reason = refusal_in(*line)) {
    return failure(ExchangeError{.fault = ExchangeFault::kRefused,
                                 .what = "rejected by the server: " + *std::move(reason)});
  }
  return read_auth_line(*line, key);
}

}  // namespace

std::string refusal_line(std::string_view why) {
  return nlohmann::json{{"error", why}}.dump(-1, ' ', false,
                                             nlohmann::json::error_handler_t::replace);
}

std::optional<std::string> refusal_in(std::string_view line) {
  const nlohmann::json json = parse_line(line);
  if (!json.is_object() || !json.contains("error")) return std::nullopt;
  ObjectReader reader(json, "the refusal");
  std::string reason;
  reader.take("error", reason, kReasonMax);
  return reason.empty() ? "no reason given" : reason;
}

ServerHandshake::ServerHandshake(const HandshakeSettings& settings, const ExchangeNonce& nonce)
    : settings_(settings),
      nonce_(nonce),
      stage_(settings.secret != nullptr ? Stage::kNonce : Stage::kLines) {}

Answer ServerHandshake::take(std::string line) {
  if (stage_ == Stage::kNonce) return take_nonce(line);
  if (stage_ == Stage::kProof) return take_proof(line);
  if (lines_.empty()) {
    if (settings_.secret == nullptr && is_auth_line(line)) {
      return failure(not_proved("the client has a secret, this server has none"));
    }
    if (settings_.check_first) {
      if (auto checked = settings_.check_first(line); !checked) {
        return failure(std::move(checked.error()));
      }
    }
  }
  if (!is_complete()) lines_.push_back(std::move(line));
  return std::nullopt;
}

Answer ServerHandshake::take_nonce(std::string_view line) {
  if (!is_auth_line(line)) return failure(not_proved("this server requires a shared secret"));
  const auto nonce = read_auth_line(line, kNonceKey);
  if (!nonce) return failure(nonce.error());
  client_nonce_ = *nonce;
  stage_ = Stage::kProof;
  return auth_line(kNonceKey, nonce_);
}

Answer ServerHandshake::take_proof(std::string_view line) {
  const auto proof = read_auth_line(line, kProofKey);
  if (!proof) return failure(proof.error());
  if (!is_same(*proof, settings_.secret->proof(ExchangeSide::kClient, client_nonce_, nonce_))) {
    return failure(not_proved("the client's secret is not that of this server"));
  }
  stage_ = Stage::kLines;
  return auth_line(kProofKey,
                   settings_.secret->proof(ExchangeSide::kServer, client_nonce_, nonce_));
}

Result<void, ExchangeError> authenticate(ExchangeConnection& server, const ExchangeSecret& secret,
                                         Duration timeout) {
  const ExchangeNonce own = fresh_nonce();
  if (auto sent = server.send(auth_line(kNonceKey, own), timeout); !sent) return sent;
  const auto theirs = receive_auth_line(server, kNonceKey, timeout);
  if (!theirs) return failure(theirs.error());
  const ExchangeProof proof = secret.proof(ExchangeSide::kClient, own, *theirs);
  if (auto sent = server.send(auth_line(kProofKey, proof), timeout); !sent) return sent;
  const auto proved = receive_auth_line(server, kProofKey, timeout);
  if (!proved) return failure(proved.error());
  if (!is_same(*proved, secret.proof(ExchangeSide::kServer, own, *theirs))) {
    return failure(not_proved(fmt::format("{} does not have the secret", server.peer())));
  }
  return {};
}

}  // namespace openmrc::host
