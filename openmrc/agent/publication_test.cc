// SPDX-License-Identifier: BSD-3-Clause
// Processes that publish to an agent, by its socket.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <memory>
#include <thread>

#include "openmrc/agent/agent_server.h"
#include "openmrc/agent/agent_socket.h"
#include "openmrc/agent/profiles/test_profiles.h"
#include "openmrc/agent/test_wait.h"
#include "openmrc/host/publisher.h"
#include "openmrc/host/send_descriptor.h"

namespace openmrc::libmrc {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)
using namespace std::chrono_literals;
using host::HostValues;
using host::Publisher;

constexpr std::size_t kTimeouts = HostValues::place(core::Count::kTimeouts);

struct PublicationTest : ::testing::Test {
  PublicationTest() { std::filesystem::create_directory(folder); }
  ~PublicationTest() override {
    stop();
    std::filesystem::remove_all(folder);
  }

  void start() {
    agent = std::make_unique<Agent>(device.store, Agent::Names{.host = "h0"});
    auto opened = AgentServer::open(path, *agent);
    ASSERT_TRUE(opened.has_value());
    server = std::make_unique<AgentServer>(std::move(*opened));
    stopping = false;
    thread = std::thread([this] {
      while (!stopping) server->serve_once(5);
    });
  }
  void stop() {
    stopping = true;
    if (thread.joinable()) thread.join();
    server.reset();
  }
  [[nodiscard]] std::unique_ptr<Publisher> publisher() {
    return std::make_unique<Publisher>(
        Publisher::Options{
            .program = "job", .planes = 2, .socket = path, .interval = milliseconds(10)},
        [this](HostValues& values) { values.at(kTimeouts) += count; });
  }
  [[nodiscard]] std::size_t processes() const { return agent->publishers().totals().processes; }
  [[nodiscard]] std::uint64_t timeouts() const {
    return agent->publishers().totals().values.at(kTimeouts);
  }

  std::string folder = ::testing::TempDir() + "publication-" + std::to_string(::getpid());
  std::string path = folder + "/mrcd.sock";
  TestDevice device{2};
  std::atomic<std::uint64_t> count = 0;
  std::unique_ptr<Agent> agent;
  std::unique_ptr<AgentServer> server;
  std::atomic<bool> stopping = false;
  std::thread thread;
};

TEST_F(PublicationTest, IsSeenWhileTheProcessLivesAndItsCountsStay) {
  start();
  count = 5;
  auto one = publisher();
  EXPECT_TRUE(soon([&] { return timeouts() == 5; }));
  EXPECT_EQ(processes(), 1U);
  count = 6;
  EXPECT_TRUE(soon([&] { return timeouts() == 6; }));
  count = 7;
  one.reset();
  EXPECT_TRUE(soon([&] { return processes() == 0; }));
  EXPECT_EQ(timeouts(), 7U);
}

TEST_F(PublicationTest, GoesToAnAgentThatIsStartedAgainFromThenOn) {
  count = 100;
  auto one = publisher();
  std::this_thread::sleep_for(30ms);  // it has found nobody
  start();
  EXPECT_TRUE(soon([&] { return processes() == 1; }));
  count = 103;
  EXPECT_TRUE(soon([&] { return timeouts() > 0; }));
  EXPECT_LE(timeouts(), 3U);
  stop();
  start();
  EXPECT_TRUE(soon([&] { return processes() == 1; }));
  EXPECT_EQ(timeouts(), 0U);
  count = 104;
  EXPECT_TRUE(soon([&] { return timeouts() == 1; }));
}

