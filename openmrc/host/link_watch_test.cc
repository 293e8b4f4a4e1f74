// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/host/link_watch.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <iostream>

#include "openmrc/host/clock.h"

namespace openmrc::host {
namespace {

// Links of veth pairs are in a network namespace of this process's child, which takes them with it.
class LinkWatchInNamespace : public ::testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root, to make a network namespace";
  }

  // Runs the body in a child process with a namespace of its own.
  static void in_namespace(const std::function<void()>& body) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      if (::unshare(CLONE_NEWNET) != 0) ::_exit(2);
      body();
      ::_exit(::testing::Test::HasFailure() ? 1 : 0);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
    if (WEXITSTATUS(status) == 2) GTEST_SKIP() << "may not make a network namespace";
    EXPECT_EQ(WEXITSTATUS(status), 0) << "see above";
  }

  static void ip(const std::string& arguments) {
    // The child has one thread, and the command is a constant of this file.
    EXPECT_EQ(std::system(("ip " + arguments).c_str()), 0) << arguments;  // NOLINT
  }
};

// Waits on the descriptor, as a runtime does.
std::optional<LinkChange> next_change(LinkWatch& watch, Duration at_most = seconds(10)) {
  const Instant end = now() + at_most;
  while (now() < end) {
    if (const auto change = watch.next()) return change;
    pollfd asked{.fd = watch.descriptor(), .events = POLLIN, .revents = 0};
    const Duration left = end - now();
    ::poll(&asked, 1, static_cast<int>(left.raw() / 1'000'000) + 1);
  }
  return std::nullopt;
}

constexpr LinkChange down(std::size_t plane) { return {.plane = plane, .up = false}; }
constexpr LinkChange up(std::size_t plane) { return {.plane = plane, .up = true}; }

const std::vector<std::string> kTwo{"p0", "p1"};

LinkWatch opened(std::span<const std::string> interfaces) {
  auto watch = LinkWatch::open(interfaces);
  EXPECT_TRUE(watch) << to_string(watch.error());
  return std::move(*watch);
}

// The kernel reports a new link as up some time after the command.
void make_links() {
  if (std::system("ip link add p0 type veth peer name q0 && ip link add p1 type veth peer name q1 "
                  "&& for i in p0 q0 p1 q1; do ip link set $i up; done") != 0) {  // NOLINT
    ADD_FAILURE() << "no veth";
  }
  const Instant end = now() + seconds(10);
  for (bool are_up = false; !are_up && now() < end;) {
    LinkWatch watch = opened(kTwo);
    are_up = !next_change(watch, milliseconds(50));
  }
}

TEST_F(LinkWatchInNamespace, SaysNothingOfLinksThatAreUp) {
  in_namespace([] {
    make_links();
    LinkWatch watch = opened(kTwo);
    EXPECT_EQ(next_change(watch, milliseconds(50)), std::nullopt);
  });
}

TEST_F(LinkWatchInNamespace, BeginsWithWhatIsDown) {
  in_namespace([] {
    make_links();
    ip("link set q0 down");
    const std::vector<std::string> interfaces{"p0", "", "p1", "missing"};
    LinkWatch watch = opened(interfaces);
    EXPECT_EQ(next_change(watch), down(0)) << "no carrier";
    EXPECT_EQ(next_change(watch), down(3)) << "not there";
    EXPECT_EQ(next_change(watch, milliseconds(50)), std::nullopt);
  });
}

TEST_F(LinkWatchInNamespace, NoticesLostCarrier) {
  in_namespace([] {
    make_links();
    LinkWatch watch = opened(kTwo);
    ip("link set q1 down");
    EXPECT_EQ(next_change(watch), down(1));
    ip("link set q1 up");
    EXPECT_EQ(next_change(watch), up(1));
  });
}

TEST_F(LinkWatchInNamespace, NoticesThatAnInterfaceIsSetDown) {
  in_namespace([] {
    make_links();
    LinkWatch watch = opened(kTwo);
    ip("link set p0 down");
    EXPECT_EQ(next_change(watch), down(0));
    ip("link set p0 up");
    EXPECT_EQ(next_change(watch), up(0));
  });
}

TEST_F(LinkWatchInNamespace, NoticesThatAnInterfaceGoesAndComesBack) {
  in_namespace([] {
    make_links();
    LinkWatch watch = opened(kTwo);
    ip("link del p0");
    EXPECT_EQ(next_change(watch), down(0));
    ip("link add p0 type veth peer name q0");
    ip("link set q0 up");
    EXPECT_EQ(next_change(watch, milliseconds(50)), std::nullopt) << "there, but not up";
    ip("link set p0 up");
    EXPECT_EQ(next_change(watch), up(0));
  });
}

