// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/host/exchange_server.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <future>
#include <thread>

#include "openmrc/host/clock.h"

namespace openmrc::host {
namespace {

constexpr Duration kLong = seconds(20);  // never used up unless something is wrong

// Connects, and says what it is told to.
class Visitor {
 public:
  explicit Visitor(const ExchangeServer& server) : socket_(::socket(AF_INET6, SOCK_STREAM, 0)) {
    sockaddr_in6 address{};
    address.sin6_family = AF_INET6;
    address.sin6_port = htons(server.port());
    address.sin6_addr = in6addr_loopback;
    EXPECT_EQ(::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address),
              0);
  }
  void say(std::string_view bytes) const {
    EXPECT_EQ(::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
  }
  // Whether the server has said something, or has closed.
  [[nodiscard]] bool is_answered() const {
    char letter = 0;
    return ::recv(socket_.get(), &letter, 1, MSG_PEEK | MSG_DONTWAIT) >= 0 || errno != EAGAIN;
  }
  // Until the server closes.
  [[nodiscard]] std::string hear() const {
    std::string heard;
    for (char letter = 0; ::recv(socket_.get(), &letter, 1, 0) == 1;) heard += letter;
    return heard;
  }

 private:
  datapath::FileDescriptor socket_;
};

ExchangeServer open_server(ExchangeServerSettings settings = {}) {
  auto server = ExchangeServer::open(std::move(settings));
  EXPECT_TRUE(server) << to_string(server.error());
  return *std::move(server);
}

// Serves until it is so, and nobody is to be accepted meanwhile.
template <class Condition>
[[nodiscard]] bool comes_true(ExchangeServer& server, const Condition& condition) {
  const Instant end = now() + kLong;
  while (!condition() && now() < end) EXPECT_FALSE(server.accept(milliseconds(20)));
  return condition();
}

TEST(ExchangeServer, GivesAClientWithItsLines) {
  ExchangeServer server = open_server({.lines = 2});
  auto client = ExchangeConnection::connect("::1", server.port(), kLong);
  ASSERT_TRUE(client && client->send("one") && client->send("two") && client->send("three"));
  auto request = server.accept(kLong);
  ASSERT_TRUE(request) << to_string(request.error());
  EXPECT_EQ(request->lines, (std::vector<std::string>{"one", "two"}));
  EXPECT_EQ(request->connection.receive(kLong), "three");
}

TEST(ExchangeServer, IsNotHinderedByTwoHundredSilentClients) {
  ExchangeServer server = open_server();
  std::vector<Visitor> silent;
  auto waiting = std::async(std::launch::async, [&] { return server.accept(kLong); });
  for (int i = 0; i < 200; ++i) silent.emplace_back(server);
  const Instant begin = now();
  auto client = ExchangeConnection::connect("::1", server.port(), kLong);
  ASSERT_TRUE(client && client->send("real"));
  auto request = waiting.get();
  EXPECT_LT(now() - begin, seconds(5)) << "half of what each of them may take";
  ASSERT_TRUE(request) << to_string(request.error());
  EXPECT_EQ(request->lines[0], "real");
}

TEST(ExchangeServer, DoesNotCountThoseWhoOnlyConnect) {
  ExchangeServer server = open_server();
  for (int i = 0; i < 50; ++i) Visitor visitor(server);
  EXPECT_EQ(server.accept(milliseconds(300)).error().fault, ExchangeFault::kTimeout);
  EXPECT_EQ(server.pending(), 0u);
}

TEST(ExchangeServer, DropsTheOldestOfTooMany) {
  ExchangeServer server = open_server({.pending_max = 3});
  const Visitor oldest(server);
  std::vector<Visitor> later;
  ASSERT_TRUE(comes_true(server, [&] { return server.pending() == 1; }));
  for (int i = 0; i < 3; ++i) later.emplace_back(server);
  ASSERT_TRUE(comes_true(server, [&] { return oldest.is_answered(); }));
  EXPECT_EQ(server.pending(), 3u);
  EXPECT_EQ(oldest.hear(), "");
  later.back().say("still there\n");
  EXPECT_TRUE(server.accept(kLong));
}

TEST(ExchangeServer, DropsThoseWhoTakeTooLong) {
  ExchangeServer server = open_server({.handshake_timeout = milliseconds(100)});
  const Visitor slow(server);
  slow.say("half a li");
  ASSERT_TRUE(comes_true(server, [&] { return slow.is_answered(); }));
  EXPECT_EQ(server.pending(), 0u);
  EXPECT_NE(slow.hear().find("the handshake was not complete after 100ms"), std::string::npos);
}

TEST(ExchangeServer, BoundsWhatClientsMaySendBeforeTheyAreServed) {
  std::string reason;
  ExchangeServer server = open_server(
      {.lines = 2,
       .on_refused = [&](const std::string&, const ExchangeError& why) { reason = why.what; },
       .pending_bytes_max = 100'000});
  const Visitor long_line(server);
  long_line.say(std::string(2 * kFirstLineMax, 'x'));
  ASSERT_TRUE(comes_true(server, [&] { return long_line.is_answered(); }));
  EXPECT_NE(reason.find("a line of more than 4KiB"), std::string::npos) << reason;
  EXPECT_EQ(server.pending(), 0u);

  const Visitor much(server);
  much.say("first\n" + std::string(200'000, 'x'));
  ASSERT_TRUE(comes_true(server, [&] { return much.is_answered(); })) << "more than all may send";
  EXPECT_EQ(server.pending(), 0u);
}

TEST(ExchangeServer, SaysWhyItRefuses) {
  std::string reason;
  ExchangeServer server = open_server(
      {.check_first = [](const std::string&) -> Result<void, ExchangeError> {
         return failure(ExchangeError{.fault = ExchangeFault::kRefused, .what = "not today"});
       },
       .on_refused = [&](const std::string&, const ExchangeError& why) { reason = why.what; }});
  const Visitor visitor(server);
  visitor.say("please\n");
  ASSERT_TRUE(comes_true(server, [&] { return visitor.is_answered(); }));
  EXPECT_EQ(visitor.hear(), "{\"error\":\"not today\"}\n");
  EXPECT_EQ(reason, "not today");
}

// The connection, once both sides have proved themselves: who leaves before is not served.
Result<ExchangeConnection, ExchangeError> visit(std::uint16_t port, const std::string& secret) {
  auto client = ExchangeConnection::connect("::1", port, kLong);
  if (!client) return failure(client.error());
  if (auto known = authenticate(*client, ExchangeSecret(secret), kLong); !known) {
    return failure(known.error());
  }
  if (auto sent = client->send("in"); !sent) return failure(sent.error());
  return client;
}

TEST(ExchangeServer, AndClientProveThatTheyHaveTheSecret) {
  ExchangeServer server = open_server({.secret = ExchangeSecret("0123456789abcdef")});
  auto client =
      std::async(std::launch::async, [&] { return visit(server.port(), "0123456789abcdef"); });
  auto request = server.accept(kLong);
  ASSERT_TRUE(request) << to_string(request.error());
  EXPECT_TRUE(client.get());
  EXPECT_EQ(request->lines[0], "in");
}

TEST(ExchangeServer, TellsAClientThatItsSecretIsWrong) {
  ExchangeServer server = open_server({.secret = ExchangeSecret("0123456789abcdef")});
  auto client =
      std::async(std::launch::async, [&] { return visit(server.port(), "0123456789abcdeX"); });
  ASSERT_TRUE(comes_true(server, [&] {
    return client.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  }));
  const auto known = client.get();
  ASSERT_FALSE(known);
  EXPECT_EQ(known.error().fault, ExchangeFault::kRefused);
  EXPECT_NE(known.error().what.find("secret is not that of this server"), std::string::npos);
}

// Somebody else at the server's address, who knows the protocol but not the secret.
TEST(ExchangeServer, WithoutTheSecretIsFoundOutByTheClient) {
  const auto listener = ExchangeListener::open(0);
  ASSERT_TRUE(listener);
  auto client =
      std::async(std::launch::async, [&] { return visit(listener->port(), "0123456789abcdef"); });
  auto victim = listener->accept(kLong);
  ASSERT_TRUE(victim && victim->receive(kLong));
  const std::string zeros(64, '0');
  ASSERT_TRUE(victim->send(R"({"openmrc_auth":1,"nonce":")" + zeros + "\"}"));
  ASSERT_TRUE(victim->receive(kLong));
  ASSERT_TRUE(victim->send(R"({"openmrc_auth":1,"proof":")" + zeros + "\"}"));
  const auto known = client.get();
  ASSERT_FALSE(known);
  EXPECT_EQ(known.error().fault, ExchangeFault::kSecret);
}

}  // namespace
}  // namespace openmrc::host
