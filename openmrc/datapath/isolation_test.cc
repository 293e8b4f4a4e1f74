// SPDX-License-Identifier: BSD-3-Clause
// What an unprivileged user of the host can do to the processes that share a port: nothing. Needs
// root, to become such a user.
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "openmrc/datapath/open.h"
#include "openmrc/datapath/port_sharing.h"
#include "openmrc/datapath/test_packets.h"

namespace openmrc::datapath {
namespace {

constexpr wire::Ipv6Address kHere = wire::Ipv6Address::of({0, 0, 0, 0, 0, 0, 0, 1});
constexpr uid_t kNobody = 65534;
constexpr uid_t kUser = 54321;  // without a session, on any machine

Result<std::unique_ptr<Datapath>, Error> open_shard() {
  Settings settings;
  settings.ports = {{.interface = "", .address = kHere}};
  settings.wire.udp_port = test_port();
  return open(settings);
}

// Another process, of another user. Answers whether it did what it tried.
bool as_user(uid_t user, const std::function<bool()>& act) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(::setuid(user) == 0 && act() ? 0 : 1);
  int status = 1;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return status == 0;
}
bool as_nobody(const std::function<bool()>& act) { return as_user(kNobody, act); }

FileDescriptor unix_socket() {
  return FileDescriptor(::socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

// In the abstract namespace, which belongs to everybody.
FileDescriptor bind_abstract(const std::string& name) {
  FileDescriptor socket = unix_socket();
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::ranges::copy(name, address.sun_path + 1);
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), size) != 0) return {};
  return socket;
}

class Isolation : public ::testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root, to become somebody else";
  }
  // All names that have ever been used for it, and those of today.
  static std::vector<FileDescriptor> take_all_names(wire::UdpPort port, const SlotNames& names) {
    std::vector<FileDescriptor> taken;
    taken.push_back(bind_abstract(fmt::format("openmrc.{}.join", port.raw())));
    for (std::size_t i = 0; i < kSlots; ++i) {
      taken.push_back(bind_abstract(fmt::format("openmrc.{}.{}", port.raw(), i)));
      FileDescriptor socket = unix_socket();
      const auto address = names.slot(Slot(static_cast<std::uint8_t>(i)));
      if (::bind(socket.get(), address.get(), address.size()) == 0) {
        ADD_FAILURE() << "nobody bound " << address.path();
      }
      taken.push_back(std::move(socket));
    }
    return taken;
  }
};

TEST_F(Isolation, AnotherUserCannotKeepProcessesFromStarting) {
  const wire::UdpPort port = test_port();
  const auto names = SlotNames::of(port, wire::IpVersion::kV6);
  ASSERT_TRUE(names);
  std::array<int, 2> ready{};
  ASSERT_EQ(::pipe(ready.data()), 0);
  const pid_t attacker = ::fork();
  if (attacker == 0) {
    const bool is_nobody = ::setuid(kNobody) == 0;
    const auto taken = take_all_names(port, *names);
    const char done = is_nobody && !HasFailure() ? 'y' : 'n';
    (void)::write(ready[1], &done, 1);
    ::pause();
    ::_exit(0);
  }
  char done = 'n';
  EXPECT_EQ(::read(ready[0], &done, 1), 1);
  EXPECT_EQ(done, 'y');
  const auto first = open_shard();
  const auto second = open_shard();
  EXPECT_TRUE(first && second) << to_string(first ? second.error() : first.error());
  ::kill(attacker, SIGKILL);
  ::waitpid(attacker, nullptr, 0);
  for (const int end : ready) ::close(end);
}