// The connection stays open in a child that the process leaves behind.
TEST_F(PublicationTest, EndsWithItsProcessNotWithAChildOfIt) {
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe(pipe.data()), 0);
  const pid_t parent = ::fork();  // before there are threads
  if (parent == 0) {
    // Here, where only threads of the publisher's will be.
    char go = 0;
    (void)!::read(pipe[0], &go, 1);
    auto one = publisher();
    std::this_thread::sleep_for(200ms);
    const pid_t child = ::fork();
    if (child == 0) {
      ::sleep(20);
      ::_exit(0);
    }
    const std::string text = std::to_string(child) + "\n";
    (void)!::write(pipe[1], text.data(), text.size());
    ::sleep(20);
    ::_exit(0);
  }
  start();
  ASSERT_EQ(::write(pipe[1], "g", 1), 1);
  ASSERT_TRUE(soon([&] { return processes() == 1; }));
  std::this_thread::sleep_for(400ms);
  ::kill(parent, SIGKILL);
  ::waitpid(parent, nullptr, 0);
  EXPECT_TRUE(soon([&] { return processes() == 0; }));
  std::array<char, 32> text{};
  ASSERT_GT(::read(pipe[0], text.data(), text.size() - 1), 0);
  ::kill(static_cast<pid_t>(std::stol(text.data())), SIGKILL);
  for (const int end : pipe) ::close(end);
}

TEST_F(PublicationTest, IsRefusedWithABadPageAMessageOfAnotherKindOrASecondMessage) {
  start();
  const auto page = host::PublishedPage::make("job", 2);
  ASSERT_TRUE(page);
  const int not_shared = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  const auto is_left = [&](std::string_view text, int descriptor) {
    const auto socket = connect_to_agent(path);
    EXPECT_TRUE(socket.has_value());
    EXPECT_TRUE(host::send_descriptor(socket->get(), text, descriptor));
    return soon([&] {
      const auto reply = receive_message(socket->get());
      return !reply && reply.error() == ECONNRESET;
    });
  };
  EXPECT_TRUE(is_left(host::kPublishMessage, not_shared));
  EXPECT_TRUE(is_left("{}", page->descriptor()));
  EXPECT_TRUE(is_left(R"({"body":{},"call":1,"request":"query-device"})", page->descriptor()));
  ::close(not_shared);

  const auto socket = connect_to_agent(path);
  ASSERT_TRUE(socket.has_value());
  ASSERT_TRUE(host::send_descriptor(socket->get(), host::kPublishMessage, page->descriptor()));
  EXPECT_TRUE(soon([&] { return processes() == 1; }));
  EXPECT_EQ(send_message(socket->get(), "{}"), 0);
  EXPECT_TRUE(soon([&] { return processes() == 0; }));

  const auto without = connect_to_agent(path);
  ASSERT_TRUE(without.has_value());
  EXPECT_EQ(send_message(without->get(), host::kPublishMessage), 0);
  EXPECT_TRUE(soon([&] { return receive_message(without->get()).has_value(); }));
  EXPECT_EQ(processes(), 0U);
}

// With as many planes and processes as there can be.
TEST(Monitoring, AnAnswerFitsAMessage) {
  TestDevice device(core::kPlanesMax);
  Agent agent(device.store, {.host = "h0"});
  const auto page =
      host::PublishedPage::make("a-program-with-a-long-name-______", core::kPlanesMax);
  ASSERT_TRUE(page);
  for (pid_t process = 1; process <= 200; ++process) {
    const datapath::FileDescriptor descriptor(::dup(page->descriptor()));
    ASSERT_TRUE(agent.publishers().add(static_cast<std::uint64_t>(process),
                                       {.process = 4'000'000 + process}, descriptor));
  }
  agent.connect(1, false);
  for (const Request& request :
       {Request(QueryMetrics{}), Request(QueryRdmaCounters{PortNumber(1)})}) {
    const auto out = agent.handle(1, encode(NumberedRequest{.call = 1, .request = request}));
    ASSERT_EQ(out.size(), 1U);
    EXPECT_LE(out[0].message.size(), kAgentMessageMax);
    const auto decoded = decode_from_agent(out[0].message);
    ASSERT_TRUE(decoded.has_value()) << decoded.error().what;
    const auto& reply = std::get<NumberedReply>(*decoded).reply;
    EXPECT_TRUE(reply.outcome.ok()) << reply.outcome.why;
    if (const auto* const metrics = std::get_if<Metrics>(&reply.body)) {
      EXPECT_TRUE(std::ranges::find(metrics->lines, "openmrc_processes 200") !=
                  metrics->lines.end());
    }
  }
}

}  // namespace
}  // namespace openmrc::libmrc
