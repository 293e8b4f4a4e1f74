// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/host/exchange_secret.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

namespace openmrc::host {
namespace {

constexpr ExchangeNonce kOnes = {std::byte{1}};
constexpr ExchangeNonce kTwos = {std::byte{2}};

class SecretFile : public ::testing::Test {
 protected:
  void SetUp() override { write("correct horse battery staple\n", 0600); }
  void TearDown() override { std::filesystem::remove(path_); }
  void write(const std::string& text, mode_t mode) const {
    std::filesystem::remove(path_);
    std::ofstream(path_) << text;
    ASSERT_EQ(::chmod(path_.c_str(), mode), 0);
  }
  void expect_refused(std::string_view reason) const {
    const auto secret = ExchangeSecret::load(path_);
    ASSERT_FALSE(secret);
    EXPECT_EQ(secret.error().fault, ExchangeFault::kSecret);
    EXPECT_NE(secret.error().what.find(reason), std::string::npos) << secret.error().what;
  }

  std::string path_ = ::testing::TempDir() + "secret-" + std::to_string(::getpid());
};

TEST_F(SecretFile, IsReadWithoutItsLineBreak) {
  const auto secret = ExchangeSecret::load(path_);
  ASSERT_TRUE(secret) << to_string(secret.error());
  EXPECT_EQ(
      secret->proof(ExchangeSide::kClient, kOnes, kTwos),
      ExchangeSecret("correct horse battery staple").proof(ExchangeSide::kClient, kOnes, kTwos));
}

TEST_F(SecretFile, IsClosedToOthers) {
  for (const mode_t mode : {0644u, 0604u, 0660u, 0601u}) {
    write("correct horse battery staple\n", mode);
    expect_refused("is open to other users");
  }
  write("correct horse battery staple\n", 0640);
  EXPECT_TRUE(ExchangeSecret::load(path_)) << "a group may read";
}

TEST_F(SecretFile, BelongsToItsReaderOrRoot) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root, to give a file away";
  ASSERT_EQ(::chown(path_.c_str(), 65534, 65534), 0);
  expect_refused("belongs to user 65534");
}

TEST_F(SecretFile, HasEnoughAndNotTooMuch) {
  write("short\n", 0600);
  expect_refused("must have 16 to 4096 bytes");
  write(std::string(5000, 'x'), 0600);
  expect_refused("must have 16 to 4096 bytes");
  std::filesystem::remove(path_);
  expect_refused("No such file");
}

// RFC 4231 has no case with our message, so this is the value of another implementation:
// hmac.new(b"0123456789abcdef", b"openmrc exchange client" + b"\1" + bytes(31) + b"\2" + bytes(31),
// "sha256") in Python.
TEST(ExchangeSecret, ProvesAsHmacSha256Does) {
  const ExchangeSecret secret("0123456789abcdef");
  EXPECT_EQ(to_hex(secret.proof(ExchangeSide::kClient, kOnes, kTwos)),
            "8f08c0605485a1a1f5cebc8a583e173f0e1991839faa8c9e121a9137c8850759");
  EXPECT_EQ(to_hex(secret.proof(ExchangeSide::kServer, kOnes, kTwos)),
            "e54de60a4bc3dade6c68ddaaa6c945d0618ec849824db3082b90c095bc224691");
}

TEST(ExchangeSecret, ProofsDependOnEverything) {
  const ExchangeSecret secret("0123456789abcdef");
  const auto proof = secret.proof(ExchangeSide::kClient, kOnes, kTwos);
  EXPECT_TRUE(is_same(proof, secret.proof(ExchangeSide::kClient, kOnes, kTwos)));
  EXPECT_FALSE(is_same(proof, secret.proof(ExchangeSide::kServer, kOnes, kTwos)));
  EXPECT_FALSE(is_same(proof, secret.proof(ExchangeSide::kClient, kTwos, kOnes)));
  EXPECT_FALSE(is_same(
      proof, ExchangeSecret("0123456789abcdeg").proof(ExchangeSide::kClient, kOnes, kTwos)));
}

TEST(ExchangeNonce, IsFreshEachTime) { EXPECT_NE(fresh_nonce(), fresh_nonce()); }

TEST(ExchangeNonce, ComesBackFromHex) {
  const ExchangeNonce nonce = fresh_nonce();
  EXPECT_EQ(from_hex(to_hex(nonce)), nonce);
  EXPECT_FALSE(from_hex(""));
  EXPECT_FALSE(from_hex(std::string(63, '0')));
  EXPECT_FALSE(from_hex(std::string(63, '0') + "g"));
  EXPECT_FALSE(from_hex(std::string(66, '0')));
}

}  // namespace
}  // namespace openmrc::host
