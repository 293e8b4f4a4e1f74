// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/host/exchange.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <future>
#include <thread>

#include "openmrc/host/clock.h"

namespace openmrc::host {
namespace {

constexpr Duration kLong = seconds(20);  // never used up unless something is wrong

struct Pair {
  ExchangeListener listener;
  ExchangeConnection client;
  ExchangeConnection server;
};

Pair connected(const std::string& host = "::1") {
  auto listener = ExchangeListener::open(0);
  EXPECT_TRUE(listener) << to_string(listener.error());
  auto client = ExchangeConnection::connect(host, listener->port(), kLong);
  EXPECT_TRUE(client) << to_string(client.error());
  auto server = listener->accept(kLong);
  EXPECT_TRUE(server) << to_string(server.error());
  return {std::move(*listener), std::move(*client), std::move(*server)};
}

TEST(Exchange, CarriesLinesBothWays) {
  Pair pair = connected();
  EXPECT_TRUE(pair.client.send(R"({"a":1})"));
  EXPECT_TRUE(pair.client.send(""));
  EXPECT_TRUE(pair.client.send("last"));
  EXPECT_EQ(pair.server.receive(kLong), R"({"a":1})");
  EXPECT_EQ(pair.server.receive(kLong), "");
  EXPECT_EQ(pair.server.receive(kLong), "last");
  EXPECT_TRUE(pair.server.send("back"));
  EXPECT_EQ(pair.client.receive(kLong), "back");
}

TEST(Exchange, IsReachedByIpv4AndByName) {
  for (const char* host : {"127.0.0.1", "localhost"}) {
    Pair pair = connected(host);
    EXPECT_TRUE(pair.client.send(host));
    EXPECT_EQ(pair.server.receive(kLong), host);
    EXPECT_NE(pair.client.peer().find(host), std::string::npos);
  }
}

TEST(Exchange, CarriesTheLongestLineAndNoLonger) {
  Pair pair = connected();
  const std::string longest(kExchangeLineMax, 'x');
  auto sent = std::async(std::launch::async, [&] { return pair.client.send(longest, kLong); });
  EXPECT_EQ(pair.server.receive(kLong), longest);
  EXPECT_TRUE(sent.get());
  for (const std::string& line : {longest + "x", std::string("a\nb")}) {
    const auto refused = pair.client.send(line);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().fault, ExchangeFault::kLine);
  }
}

// Somebody who speaks no protocol of ours.
class RawClient {
 public:
  explicit RawClient(std::uint16_t port) : socket_(::socket(AF_INET6, SOCK_STREAM, 0)) {
    sockaddr_in6 address{};
    address.sin6_family = AF_INET6;
    address.sin6_port = htons(port);
    address.sin6_addr = in6addr_loopback;
    EXPECT_EQ(::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address),
              0);
  }
  // As much as is taken.
  void flood(std::size_t size) const {
    const std::string bytes(64 * 1024, 'x');
    for (std::size_t sent = 0; sent < size;) {
      const ssize_t taken = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (taken < 0) return;
      sent += static_cast<std::size_t>(taken);
    }
  }

 private:
  datapath::FileDescriptor socket_;
};

TEST(Exchange, RefusesALineWithoutEnd) {
  const auto listener = ExchangeListener::open(0);
  ASSERT_TRUE(listener);
  const RawClient raw_client(listener->port());
  auto server = listener->accept(kLong);
  ASSERT_TRUE(server);
  std::thread flood([&] { raw_client.flood(2 * kExchangeLineMax); });
  const auto line = server->receive(kLong);
  ASSERT_FALSE(line);
  EXPECT_EQ(line.error().fault, ExchangeFault::kLine);
  server = failure(ExchangeError{});  // closes, which ends the flood
  flood.join();
}

TEST(Exchange, WaitsNoLongerThanItIsTold) {
  Pair pair = connected();
  const Instant begin = now();
  EXPECT_EQ(pair.server.receive(milliseconds(30)).error().fault, ExchangeFault::kTimeout);
  EXPECT_EQ(pair.listener.accept(milliseconds(30)).error().fault, ExchangeFault::kTimeout);
  EXPECT_GE(now() - begin, milliseconds(60));
  EXPECT_LT(now() - begin, seconds(10));
}

