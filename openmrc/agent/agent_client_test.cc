// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/agent/agent_client.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "openmrc/agent/agent_server.h"
#include "openmrc/agent/agent_socket.h"
#include "openmrc/agent/profiles/test_profiles.h"
#include "openmrc/agent/test_wait.h"

namespace openmrc::libmrc {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)
using namespace std::chrono_literals;

// An agent in a thread of its own.
class RunningAgent {
 public:
  RunningAgent(const std::string& path, ProfileStore& store) : agent_(store, {.host = "h0"}) {
    auto server = AgentServer::open(path, agent_);
    EXPECT_TRUE(server.has_value());
    server_ = std::make_unique<AgentServer>(std::move(*server));
    thread_ = std::thread([this] {
      while (!stop_) server_->serve_once(10);
    });
  }
  ~RunningAgent() {
    stop_ = true;
    thread_.join();
  }

 private:
  Agent agent_;
  std::unique_ptr<AgentServer> server_;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

struct ClientTest : ::testing::Test {
  ClientTest() {
    std::filesystem::create_directory(folder);
    device.make_format(MRC_CTL_EV_FMT_MODE_STEV, {16, 16});
    device.make_profile(MRC_CTL_EV_MODE_GEN, 8,
                        {{.width = 16, .init = 0, .min = 0, .max = 0xffff, .mask = 0xffff}});
    device.go_online(0, MRC_CTL_EV_ASSUMED_BAD | MRC_CTL_EV_GOOD);
    first_ev = device.store.evs().find(kProfile).evs.front().ev;
  }
  ~ClientTest() override { std::filesystem::remove_all(folder); }

  [[nodiscard]] std::unique_ptr<AgentClient> client() const {
    return std::make_unique<AgentClient>(
        AgentClient::Options{.path = path, .retry_interval = milliseconds(5)});
  }
  [[nodiscard]] Request set_first(mrc_ctl_ev_state state) const {
    return ModifyEvProfile{.id = kProfile,
                           .change = {.edits = {{{.ev = first_ev, .state = state}}}}};
  }

