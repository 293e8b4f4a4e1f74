// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <utility>

#include "openmrc/datapath/file_descriptor.h"

// Network namespaces for tests. They have no name and vanish with the process, whatever happens.
namespace openmrc::datapath {

inline FileDescriptor current_namespace() {
  return FileDescriptor(::open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC));
}

// A namespace of its own, with IPv6 and segment routing as the lab has them.
class TestNamespace {
 public:
  TestNamespace() : before_(current_namespace()) {
    if (::unshare(CLONE_NEWNET) != 0) return;
    own_ = current_namespace();
    run("ip link set lo up");
    run("sysctl -qw net.ipv6.conf.all.forwarding=1 net.ipv6.conf.all.seg6_enabled=1 "
        "net.ipv6.conf.default.seg6_enabled=1 net.ipv6.conf.default.accept_dad=0");
    leave();
  }

  // Whether the test may make namespaces at all.
  [[nodiscard]] bool is_there() const { return own_.is_open(); }
  // As `ip` wants it: ip link set dev x netns PATH
  [[nodiscard]] std::string path() const {
    return "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(own_.get());
  }

  // What it does happens in here.
  template <class Do>
  auto in(Do&& act) const {
    struct Back {
      const TestNamespace& here;
      ~Back() { here.leave(); }
    };
    enter();
    const Back back{*this};
    return std::forward<Do>(act)();
  }
  void ip(const std::string& arguments) const {
    in([&] { run("ip " + arguments); });
  }
  void shell(const std::string& command) const {
    in([&] { run(command); });
  }

 private:
  static void run(const std::string& command) {
    ASSERT_EQ(std::system(command.c_str()), 0) << command;
  }
  void enter() const { ASSERT_EQ(::setns(own_.get(), CLONE_NEWNET), 0); }
  void leave() const { ASSERT_EQ(::setns(before_.get(), CLONE_NEWNET), 0); }

  FileDescriptor before_;
  FileDescriptor own_{};
};

inline void wait_until(const TestNamespace& where, const std::string& condition) {
  where.shell("for i in $(seq 500); do " + condition + " && exit 0; sleep 0.01; done; exit 1");
}

// The kernel drops what is sent before it has seen to the carrier, which it does a little later.
inline void wait_until_up(const TestNamespace& where, const std::string& name) {
  wait_until(where, "ip link show " + name + " | grep -q 'state UP'");
}

// Also waits until the kernel delivers to it.
inline void add_own_address(const TestNamespace& where, const std::string& address) {
  where.ip("addr add " + address + "/128 dev lo nodad");
  wait_until(where, "ip -6 route show table local | grep -q " + address);
}

// A cable: `name_a` in `a`, `name_b` in `b`, both up.
inline void connect(const TestNamespace& a, const std::string& name_a, const TestNamespace& b,
                    const std::string& name_b) {
  a.ip("link add " + name_a + " mtu 9000 type veth peer name " + name_b + " mtu 9000 netns " +
       b.path());
  a.shell("sysctl -qw net.ipv6.conf." + name_a + ".seg6_enabled=1");
  b.shell("sysctl -qw net.ipv6.conf." + name_b + ".seg6_enabled=1");
  a.ip("link set " + name_a + " up");
  b.ip("link set " + name_b + " up");
  wait_until_up(a, name_a);
  wait_until_up(b, name_b);
}

}  // namespace openmrc::datapath