TEST_F(Isolation, AnotherUserCannotTakeOverTheSlotOfAKilledProcess) {
  const auto survivor = open_shard();
  ASSERT_TRUE(survivor) << to_string(survivor.error());
  const auto names = SlotNames::of(test_port(), wire::IpVersion::kV6);
  const wire::UdpPort port = test_port();
  const pid_t victim = ::fork();
  if (victim == 0) {
    const auto lock = JoinLock::take(*names);
    const auto claim = claim_slot(*names, *lock);
    ::kill(::getpid(), SIGKILL);
  }
  ASSERT_EQ(::waitpid(victim, nullptr, 0), victim);
  const SlotAddress left = names->slot(Slot(1));
  EXPECT_FALSE(as_nobody([&] {
    const FileDescriptor socket = unix_socket();
    return ::unlink(left.path()) == 0 || ::bind(socket.get(), left.get(), left.size()) == 0;
  }));

  const FileDescriptor abstract = bind_abstract(fmt::format("openmrc.{}.1", port.raw()));
  const auto data = test_data(4096);
  wire::Packet packet =
      test_write({.source = kHere, .destination = kHere, .ev = Ev(0xc001)}, data, 0, Qpn(0x40005));
  packet.udp_port = port;
  const std::vector<wire::Packet> packets(16, packet);
  (*survivor)->send(burst_of(packets));
  collect(**survivor, 10'000, 10);
  EXPECT_EQ((*survivor)->counters().of(Count::kForwardNoOwner), packets.size());
  EXPECT_EQ((*survivor)->counters().of(Count::kForwarded), 0u);
  char byte = 0;
  EXPECT_EQ(::recv(abstract.get(), &byte, 1, 0), -1);
}

TEST_F(Isolation, AnotherUserCannotForwardToAProcess) {
  const auto shard = open_shard();
  ASSERT_TRUE(shard) << to_string(shard.error());
  const auto to = SlotNames::of(test_port(), wire::IpVersion::kV6)->slot(Slot(0));
  const std::array<char, 100> bytes{};
  EXPECT_FALSE(as_nobody([&] {
    const FileDescriptor socket = unix_socket();
    return ::sendto(socket.get(), bytes.data(), bytes.size(), 0, to.get(), to.size()) > 0;
  })) << "the folder is closed to others";

  const FileDescriptor open_before = unix_socket();
  ASSERT_EQ(::connect(open_before.get(), to.get(), to.size()), 0);
  EXPECT_TRUE(
      as_nobody([&] { return ::send(open_before.get(), bytes.data(), bytes.size(), 0) > 0; }));
  EXPECT_TRUE(collect(**shard, 1, 10).incoming.empty());
  EXPECT_EQ((*shard)->counters().of(Count::kForwardRefused), 1u) << "credentials are checked";
}

// A user's own processes share the port as those of root do, also if a third user has taken the
// name of their folder.
TEST_F(Isolation, AnotherUsersProcessesShareAPortOfTheirOwn) {
  const std::string folder = fmt::format("/tmp/openmrc-{}", kUser);
  const auto share = [] {
    const auto first = open_shard();
    const auto second = open_shard();
    return first && second && (*second)->slot() == Slot(1);
  };
  EXPECT_TRUE(as_user(kUser, share));
  std::filesystem::remove_all(folder);
  ASSERT_EQ(::mkdir(folder.c_str(), 0700), 0);
  ASSERT_EQ(::chown(folder.c_str(), kNobody, kNobody), 0);
  EXPECT_TRUE(as_user(kUser, share));
  for (const auto& entry : std::filesystem::directory_iterator("/tmp")) {
    if (entry.path().string().starts_with(folder)) std::filesystem::remove_all(entry.path());
  }
}

TEST_F(Isolation, ProcessesThatMeetElsewhereDoNotShareThePort) {
  const auto first = open_shard();
  ASSERT_TRUE(first) << to_string(first.error());
  std::string folder = ::testing::TempDir() + "openmrc-XXXXXX";
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  ::setenv("OPENMRC_RUNTIME_DIR", folder.c_str(), 1);
  const auto second = open_shard();
  ::unsetenv("OPENMRC_RUNTIME_DIR");
  std::filesystem::remove_all(folder);
  ASSERT_FALSE(second);
  EXPECT_NE(to_string(second.error()).find("OPENMRC_RUNTIME_DIR"), std::string::npos);
}

}  // namespace
}  // namespace openmrc::datapath