  std::string folder = ::testing::TempDir() + "agent-" + std::to_string(::getpid());
  std::string path = folder + "/mrcd.sock";
  TestDevice device{2};
  EvKey first_ev;
};

// What a listener has heard.
class Ear {
 public:
  AgentClient::Listener listener() {
    return [this](const Push& push) {
      const std::lock_guard lock(mutex_);
      heard_.push_back(push);
    };
  }
  [[nodiscard]] std::vector<Push> heard() const {
    const std::lock_guard lock(mutex_);
    return heard_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<Push> heard_;
};

TEST_F(ClientTest, WithoutAnAgentThereIsNoneAndNothingHangs) {
  const auto lonely = client();
  EXPECT_FALSE(lonely->connected());
  EXPECT_EQ(lonely->call(QueryDevice{}).outcome.error, ENOTCONN);
  EXPECT_EQ(lonely->use(kProfile).error().error, ENOTCONN);
  lonely->release(kProfile);
  lonely->report(kProfile, {first_ev, MRC_CTL_EV_GOOD});
  EXPECT_TRUE(lonely->port_enabled(PortNumber(1)));
}

TEST_F(ClientTest, CallsAreAnswered) {
  const RunningAgent agent(path, device.store);
  const auto asker = client();
  ASSERT_TRUE(asker->connected());
  const Reply reply = asker->call(QueryDevice{});
  EXPECT_EQ(reply.outcome.error, 0);
  EXPECT_EQ(std::get<DeviceInfo>(reply.body).planes, 2);
  EXPECT_EQ(asker->call(QueryPort{PortNumber(9)}).outcome.error, EINVAL);
}

TEST_F(ClientTest, ManyThreadsCallAtOnce) {
  const RunningAgent agent(path, device.store);
  const auto asker = client();
  std::atomic<int> answered = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        const Reply reply = asker->call(QueryEvProfile{kProfile});
        if (std::get<EvProfile>(reply.body).evs.size() == 8) ++answered;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(answered, 800);
}

TEST_F(ClientTest, ADenialReachesTheApplication) {
  const RunningAgent agent(path, device.store);
  const auto application = client();
  const auto controller = client();
  Ear ear;
  application->listen({.changes = true}, ear.listener());
  const auto image = application->use(kProfile);
  ASSERT_TRUE(image.has_value());
  EXPECT_TRUE(expand(*image, 2).has_value());
  ASSERT_EQ(controller->call(set_first(MRC_CTL_EV_DENIED)).outcome.error, 0);
  ASSERT_TRUE(soon([&] { return !ear.heard().empty(); }));
  EXPECT_EQ(std::get<EvsChanged>(ear.heard()[0]).evs[0], (EvStatus{first_ev, MRC_CTL_EV_DENIED}));
  EXPECT_EQ(application->states(kProfile)[0].state, MRC_CTL_EV_DENIED);
}

TEST_F(ClientTest, UsesAreCountedInTheProcessAndEndWithIt) {
  const RunningAgent agent(path, device.store);
  const auto controller = client();
  auto application = client();
  const Request offline{
      ModifyEvProfile{.id = kProfile, .change = {.state = MRC_CTL_PROFILE_OFFLINE}}};
  ASSERT_TRUE(application->use(kProfile).has_value());
  ASSERT_TRUE(application->use(kProfile).has_value());
  application->release(kProfile);
  EXPECT_EQ(controller->call(offline).outcome.error, EBUSY);
  application.reset();
  EXPECT_TRUE(soon([&] { return controller->call(offline).outcome.error == 0; }));
}

TEST_F(ClientTest, ReportsBecomeEvents) {
  const RunningAgent agent(path, device.store);
  const auto application = client();
  const auto controller = client();
  Ear ear;
  controller->listen({.events = true}, ear.listener());
  controller->call(QueryDevice{});  // the subscription is there
  ASSERT_TRUE(application->use(kProfile).has_value());
  application->report(kProfile, {first_ev, MRC_CTL_EV_ASSUMED_BAD});
  ASSERT_TRUE(soon([&] { return ear.heard().size() == 1; }));
  application->report(kProfile, {first_ev, MRC_CTL_EV_GOOD});
  ASSERT_TRUE(soon([&] { return ear.heard().size() == 2; }));
  EXPECT_EQ(std::get<EvEvent>(ear.heard()[0]).seen.state, MRC_CTL_EV_ASSUMED_BAD);
  EXPECT_EQ(std::get<EvEvent>(ear.heard()[1]).seen.state, MRC_CTL_EV_GOOD);
}

TEST_F(ClientTest, SurvivesARestartAndLearnsWhatHappenedMeanwhile) {
  auto agent = std::make_unique<RunningAgent>(path, device.store);
  const auto application = client();
  Ear ear;
  application->listen({.changes = true}, ear.listener());
  ASSERT_TRUE(application->use(kProfile).has_value());
  agent.reset();
  ASSERT_TRUE(soon([&] { return !application->connected(); }));
  EXPECT_EQ(device.store.evs().uses(kProfile), 1) << "an agent that ends does not tell the store";
  device.store.evs().release(kProfile);
  EXPECT_EQ(application->states(kProfile).size(), 8);

  device.profile({.edits = {{{.ev = first_ev, .state = MRC_CTL_EV_DENIED}}}});
  device.store.set_port(PortNumber(2), false);
  agent = std::make_unique<RunningAgent>(path, device.store);
  ASSERT_TRUE(soon([&] { return ear.heard().size() == 2; }));
  EXPECT_FALSE(application->port_enabled(PortNumber(2)));
  EXPECT_EQ(application->states(kProfile)[0].state, MRC_CTL_EV_DENIED);
  const auto controller = client();
  EXPECT_EQ(
      controller
          ->call(ModifyEvProfile{.id = kProfile, .change = {.state = MRC_CTL_PROFILE_OFFLINE}})
          .outcome.error,
      EBUSY)
      << "its use was announced again";
}

TEST_F(ClientTest, TwoAgentsDoNotServeOneSocket) {
  const RunningAgent agent(path, device.store);
  Agent second(device.store, {});
  const auto refused = AgentServer::open(path, second);
  ASSERT_FALSE(refused.has_value());
  EXPECT_NE(refused.error().what.find("served already"), std::string::npos);
}

TEST_F(ClientTest, HostileClientsDoNotDisturbOthers) {
  const RunningAgent agent(path, device.store);
  const auto asker = client();
  const auto hostile = connect_to_agent(path);
  ASSERT_TRUE(hostile.has_value());
  EXPECT_EQ(send_message(hostile->get(), "nonsense"), 0);
  EXPECT_EQ(send_message(hostile->get(), std::string(kAgentMessageMax + 1000, 'x')), 0);
  EXPECT_EQ(send_message(hostile->get(), std::string(1000, '{')), 0);
  const auto refused = [&] {
    return std::get<DeviceInfo>(asker->call(QueryDevice{}).body).refused_messages;
  };
  EXPECT_TRUE(soon([&] { return refused() == 3; }));
}

// One that never reads is cut off at some point; until then it costs nobody else anything.
TEST_F(ClientTest, AClientThatNeverReadsIsCutOff) {
  const RunningAgent agent(path, device.store);
  const auto deaf = connect_to_agent(path);
  ASSERT_TRUE(deaf.has_value());
  const std::string question =
      encode(NumberedRequest{.call = 1, .request = QueryEvProfile{kProfile}});
  int error = 0;
  for (int i = 0; i < 100'000 && error != EPIPE && error != ECONNRESET; ++i) {
    error = send_message(deaf->get(), question);
    if (error == EAGAIN) std::this_thread::sleep_for(1ms);
  }
  EXPECT_TRUE(error == EPIPE || error == ECONNRESET) << error;
  EXPECT_EQ(client()->call(QueryDevice{}).outcome.error, 0);
}

}  // namespace
}  // namespace openmrc::libmrc
