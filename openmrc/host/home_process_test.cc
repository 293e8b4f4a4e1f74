// SPDX-License-Identifier: BSD-3-Clause
// A Host in a child made by fork(), while the parent works on.
#include "openmrc/host/home_process.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <array>
#include <memory>

#include "openmrc/host/test_host.h"
#include "tests/support/child.h"

namespace openmrc::host {
namespace {

using openmrc::test::status_of_child;

bool was_aborted(int status) { return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT; }

class HostFork : public testing::Test {
 protected:
  void SetUp() override {
    sender = from->make_queue_pair();
    receiver = to->make_queue_pair();
    connect(*sender, *receiver);
    expect_writes(*from, *sender, *to, 1);
  }
  void TearDown() override { expect_writes(*from, *sender, *to, 10); }  // undisturbed

  std::unique_ptr<Side> to = std::make_unique<Side>(loopback_config(Progress::kSleep));
  std::unique_ptr<Side> from = std::make_unique<Side>(loopback_config(Progress::kSleep));
  std::unique_ptr<QueuePair> sender;
  std::unique_ptr<QueuePair> receiver;
};

TEST_F(HostFork, CallsInAChildEndIt) {
  EXPECT_TRUE(was_aborted(status_of_child([&] { return sender->post_write({}) ? 0 : 1; })));
  EXPECT_TRUE(was_aborted(status_of_child([&] {
    std::array<Completion, 1> some;
    return static_cast<int>(from->queue->poll(some));
  })));
  EXPECT_TRUE(was_aborted(status_of_child([&] { return from->make_queue_pair() ? 0 : 1; })));
}

TEST_F(HostFork, AChildMayDestroyItsCopy) {
  EXPECT_EQ(status_of_child([&] {
              sender.reset();
              receiver.reset();
              from.reset();
              to.reset();
              return 0;
            }),
            0);
}

TEST_F(HostFork, AChildMayOpenItsOwn) {
#if defined(OPENMRC_SANITIZE_THREAD)
  GTEST_SKIP() << "the thread sanitizer allows no threads in a child of a process with threads";
#endif
  EXPECT_EQ(status_of_child([] {
              Side own(loopback_config(Progress::kSleep));
              auto a = own.make_queue_pair();
              auto b = own.make_queue_pair();
              connect(*a, *b);
              expect_writes(own, *a, own, 1);
              return testing::Test::HasFailure() ? 1 : 0;
            }),
            0);
}

}  // namespace
}  // namespace openmrc::host
