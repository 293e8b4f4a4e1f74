// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/host/exchange_handshake.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace openmrc::host {
namespace {

constexpr ExchangeNonce kClientNonce = {std::byte{0xc1}};
constexpr ExchangeNonce kServerNonce = {std::byte{0x5e}};

std::string auth(std::string_view key, const ExchangeNonce& value) {
  return fmt::format(R"({{"openmrc_auth":1,"{}":"{}"}})", key, to_hex(value));
}

class Handshake : public ::testing::Test {
 protected:
  // With a server whose nonce is always the same, unless told otherwise.
  ServerHandshake server(const ExchangeNonce& nonce = kServerNonce) {
    return ServerHandshake(settings_, nonce);
  }
  std::string client_proof(const ExchangeNonce& nonce = kServerNonce) const {
    return auth("proof", secret_.proof(ExchangeSide::kClient, kClientNonce, nonce));
  }
  static void expect_refused(const Result<std::optional<std::string>, ExchangeError>& answer,
                             ExchangeFault fault, std::string_view reason) {
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().fault, fault);
    EXPECT_NE(answer.error().what.find(reason), std::string::npos) << answer.error().what;
  }

  ExchangeSecret secret_{"0123456789abcdef"};
  HandshakeSettings settings_{.lines = 2, .secret = &secret_, .check_first = {}};
};

TEST_F(Handshake, LetsAClientWithTheSecretIn) {
  ServerHandshake handshake = server();
  EXPECT_EQ(handshake.take(auth("nonce", kClientNonce)), auth("nonce", kServerNonce));
  EXPECT_EQ(handshake.take(client_proof()),
            auth("proof", secret_.proof(ExchangeSide::kServer, kClientNonce, kServerNonce)));
  EXPECT_EQ(handshake.line_max(), kFirstLineMax);
  EXPECT_EQ(handshake.take("plan"), std::nullopt);
  EXPECT_EQ(handshake.line_max(), kExchangeLineMax);
  EXPECT_FALSE(handshake.is_complete());
  EXPECT_EQ(handshake.take("memory"), std::nullopt);
  EXPECT_TRUE(handshake.is_complete());
  EXPECT_EQ(handshake.lines(), (std::vector<std::string>{"plan", "memory"}));
}

TEST_F(Handshake, RefusesAClientWithoutTheSecret) {
  for (const char* line : {R"({"openmrc_perf":2})", "", "[]", "\xff", R"({"error":5})"}) {
    expect_refused(server().take(line), ExchangeFault::kSecret, "requires a shared secret");
  }
  for (const std::string& line :
       {std::string(R"({"openmrc_auth":1})"), std::string(R"({"openmrc_auth":"x","nonce":5})"),
        std::string(R"({"openmrc_auth":2,"nonce":""})"), auth("proof", kClientNonce),
        std::string(R"({"openmrc_auth":1,"nonce":"00"})")}) {
    expect_refused(server().take(line), ExchangeFault::kMalformed, "the authentication");
  }
}

TEST_F(Handshake, RefusesAWrongProof) {
  const ExchangeSecret other("0123456789abcdeX");
  for (const ExchangeProof& wrong :
       {other.proof(ExchangeSide::kClient, kClientNonce, kServerNonce), ExchangeProof{},
        // What the server itself would say, sent back.
        secret_.proof(ExchangeSide::kServer, kClientNonce, kServerNonce)}) {
    ServerHandshake handshake = server();
    ASSERT_TRUE(handshake.take(auth("nonce", kClientNonce)));
    expect_refused(handshake.take(auth("proof", wrong)), ExchangeFault::kSecret,
                   "secret is not that of this server");
  }
}

// All that a client sent once, sent once more.
TEST_F(Handshake, RefusesWhatIsReplayed) {
  const ExchangeNonce next = fresh_nonce();
  ServerHandshake handshake = server(next);
  ASSERT_TRUE(handshake.take(auth("nonce", kClientNonce)));
  expect_refused(handshake.take(client_proof(kServerNonce)), ExchangeFault::kSecret, "secret");
}

TEST_F(Handshake, WithoutASecretTakesTheLinesAtOnce) {
  settings_.secret = nullptr;
  ServerHandshake handshake = server();
  EXPECT_EQ(handshake.take("plan"), std::nullopt);
  EXPECT_EQ(handshake.take("memory"), std::nullopt);
  EXPECT_TRUE(handshake.is_complete());
  expect_refused(server().take(auth("nonce", kClientNonce)), ExchangeFault::kSecret,
                 "this server has none");
}

TEST_F(Handshake, ChecksTheFirstLineBeforeItReadsMore) {
  settings_.secret = nullptr;
  settings_.check_first = [](const std::string& line) -> Result<void, ExchangeError> {
    if (line == "good") return {};
    return failure(ExchangeError{.fault = ExchangeFault::kRefused, .what = "not " + line});
  };
  expect_refused(server().take("bad"), ExchangeFault::kRefused, "not bad");
  ServerHandshake handshake = server();
  EXPECT_TRUE(handshake.take("good"));
  EXPECT_TRUE(handshake.take("anything"));
}

TEST(Refusal, IsReadWhateverItHolds) {
  EXPECT_EQ(refusal_in(refusal_line("too \"much\"\n")), "too \"much\"?");
  EXPECT_EQ(refusal_in(refusal_line("\xff")), "\xef\xbf\xbd");
  EXPECT_EQ(refusal_in(R"({"error":5})"), "no reason given");
  EXPECT_EQ(refusal_in(R"({"error":{}})"), "no reason given");
  EXPECT_EQ(refusal_in(R"({"openmrc":1})"), std::nullopt);
  EXPECT_EQ(refusal_in("[]"), std::nullopt);
  EXPECT_EQ(refusal_in(""), std::nullopt);
}

}  // namespace
}  // namespace openmrc::host