TEST_F(LinkWatchInNamespace, FollowsTheNameNotTheInterface) {
  in_namespace([] {
    make_links();
    LinkWatch watch = opened(kTwo);
    EXPECT_EQ(next_change(watch, milliseconds(50)), std::nullopt);
    ip("link set p0 down");
    EXPECT_EQ(next_change(watch), down(0));
    ip("link set p0 name other");
    ip("link set other up");
    EXPECT_EQ(next_change(watch, milliseconds(50)), std::nullopt) << "nothing has the name";
    ip("link set other down");
    ip("link set other name p0");
    ip("link set p0 up");
    EXPECT_EQ(next_change(watch), up(0));
  });
}

TEST_F(LinkWatchInNamespace, IsNotMisledByABridge) {
  in_namespace([] {
    make_links();
    ip("link add name b type bridge");
    ip("link set p0 master b");
    LinkWatch watch = opened(kTwo);
    EXPECT_EQ(next_change(watch, milliseconds(50)), std::nullopt);
    ip("link set p0 nomaster");
    EXPECT_EQ(next_change(watch, milliseconds(50)), std::nullopt);
  });
}

TEST_F(LinkWatchInNamespace, TellsBothPlanesOfOneInterface) {
  in_namespace([] {
    make_links();
    const std::vector<std::string> interfaces{"p0", "p0"};
    LinkWatch watch = opened(interfaces);
    ip("link set p0 down");
    EXPECT_EQ(next_change(watch), down(0));
    EXPECT_EQ(next_change(watch), down(1));
  });
}

TEST_F(LinkWatchInNamespace, TakesALinkThatLosesLargePacketsForDown) {
  in_namespace([] {
    make_links();
    ip("link set p0 mtu 1400");
    auto watch = LinkWatch::open(kTwo, 1500);
    ASSERT_TRUE(watch);
    EXPECT_EQ(next_change(*watch), down(0));
    EXPECT_EQ(watch->mtu(0), 1400U);
    EXPECT_EQ(next_change(*watch, milliseconds(50)), std::nullopt) << "1500 suffices";
    ip("link set p1 mtu 1499");
    EXPECT_EQ(next_change(*watch), down(1));
    ip("link set p0 mtu 1500");
    EXPECT_EQ(next_change(*watch), up(0));
    EXPECT_EQ(watch->mtu(0), 1500U);
  });
}

void make_receive_buffer_small(const LinkWatch& watch) {
  const int small = 4096;
  EXPECT_EQ(::setsockopt(watch.descriptor(), SOL_SOCKET, SO_RCVBUF, &small, sizeof small), 0);
}

// More messages than the socket holds: the kernel drops some, and the whole list is asked for.
TEST_F(LinkWatchInNamespace, IsRightAgainAfterAFlood) {
  in_namespace([] {
    make_links();
    LinkWatch watch = opened(kTwo);
    EXPECT_EQ(next_change(watch, milliseconds(50)), std::nullopt);
    make_receive_buffer_small(watch);
    ip("link set q1 down; for i in $(seq 20); do ip link set q0 down; ip link set q0 up; done; "
       "ip link set q0 down");
    std::array<bool, 2> is_up{true, true};
    while (const auto change = next_change(watch, milliseconds(200))) {
      is_up[change->plane] = change->up;
    }
    EXPECT_FALSE(is_up[0]);
    EXPECT_FALSE(is_up[1]);
  });
}

// How long after the kernel's own call returned the change is known; `ip` itself takes longer.
TEST_F(LinkWatchInNamespace, IsQuick) {
  in_namespace([] {
    make_links();
    LinkWatch watch = opened(kTwo);
    EXPECT_EQ(next_change(watch, milliseconds(50)), std::nullopt);
    std::vector<std::int64_t> delays;
    for (int i = 0; i < 20; ++i) {
      const bool goes_up = i % 2 == 1;
      ip(goes_up ? "link set q0 up" : "link set q0 down");
      const Instant begin = now();
      EXPECT_EQ(next_change(watch), goes_up ? up(0) : down(0));
      delays.push_back((now() - begin).raw());
    }
    std::ranges::sort(delays);
    const std::int64_t median = delays[delays.size() / 2];
    std::cout << fmt::format("known {} us after the command's end (median), {} at most\n",
                             median / 1000, delays.back() / 1000)
              << std::flush;
    EXPECT_LT(median, milliseconds(20).raw());
  });
}

}  // namespace
}  // namespace openmrc::host