TEST(Exchange, WaitsNoLongerForOneWhoTakesNothing) {
  Pair pair = connected();
  const Instant begin = now();
  const std::string much(kExchangeLineMax, 'x');
  Result<void, ExchangeError> sent;
  for (int i = 0; i < 100 && sent; ++i) sent = pair.client.send(much, milliseconds(30));
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error().fault, ExchangeFault::kTimeout);
  EXPECT_GE(now() - begin, milliseconds(30));
  EXPECT_LT(now() - begin, seconds(10));
}

TEST(Exchange, ClientMayStartFirst) {
  std::uint16_t port = 0;
  {
    const auto listener = ExchangeListener::open(0);
    ASSERT_TRUE(listener);
    port = listener->port();
  }
  auto client = std::async(std::launch::async,
                           [&] { return ExchangeConnection::connect("::1", port, kLong); });
  std::this_thread::sleep_for(std::chrono::milliseconds(150));
  const auto listener = ExchangeListener::open(port);
  ASSERT_TRUE(listener) << to_string(listener.error());
  EXPECT_TRUE(listener->accept(kLong));
  EXPECT_TRUE(client.get());
}

TEST(Exchange, SaysThatNobodyIsThere) {
  std::uint16_t port = 0;
  {
    const auto listener = ExchangeListener::open(0);
    ASSERT_TRUE(listener);
    port = listener->port();
  }
  const auto none = ExchangeConnection::connect("127.0.0.1", port, milliseconds(120));
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().fault, ExchangeFault::kUnreachable);
  EXPECT_NE(to_string(none.error()).find("within 120ms: Connection refused; is the server"),
            std::string::npos)
      << to_string(none.error());
}

TEST(Exchange, SaysThatANameLeadsNowhere) {
  const auto none = ExchangeConnection::connect("no-such-host.invalid", 1, seconds(5));
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().fault, ExchangeFault::kName);
}

TEST(Exchange, SaysThatThePortIsTaken) {
  const auto first = ExchangeListener::open(0);
  ASSERT_TRUE(first);
  const auto second = ExchangeListener::open(first->port());
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().fault, ExchangeFault::kSystem);
  EXPECT_NE(to_string(second.error()).find("Address already in use"), std::string::npos);
}

bool goes_in_time(const ExchangeConnection& connection) {
  const Instant begin = now();
  while (!connection.peer_gone() && now() - begin < kLong) std::this_thread::yield();
  return connection.peer_gone();
}

TEST(Exchange, NoticesThatThePeerHasClosed) {
  Pair pair = connected();
  EXPECT_FALSE(pair.server.peer_gone());
  EXPECT_TRUE(pair.client.send("farewell"));
  {
    const ExchangeConnection closed = std::move(pair.client);
  }
  EXPECT_TRUE(goes_in_time(pair.server));
  EXPECT_EQ(pair.server.receive(kLong), "farewell") << "what it said before still counts";
  EXPECT_EQ(pair.server.receive(kLong).error().fault, ExchangeFault::kClosed);
}

// A process that connects and does nothing more.
pid_t start_client(std::uint16_t port) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  const auto client = ExchangeConnection::connect("::1", port, kLong);
  ::pause();
  ::_exit(client ? 0 : 1);
}

TEST(Exchange, NoticesThatThePeerWasKilled) {
  const auto listener = ExchangeListener::open(0);
  ASSERT_TRUE(listener);
  const pid_t child = start_client(listener->port());
  ASSERT_GT(child, 0);
  auto server = listener->accept(kLong);
  const bool was_there = server && !server->peer_gone();
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  ASSERT_TRUE(was_there);
  EXPECT_TRUE(goes_in_time(*server));
  EXPECT_EQ(server->receive(kLong).error().fault, ExchangeFault::kClosed);
}

ConnectionInfo some_info() {
  return {.host = "h0",
          .qpn = 0x123456,
          .psn = 0xffffff,
          .addresses = {wire::Ipv6Address::of({0xfd00, 0, 0, 0, 0, 0, 0, 1}),
                        wire::mapped(wire::Ipv4Address(0x0a000001))},
          .fabric_host = 3,
          .mtu = 4096,
          .mpr = 8,
          .max_wimm = 128};
}

