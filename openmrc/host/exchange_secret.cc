// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/host/exchange_secret.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "openmrc/base/check.h"

namespace openmrc::host {
namespace {

// Group may read; nobody else may do anything, nor the group write.
constexpr mode_t kTooOpen = 0027;

ExchangeError secret_fault(std::string what) {
  return {.fault = ExchangeFault::kSecret, .what = std::move(what)};
}

ExchangeError file_fault(const std::string& file) {
  return secret_fault(fmt::format("cannot read the secret in {}: {}", file,
                                  std::error_code(errno, std::generic_category()).message()));
}

Result<void, ExchangeError> check_file(int descriptor, const std::string& file) {
  struct stat found{};
  if (::fstat(descriptor, &found) != 0) return failure(file_fault(file));
  if (!S_ISREG(found.st_mode)) {
    return failure(secret_fault(fmt::format("{} is no regular file", file)));
  }
  if ((found.st_mode & kTooOpen) != 0) {
    return failure(secret_fault(
        fmt::format("the secret in {} is open to other users (mode {:04o}): chmod 600 {}", file,
                    found.st_mode & 07777, file)));
  }
  if (found.st_uid != ::geteuid() && found.st_uid != 0) {
    return failure(
        secret_fault(fmt::format("the secret in {} belongs to user {}, not to you or "
                                 "root",
                                 file, found.st_uid)));
  }
  return {};
}

std::string_view label(ExchangeSide side) {
  return side == ExchangeSide::kClient ? "openmrc exchange client" : "openmrc exchange server";
}

std::optional<unsigned> digit(char letter) {
  if (letter >= '0' && letter <= '9') return static_cast<unsigned>(letter - '0');
  if (letter >= 'a' && letter <= 'f') return static_cast<unsigned>(letter - 'a' + 10);
  return std::nullopt;
}

}  // namespace

Result<ExchangeSecret, ExchangeError> ExchangeSecret::load(const std::string& file) {
  const datapath::FileDescriptor opened(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!opened.is_open()) return failure(file_fault(file));
  if (auto checked = check_file(opened.get(), file); !checked) {
    return failure(std::move(checked.error()));
  }
  std::string bytes(kSecretSizeMax + 2, '\0');
  const ssize_t size = ::read(opened.get(), bytes.data(), bytes.size());
  if (size < 0) return failure(file_fault(file));
  bytes.resize(static_cast<std::size_t>(size));
  if (bytes.ends_with('\n')) bytes.pop_back();
  if (bytes.size() < kSecretSizeMin || bytes.size() > kSecretSizeMax) {
    return failure(secret_fault(fmt::format("the secret in {} must have {} to {} bytes", file,
                                            kSecretSizeMin, kSecretSizeMax)));
  }
  return ExchangeSecret(std::move(bytes));
}

ExchangeSecret::~ExchangeSecret() { OPENSSL_cleanse(bytes_.data(), bytes_.size()); }

ExchangeProof ExchangeSecret::proof(ExchangeSide side, const ExchangeNonce& client,
                                    const ExchangeNonce& server) const {
  std::string message(label(side));
  for (const ExchangeNonce* nonce : {&client, &server}) {
    message.append(reinterpret_cast<const char*>(nonce->data()), nonce->size());
  }
  ExchangeProof proof{};
  unsigned size = 0;
  const unsigned char* made =
      ::HMAC(EVP_sha256(), bytes_.data(), static_cast<int>(bytes_.size()),
             reinterpret_cast<const unsigned char*>(message.data()), message.size(),
             reinterpret_cast<unsigned char*>(proof.data()), &size);
  OPENMRC_CHECK(made != nullptr && size == proof.size(), "HMAC-SHA-256");
  return proof;
}

ExchangeNonce fresh_nonce() {
  ExchangeNonce nonce{};
  const int made = ::RAND_bytes(reinterpret_cast<unsigned char*>(nonce.data()), nonce.size());
  OPENMRC_CHECK(made == 1, "random numbers of the system");
  return nonce;
}

bool is_same(const ExchangeProof& a, const ExchangeProof& b) {
  return ::CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

std::string to_hex(const ExchangeNonce& bytes) {
  std::string text;
  for (const std::byte byte : bytes) text += fmt::format("{:02x}", static_cast<unsigned>(byte));
  return text;
}

std::optional<ExchangeNonce> from_hex(std::string_view text) {
  ExchangeNonce bytes{};
  if (text.size() != 2 * bytes.size()) return std::nullopt;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const auto high = digit(text[2 * i]);
    const auto low = digit(text[2 * i + 1]);
    if (!high || !low) return std::nullopt;
    bytes[i] = static_cast<std::byte>(*high << 4 | *low);
  }
  return bytes;
}

}  // namespace openmrc::host