// QP-9
TEST(ExchangeInfo, ComeBackAsTheyWere) {
  ConnectionInfo info = some_info();
  EXPECT_EQ(connection_info_from(to_json(info)), info);
  info.fabric_host.reset();
  info.dynamic_mpr = true;
  EXPECT_EQ(connection_info_from(to_json(info)), info);
  const RemoteMemory memory{
      .address = 0xffff'ffff'0000'0000, .length = 0xffff'ffff, .rkey = 0xffff'ffff};
  EXPECT_EQ(remote_memory_from(to_json(memory)), memory);
}

TEST(ExchangeInfo, TravelTogetherInOneLine) {
  std::vector<ConnectionInfo> infos(10'000, some_info());
  infos[17].qpn = 17;
  const std::string line = to_json(std::span<const ConnectionInfo>(infos));
  EXPECT_LT(line.size(), kExchangeLineMax);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  EXPECT_EQ(connection_infos_from(line), infos);
  const std::vector<RemoteMemory> regions{{.address = 1, .length = 2, .rkey = 3}};
  EXPECT_EQ(remote_memories_from(to_json(std::span<const RemoteMemory>(regions))), regions);
  EXPECT_FALSE(remote_memories_from(to_json(regions[0])));
}

TEST(ExchangeInfo, HaveOneFormThatOthersCanRead) {
  EXPECT_EQ(to_json(some_info()),
            R"({"openmrc":1,"kind":"queue pair","host":"h0","qpn":1193046,"psn":16777215,)"
            R"("addresses":["fd00::1","10.0.0.1"],"fabric_host":3,"mtu":4096,"mpr":8,)"
            R"("max_wimm":128})");
}

// The info of some_info(), with one piece replaced.
std::string changed(std::string_view from, std::string_view to) {
  std::string json = to_json(some_info());
  const std::size_t at = json.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return json.replace(at, from.size(), to);
}

TEST(ExchangeInfo, AreRefusedWithTheReason) {
  const std::pair<std::string, std::string_view> wrong[]{
      {"", "is no JSON object"},
      {"[]", "is no JSON object"},
      {R"({"openmrc":1)", "is no JSON object"},
      {"{}", "has no openmrc"},
      {changed(R"("openmrc":1)", R"("openmrc":2)"),
       "is of version 2; this program knows version 1"},
      {changed(R"("queue pair")", R"("memory region")"), "is of kind \"memory region\""},
      {changed(R"("qpn":1193046,)", ""), "has no qpn"},
      {changed("1193046", "2"), "qpn must be a whole number, 3 to 16777215"},
      {changed("1193046", "16777216"), "qpn must be a whole number"},
      {changed("1193046", "-5"), "qpn must be a whole number"},
      {changed("1193046", "5.5"), "qpn must be a whole number"},
      {changed("1193046", "\"5\""), "qpn must be a whole number"},
      {changed("1193046", "99999999999999999999999"), "qpn must be a whole number"},
      {changed("4096", "9000"), "mtu must be a whole number, 16 to 8192"},
      {changed("\"mpr\":8", "\"mpr\":0"), "mpr must be a whole number, 1 to 255"},
      {changed("\"fd00::1\"", "\"fd00\""), "addresses must be a list of IP addresses"},
      {changed("\"fd00::1\"", "7"), "addresses must be a list of IP addresses"},
      {changed(R"(["fd00::1","10.0.0.1"])", "[]"), "addresses must be a list of 1 to 31"},
      {changed("\"h0\"", "\"" + std::string(256, 'x') + "\""),
       "host must be a text of at most 255"},
      {changed("128}", R"(128,"more":1})"), "has 11 keys, of which 10 are known"},
      {std::string(100'000, '['), "is no JSON object"},
  };
  for (const auto& [json, reason] : wrong) {
    const auto info = connection_info_from(json);
    ASSERT_FALSE(info) << json;
    EXPECT_EQ(info.error().fault, ExchangeFault::kMalformed);
    EXPECT_NE(to_string(info.error()).find(reason), std::string::npos) << json << "\n"
                                                                       << to_string(info.error());
  }
}

TEST(ExchangeInfo, OfMemoryStayInTheAddressSpace) {
  const RemoteMemory beyond{.address = 0xffff'ffff'ffff'ffff, .length = 2, .rkey = 1};
  EXPECT_NE(
      to_string(remote_memory_from(to_json(beyond)).error()).find("exceeds the address space"),
      std::string::npos);
}

TEST(ExchangeInfo, CarryOddNamesWithoutHarm) {
  ConnectionInfo info = some_info();
  info.host = "a\n\"\xff";
  const std::string line = to_json(info);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  EXPECT_TRUE(connection_info_from(line));
}

}  // namespace
}  // namespace openmrc::host
